/*
 * cifar.c - check the files of cifar10 and cifar100, binary and pickled.
 */
#include "data/cifar.h"

#include <inttypes.h>
#include <string.h>

#include <mase/str.h>

#include "file/pickle.h"

enum { IMAGES_MIN = 10 };

static struct mase_loc place(const struct mase_file *f, int64_t off)
{
    return (struct mase_loc){ .path = f->path, .off = off };
}

enum mase_status mase_cifar_check(const struct mase_file *f, int label_bytes, int classes,
                                  int64_t *n, struct mase_err *err)
{
    const int64_t record = label_bytes + MASE_CIFAR_IMAGE, size = (int64_t)f->size;
    *n = size / record;
    if (size % record)
        return mase_fail_at(err, MASE_EPARSE, place(f, *n * record),
                            "the last record has %" PRId64 " bytes, expected %" PRId64,
                            size % record, record);
    if (*n < IMAGES_MIN || *n > INT32_MAX)
        return mase_fail_in(err, MASE_EPARSE, f->path, "%" PRId64 " images, expected at least %d",
                            *n, IMAGES_MIN);
    for (int64_t i = 0; i < *n; i++) {
        const int64_t off = i * record + label_bytes - 1;
        if (f->data[off] >= classes)
            return mase_fail_at(err, MASE_EVALUE, place(f, off),
                                "label %d of image %" PRId64 " is outside 0..%d", f->data[off], i,
                                classes - 1);
    }
    return MASE_OK;
}

/* A pickled NumPy array. */
struct array {
    const struct mase_obj *shape, *bytes;
    char kind; /* 'u' */
    int size;  /* bytes of an element */
    bool big, by_column;
};

/* The array's parts in a pickle: state of _reconstruct (version, shape, type, Fortran order?,
 * bytes), or by protocol 5 arguments of _frombuffer (bytes, type, shape, "C" or "F"). */
static bool take_array(struct array *x, const struct mase_obj *o)
{
    const struct mase_obj *type = NULL;
    if (!o || o->kind != MASE_OBJ_OPAQUE || !o->count)
        return false;
    const struct mase_obj *state = o->items[0];
    if (o->count == 4 && mase_ends_with(o->type, ".numeric._frombuffer")) {
        *x = (struct array){ .shape = o->items[2],
                             .bytes = state,
                             .by_column = !mase_obj_is_text(o->items[3], "C") };
        type = o->items[1];
    } else if (mase_streq(o->type, "numpy.ndarray") && state->kind == MASE_OBJ_TUPLE &&
               state->count == 5) {
        const struct mase_obj *order = state->items[3];
        *x = (struct array){ .shape = state->items[1],
                             .bytes = state->items[4],
                             .by_column = order->kind == MASE_OBJ_BOOL  ? order->b
                                          : order->kind == MASE_OBJ_INT ? order->i != 0
                                                                        : true };
        type = state->items[2];
    }
    if (!type || type->kind != MASE_OBJ_OPAQUE || strlen(type->type) != 3)
        return false;
    x->big = type->type[0] == '>';
    x->kind = type->type[1];
    x->size = type->type[2] - '0';
    return x->shape->kind == MASE_OBJ_TUPLE &&
           (x->bytes->kind == MASE_OBJ_TEXT || x->bytes->kind == MASE_OBJ_BYTES);
}

static bool has_shape(const struct array *x, int rank, const int64_t *dim)
{
    bool same = x->shape->count == rank;
    for (int i = 0; i < rank && same; i++)
        same = x->shape->items[i]->kind == MASE_OBJ_INT && x->shape->items[i]->i == dim[i];
    return same;
}

/* Bytes in the order red, green, blue; converted from Fortran order if need be. */
static const unsigned char *take_images(struct mase_arena *a, const struct array *x, int64_t n)
{
    const int64_t rows[] = { n, MASE_CIFAR_IMAGE }, planes[] = { n, 3, 32, 32 };
    const unsigned char *from = (const unsigned char *)x->bytes->text;
    const bool flat = has_shape(x, 2, rows);
    if (x->kind != 'u' || x->size != 1 || x->bytes->len != (size_t)n * MASE_CIFAR_IMAGE ||
        (!flat && (x->by_column || !has_shape(x, 4, planes))))
        return NULL;
    if (!x->by_column)
        return from;
    unsigned char *to = mase_arena_alloc(a, x->bytes->len);
    for (int64_t k = 0; k < MASE_CIFAR_IMAGE; k++)
        for (int64_t i = 0; i < n; i++)
            to[i * MASE_CIFAR_IMAGE + k] = *from++;
    return to;
}

