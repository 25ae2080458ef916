/*
 * pickle_check.c - what a finished pickle must hold before others may walk it.
 *
 * The memo lets a pickle of a few bytes describe a tree of any size, even one without end: a list
 * of two references to a list of two references and so on. Every object is visited once, its height
 * and the size of the tree below are kept in it, and both are bounded: what walks or prints the
 * tree takes time and room in proportion to the file. What was of use only to the machine (classes,
 * storages) becomes its name, and a dict may not have a name twice.
 *
 * Objects of unknown classes refer to each other as they like, a module to its trainer and that to
 * the module. Below one of them, a reference back to what is being walked becomes a mention by
 * name, and so does a second one to any of them that is large and no module.
 */
#include <inttypes.h>
#include <string.h>

#include "file/pickle.h"

enum {
    OPEN = UINT32_MAX, /* weight of a container that is being walked */
    LARGE = 16         /* what is lighter may be repeated */
};

struct seal {
    const struct mase_pickle *pickle;
    uint64_t most; /* weight of the whole */
    int opaque;    /* such objects above the one that is walked */
    struct mase_arena scratch;
};

/* An object that is written out costs a byte or more, and a pickle that repeats itself in good
 * faith (names of settings, a tuple of rates) stays below four times of that. */
static uint64_t most_weight(const struct mase_pickle *p)
{
    const uint64_t most = p->limit / 2048 + 4 * (uint64_t)(p->in.pos - p->start);
    return most < MASE_OBJ_COUNT ? most : MASE_OBJ_COUNT;
}

/* A long text weighs more than a number: it may be repeated, too. */
static uint32_t leaf_weight(const struct mase_obj *o)
{
    const bool text =
        o->kind == MASE_OBJ_TEXT || o->kind == MASE_OBJ_BYTES || o->kind == MASE_OBJ_DTYPE;
    const size_t weight = 1 + (text ? o->len / 16 : 0);
    return weight < MASE_OBJ_COUNT ? (uint32_t)weight : MASE_OBJ_COUNT;
}

static bool is_container(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_LIST || o->kind == MASE_OBJ_TUPLE || o->kind == MASE_OBJ_DICT ||
           o->kind == MASE_OBJ_OPAQUE;
}

static bool has_keys(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_DICT || o->kind == MASE_OBJ_OPAQUE;
}

static bool is_to_be_cut(const struct seal *s, const struct mase_obj *o)
{
    return s->opaque && (o->weight == OPEN || (o->kind == MASE_OBJ_OPAQUE && o->weight > LARGE &&
                                               !mase_torch_is_module(o)));
}

static enum mase_status walk(struct seal *s, struct mase_obj *o, int depth, struct mase_err *err);

/* Walk a child and add it to its parent. */
static enum mase_status walk_child(struct seal *s, struct mase_obj **slot, int depth,
                                   uint64_t *weight, int *height, struct mase_err *err)
{
    if (is_to_be_cut(s, *slot))
        *slot = mase_opaque_stub(s->pickle, *slot);
    struct mase_obj *child = *slot;
    MASE_TRY(walk(s, child, depth + 1, err));
    *weight += child->weight;
    if (*height <= child->height)
        *height = child->height + 1;
    if (*weight > s->most)
        return mase_fail_at(err, MASE_ELIMIT, mase_pickle_at(s->pickle),
                            "the pickle of %zu bytes describes more than %" PRIu64
                            " objects by repeating its own%s",
                            s->pickle->in.pos - s->pickle->start, s->most,
                            s->most < MASE_OBJ_COUNT ? "; MASE_MEMORY=4G allows more" : "");
    if (*height > MASE_OBJ_DEPTH)
        return mase_fail_at(err, MASE_ELIMIT, mase_pickle_at(s->pickle),
                            "the pickle nests deeper than %d levels", MASE_OBJ_DEPTH);
    return MASE_OK;
}

static enum mase_status check_keys(struct seal *s, const struct mase_obj *dict,
                                   struct mase_err *err)
{
    const struct mase_loc at = mase_pickle_at(s->pickle);
    struct mase_map seen = { .arena = &s->scratch };
    for (int i = 0; i < dict->count; i++) {
        const struct mase_obj *key = dict->keys[i];
        if (key->kind == MASE_OBJ_LIST || key->kind == MASE_OBJ_DICT)
            return mase_fail_at(err, MASE_EPARSE, at, "a %s as a key",
                                mase_obj_kind_names[key->kind]);
        if (key->kind != MASE_OBJ_TEXT)
            continue;
        if (strlen(key->text) != key->len)
            return mase_fail_at(err, MASE_EUNSUPPORTED, at, "a key with a NUL byte");
        if (mase_map_get(&seen, key->text))
            return mase_fail_at(err, MASE_EPARSE, at, "a dict has the key '%.100s' twice",
                                key->text);
        mase_map_put(&seen, key->text, dict->keys[i]);
    }
    return MASE_OK;
}

static enum mase_status walk_container(struct seal *s, struct mase_obj *o, int depth,
                                       struct mase_err *err)
{
    uint64_t weight = 1;
    int height = 1;
    o->weight = OPEN;
    s->opaque += o->kind == MASE_OBJ_OPAQUE;
    for (int i = 0; i < o->count; i++) {
        if (has_keys(o))
            MASE_TRY(walk_child(s, &o->keys[i], depth, &weight, &height, err));
        MASE_TRY(walk_child(s, &o->items[i], depth, &weight, &height, err));
    }
    s->opaque -= o->kind == MASE_OBJ_OPAQUE;
    if (o->kind == MASE_OBJ_DICT)
        MASE_TRY(check_keys(s, o, err));
    o->weight = (uint32_t)weight;
    o->height = (uint8_t)height;
    return MASE_OK;
}

static enum mase_status walk(struct seal *s, struct mase_obj *o, int depth, struct mase_err *err)
{
    const struct mase_loc at = mase_pickle_at(s->pickle);
    if (depth > MASE_OBJ_DEPTH)
        return mase_fail_at(err, MASE_ELIMIT, at, "the pickle nests deeper than %d levels",
                            MASE_OBJ_DEPTH);
    if (o->weight == OPEN)
        return mase_fail_at(err, MASE_EUNSUPPORTED, at, "a %s that contains itself",
                            mase_obj_kind_names[o->kind]);
    if (o->kind == MASE_OBJ_REF)
        mase_opaque_from_ref(s->pickle, o);
    if (o->weight == 0 && is_container(o))
        return walk_container(s, o, depth, err);
    o->weight = o->weight ? o->weight : leaf_weight(o);
    return MASE_OK;
}

enum mase_status mase_pickle_check_tree(const struct mase_pickle *p, struct mase_obj *root,
                                        struct mase_err *err)
{
    struct seal s = { .pickle = p, .most = most_weight(p) };
    const enum mase_status st = walk(&s, root, 0, err);
    mase_arena_release(&s.scratch);
    return st;
}
