/*
 * ops.c - reads ops.def: the table of operations, lookup by every name they go by, and their
 * signatures as structs.
 *
 * Lookup tables and parsed signatures are made together on first use, once for the process.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <mase/ops.h>
#include <mase/str.h>

#include "base/host.h"
#include "base/number.h"
#include "ir/shape/shape.h"

#define mase_shape_NONE NULL

enum { REACH_NAMED, REACH_USUAL };

/* Each OP ends the row before it and opens its own. */
/* clang-format off */
const struct mase_op_info mase_ops[MASE_OP_COUNT] = {
    [MASE_OP_unknown] = {
        .name = "unknown",
        .help = "a target that no row knows",
#define OP(op_name, op_type, rule, op_help) \
    },                                      \
    [MASE_OP_##op_name] = {                 \
        .name = #op_name, .type = MASE_TYPE_##op_type, .shape = mase_shape_##rule, .help = op_help,
#define CALL(sig, funcs, meths) .call = sig, .functions = funcs, .methods = meths,
#define MODULE(cls, cls_type, ctor_sig, repr_text, params) \
    .module = #cls, .module_type = MASE_TYPE_##cls_type, .ctor = ctor_sig, .repr = repr_text,
#define QUANTISABLE(func, reach) .quantisable = true, .usual = REACH_##reach, .quant_func = func,
#define SHARES() .shares = true,
#define NONNEGATIVE(when) .nonnegative = MASE_NONNEGATIVE_##when,
#include <mase/ops.def>
    },
};

/* clang-format on */

#undef mase_shape_NONE

const char *const mase_op_type_names[] = {
    [MASE_TYPE_NONE] = "none",
    [MASE_TYPE_MODULE] = "module",
    [MASE_TYPE_MODULE_RELATED_FUNC] = "module_related_func",
    [MASE_TYPE_BUILTIN_FUNC] = "builtin_func",
    [MASE_TYPE_IMPLICIT_FUNC] = "implicit_func",
    [MASE_TYPE_PLACEHOLDER] = "placeholder",
    [MASE_TYPE_GET_ATTR] = "get_attr",
    [MASE_TYPE_OUTPUT] = "output",
};

/* ---- signatures ---- */

/* Cut *text at the first sep and step over it; NULL when nothing is left. Blanks are trimmed. */
static char *cut(char **text, char sep)
{
    while (mase_is_space(**text))
        ++*text;
    if (!**text)
        return NULL;
    char *start = *text, *end = start + strcspn(start, (char[]){ sep, '\0' });
    *text = *end ? end + 1 : end;
    while (end > start && mase_is_space(end[-1]))
        end--;
    *end = '\0';
    return start;
}

static void parse_mark(struct mase_sig_param *p, char mark, const char *sig)
{
    if (strchr("xupyswbt", mark))
        p->role = mark;
    else if (strchr("12346nf?", mark))
        p->coerce = mark;
    else
        mase_bug("signature \"%s\": '%c' is no mark", sig, mark);
}

/* text: writable, becomes the storage of names and defaults. */
static void parse_sig(struct mase_sig *sig, char *text, const char *original)
{
    for (char *item; (item = cut(&text, ','));) {
        if (sig->count == MASE_MAX_PARAMS)
            mase_bug("signature \"%s\" has more than %d parameters", original, MASE_MAX_PARAMS);
        struct mase_sig_param *p = &sig->param[sig->count++];
        p->variadic = *item == '*';
        item += p->variadic;

        char *dflt = strchr(item, '=');
        if (dflt)
            *dflt++ = '\0';
        char *marks = strchr(item, ':');
        if (marks)
            for (*marks++ = '\0'; *marks; marks++)
                parse_mark(p, *marks, original);
        p->name = item;
        p->has_default = dflt;
        p->dflt = dflt;
    }
}

/* ---- tables made once ---- */

static struct {
    struct mase_arena arena; /* never released */
    struct mase_map names, functions, methods, modules;
    struct mase_sig call[MASE_OP_COUNT], ctor[MASE_OP_COUNT];
} tables;

static void put(struct mase_map *map, const char *key, enum mase_op op)
{
    if (mase_map_get(map, key))
        mase_bug("ops.def: \"%s\" belongs to two rows, the second is %s", key, mase_ops[op].name);
    mase_map_put(map, key, (void *)&mase_ops[op]);
}

static void put_all(struct mase_map *map, const char *words, enum mase_op op)
{
    char *rest = mase_arena_strdup(&tables.arena, words ? words : "");
    for (char *word; (word = cut(&rest, ' '));)
        put(map, word, op);
}

static void read_sig(struct mase_sig *sig, const char *text)
{
    if (text)
        parse_sig(sig, mase_arena_strdup(&tables.arena, text), text);
}

static enum mase_status make_tables(void *data, struct mase_err *err)
{
    (void)data, (void)err;
    tables.names.arena = tables.functions.arena = &tables.arena;
    tables.methods.arena = tables.modules.arena = &tables.arena;
    for (int i = MASE_OP_unknown + 1; i < MASE_OP_COUNT; i++) {
        const enum mase_op op = (enum mase_op)i;
        const struct mase_op_info *info = &mase_ops[op];
        put(&tables.names, info->name, op);
        put_all(&tables.functions, info->functions, op);
        put_all(&tables.methods, info->methods, op);
        if (info->module)
            put(&tables.modules, info->module, op);
        read_sig(&tables.call[op], info->call);
        read_sig(&tables.ctor[op], info->ctor);
    }
    return MASE_OK;
}

/* They outlive every call. Without memory for them nothing is left, the lock is given back, and the
 * next caller tries again. */
static void need_tables(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool made;
    if (atomic_load_explicit(&made, memory_order_acquire))
        return;
    struct mase_err err;
    enum mase_status st = MASE_OK;
    pthread_mutex_lock(&lock);
    if (!made) {
        st = mase_process_run(make_tables, NULL, &err);
        if (st)
            memset(&tables, 0, sizeof tables);
        atomic_store_explicit(&made, !st, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    (void)mase_guard_propagate(st, &err);
}

static enum mase_op find(const struct mase_map *map, const char *key)
{
    need_tables();
    const struct mase_op_info *info = key ? mase_map_get(map, key) : NULL;
    return info ? (enum mase_op)(info - mase_ops) : MASE_OP_unknown;
}

enum mase_op mase_op_find(const char *name)
{
    return find(&tables.names, name);
}

enum mase_op mase_op_of_function(const char *target)
{
    return find(&tables.functions, target);
}

enum mase_op mase_op_of_method(const char *name)
{
    return find(&tables.methods, name);
}

enum mase_op mase_op_of_module(const char *class_name)
{
    return find(&tables.modules, class_name);
}

const struct mase_sig *mase_op_call_sig(enum mase_op op)
{
    need_tables();
    return &tables.call[op];
}

const struct mase_sig *mase_op_ctor_sig(enum mase_op op)
{
    need_tables();
    return &tables.ctor[op];
}
