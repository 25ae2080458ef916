/*
 * t_pictures.c - folders of pictures: their pixels are PIL's, their order is torchvision's, and
 * what is wrong with them is said with its place. tests/data/pictures/generate.py made the files.
 */
#include "run_cases.h"
#include "scratch.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>

#include <mase/npy.h>

#include "data/picture.h"

#define PICTURES MASE_SOURCE_DIR "/tests/data/pictures/"
enum { H = 6, W = 9 };

static const char *const names[] = { "colour.png", "alpha.png",        "palette.png",
                                     "grey.png",   "grey_alpha.png",   "bits1.png",
                                     "bits2.png",  "colour16.png",     "interlaced.png",
                                     "colour.jpg", "progressive.jpeg", "grey.JPG" };
enum { NAMES = sizeof names / sizeof names[0] };

static struct mase_file open_picture(const char *name)
{
    static char path[4][600];
    static int next;
    struct mase_file f;
    struct mase_err err;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s%s", PICTURES, name);
    assert_int_equal(mase_file_open(&f, path[next], &err), MASE_OK);
    return f;
}

/* ---- pixels ---- */

static const struct mase_tensor *expected(const struct mase_npz *z, const char *name,
                                          const char *what)
{
    char key[100];
    snprintf(key, sizeof key, "%s_%s", name, what);
    for (char *p = key; *p; p++)
        *p = *p == '.' ? '_' : *p;
    for (int i = 0; i < z->count; i++)
        if (mase_streq(z->items[i].name, key))
            return &z->items[i].tensor;
    fail_msg("no array %s", key);
    return NULL;
}

static void pixels(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct mase_picture_want want;
    } forms[] = { { "rgb", { 3, H, W } },
                  { "grey", { 1, H, W } },
                  { "small", { 3, 3, 4 } },
                  { "large", { 3, 13, 20 } } };
    struct mase_file all = open_picture("expected.npz");
    struct mase_npz z;
    struct mase_err err;
    assert_int_equal(mase_npz_parse_stored(&z, all.data, all.size, all.path, &err), MASE_OK);
    for (int i = 0; i < NAMES; i++) {
        struct mase_file f = open_picture(names[i]);
        struct mase_picture p;
        assert_int_equal(mase_picture_header(&p, &f, &err), MASE_OK);
        assert_true(p.height == H && p.width == W);
        assert_int_equal(p.channels, strstr(names[i], "grey") || strstr(names[i], "bits") ? 1 : 3);
        for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
            unsigned char to[3 * 13 * 20];
            const struct mase_tensor *want = expected(&z, names[i], forms[k].what);
            assert_int_equal(mase_picture_decode(to, &forms[k].want, f.data, f.size, &err),
                             MASE_OK);
            assert_int_equal(want->dtype, MASE_U8);
            if (memcmp(to, want->data, (size_t)mase_tensor_count(want)) != 0)
                fail_msg("%s, %s: other pixels than PIL's", names[i], forms[k].what);
        }
        mase_file_close(&f);
    }
    mase_npz_close(&z);
    mase_file_close(&all);
}

static void refuse_picture(const void *data, size_t size, const char *message, int64_t off)
{
    const struct mase_file f = { .path = "x.png", .data = data, .size = size };
    struct mase_picture p;
    struct mase_err err = { 0 };
    assert_int_not_equal(mase_picture_header(&p, &f, &err), MASE_OK);
    if (!strstr(err.msg, message) || err.loc.off != off)
        fail_msg("'%s' at %lld expected, got '%s' at %lld", message, (long long)off, err.msg,
                 (long long)err.loc.off);
}

static void headers(void **state)
{
    (void)state;
    struct mase_file f = open_picture("grey16.png");
    refuse_picture(f.data, f.size, "grey of 16 bits is not read: PIL would cut it at 255", 24);
    unsigned char wide[64];
    memcpy(wide, f.data, 64);
    wide[24] = 8;
    wide[16] = 1; /* 16 million wide */
    refuse_picture(wide, 64, "a picture of 16777225 x 6 pixels", 16);
    refuse_picture(f.data, 20, "does not begin with its IHDR", 8);
    mase_file_close(&f);
    f = open_picture("cmyk.jpg");
    struct mase_picture p;
    struct mase_err err = { 0 };
    assert_int_equal(mase_picture_header(&p, &f, &err), MASE_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "CMYK"));
    mase_file_close(&f);
    f = open_picture("colour.jpg");
    refuse_picture(f.data, 30, "the JPEG file has no frame", 30);
    mase_file_close(&f);
    refuse_picture("", 0, "the file is empty", -1);
    refuse_picture("GIF89a", 6, "neither a PNG nor a JPEG file", 0);
}

