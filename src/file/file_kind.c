/*
 * file_kind.c - what kind of file it is.
 *
 *     89 'H' 'D' 'F' 0d 0a 1a 0a          HDF5, at 0 or 512 or twice as far again
 *     93 'N' 'U' 'M' 'P' 'Y'              an array
 *     'P' 'K' 3 4                         a zip; its entries tell the rest
 *     80, a protocol, a long integer      PyTorch before zip
 *     8 bytes of length, '{'              safetensors
 *     12 bytes, ... "brain.Event:"        event file
 *     "mase-graph ", after comments       our graphs
 */
#include <mase/file_kind.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <mase/file.h>
#include <mase/str.h>

#include "base/number.h"
#include "file/pickle.h"
#include "file/tensor_readers.h"
#include "file/zip.h"

const struct mase_file_kind_info mase_file_kinds[MASE_KIND_COUNT] = {
    [MASE_KIND_UNKNOWN] = { "unknown", "a file of an unknown kind", "" },
    [MASE_KIND_TORCH] = { "torch", "a PyTorch file", ".pt .pth .ckpt" },
    [MASE_KIND_TORCH_OLD] = { "torch_old", "a PyTorch file of the format before zip", "" },
    [MASE_KIND_EXPORT] = { "export", "a program of torch.export", ".pt2" },
    [MASE_KIND_LFS] = { "lfs", "a Git LFS pointer", "" },
    [MASE_KIND_HTML] = { "html", "an HTML page", ".html" },
    [MASE_KIND_PACKED] = { "packed", "a tar or gzip archive", ".tar .gz .tgz" },
    [MASE_KIND_SAFETENSORS] = { "safetensors", "a safetensors file", ".safetensors" },
    [MASE_KIND_NPZ] = { "npz", "a NumPy archive", ".npz" },
    [MASE_KIND_NPY] = { "npy", "a NumPy array", ".npy" },
    [MASE_KIND_MG] = { "mg", "a graph", ".mg" },
    [MASE_KIND_PYTHON] = { "python", "Python source", ".py" },
    [MASE_KIND_SAVED] = { "saved", "a saved graph", "" },
    [MASE_KIND_RUN] = { "run", "a folder of a run", "" },
    [MASE_KIND_JSON] = { "json", "JSON text", ".json" },
    [MASE_KIND_EVENTS] = { "events", "a TensorBoard event file", "" },
    [MASE_KIND_HDF5] = { "hdf5", "an HDF5 file", ".h5 .hdf5" },
    [MASE_KIND_TOML] = { "toml", "a TOML configuration", ".toml" },
    [MASE_KIND_ONNX] = { "onnx", "an ONNX model", ".onnx" },
    [MASE_KIND_SCRIPT] = { "script", "a TorchScript archive", "" },
    [MASE_KIND_PICKLE] = { "pickle", "a pickle that is not PyTorch's", ".pkl" },
    [MASE_KIND_ZIP] = { "zip", "a zip file of another kind", ".zip" },
    [MASE_KIND_FOLDER] = { "folder", "a folder with neither graph_module.mg nor run.json", "" },
};

struct bytes {
    const unsigned char *data;
    size_t size;
};

static bool has(const struct bytes *b, size_t at, const void *magic, size_t n)
{
    return b->size >= at && b->size - at >= n && memcmp(b->data + at, magic, n) == 0;
}

/* ---- one kind each ---- */

static bool is_hdf5(const struct bytes *b)
{
    for (size_t at = 0; at <= 4096; at = at ? 2 * at : 512)
        if (has(b, at, "\x89HDF\r\n\x1a\n", 8))
            return true;
    return false;
}

static bool is_safetensors(const struct bytes *b)
{
    uint64_t header = 0;
    for (int i = 0; i < 8 && b->size > 8; i++)
        header |= (uint64_t)b->data[i] << 8 * i;
    return header >= 2 && header <= 100 * 1000 * 1000 && b->data[8] == '{';
}

/* The first record holds the time and the version. */
static bool is_events(const struct bytes *b)
{
    static const char version[] = "brain.Event:";
    for (size_t at = 12; at < 32; at++)
        if (has(b, at, version, sizeof version - 1))
            return true;
    return false;
}

/* The first line that is neither blank nor a comment. */
static bool is_graph(const struct bytes *b)
{
    static const char head[] = "mase-graph ";
    size_t at = 0;
    while (at < b->size && (b->data[at] == '#' || b->data[at] == '\n' || b->data[at] == '\r')) {
        const unsigned char *end = memchr(b->data + at, '\n', b->size - at);
        at = end ? (size_t)(end - b->data) + 1 : b->size;
    }
    return has(b, at, head, sizeof head - 1);
}

static bool is_lfs(const struct bytes *b)
{
    static const char head[] = "version https://git-lfs.github.com/spec/";
    return has(b, 0, head, sizeof head - 1);
}

/* <!doctype html or <html, in any case of letters, after blanks. */
static bool is_html(const struct bytes *b)
{
    static const char *const heads[] = { "<!doctype html", "<html", "<?xml" };
    size_t at = 0;
    while (at < b->size && at < 512 && strchr(" \t\r\n", b->data[at]) && b->data[at])
        at++;
    for (int i = 0; i < 3; i++)
        if (b->size - at >= strlen(heads[i]) &&
            mase_strncaseeq((const char *)b->data + at, heads[i], strlen(heads[i])))
            return true;
    return false;
}

