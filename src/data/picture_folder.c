/*
 * picture_folder.c - a folder as a dataset: pictures by class, as torchvision's ImageFolder takes
 * them.
 *
 *     photos/cat/1.png                    classes are the folders, in the order of their names
 *     photos/train/cat/1.png              or parts are, with classes in them: train, val, test
 *     photos/val/cat/7.png
 *
 * Pictures are taken in the order of their folders and names. Those that are not .png, .jpg or
 * .jpeg are refused; files that are no pictures by their name are passed over, and so is what
 * begins with a dot. Pixels are decoded once and stay as bytes. A folder of mnist's or cifar's
 * files is read as these.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "data/dataset_parts.h"
#include "data/picture.h"
#include "data/reader.h"

enum { DEPTH_MAX = 16, CLASSES_MAX = 65536, ROWS_MIN = 10, SECONDS = 60 };

/* ---- list the folder ---- */

/* Names in a folder, sorted by bytes, as Python does. */
struct names {
    const char **name;
    int count, cap;
};

static enum mase_status list_folder(struct names *n, struct mase_arena *a, const char *dir,
                                    struct mase_err *err)
{
    struct mase_dir d = mase_dir_open(dir);
    *n = (struct names){ 0 };
    if (!d.dir) {
        const enum mase_status st = mase_fail_errno(err, dir, "cannot list the folder");
        mase_dir_close(&d);
        return st;
    }
    for (struct dirent *e; (e = readdir(d.dir));)
        if (e->d_name[0] != '.') {
            n->name = mase_arena_grow(a, n->name, n->count, &n->cap, sizeof *n->name);
            n->name[n->count++] = mase_arena_strdup(a, e->d_name);
        }
    mase_dir_close(&d);
    if (n->count)
        qsort(n->name, (size_t)n->count, sizeof *n->name, mase_compare_names);
    return MASE_OK;
}

/* List the subfolders of a folder. */
static enum mase_status list_folders(struct names *n, struct mase_arena *a, const char *dir,
                                     struct mase_err *err)
{
    MASE_TRY(list_folder(n, a, dir, err));
    int kept = 0;
    for (int i = 0; i < n->count; i++)
        if (mase_is_dir(mase_path_join(a, dir, n->name[i])))
            n->name[kept++] = n->name[i];
    n->count = kept;
    return MASE_OK;
}

/* 1: a supported picture, -1: an unsupported one, 0: other files. */
static int is_picture(const char *name)
{
    static const char *const endings[] = { ".png", ".jpg", ".jpeg", ".ppm",  ".bmp",
                                           ".pgm", ".tif", ".tiff", ".webp", ".gif" };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t size = strlen(endings[i]);
        if (n > size && mase_strcaseeq(name + n - size, endings[i]))
            return i < 3 ? 1 : -1;
    }
    return 0;
}

struct item {
    const char *path;
    int32_t label;
    unsigned char part;
};

struct collection {
    struct mase_arena *arena;
    struct item *item;
    int count, cap;
    struct names classes;
    bool parts; /* folders are splits */
};

static enum mase_status add_pictures(struct collection *c, const char *dir, int32_t label, int part,
                                     int depth, struct mase_err *err)
{
    struct mase_arena *a = c->arena;
    struct names n;
    if (depth == DEPTH_MAX)
        return mase_fail_in(err, MASE_ELIMIT, dir, "folders in folders, more than %d deep",
                            DEPTH_MAX);
    MASE_TRY(list_folder(&n, a, dir, err));
    for (int i = 0; i < n.count; i++) {
        const char *path = mase_path_join(a, dir, n.name[i]);
        const int kind = is_picture(n.name[i]);
        if (kind < 0)
            return mase_fail_in(err, MASE_EUNSUPPORTED, path,
                                "pictures are read from .png, .jpg and .jpeg files; convert it");
        if (!kind || mase_is_dir(path))
            continue;
        c->item = mase_arena_grow(a, c->item, c->count, &c->cap, sizeof *c->item);
        c->item[c->count++] = (struct item){ path, label, (unsigned char)part };
    }
    for (int i = 0; i < n.count; i++) { /* those in subfolders follow */
        const char *path = mase_path_join(a, dir, n.name[i]);
        if (mase_is_dir(path))
            MASE_TRY(add_pictures(c, path, label, part, depth + 1, err));
    }
    return MASE_OK;
}

static int find_class(const struct collection *c, const char *name)
{
    for (int i = 0; i < c->classes.count; i++)
        if (mase_streq(c->classes.name[i], name))
            return i;
    return -1;
}