/* No prefix and no changed byte does harm; what is cut short is refused. */
static void damaged(void **state)
{
    (void)state;
    static const char *const some[] = { "palette.png", "interlaced.png", "progressive.jpeg",
                                        "grey.JPG" };
    const struct mase_picture_want want = { 3, H, W };
    unsigned char to[3 * H * W];
    for (int i = 0; i < 4; i++) {
        struct mase_file f = open_picture(some[i]);
        unsigned char *bytes = malloc(f.size);
        struct mase_picture p;
        memcpy(bytes, f.data, f.size);
        for (size_t k = 0; k < f.size; k++) {
            struct mase_err err = { 0 };
            struct mase_file g = { .path = "x", .data = bytes, .size = f.size };
            bytes[k] ^= 0x5a;
            /* a size that was changed is asked for as little as any other */
            if (mase_picture_header(&p, &g, &err) == MASE_OK && p.width < 4096 && p.height < 4096 &&
                mase_picture_decode(to, &want, bytes, f.size, &err) != MASE_OK)
                assert_true(err.msg[0]);
            bytes[k] ^= 0x5a;
            if (k + 16 < f.size && k > 8)
                assert_int_not_equal(mase_picture_decode(to, &want, bytes, k, &err), MASE_OK);
        }
        free(bytes);
        mase_file_close(&f);
    }
}

/* ---- folders ---- */

static void make(const char *path)
{
    assert_true(mkdir(in_scratch(path), 0777) == 0 || mase_is_dir(in_scratch(path)));
}

static void copy(const char *from, const char *to)
{
    struct mase_file f = open_picture(from);
    put(to, f.data, f.size);
    mase_file_close(&f);
}