static bool is_packed(const struct bytes *b)
{
    return has(b, 0, "\x1f\x8b", 2) || has(b, 257, "ustar", 5);
}

static bool is_pickle(const struct bytes *b)
{
    return b->size > 2 && b->data[0] == 0x80 && b->data[1] >= 2 && b->data[1] <= 5;
}

/* ---- zip ---- */

static enum mase_file_kind kind_of_entries(const struct mase_zip *z)
{
    bool torch = false, script = false;
    int arrays = 0;
    for (int i = 0; i < z->count; i++) {
        const char *name = z->entries[i].name, *slash = strchr(name, '/');
        torch |= slash && mase_streq(slash, "/data.pkl");
        script |= slash && mase_streq(slash, "/constants.pkl");
        arrays += mase_ends_with(name, ".npy");
    }
    if (mase_export_entry(z))
        return MASE_KIND_EXPORT;
    if (torch)
        return script ? MASE_KIND_SCRIPT : MASE_KIND_TORCH;
    return z->count && arrays == z->count ? MASE_KIND_NPZ : MASE_KIND_ZIP;
}

static enum mase_file_kind kind_by_name(const char *path)
{
    for (int i = 0; i < MASE_KIND_COUNT; i++) {
        const char *suffix = mase_file_kinds[i].suffix;
        while (*suffix) {
            const size_t n = strcspn(suffix, " "), len = strlen(path);
            if (len > n && memcmp(path + len - n, suffix, n) == 0)
                return (enum mase_file_kind)i;
            suffix += n + (suffix[n] == ' ');
        }
    }
    return MASE_KIND_UNKNOWN;
}

/* One whose directory cannot be read is what its name says, so that its reader can complain. */
static enum mase_file_kind kind_of_zip(const struct bytes *b, const char *path)
{
    struct mase_arena a = { 0 };
    struct mase_zip z;
    struct mase_err ignored = { 0 };
    enum mase_file_kind kind = kind_by_name(path);
    if (mase_zip_open(&z, &a, b->data, b->size, path, &ignored) == MASE_OK)
        kind = kind_of_entries(&z);
    else if (kind != MASE_KIND_TORCH && kind != MASE_KIND_NPZ)
        kind = MASE_KIND_ZIP;
    mase_arena_release(&a);
    return kind;
}

/* ---- any ---- */

/* A name is believed of what has no bytes to be known by. */
static enum mase_file_kind kind_of_text(const char *path)
{
    static const enum mase_file_kind told_by_name[] = { MASE_KIND_PYTHON, MASE_KIND_JSON,
                                                        MASE_KIND_TOML, MASE_KIND_ONNX };
    const enum mase_file_kind kind = kind_by_name(path);
    for (size_t i = 0; i < sizeof told_by_name / sizeof told_by_name[0]; i++)
        if (kind == told_by_name[i])
            return kind;
    return MASE_KIND_UNKNOWN;
}

enum mase_file_kind mase_file_kind_of(const void *data, size_t size, const char *path)
{
    const struct bytes b = { data, size };
    if (has(&b, 0, "PK\3\4", 4) || has(&b, 0, "PK\5\6", 4))
        return kind_of_zip(&b, path);
    if (mase_torch_old_magic(b.data, size))
        return MASE_KIND_TORCH_OLD;
    if (has(&b, 0, "\x93NUMPY", 6))
        return MASE_KIND_NPY;
    if (is_hdf5(&b))
        return MASE_KIND_HDF5;
    if (is_safetensors(&b))
        return MASE_KIND_SAFETENSORS;
    if (is_lfs(&b))
        return MASE_KIND_LFS;
    if (is_packed(&b))
        return MASE_KIND_PACKED;
    if (is_html(&b))
        return MASE_KIND_HTML;
    if (is_events(&b))
        return MASE_KIND_EVENTS;
    if (is_graph(&b))
        return MASE_KIND_MG;
    return is_pickle(&b) ? MASE_KIND_PICKLE : kind_of_text(path);
}

static enum mase_file_kind kind_of_folder(const char *path)
{
    struct mase_arena a = { 0 };
    enum mase_file_kind kind = MASE_KIND_FOLDER;
    if (mase_is_file(mase_path_join(&a, path, "graph_module.mg")))
        kind = MASE_KIND_SAVED;
    else if (mase_is_file(mase_path_join(&a, path, "run.json")))
        kind = MASE_KIND_RUN;
    mase_arena_release(&a);
    return kind;
}

enum mase_status mase_file_kind_find(enum mase_file_kind *kind, const char *path,
                                     struct mase_err *err)
{
    struct mase_file f;
    if (mase_is_dir(path)) {
        *kind = kind_of_folder(path);
        return MASE_OK;
    }
    MASE_TRY(mase_file_open(&f, path, err));
    *kind = mase_file_kind_of(f.data, f.size, path);
    mase_file_close(&f);
    return MASE_OK;
}
