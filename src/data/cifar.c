/*
 * cifar.c - checking the files of cifar10 and cifar100, binary and pickled.
 */
#include "data/cifar.h"

#include <inttypes.h>

#include "format/pickle.h"

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

/* The bytes of an array, the last part of its state: (version, shape, type, order, bytes). */
static const struct mase_obj *array_bytes(const struct mase_obj *o)
{
    const struct mase_obj *state = o && o->kind == MASE_OBJ_OPAQUE && o->count ? o->items[0] : NULL;
    const struct mase_obj *bytes =
        state && state->kind == MASE_OBJ_TUPLE && state->count == 5 ? state->items[4] : NULL;
    return bytes && (bytes->kind == MASE_OBJ_TEXT || bytes->kind == MASE_OBJ_BYTES) ? bytes : NULL;
}

static enum mase_status take_labels(int32_t *to, const struct mase_obj *list, int classes,
                                    const char *path, struct mase_err *err)
{
    for (int i = 0; i < list->count; i++) {
        const struct mase_obj *o = list->items[i];
        if (o->kind != MASE_OBJ_INT || o->i < 0 || o->i >= classes)
            return mase_fail_in(err, MASE_EVALUE, path,
                                "the label of image %d is no whole number from 0 to %d", i,
                                classes - 1);
        to[i] = (int32_t)o->i;
    }
    return MASE_OK;
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
    const struct mase_obj *bytes = array_bytes(mase_obj_get(root, "data")),
                          *labels = mase_obj_get(root, key);
    if (!bytes || !labels || labels->kind != MASE_OBJ_LIST ||
        bytes->len != (size_t)labels->count * MASE_CIFAR_IMAGE || labels->count < IMAGES_MIN)
        return mase_fail_in(
            err, MASE_EPARSE, f->path,
            "no batch of cifar: expected a dict with data, %d bytes for each image, "
            "and %s, a list with a number for each",
            MASE_CIFAR_IMAGE, key);
    int32_t *label = mase_new_array(a, int32_t, (size_t)labels->count);
    MASE_TRY(take_labels(label, labels, classes, f->path, err));
    *b = (struct mase_cifar_batch){ (const unsigned char *)bytes->text, label, labels->count };
    return MASE_OK;
}