/* The number of labels in a list or an array of integers; -1: neither. */
static int64_t count_labels(const struct mase_obj *o, struct array *x)
{
    if (!o || o->kind == MASE_OBJ_LIST)
        return o ? o->count : -1;
    if (!take_array(x, o) || x->shape->count != 1 || (x->kind != 'i' && x->kind != 'u') ||
        x->shape->items[0]->kind != MASE_OBJ_INT || x->shape->items[0]->i < 0 ||
        x->bytes->len / (size_t)x->size != (size_t)x->shape->items[0]->i)
        return -1;
    return x->shape->items[0]->i;
}

/* Element i; a negative one becomes larger than any class. */
static uint64_t element(const struct array *x, int64_t i)
{
    const unsigned char *p = (const unsigned char *)x->bytes->text + i * x->size;
    uint64_t v = 0;
    for (int k = 0; k < x->size; k++)
        v = v << 8 | p[x->big ? k : x->size - 1 - k];
    return v;
}

static enum mase_status take_labels(int32_t *to, const struct mase_obj *list, const struct array *x,
                                    int64_t n, int classes, const char *path, struct mase_err *err)
{
    for (int64_t i = 0; i < n; i++) {
        const struct mase_obj *o = list->kind == MASE_OBJ_LIST ? list->items[i] : NULL;
        const uint64_t v = !o                        ? element(x, i)
                           : o->kind == MASE_OBJ_INT ? (uint64_t)o->i
                                                     : UINT64_MAX;
        if (v >= (uint64_t)classes)
            return mase_fail_in(err, MASE_EVALUE, path,
                                "the label of image %" PRId64 " is no whole number from 0 to %d", i,
                                classes - 1);
        to[i] = (int32_t)v;
    }
    return MASE_OK;
}

/* Keys are texts, or bytes in pickles of Python 2. */
static const struct mase_obj *get(const struct mase_obj *dict, const char *key)
{
    const struct mase_obj *found = mase_obj_get(dict, key);
    for (int i = 0; dict && dict->kind == MASE_OBJ_DICT && i < dict->count && !found; i++) {
        const struct mase_obj *k = dict->keys[i];
        if (k->kind == MASE_OBJ_BYTES && k->len == strlen(key) && !memcmp(k->text, key, k->len))
            found = dict->items[i];
    }
    return found;
}

enum mase_status mase_cifar_pickle(struct mase_cifar_batch *b, struct mase_arena *a,
                                   const struct mase_file *f, const char *key, int classes,
                                   struct mase_err *err)
{
    struct mase_pickle p = { .arena = a,
                             .limit = a->used + ((size_t)128 << 20) + 16 * f->size,
                             .keep_arrays = true };
    struct mase_cursor in = mase_cursor_of(f);
    const struct mase_obj *root = NULL;
    MASE_TRY(mase_pickle_read(&p, &in, &root, err));
    const struct mase_obj *labels = get(root, key);
    struct array x, y;
    const int64_t n = count_labels(labels, &y);
    const unsigned char *images =
        n >= IMAGES_MIN && n <= INT32_MAX && take_array(&x, get(root, "data"))
            ? take_images(a, &x, n)
            : NULL;
    if (!images)
        return mase_fail_in(
            err, MASE_EPARSE, f->path,
            "no batch of cifar: expected a dict with data, %d bytes for each image as an array "
            "[N, %d] or [N, 3, 32, 32], and %s, a whole number for each",
            MASE_CIFAR_IMAGE, MASE_CIFAR_IMAGE, key);
    int32_t *label = mase_new_array(a, int32_t, (size_t)n);
    MASE_TRY(take_labels(label, labels, &y, n, classes, f->path, err));
    *b = (struct mase_cifar_batch){ images, label, n };
    return MASE_OK;
}