/* A folder and what is in it. */
static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlink(name) != 0)
            remove_tree(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static void remove_folder(const char *name)
{
    remove_tree(in_scratch(name));
}

/* n copies of pictures in a folder of a class. */
static void fill(const char *folder, int n)
{
    make(folder);
    for (int i = 0; i < n; i++) {
        char to[200];
        const char *from = names[i % NAMES];
        snprintf(to, sizeof to, "%s/%02d%s", folder, i, strrchr(from, '.'));
        copy(from, to);
    }
}

static void by_class(void **state)
{
    (void)state;
    make("p");
    fill("p/dog", 10);
    fill("p/Emu", 10);
    fill("p/cat", 8);
    make("p/cat/more");
    copy("grey.png", "p/cat/more/a.png"); /* folders in those of classes, after the others */
    copy("grey.png", "p/cat/z.png");
    make("p/.hidden");
    put_text("p/cat/notes.txt", "none");
    struct mase_dataset *d = open_data(in_scratch("p"), NULL);
    const struct mase_dataset_info *info = mase_dataset_info(d);
    assert_int_equal(info->rows, 30);
    assert_true(mase_shape_equal(&info->data.sample, &(struct mase_shape){ 3, { 3, H, W } }));
    static const char *const classes[] = { "Emu", "cat", "dog" }; /* capitals first, as Python */
    for (int k = 0; k < 3; k++)
        assert_string_equal(info->class_names[k], classes[k]);
    int64_t count[3];
    mase_dataset_balance(d, MASE_SPLIT_TEST, count);
    assert_true(count[0] == 2 && count[1] == 2 && count[2] == 2); /* a fifth of each */
    float x[3 * H * W];
    const uint32_t row = 0; /* Emu/00.png is colour.png */
    mase_dataset_batch(
        d, &(struct mase_batch){
               .row = &row, .n = 1, .x = x, .feature_stride = 1, .sample_stride = 3 * H * W });
    struct mase_file f = open_picture("colour.png");
    unsigned char bytes[3 * H * W];
    struct mase_err err;
    const struct mase_picture_want want = { 3, H, W };
    assert_int_equal(mase_picture_decode(bytes, &want, f.data, f.size, &err), MASE_OK);
    for (int i = 0; i < 3 * H * W; i++)
        assert_true(x[i] == (float)bytes[i] / 255.0F);
    mase_file_close(&f);
    mase_dataset_close(d);

    const struct mase_dataset_opts sized = { .image = { .height = 4, .width = 5, .channels = 1 } };
    d = open_data(in_scratch("p"), &sized);
    assert_true(mase_shape_equal(&mase_dataset_info(d)->data.sample,
                                 &(struct mase_shape){ 3, { 1, 4, 5 } }));
    mase_dataset_close(d);
    refuse(in_scratch("p"), &(struct mase_dataset_opts){ .columns.label_count = 1 }, MASE_EVALUE,
           "--label");
    put_text("p/cat/y.bmp", "BM");
    refuse(in_scratch("p"), NULL, MASE_EUNSUPPORTED, "read from .png, .jpg and .jpeg files");
    remove_folder("p");
}

static void by_part(void **state)
{
    (void)state;
    make("q");
    make("q/train");
    make("q/val");
    fill("q/train/a", 8);
    fill("q/train/b", 7);
    fill("q/val/a", 3);
    fill("q/val/b", 2);
    struct mase_dataset *d = open_data(in_scratch("q"), NULL);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 15);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_VALIDATION).count, 5);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 5); /* the same ones */
    mase_dataset_close(d);
    make("q/test");
    fill("q/test/b", 4);
    d = open_data(in_scratch("q"), NULL);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 4);
    assert_int_equal(mase_dataset_labels(d)[mase_dataset_split(d, MASE_SPLIT_TEST).row[0]], 1);
    mase_dataset_close(d);
    const struct mase_dataset_opts shares = { .split.share = { 0.8, 0.1, 0.1 } };
    refuse(in_scratch("q"), &shares, MASE_EVALUE, "says itself which rows validate and test");
    fill("q/test/c", 1);
    refuse(in_scratch("q"), NULL, MASE_EVALUE, "there is no class 'c' among those that train");
    remove_folder("q");
}

static void refused(void **state)
{
    (void)state;
    make("r");
    refuse(in_scratch("r"), NULL, MASE_EVALUE, "expected a folder for each class, CLASS/NAME.png");
    refuse("images:/nowhere", NULL, MASE_EIO, "there is no such folder");
    fill("r/a", 6);
    refuse(in_scratch("r"), NULL, MASE_EVALUE, "1 folders of classes");
    make("r/b");
    refuse(in_scratch("r"), NULL, MASE_EVALUE,
           "no .png, .jpg or .jpeg file in the folder of class 'b'");
    fill("r/b", 3);
    refuse(in_scratch("r"), NULL, MASE_EVALUE, "9 pictures are too few");
    fill("r/b", 6);
    struct mase_file f = open_picture("palette.png");
    put("r/b/x.png", f.data, f.size / 2);
    const int64_t off = refuse(in_scratch("r"), NULL, MASE_EPARSE, "damaged PNG file (libpng: ");
    assert_true(off > 8 && off <= (int64_t)f.size / 2);
    mase_file_close(&f);
    put_text("r/b/x.png", "<html>");
    assert_int_equal(refuse(in_scratch("r"), NULL, MASE_EPARSE, "neither a PNG nor a JPEG file"),
                     0);
    f = open_picture("colour.png");
    unsigned char other[400];
    memcpy(other, f.data, f.size);
    other[19] = 4; /* as wide as no other */
    put("r/b/x.png", other, f.size);
    mase_file_close(&f);
    refuse(in_scratch("r"), NULL, MASE_EVALUE, "--image-size H,W makes them all one size");
    remove_folder("r");
}

/* ---- normalising, augmenting ---- */

