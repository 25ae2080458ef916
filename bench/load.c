/*
 * load.c - what it costs to load a file of weights, beside reading it once.
 *
 *     load make FILE LAYERS     write a .pt, .safetensors or .npz file, 16 MiB for each layer
 *     load FILE [TURNS]         a line for each turn, times in seconds, memory in bytes:
 *                               OPEN TAKE THROUGH INTO OPEN_MEMORY TAKE_MEMORY
 *
 * The file is in the page cache: it is read once before the first turn. A turn is, one after the
 * other,
 *
 *     open      mase_tensors_open, then a byte of every cache line of every tensor is looked at; a
 *               zip file's CRCs are checked by opening it
 *     take      mase_weights_load into a network of Linear layers
 *     through   read(2) to the end through a small buffer, used again and again, as cat does
 *     into      read(2) into one fresh buffer of the file's size
 *
 * and the memory is by how much the anonymous memory of the process has grown with all tensors
 * there: copies of tensors would be in it, while pages of the mapped file are the page cache's own.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <mase/graph.h>
#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

enum { WIDTH = 2048, LINE = 64, PIECE = 1 << 17 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

_Noreturn static void fail(const char *what, const char *message)
{
    fprintf(stderr, "load: %s: %s\n", what, message);
    exit(2);
}

/* Anonymous memory of this process in bytes, as Linux counts it. */
static long anonymous(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "RssAnon: %ld kB", &kb) != 1)
        continue;
    if (f)
        fclose(f);
    return kb * 1024;
}

/* ---- reading alone ---- */

/* Through a buffer of `piece` bytes; 0: into one that holds the whole file. */
static double read_once(const char *path, size_t piece)
{
    const double start = now();
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st))
        fail(path, "cannot be read");
    const size_t size = (size_t)st.st_size;
    char *buffer = malloc(piece ? piece : size);
    for (size_t at = 0; at < size;) {
        const ssize_t n = read(fd, piece ? buffer : buffer + at, piece ? piece : size - at);
        if (n <= 0)
            fail(path, "cannot be read");
        at += (size_t)n;
    }
    close(fd);
    const double seconds = now() - start;
    free(buffer);
    return seconds;
}

/* ---- loading ---- */

static double open_once(const char *path, int *layers, long *memory)
{
    struct mase_tensors t;
    struct mase_err err = { 0 };
    volatile unsigned sum = 0;
    const long before = anonymous();
    const double start = now();
    if (mase_tensors_open(&t, path, &err))
        fail(path, err.msg);
    for (int i = 0; i < t.count; i++) {
        const unsigned char *p = t.items[i].tensor.data;
        unsigned all = 0;
        for (int64_t k = 0; k < mase_tensor_bytes(&t.items[i].tensor); k += LINE)
            all += p[k];
        sum += all;
    }
    const double seconds = now() - start;
    *layers = t.count;
    *memory = anonymous() - before;
    mase_tensors_close(&t);
    return seconds;
}

static struct mase_graph *network(int layers)
{
    struct mase_str text = { 0 };
    struct mase_graph *g;
    struct mase_err err = { 0 };
    mase_str_add(&text, "mase-graph 1\nname 'bench'\n");
    for (int i = 0; i < layers; i++)
        mase_str_printf(&text, "module l%d = Linear(%d, %d, bias=False)\n", i, WIDTH, WIDTH);
    mase_str_add(&text, "%x = placeholder[target=x]\nreturn %x\n");
    if (mase_graph_parse_mg(&g, mase_str_text(&text), text.len, "bench.mg", &err))
        fail("the network", err.msg);
    mase_str_release(&text);
    return g;
}

static double take_once(const char *path, int layers, long *memory)
{
    struct mase_graph *g = network(layers);
    struct mase_err err = { 0 };
    const long before = anonymous();
    const double start = now();
    if (mase_weights_load(g, path, &err))
        fail(path, err.msg);
    const double seconds = now() - start;
    *memory = anonymous() - before;
    mase_graph_free(g);
    return seconds;
}

/* ---- a file ---- */

static enum mase_status write_file(const struct mase_named_tensor *items, int count,
                                   struct mase_arena *a, const char *path, struct mase_err *err)
{
    if (mase_ends_with(path, ".safetensors"))
        return mase_safetensors_write(items, count, NULL, path, err);
    if (mase_ends_with(path, ".npz"))
        return mase_npz_write(items, count, path, err);
    struct mase_obj *root = mase_obj_ordered_dict(a);
    for (int i = 0; i < count; i++)
        mase_obj_set(a, root, items[i].name, mase_obj_tensor(a, &items[i].tensor));
    return mase_torch_write(root, path, err);
}

static void make(const char *path, int layers)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    const struct mase_shape shape = { 2, { WIDTH, WIDTH } };
    struct mase_named_tensor *items = mase_new_array(&a, struct mase_named_tensor, (size_t)layers);
    uint32_t bits = 1;
    for (int i = 0; i < layers; i++) {
        items[i].name = mase_arena_printf(&a, "l%d.weight", i);
        items[i].tensor = mase_tensor(&a, MASE_F32, &shape, true);
        for (int64_t k = 0; k < (int64_t)WIDTH * WIDTH; k++) {
            bits = bits * 1664525u + 1013904223u;
            mase_f32(&items[i].tensor)[k] = (float)bits;
        }
    }
    if (write_file(items, layers, &a, path, &err))
        fail(path, err.msg);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    if (argc == 4 && mase_streq(argv[1], "make")) {
        make(argv[2], atoi(argv[3]));
        return 0;
    }
    if (argc < 2)
        fail("usage", "load make FILE LAYERS | load FILE [TURNS]");
    const char *path = argv[1];
    const int turns = argc > 2 ? atoi(argv[2]) : 7;
    read_once(path, PIECE);
    for (int i = 0; i < turns; i++) {
        int layers = 0;
        long opened = 0, taken = 0;
        const double open_seconds = open_once(path, &layers, &opened);
        const double take_seconds = take_once(path, layers, &taken);
        const double through = read_once(path, PIECE), into = read_once(path, 0);
        printf("%.4f %.4f %.4f %.4f %ld %ld\n", open_seconds, take_seconds, through, into, opened,
               taken);
    }
    return 0;
}