/* Add the class folders in a folder. */
static enum mase_status add_classes(struct collection *c, const char *dir, int part,
                                    struct mase_err *err)
{
    struct names n;
    MASE_TRY(list_folders(&n, c->arena, dir, err));
    for (int i = 0; i < n.count; i++) {
        const char *path = mase_path_join(c->arena, dir, n.name[i]);
        const int label = find_class(c, n.name[i]), before = c->count;
        if (label < 0)
            return mase_fail_in(err, MASE_EVALUE, path,
                                "there is no class '%s' among those that train", n.name[i]);
        MASE_TRY(add_pictures(c, path, label, part, 0, err));
        if (c->count == before && part == MASE_SPLIT_TRAIN)
            return mase_fail_in(err, MASE_EVALUE, path,
                                "there is no .png, .jpg or .jpeg file in the folder of class '%s'",
                                n.name[i]);
    }
    return MASE_OK;
}

static enum mase_status fail_layout(const char *dir, struct mase_err *err)
{
    return mase_fail_in(err, MASE_EVALUE, dir,
                        "no folder of pictures: expected a folder for each class, CLASS/NAME.png, "
                        "or train, val and test with such folders; or the files of MNIST/raw, "
                        "cifar-10-batches-py or cifar-10-batches-bin");
}

/* Is every folder a split? *part: which. */
static bool are_parts(int *part, const struct names *n)
{
    bool train = false;
    for (int i = 0; i < n->count; i++) {
        part[i] = mase_split_of_word(n->name[i]);
        if (part[i] < 0)
            return false;
        train = train || part[i] == MASE_SPLIT_TRAIN;
    }
    return train && n->count > 1;
}

static enum mase_status collect(struct collection *c, const char *dir, struct mase_err *err)
{
    struct names top;
    MASE_TRY(list_folders(&top, c->arena, dir, err));
    if (!top.count)
        return fail_layout(dir, err);
    int *part = mase_new_array(c->arena, int, (size_t)top.count);
    c->parts = are_parts(part, &top);
    c->classes = top;
    for (int i = 0; c->parts && i < top.count; i++)
        if (part[i] == MASE_SPLIT_TRAIN)
            MASE_TRY(list_folders(&c->classes, c->arena, mase_path_join(c->arena, dir, top.name[i]),
                                  err));
    if (c->classes.count < 2 || c->classes.count > CLASSES_MAX)
        return mase_fail_in(err, MASE_EVALUE, dir,
                            "%d folders of classes; 2 to %d are read: CLASS/NAME.png",
                            c->classes.count, CLASSES_MAX);
    if (!c->parts)
        return add_classes(c, dir, MASE_SPLIT_TRAIN, err);
    for (int p = MASE_SPLIT_TRAIN; p <= MASE_SPLIT_TEST; p++)
        for (int i = 0; i < top.count; i++)
            if (part[i] == p)
                MASE_TRY(add_classes(c, mase_path_join(c->arena, dir, top.name[i]), p, err));
    return MASE_OK;
}

/* ---- pixels ---- */

/* Size and channels: those asked for, else those of the first picture, or colour if any picture is.
 */
static enum mase_status agree(struct mase_picture_want *want, const struct collection *c,
                              const struct mase_image_opts *o, uint64_t *bytes,
                              struct mase_err *err)
{
    int channels = 1;
    *want = (struct mase_picture_want){ o->channels, o->height, o->width };
    for (int i = 0; i < c->count; i++) {
        struct mase_file f;
        struct mase_picture p;
        MASE_TRY(mase_file_open(&f, c->item[i].path, err));
        const enum mase_status st = mase_picture_header(&p, &f, err);
        *bytes += f.size;
        mase_file_close(&f);
        if (st)
            return st;
        if (!want->height) {
            want->height = p.height;
            want->width = p.width;
        }
        if (!o->height && (p.height != want->height || p.width != want->width))
            return mase_fail_in(err, MASE_EVALUE, c->item[i].path,
                                "%d x %d pixels, but %s has %d x %d; --image-size H,W makes them "
                                "all one size",
                                p.height, p.width, c->item[0].path, want->height, want->width);
        channels = p.channels > channels ? p.channels : channels;
    }
    want->channels = want->channels ? want->channels : channels;
    return MASE_OK;
}

static enum mase_status decode_all(struct mase_dataset *d, const struct collection *c,
                                   struct mase_reader *w, const struct mase_picture_want *want,
                                   size_t size, struct mase_err *err)
{
    unsigned char *to = d->block;
    for (int i = 0; i < c->count; i++, to += size) {
        struct mase_file f;
        w->path = c->item[i].path;
        MASE_TRY(mase_file_open(&f, w->path, err));
        mase_add_checksum(d, &f);
        const struct mase_reader_request q = { MASE_READER_PICTURE, want->channels, want->height,
                                               want->width, f.size };
        const enum mase_status st = mase_reader_call(w, q, f.data, to, size, NULL, err);
        mase_file_close(&f);
        if (st)
            return st;
    }
    return MASE_OK;
}

