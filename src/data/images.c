/*
 * images.c - mnist, fashion-mnist, cifar10, cifar100: images as bytes, mapped and read when a batch
 * needs them.
 *
 * IDX, of mnist (idx.c):     images of rank 3 (N, 28, 28), labels of rank 1
 * binary CIFAR (cifar.c):    records of a label (cifar100: two, the fine one second) and an image
 * pickled CIFAR (cifar.c):   a dict of an array of images and a list of labels
 *
 * mnist's pixels stay 0 to 255, as the original has them. cifar's become (p / 255 - mean) / std
 * with the means and deviations of ImageNet; in training they are cropped at random from an image
 * with 4 black pixels around it, and flipped.
 */
#include <inttypes.h>
#include <string.h>

#include "data/cifar.h"
#include "data/dataset_parts.h"
#include "data/idx.h"

enum { TRAINING, TESTING };

static enum mase_status fail_missing(const struct mase_dataset *d,
                                     const struct mase_dataset_opts *opts, const char *name,
                                     struct mase_err *err)
{
    const char *dir = mase_data_dir(opts);
    if (!dir)
        return mase_fail(err, MASE_EIO,
                         "dataset %s is read from files, %s and others as torchvision downloads "
                         "them: name their folder by --data-dir or MASE_DATA",
                         d->info.data.name, name);
    return mase_fail_in(err, MASE_EIO, dir, "there is no file %s of dataset %s in this folder",
                        name, d->info.data.name);
}

void mase_add_checksum(struct mase_dataset *d, const struct mase_file *f)
{
    char text[2 * 64 + 1] = "";
    memcpy(text, d->info.checksum, 64);
    char *hex = text + strlen(text);
    mase_sha256(hex, f->data, f->size);
    if (hex == text)
        memcpy(d->info.checksum, hex, 65);
    else
        mase_sha256(d->info.checksum, text, 2 * 64);
}

static void add_part(struct mase_dataset *d, const unsigned char *data, int64_t n, int64_t stride)
{
    struct mase_image_store *s = d->image;
    s->part[s->parts++] = (struct mase_image_part){ data, d->info.rows, n, stride };
    d->info.rows += n;
}

static enum mase_status finish(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                               int64_t training, struct mase_err *err)
{
    const int channels = opts->image.channels;
    if (opts->image.height || (channels && channels != d->info.data.sample.dim[0]))
        return mase_fail(err, MASE_EVALUE,
                         "size and channels are chosen of a folder of pictures; those of %s are "
                         "known",
                         d->info.data.name);
    MASE_TRY(mase_split_parts(d, opts, training, 0, MASE_SPLIT_TEST, err));
    return mase_image_normalise(d, opts, err);
}

/* ---- IDX ---- */

static enum mase_status open_idx(struct mase_file *f, struct mase_dataset *d,
                                 const struct mase_dataset_opts *opts, const char *what,
                                 const struct mase_shape *item, int64_t *n, struct mase_err *err)
{
    struct mase_arena *a = &d->arena;
    const int rank = 1 + item->rank;
    const char *const names[] = {
        mase_arena_printf(a, "%s-idx%d-ubyte", what, rank),
        mase_arena_printf(a, "%s-idx%d-ubyte.gz", what, rank),
        mase_arena_printf(a, "%s.idx%d-ubyte", what, rank),
    };
    const char *path = mase_find_file(d, opts, d->info.data.name, names, 3);
    const bool digit = mase_streq(d->info.data.name, "mnist");
    if (!path) /* torchvision's folder */
        path = mase_find_file(d, opts, digit ? "MNIST/raw" : "FashionMNIST/raw", names, 3);
    if (!path)
        return fail_missing(d, opts, names[0], err);
    MASE_TRY(mase_file_open(f, path, err));
    mase_add_checksum(d, f);
    return mase_idx_check(f, a, item, n, err);
}

/* Open images and labels of a split; append the labels to *label. */
static enum mase_status open_idx_part(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      int part, struct mase_err *err)
{
    static const char *const names[][2] = { { "train-images", "train-labels" },
                                            { "t10k-images", "t10k-labels" } };
    const struct mase_shape image = { 2, { 28, 28 } }, number = { 0 };
    struct mase_file *images = &d->file[2 * part], *labels = &d->file[2 * part + 1];
    int64_t n = 0, label_count = 0;
    MASE_TRY(open_idx(images, d, opts, names[part][0], &image, &n, err));
    MASE_TRY(open_idx(labels, d, opts, names[part][1], &number, &label_count, err));
    if (label_count != n || n < 10)
        return mase_fail_in(err, MASE_EVALUE, labels->path,
                            "%" PRId64 " labels for %" PRId64 " images", label_count, n);
    for (int64_t i = 0; i < n; i++)
        if (labels->data[8 + i] >= d->info.data.classes)
            return mase_fail_at(err, MASE_EVALUE,
                                (struct mase_loc){ .path = labels->path, .off = 8 + i },
                                "label %d of image %" PRId64 " is outside 0..%d",
                                labels->data[8 + i], i, d->info.data.classes - 1);
    add_part(d, images->data + 16, n, 28 * 28);
    return MASE_OK;
}

static const char *const digits[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" };
static const char *const clothes[] = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"
};