static void normalised(void **state)
{
    (void)state;
    make("n");
    fill("n/a", 12);
    fill("n/b", 12);
    struct mase_dataset_opts o = { .image.fit = true };
    struct mase_dataset *d = open_data(in_scratch("n"), &o);
    const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN);
    enum { N = 3 * H * W };
    float *x = malloc((size_t)train.count * N * sizeof *x);
    mase_dataset_batch(
        d,
        &(struct mase_batch){
            .row = train.row, .n = train.count, .x = x, .feature_stride = 1, .sample_stride = N });
    for (int c = 0; c < 3; c++) { /* mean 0, deviation 1, of the rows that train */
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < train.count; i++)
            for (int k = 0; k < H * W; k++) {
                const double v = (double)x[i * N + c * H * W + k];
                sum += v;
                squares += v * v;
            }
        const double n = (double)train.count * H * W;
        assert_true(fabs(sum / n) < 1e-5 && fabs(squares / n - 1) < 1e-5);
    }
    free(x);
    const struct mase_image_opts done = mase_dataset_info(d)->image;
    assert_true(done.normalise && !done.fit && done.std[0] > 0);
    mase_dataset_close(d);

    struct mase_err err;
    struct mase_image_opts p = { 0 };
    assert_int_equal(mase_image_normalise_parse(&p, "imagenet", &err), MASE_OK);
    assert_true(p.normalise && p.mean[1] == 0.456 && p.std[2] == 0.225);
    assert_int_equal(mase_image_normalise_parse(&p, "0.5/0.25", &err), MASE_OK);
    assert_true(p.mean[2] == 0.5 && p.std[0] == 0.25);
    static const char *const bad[] = { "x", "", "0.5", "0.5/0", "0.5,0.5/1,1", "0.5/1,", "nan/1" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(mase_image_normalise_parse(&p, bad[i], &err), MASE_EVALUE);
    refuse("toy_tiny", &o, MASE_EVALUE, "--normalize is for pictures; toy_tiny has none");
    remove_folder("n");
}

/* In training alone, by seed, epoch and row: moved by up to `crop` pixels, every other flipped. */
static void augmented(void **state)
{
    (void)state;
    enum { N = 3 * H * W };
    make("g");
    fill("g/a", 12);
    fill("g/b", 12);
    struct mase_dataset_opts o = { 0 };
    struct mase_err err;
    assert_int_equal(mase_image_augment_parse(&o.image, "flip,crop=2", &err), MASE_OK);
    struct mase_dataset *d = open_data(in_scratch("g"), &o);
    float plain[N], x[N];
    int flipped = 0, moved = 0;
    for (uint32_t epoch = 0; epoch < 40; epoch++) {
        const uint32_t row = 0;
        struct mase_batch b = {
            .row = &row, .n = 1, .x = plain, .feature_stride = 1, .sample_stride = N, .epoch = epoch
        };
        mase_dataset_batch(d, &b);
        b.x = x;
        b.augment = true;
        mase_dataset_batch(d, &b);
        int fits = 0;
        for (int flip = 0; flip < 2; flip++)
            for (int top = -2; top <= 2; top++)
                for (int left = -2; left <= 2; left++) {
                    bool same = true;
                    for (int i = 0; i < N && same; i++) {
                        const int y = i / W % H + top, u = i % W;
                        const int v = (flip ? W - 1 - u : u) + left;
                        const bool in = y >= 0 && y < H && v >= 0 && v < W;
                        same = x[i] == (in ? plain[i / (H * W) * H * W + y * W + v] : 0);
                    }
                    fits += same;
                    flipped += same && flip;
                    moved += same && (top || left);
                }
        assert_int_equal(fits, 1);
    }
    assert_true(flipped > 8 && flipped < 32 && moved > 30);
    mase_dataset_close(d);
    assert_int_equal(mase_image_augment_parse(&o.image, "none", &err), MASE_OK);
    assert_true(o.image.augment && !o.image.flip && !o.image.crop);
    static const char *const bad[] = {
        "", "flop", "crop", "crop=0", "crop=4x", "flip,flip", "flip,"
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(mase_image_augment_parse(&o.image, bad[i], &err), MASE_EVALUE);
    remove_folder("g");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels),     cmocka_unit_test(headers),   cmocka_unit_test(damaged),
        cmocka_unit_test(by_class),   cmocka_unit_test(by_part),   cmocka_unit_test(refused),
        cmocka_unit_test(normalised), cmocka_unit_test(augmented),
    };
    return run_cases(argc, argv, tests, make_scratch, remove_scratch);
}