static enum mase_status read_pixels(struct mase_dataset *d, const struct collection *c,
                                    const struct mase_dataset_opts *opts, const char *dir,
                                    struct mase_err *err)
{
    struct mase_picture_want want;
    uint64_t bytes = 0, most;
    MASE_TRY(agree(&want, c, &opts->image, &bytes, err));
    const size_t size = (size_t)want.channels * (size_t)want.height * (size_t)want.width;
    most = mase_data_memory(bytes);
    if (size * (uint64_t)c->count > most)
        return mase_fail_in(err, MASE_ELIMIT, dir,
                            "%d pictures of %zu bytes take more than %" PRIu64
                            " bytes, the most for files of this size; --image-size H,W makes them "
                            "smaller",
                            c->count, size, most);
    struct mase_reader w = { .limits = { mase_data_memory(0), SECONDS, true },
                             .path = dir,
                             .library = "libpng or libjpeg",
                             .kind = "picture" };
    MASE_TRY(mase_reader_start(&w, err));
    d->block = mase_aligned_calloc(size * (size_t)c->count + 1);
    const enum mase_status st = decode_all(d, c, &w, &want, size, err);
    mase_reader_stop(&w);
    d->info.data.sample = (struct mase_shape){ 3, { want.channels, want.height, want.width } };
    d->image->part[d->image->parts++] =
        (struct mase_image_part){ d->block, 0, c->count, (int64_t)size };
    return st;
}

/* ---- splits ---- */

static enum mase_status split(struct mase_dataset *d, const struct collection *c,
                              const struct mase_dataset_opts *opts, struct mase_err *err)
{
    struct mase_dataset_opts all = mase_applicable_split(opts, c->parts, false, false);
    int64_t count[MASE_SPLIT_COUNT] = { 0 };
    for (int i = 0; i < c->count; i++)
        count[c->item[i].part]++;
    if (c->parts)
        return mase_split_parts(d, opts, count[MASE_SPLIT_TRAIN], count[MASE_SPLIT_VALIDATION],
                                MASE_SPLIT_TEST, err);
    if (!mase_has_split_opts(&all)) { /* the default shares, of each class */
        static const double usual[] = { 0.72, 0.08, 0.2 };
        memcpy(all.split.share, usual, sizeof usual);
        all.original_splits = false;
    }
    return mase_split_by_shares(d, &all, 0, NULL, err);
}

static enum mase_status open_pictures(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                      const char *dir, struct mase_err *err)
{
    struct collection c = { .arena = &d->arena };
    MASE_TRY(collect(&c, dir, err));
    if (c.count < ROWS_MIN)
        return mase_fail_in(err, MASE_EVALUE, dir, "%d pictures are too few; %d are needed",
                            c.count, ROWS_MIN);
    d->image = mase_new(&d->arena, struct mase_image_store);
    MASE_TRY(read_pixels(d, &c, opts, dir, err));
    int32_t *label = mase_new_array(&d->arena, int32_t, (size_t)c.count);
    for (int i = 0; i < c.count; i++)
        label[i] = c.item[i].label;
    d->label = label;
    d->info.rows = c.count;
    d->info.data.classes = c.classes.count;
    d->info.class_names = c.classes.name;
    d->info.source = mase_path_absolute(&d->arena, dir);
    d->info.data.help = "pictures of your own";
    if (split(d, &c, opts, err))
        return err ? mase_place(err, (struct mase_loc){ .path = dir, .off = -1 }) : MASE_EVALUE;
    struct mase_dataset_opts usual = *opts;
    if (!opts->image.fit && !opts->image.normalise) { /* as torchvision's ToTensor */
        usual.image.normalise = true;
        for (int k = 0; k < 3; k++)
            usual.image.std[k] = 1;
    }
    return mase_image_normalise(d, &usual, err);
}

/* ---- folders of known files ---- */

static const struct known {
    const char *file, *name;
} known[] = {
    { "train-images-idx3-ubyte", "mnist" },
    { "train-images-idx3-ubyte.gz", "mnist" },
    { "data_batch_1.bin", "cifar10" },
    { "data_batch_1", "cifar10" },
    { "train.bin", "cifar100" },
    { "meta", "cifar100" },
};

enum mase_status mase_open_folder(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                  const char *dir, struct mase_err *err)
{
    if (!mase_is_dir(dir))
        return mase_fail_in(err, MASE_EIO, dir, "there is no such folder");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (mase_is_file(mase_path_join(&d->arena, dir, known[i].file))) {
            struct mase_dataset_opts there = *opts;
            const bool clothes = mase_streq(known[i].name, "mnist") && mase_is_fashion(dir);
            const char *name = clothes ? "fashion-mnist" : known[i].name;
            there.data_dir = dir;
            return mase_open_as(d, &there, name, err);
        }
    return open_pictures(d, opts, dir, err);
}