enum mase_status mase_open_mnist(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                 const char *file, struct mase_err *err)
{
    if (file)
        return mase_fail(err, MASE_EVALUE, "%s is read from a folder: name it by --data-dir",
                         d->info.data.name);
    MASE_TRY(mase_check_data_dir(opts, err));
    d->image = mase_new(&d->arena, struct mase_image_store);
    MASE_TRY(open_idx_part(d, opts, TRAINING, err));
    const int64_t training = d->info.rows;
    MASE_TRY(open_idx_part(d, opts, TESTING, err));
    for (int v = 0; v < 256; v++)
        d->image->level[0][v] = (float)v;
    int32_t *label = mase_new_array(&d->arena, int32_t, (size_t)d->info.rows);
    for (int64_t i = 0; i < d->info.rows; i++)
        label[i] = i < training ? d->file[1].data[8 + i] : d->file[3].data[8 + i - training];
    d->info.source = mase_path_absolute(&d->arena, d->file[0].path);
    d->info.class_names = mase_streq(d->info.data.name, "mnist") ? digits : clothes;
    d->label = label;
    return finish(d, opts, training, err);
}

/* ---- CIFAR ---- */

static const struct cifar {
    const char *name, *folder;
    int label_bytes;    /* of a record; the last one is the label */
    const char *labels; /* key of the labels in a pickle; NULL: binary */
    const char *files[MASE_DATA_FILES + 1];
    int training; /* number of training files; the others test */
} cifars[] = {
    { "cifar10",
      "cifar-10-batches-bin",
      1,
      NULL,
      { "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
        "data_batch_5.bin", "test_batch.bin", NULL },
      5 },
    { "cifar10",
      "cifar-10-batches-py",
      0,
      "labels",
      { "data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5",
        "test_batch", NULL },
      5 },
    { "cifar100", "cifar-100-binary", 2, NULL, { "train.bin", "test.bin", NULL }, 1 },
    { "cifar100", "cifar-100-python", 0, "fine_labels", { "train", "test", NULL }, 1 },
};
enum { CIFARS = sizeof cifars / sizeof cifars[0] };

static const char *const photographs[] = { "airplane", "automobile", "bird",  "cat",  "deer",
                                           "dog",      "frog",       "horse", "ship", "truck" };

/* The form whose first file exists; the first form if none does. */
static const struct cifar *find_cifar(struct mase_dataset *d, const struct mase_dataset_opts *opts)
{
    const struct cifar *first = NULL;
    for (int k = 0; k < CIFARS; k++) {
        if (!mase_streq(cifars[k].name, d->info.data.name))
            continue;
        if (mase_find_file(d, opts, cifars[k].folder, cifars[k].files, 1))
            return &cifars[k];
        first = first ? first : &cifars[k];
    }
    return first;
}

/* Append the images and labels of a file. */
static enum mase_status open_cifar_part(struct mase_dataset *d,
                                        const struct mase_dataset_opts *opts,
                                        const struct cifar *kind, int i, int32_t **label, int *cap,
                                        struct mase_err *err)
{
    const char *path = mase_find_file(d, opts, kind->folder, &kind->files[i], 1);
    struct mase_file *f = &d->file[i];
    struct mase_cifar_batch b = { 0 };
    int64_t stride = MASE_CIFAR_IMAGE;
    if (!path)
        return fail_missing(d, opts, kind->files[i], err);
    MASE_TRY(mase_file_open(f, path, err));
    mase_add_checksum(d, f);
    if (kind->labels) {
        MASE_TRY(mase_cifar_pickle(&b, &d->arena, f, kind->labels, d->info.data.classes, err));
    } else {
        MASE_TRY(mase_cifar_check(f, kind->label_bytes, d->info.data.classes, &b.n, err));
        b.images = f->data + kind->label_bytes;
        stride += kind->label_bytes;
    }
    for (int64_t k = 0; k < b.n; k++) {
        const int at = (int)(d->info.rows + k);
        *label = mase_arena_grow(&d->arena, *label, at, cap, sizeof **label);
        (*label)[at] = b.labels ? b.labels[k] : b.images[k * stride - 1];
    }
    add_part(d, b.images, b.n, stride);
    return MASE_OK;
}

static void set_levels(struct mase_image_store *s)
{
    static const double mean[] = { 0.485, 0.456, 0.406 }, std[] = { 0.229, 0.224, 0.225 };
    for (int c = 0; c < MASE_IMAGE_CHANNELS; c++)
        for (int v = 0; v < 256; v++)
            s->level[c][v] = (float)((v / 255.0 - mean[c]) / std[c]);
    s->pad = 4;
    s->flip = true;
}

enum mase_status mase_open_cifar(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                 const char *file, struct mase_err *err)
{
    int64_t training = 0;
    int32_t *label = NULL;
    int cap = 0;
    if (file)
        return mase_fail(err, MASE_EVALUE, "%s is read from a folder: name it by --data-dir",
                         d->info.data.name);
    MASE_TRY(mase_check_data_dir(opts, err));
    d->image = mase_new(&d->arena, struct mase_image_store);
    set_levels(d->image);
    d->image->words = "(p / 255 - mean) / deviation, by colour";
    const struct cifar *kind = find_cifar(d, opts);
    for (int i = 0; kind->files[i]; i++) {
        MASE_TRY(open_cifar_part(d, opts, kind, i, &label, &cap, err));
        if (i == kind->training - 1)
            training = d->info.rows;
    }
    d->info.source = mase_path_absolute(&d->arena, d->file[0].path);
    d->info.class_names = d->info.data.classes == 10
                              ? photographs
                              : mase_number_names(&d->arena, d->info.data.classes);
    d->label = label;
    return finish(d, opts, training, err);
}
