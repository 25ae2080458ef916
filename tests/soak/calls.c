/*
 * calls.c - one random step of a worker: a call of mase.h with arguments that are right, nearly
 * right or wrong.
 */
#include "../net_sum.h"
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTIONS = 2048 };

#define EXAMPLES MASE_SOURCE_DIR "/examples/own_network/"
#define DATA     MASE_SOURCE_DIR "/tests/data/"

/* ---- objects ---- */

static struct mase_session *session_of(struct worker *w)
{
    return soak_chance(w, 3) ? w->shared : w->own;
}

/* One that is there. */
static struct mase_net *some_net(struct worker *w)
{
    const size_t first = soak_draw(w, NETS);
    for (size_t i = 0; i < NETS; i++)
        if (w->nets[(first + i) % NETS])
            return w->nets[(first + i) % NETS];
    return NULL;
}

static struct mase_rows *some_rows(struct worker *w)
{
    struct mase_rows *r = w->rows[soak_draw(w, TABLES)];
    return r && !soak_chance(w, 3) ? r : w->all;
}

static const struct mase_node *some_node(struct worker *w, const struct mase_net *net)
{
    const struct mase_node *n = NULL;
    for (uint64_t i = soak_draw(w, 6) + 1; i && (n = mase_net_next(net, n)); i--)
        ;
    return n;
}

/* A place for a new network. */
static struct mase_net **net_slot(struct worker *w)
{
    struct mase_net **slot = &w->nets[soak_draw(w, NETS)];
    mase_net_free(*slot);
    *slot = NULL;
    return slot;
}

/* ---- texts ---- */

/* Most are left as they are; some have a few bytes changed, cut or doubled. */
static char *spoil(struct worker *w, char *text, size_t size)
{
    size_t n = strlen(text);
    if (!soak_chance(w, 3))
        return text;
    for (uint64_t i = soak_draw(w, 3); n && i < 3; i++) {
        const size_t at = soak_draw(w, n);
        switch (soak_draw(w, 3)) {
        case 0: /* but a number: each format that was ever bound stays in the process */
            if (text[at] < '0' || text[at] > '9')
                text[at] = (char)(1 + soak_draw(w, 126));
            break;
        case 1:
            text[at] = 0;
            n = at;
            break;
        default:
            if (n + 9 < size && at + 8 < n) {
                memmove(text + at + 8, text + at, n - at + 1);
                n += 8;
            }
        }
    }
    return text;
}

static const char *option_text(struct worker *w, char buffer[OPTIONS], const char *text)
{
    static const char *const wrong[] = { "",         " ",         "{}",       "{",
                                         "[",        "x",         "by = 3",   "=",
                                         "a = 'b",   "{\"a\": }", "\xff\xfe", "[[passes]]",
                                         "by = 'no'" };
    if (soak_chance(w, 12))
        return soak_chance(w, 3) ? NULL : SOAK_PICK(w, wrong);
    snprintf(buffer, OPTIONS, "%s", text);
    return spoil(w, buffer, OPTIONS);
}

static const char *path_in(struct worker *w, char buffer[OPTIONS], const char *name)
{
    snprintf(buffer, OPTIONS, "%s/%s", w->dir, name);
    return buffer;
}

/* ---- formats ---- */

/* The table of the library, read once: names, and the keys that each has. */
static struct format {
    char name[48], key[12][32];
    int keys;
} formats[64];
static int format_count;

static bool next_text(const char **at, const char *what, char *out, size_t size)
{
    const char *p = strstr(*at, what);
    if (!p)
        return false;
    p += strlen(what);
    const size_t n = strcspn(p, "\"");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), p);
    *at = p + n;
    return true;
}

static void read_formats(const char *json)
{
    struct format *f = NULL;
    for (const char *at = json; *at; at++) {
        if (strncmp(at, "{\"name\": \"", 10) == 0 && format_count < 64) {
            f = &formats[format_count++];
            if (!next_text(&at, "{\"name\": \"", f->name, sizeof f->name))
                return;
        } else if (strncmp(at, "{\"key\": \"", 9) == 0 && f && f->keys < 12) {
            if (!next_text(&at, "{\"key\": \"", f->key[f->keys++], sizeof f->key[0]))
                return;
        }
    }
}

/* name = 'integer', data_in_width = 7, ...: most are possible. */
static void format_config(struct worker *w, char *out, size_t size, const char *const *operands,
                          const char *between)
{
    const struct format *f = &formats[soak_draw(w, (uint64_t)format_count)];
    const int number = 3 + (int)soak_draw(w, 6); /* of all: few formats, and so a pool that ends */
    size_t n = (size_t)snprintf(out, size, "name = '%s'", f->name);
    for (int o = 0; operands[o]; o++)
        for (int k = 0; k < f->keys && n + 80 < size; k++)
            if (strstr(f->key[k], "width") || strstr(f->key[k], "exponent") || soak_chance(w, 20))
                n += (size_t)snprintf(out + n, size - n, "%s%s%s = %d", between, operands[o],
                                      f->key[k], number);
}

static const char *const operands[] = { "data_in_", "weight_", "bias_", NULL };
static const char *const bare[] = { "", NULL };

static const char *quantize_args(struct worker *w, char buffer[OPTIONS])
{
    char config[OPTIONS / 2];
    static const char integers[] = "name = 'integer', data_in_width = 8, data_in_frac_width = 4, "
                                   "weight_width = 8, weight_frac_width = 6, bias_width = 8, "
                                   "bias_frac_width = 6";
    if (soak_chance(w, 2))
        snprintf(config, sizeof config, "%s", integers);
    else
        format_config(w, config, sizeof config, operands, ", ");
    snprintf(buffer, OPTIONS, "by = 'type'\ndefault.config.name = 'NA'\nlinear.config = { %s }\n",
             config);
    return spoil(w, buffer, OPTIONS);
}

/* ---- the strong guarantee ---- */

/* With all the memory it wants. */
static uint64_t sum_now(struct mase_net *net)
{
    soak_pause();
    const uint64_t sum = sum_of(net);
    soak_resume();
    return sum;
}

static void keep_sum(struct worker *w, struct mase_net *net, uint64_t *before)
{
    *before = soak_chance(w, 3) ? sum_now(net) : 0;
}

static void check_sum(struct worker *w, struct mase_net *net, uint64_t before, enum mase_status st)
{
    if (st && before && sum_now(net) != before)
        soak_die(w, "it failed, and the network is another one");
}

/* ---- sessions ---- */

static enum mase_status foreign(void *data, struct mase_err *err)
{
    struct worker *w = data;
    switch (soak_draw(w, 3)) {
    case 0:
        return mase_fail(err, MASE_EVALUE, "not today");
    case 1:
        return MASE_EUNSUPPORTED;
    default:
        return MASE_OK;
    }
}

static void step_session(struct worker *w)
{
    static const char *const lists[] = { "passes", "formats",  "ops",     "models", "datasets",
                                         "tasks",  "training", "nothing", "" };
    static const char *const values[] = { "", "{}", "{\"a\": [1, 2]}", "no json" };
    struct mase_session *s = session_of(w);
    char text[64];
    switch (soak_draw(w, 5)) {
    case 0:
        (void)SOAK(w, session_call, s, foreign, w, &w->err);
        break;
    case 1:
        (void)SOAK(w, session_list, s, &w->text, SOAK_PICK(w, lists), &w->err);
        break;
    case 2:
        (void)SOAK(w, text_set, s, &w->text, SOAK_PICK(w, values), &w->err);
        break;
    case 3:
        mase_text_release(&w->text);
        break;
    default:
        (void)mase_err_text(&w->err, text, soak_draw(w, sizeof text));
        if (mase_abi() != MASE_ABI || !mase_version()[0])
            soak_die(w, "another library");
    }
}

/* Everything of the worker's own session goes, and with it all of its memory. */
static void end_objects(struct worker *w)
{
    for (int i = 0; i < RUNNERS; i++) {
        mase_runner_free(w->runners[i]);
        w->runners[i] = NULL;
    }
    for (int i = 0; i < NETS; i++) {
        mase_net_free(w->nets[i]);
        w->nets[i] = NULL;
    }
    for (int i = 0; i < TABLES; i++) {
        mase_rows_free(w->rows[i]);
        w->rows[i] = NULL;
    }
    mase_text_release(&w->text);
    mase_session_free(w->own);
    w->own = NULL;
    if (w->memory.alive)
        soak_die(w, "blocks are left of a session that has ended");
}

static void step_renew(struct worker *w)
{
    if (!soak_chance(w, 8))
        return;
    end_objects(w);
    w->own = soak_session(&w->memory, w);
    soak_add_passes(w, w->own);
}

/* ---- rows ---- */

static void fill(float *x, int32_t *label)
{
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FEATURES; k++)
            x[i * FEATURES + k] = (float)((i * 7 + k * 5) % 23) / 4 - 3;
        label[i] = i % CLASSES;
    }
}

static enum mase_status wrap_rows(struct worker *w, struct mase_session *s, struct mase_rows **rows,
                                  bool wrong)
{
    static float x[ROWS * FEATURES], target[ROWS * 2];
    static int32_t label[ROWS];
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    int64_t shape[] = { 4, 4 };
    char buffer[OPTIONS];
    struct mase_arrays a = {
        .size = sizeof a, .x = x, .count = ROWS, .shape = shape, .rank = 2, .labels = label
    };
    if (!s) { /* the first call of all */
        fill(x, label);
        return MASE_OK;
    }
    if (!wrong || soak_chance(w, 4)) {
        shape[0] = FEATURES;
        a.rank = 1;
    }
    if (!wrong)
        return SOAK(w, rows_from, s, rows, &a, NULL, &w->err);
    static const char *const options[] = { "split_seed = 3", "task = 'regression'",
                                           "scaling = 'minmax'", "split = 'all'",
                                           "target_scaling = 'standard'\ntask = 'regression'" };
    if (soak_chance(w, 3)) {
        a.labels = NULL;
        a.targets = target;
        a.target_count = 2;
    }
    if (soak_chance(w, 3)) {
        a.train = (int64_t)soak_draw(w, ROWS) - 2;
        a.validation = (int64_t)soak_draw(w, ROWS) - 2;
    }
    if (soak_chance(w, 3)) {
        a.classes = (int)soak_draw(w, 8) - 1;
        a.class_names = a.classes <= CLASSES ? names : NULL;
    }
    switch (soak_draw(w, 24)) {
    case 0:
        a.size = soak_draw(w, sizeof a + 1);
        break;
    case 1:
        a.count = -1;
        break;
    case 2:
        a.rank = (int)soak_draw(w, 30) - 10;
        shape[0] = a.rank == 2 ? 4 : FEATURES; /* x is so large */
        a.shape = a.rank > 2 ? NULL : shape;
        break;
    case 3:
        shape[0] = shape[1] = -4;
        break;
    case 4:
        shape[0] = shape[1] = INT64_MAX / 3;
        break;
    case 5:
        a.x = NULL;
        break;
    }
    return SOAK(w, rows_from, s, rows, &a, option_text(w, buffer, SOAK_PICK(w, options)), &w->err);
}

static void open_rows(struct worker *w, struct mase_rows **rows)
{
    static const char *const names[] = { "nothing",
                                         "",
                                         "csv:",
                                         "csv:nowhere.csv:label",
                                         DATA "data/own.npz",
                                         DATA "data/own.h5",
                                         DATA "data/own_split.npz",
                                         DATA "data/bad_y.npz",
                                         DATA "data/bad_nan.h5",
                                         DATA "data/jsc_single.h5" };
    static const char *const options[] = { "", "split_seed = 4", "task = 'regression'",
                                           "scaling = 'none'", "labels = 'y'" };
    char path[OPTIONS], buffer[OPTIONS];
    const char *name = SOAK_PICK(w, names);
    if (soak_chance(w, 2))
        name = path_in(w, path, "t.csv");
    (void)SOAK(w, rows_open, session_of(w), rows, name,
               option_text(w, buffer, SOAK_PICK(w, options)),
               soak_chance(w, 4) ? some_net(w) : NULL, &w->err);
}

static void step_rows(struct worker *w)
{
    struct mase_rows **slot = &w->rows[soak_draw(w, TABLES)];
    mase_rows_free(*slot);
    *slot = (struct mase_rows *)(uintptr_t)1; /* it must be set */
    if (soak_chance(w, 3))
        open_rows(w, slot);
    else
        (void)wrap_rows(w, session_of(w), slot, soak_chance(w, 2));
}

static void step_read(struct worker *w)
{
    static const char *const splits[] = { "train", "validation", "test", "pred", "none", "" };
    struct mase_rows *rows = some_rows(w);
    const char *split = SOAK_PICK(w, splits);
    struct mase_table_rows t = { .size = soak_chance(w, 8) ? soak_draw(w, 90) : sizeof t };
    const int64_t n = mase_rows_count(rows, split);
    float x[8 * 4096];
    int32_t label[8];
    switch (soak_draw(w, 3)) {
    case 0:
        (void)SOAK(w, rows_info, rows, &w->text, &w->err);
        break;
    case 1:
        if (!SOAK(w, rows_table, rows, &t, split, &w->err) && t.count != n)
            soak_die(w, "a split has two sizes");
        break;
    default:
        (void)SOAK(w, rows_read, rows, split, n > 8 ? (int64_t)soak_draw(w, (uint64_t)n) : -1 + n,
                   (int64_t)soak_draw(w, 9), soak_chance(w, 4) ? NULL : x,
                   soak_chance(w, 2) ? NULL : label, NULL, &w->err);
    }
}

/* ---- networks ---- */

static void step_open(struct worker *w)
{
    static const char *const specs[] = { "jsc-tiny",
                                         "jsc-tiny",
                                         "jsc-tiny",
                                         "jsc-toy",
                                         EXAMPLES "net.mg",
                                         EXAMPLES "mlp_int8.onnx",
                                         DATA "onnx/mlp_script.onnx",
                                         "saved",
                                         "net.mg",
                                         "net.onnx",
                                         "last.ckpt",
                                         "w.pt",
                                         "run",
                                         "toy_convnet",
                                         "no-such",
                                         "",
                                         ".",
                                         "/nowhere/net.mg",
                                         EXAMPLES "net.mg:Net",
                                         "net.py" };
    const int64_t shape[] = { FEATURES, 3, 8, 8 };
    char path[OPTIONS], weights[OPTIONS];
    const char *spec = SOAK_PICK(w, specs);
    struct mase_open o = { .size = sizeof o, .seed = soak_draw(w, 9) };
    if (strcmp(spec, "net.py") == 0 && !soak_chance(w, 60))
        spec = "jsc-tiny"; /* a python3 takes its time */
    if (access(path_in(w, path, spec), F_OK) == 0 && spec[0])
        spec = path;
    o.no_weights = soak_chance(w, 20);
    o.lenient = soak_chance(w, 4);
    if (soak_chance(w, 5))
        o.weights = path_in(w, weights, soak_chance(w, 2) ? "w.pt" : "w.safetensors");
    if (soak_chance(w, 5) || strstr(spec, "convnet")) {
        o.shape = soak_chance(w, 3) ? shape : shape + 1;
        o.rank = (int)soak_draw(w, 5) - 1;
    }
    if (soak_chance(w, 30))
        o.size = soak_draw(w, sizeof o);
    if (soak_chance(w, 10))
        o.dataset = soak_chance(w, 2) ? "jsc" : "nothing";
    struct mase_net **slot = net_slot(w);
    (void)SOAK(w, net_open, session_of(w), slot, spec, soak_chance(w, 3) ? NULL : &o, &w->err);
}

static void step_parse(struct worker *w)
{
    static const char small[] = "mase-graph 1\nname small\nmodule fc = Linear(16, 5)\n"
                                "%x = placeholder[target=x]\n"
                                "%fc = call_module[target=fc](args = (%x,))\nreturn %fc\n";
    char text[8192];
    struct mase_net *from = some_net(w);
    snprintf(text, sizeof text, "%s", soak_chance(w, 10) ? "mase-graph 1\n" : small);
    if (from && soak_chance(w, 2) && !SOAK(w, net_print, from, &w->text, "mg", &w->err))
        snprintf(text, sizeof text, "%s", w->text.data);
    struct mase_net **slot = net_slot(w);
    const enum mase_status st = SOAK(w, net_parse, session_of(w), slot, spoil(w, text, sizeof text),
                                     soak_chance(w, 8) ? NULL : "small", &w->err);
    if (st || soak_chance(w, 4))
        return;
    (void)SOAK(w, net_set_sample, *slot, 1, (const int64_t[]){ FEATURES }, &w->err);
    (void)SOAK(w, net_start, *slot, 1, &w->err);
}

static void step_clone(struct worker *w)
{
    struct mase_net *from = some_net(w), *copy = NULL;
    if (!from)
        return;
    const enum mase_status st = SOAK(w, net_clone, from, &copy, &w->err);
    if (!st && soak_chance(w, 8) && sum_of(copy) != sum_of(from))
        soak_die(w, "a copy is another network");
    *net_slot(w) = copy; /* which may end the one it is a copy of */
}

static void step_small(struct worker *w, struct mase_net *net)
{
    int64_t dim[8] = { FEATURES, 1, 1, 1, 1, 1, 1, 1 };
    switch (soak_draw(w, 4)) {
    case 0:
        (void)SOAK(w, net_start, net, soak_draw(w, 5), &w->err);
        break;
    case 1:
        dim[soak_draw(w, 8)] =
            soak_chance(w, 20) ? (int64_t)1 << (soak_chance(w, 2) ? 6 : 45 + soak_draw(w, 18)) : 1;
        dim[0] = FEATURES;
        (void)SOAK(w, net_set_sample, net, soak_chance(w, 10) ? (int)soak_draw(w, 12) - 2 : 1,
                   soak_chance(w, 50) ? NULL : dim, &w->err);
        break;
    case 2:
        (void)SOAK(w, net_set_original, net, some_net(w), &w->err);
        break;
    default:
        (void)mase_net_sample(net, dim);
        (void)mase_net_edits(net);
    }
}

/* ---- files ---- */

/* A byte or the length of a file changes: readers must refuse it. */
static void damage(struct worker *w, const char *path)
{
    FILE *f = fopen(path, "r+b");
    if (!f)
        return;
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    if (size > 0) {
        fseek(f, (long)soak_draw(w, (uint64_t)size), SEEK_SET);
        fputc((int)soak_draw(w, 256), f);
    }
    fclose(f);
    if (size > 0 && soak_chance(w, 4) && truncate(path, (off_t)soak_draw(w, (uint64_t)size)) != 0)
        abort();
}

static void step_files(struct worker *w, struct mase_net *net)
{
    static const char *const names[] = { "net.onnx", "net.mg", "net.py.txt",    "g.py",
                                         "w.pt",     "w.npz",  "w.ckpt",        "net.svg",
                                         "net.dot",  "net.c",  "w.safetensors", "no/such/net.onnx",
                                         "",         "w.pth" };
    static const char *const weights[] = { "w.pt",  "w.npz",    "w.safetensors", "last.ckpt",
                                           "saved", "net.onnx", "nowhere.pt",    "" };
    static const char *const written[] = { "", "dialect = 'qdq'", "unrolled = true",
                                           "codes = true\nname = 'f'" };
    static const char *const loaded[] = { "", "lenient = true\nseed = 2", "key = 'x'",
                                          "map = { a = 'b' }" };
    char path[OPTIONS], buffer[OPTIONS];
    uint64_t before;
    enum mase_status st;
    switch (soak_draw(w, 8)) {
    case 0:
    case 1:
        (void)SOAK(w, net_save, net, path_in(w, path, soak_chance(w, 9) ? "w.pt/x" : "saved"),
                   &w->err);
        break;
    case 2:
    case 3:
    case 4:
        (void)SOAK(w, net_write, net, path_in(w, path, SOAK_PICK(w, names)),
                   option_text(w, buffer, SOAK_PICK(w, written)), &w->err);
        break;
    case 5:
        if (soak_chance(w, 4))
            damage(w,
                   path_in(w, path,
                           soak_chance(w, 3) ? "saved/model.safetensors" : SOAK_PICK(w, weights)));
        break;
    default:
        keep_sum(w, net, &before);
        st = SOAK(w, net_load, net, path_in(w, path, SOAK_PICK(w, weights)),
                  option_text(w, buffer, SOAK_PICK(w, loaded)), &w->err);
        check_sum(w, net, before, st);
    }
}

/* ---- looking ---- */

static void step_walk(struct worker *w, struct mase_net *net)
{
    static const char *const texts[] = { "graph", "mg",  "py",   "program", "integers",
                                         "svg",   "dot", "json", "nothing", "" };
    struct mase_weight_info i = { .size = soak_chance(w, 9) ? soak_draw(w, 140) : sizeof i };
    const struct mase_node *n = some_node(w, soak_chance(w, 6) ? some_net(w) : net);
    const int weights = mase_net_weights(net);
    switch (soak_draw(w, 4)) {
    case 0:
        (void)SOAK(w, net_print, net, &w->text, SOAK_PICK(w, texts), &w->err);
        break;
    case 1:
        (void)SOAK(w, node_json, net, &w->text, n, &w->err);
        break;
    case 2:
        if (!SOAK(w, net_weight, net, (int)soak_draw(w, (uint64_t)weights + 2) - 1, &i, &w->err) &&
            i.data && strcmp(i.dtype, "float32") == 0 && soak_chance(w, 3))
            ((float *)i.data)[0] += 0.125f;
        break;
    default:
        for (n = NULL; (n = mase_net_next(net, n));)
            if (mase_net_find(net, mase_node_name(n)) != n || !mase_node_op(n)[0] ||
                !mase_node_path(n) || !mase_node_mase_op(n) || !mase_node_mase_type(n) ||
                mase_node_input(n, 99) || mase_node_user(n, -1))
                soak_die(w, "a node is not what it says");
        (void)mase_net_params(net);
    }
}

/* ---- editing ---- */

static enum mase_status edit(struct worker *w, struct mase_net *net)
{
    static const char *const statements[] = {
        "%twice = call_function[target=operator.mul](args = (%x, 2))",
        "%sum = call_function[target=operator.add](args = (%x, %x))",
        "module fc = Linear(16, 5)",
        "%fc = call_module[target=fc](args = (%x,))",
        "module more = ReLU()",
        "%more = call_module[target=more](args = (%seq_blocks_2,))",
        "attr scale = f32[16]",
        "%y = placeholder[target=y]",
        "return %fc",
        "%x = ",
        "",
        "module",
        "%a = call_function[target=no.such](args = (%x,))"
    };
    static const char *const args[] = { "(%x,)", "(%x, 3)",      "(%seq_blocks_1,)",
                                        "()",    "(%no,)",       "(",
                                        "",      "(%x, [1, 2])", "(%seq_blocks_3,)" };
    struct mase_net *other = soak_chance(w, 8) ? some_net(w) : net;
    const struct mase_node *n = some_node(w, other), *m = some_node(w, net), *added;
    char text[OPTIONS];
    snprintf(text, sizeof text, "%s", SOAK_PICK(w, statements));
    switch (soak_draw(w, 6)) {
    case 0:
    case 1:
        return SOAK(w, net_add, net, soak_chance(w, 2) ? &added : NULL,
                    soak_chance(w, 2) ? n : NULL, spoil(w, text, sizeof text), &w->err);
    case 2:
        return SOAK(w, net_set_args, net, n, soak_chance(w, 3) ? NULL : SOAK_PICK(w, args),
                    soak_chance(w, 3) ? "{}" : NULL, &w->err);
    case 3:
        return SOAK(w, net_replace, net, n, m, &w->err);
    case 4:
        return SOAK(w, net_erase, net, n, &w->err);
    default:
        return SOAK(w, net_check, net, &w->err);
    }
}

/* One that ran out of memory can be freed, and nothing else. */
static void give_up(struct worker *w, struct mase_net *net)
{
    struct mase_text t = { 0 };
    struct mase_net *copy = NULL;
    int64_t dim[8];
    soak_pause();
    if (!mase_net_print(net, &t, "mg", &w->err) || !mase_net_clone(net, &copy, &w->err) ||
        !mase_net_check(net, &w->err) || !mase_net_pass(net, "report_graph", "", NULL, NULL, NULL))
        soak_die(w, "a network that ran out of memory goes on");
    soak_resume();
    (void)mase_net_next(net, NULL);
    (void)mase_net_find(net, "x");
    (void)mase_net_weights(net);
    (void)mase_net_params(net);
    (void)mase_net_sample(net, dim);
    for (int i = 0; i < NETS; i++)
        if (w->nets[i] == net)
            w->nets[i] = NULL;
    mase_net_free(net);
}

static void step_edit(struct worker *w, struct mase_net *net)
{
    const uint64_t before = soak_chance(w, 2) ? sum_now(net) : 0;
    const enum mase_status st = edit(w, net);
    const uint64_t after = sum_of(net);
    if (!after && st == MASE_ENOMEM)
        give_up(w, net);
    else if (!after || (st && before && after != before))
        soak_die(w, "an edit failed, and the network is another one");
}

/* ---- passes ---- */

static const char *const passes[] = {
    "init_metadata",
    "add_common_metadata",
    "add_software_metadata",
    "add_hardware_metadata",
    "verify_common_metadata",
    "count_flops",
    "calculate_avg_bits",
    "report_graph",
    "report_node_type",
    "report_node_shape",
    "report_node_hardware_type",
    "report_node_meta_param",
    "summarize_quantization",
    "fold_batch_norm",
    "remove_dropout",
    "prune",
    "equalise",
    "gptq",
    "bias_correction",
    "save_mase_graph",
    "load_mase_graph",
    "save_node_meta_param",
    "load_node_meta_param",
    "no_such_pass",
    "",
    "quantize_transform_pass",
    "count",
    "alter",
    "fold",
};

/* Paths are left alone: the worker writes to its own folder. */
static const char *pass_args(struct worker *w, char buffer[OPTIONS], const char *pass)
{
    static const struct {
        const char *pass, *key, *name;
    } files[] = {
        { "save_mase_graph", "save_dir", "passed" },
        { "load_mase_graph", "load_dir", "passed" },
        { "save_node_meta_param", "save_path", "meta.toml" },
        { "load_node_meta_param", "load_path", "meta.toml" },
    };
    if (strncmp(pass, "quantize", 8) == 0)
        return quantize_args(w, buffer);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(pass, files[i].pass) == 0) {
            snprintf(buffer, OPTIONS, "%s = '%s/%s'\n", files[i].key, w->dir, files[i].name);
            return buffer;
        }
    snprintf(buffer, OPTIONS, "sparsity = 0.%d\nmethod = '%s'\n", (int)soak_draw(w, 10),
             soak_chance(w, 2) ? "random" : "l1-norm");
    return strcmp(pass, "prune") == 0 ? spoil(w, buffer, OPTIONS) : "";
}

static void step_pass(struct worker *w, struct mase_net *net)
{
    char args[OPTIONS], config[OPTIONS];
    uint64_t before;
    enum mase_status st;
    const char *pass = soak_chance(w, 4) ? "quantize" : SOAK_PICK(w, passes);
    struct mase_rows *rows = soak_chance(w, 3) ? NULL : some_rows(w);
    struct mase_text *info = soak_chance(w, 2) ? &w->text : NULL;
    keep_sum(w, net, &before);
    if (soak_chance(w, 4)) {
        snprintf(config, sizeof config, "[passes.%s]\n%.1000s\n[passes.report_graph]\n", pass,
                 pass_args(w, args, pass));
        st = SOAK(w, net_passes, net, config, rows, info, &w->err);
    } else {
        st = SOAK(w, net_pass, net, pass, pass_args(w, args, pass), rows, info, &w->err);
    }
    check_sum(w, net, before, st);
}

static void step_quantize(struct worker *w, struct mase_net *net)
{
    char config[3][OPTIONS], args[OPTIONS];
    struct mase_decision_text d[3];
    const struct mase_rows *rows = soak_chance(w, 3) ? NULL : some_rows(w);
    uint64_t before;
    enum mase_status st;
    for (int i = 0; i < 3; i++) {
        const struct mase_node *n = some_node(w, net);
        format_config(w, config[i], OPTIONS, operands, "\n");
        d[i].node = n ? mase_node_name(n) : soak_chance(w, 2) ? "no_node" : NULL;
        d[i].config = soak_chance(w, 4) ? NULL : spoil(w, config[i], OPTIONS);
    }
    switch (soak_draw(w, 4)) {
    case 0:
        (void)SOAK(w, net_explain, net, &w->text, quantize_args(w, args), &w->err);
        break;
    case 1:
        keep_sum(w, net, &before);
        st = SOAK(w, net_profile, net, &w->text, rows,
                  option_text(w, args,
                              "by = 'type'\ntarget_weight_nodes = ['linear']\n"
                              "target_activation_nodes = ['relu']\nnum_samples = 16\n"
                              "[weight_statistics.range_min_max]\ndevice = 'cpu'\n"
                              "[activation_statistics.histogram]\nbins = 8\n"),
                  &w->err);
        check_sum(w, net, before, st);
        break;
    default:
        keep_sum(w, net, &before);
        st = SOAK(w, net_quantize, net, d, soak_chance(w, 30) ? -1 : (int)soak_draw(w, 4), rows,
                  &w->err);
        check_sum(w, net, before, st);
    }
}

static void step_round(struct worker *w)
{
    static const char *const roles[] = { "data", "weight", "bias", "unsigned data", "other", "" };
    char format[OPTIONS];
    float x[64];
    int64_t dim[] = { 1 + (int64_t)soak_draw(w, 4), 1 + (int64_t)soak_draw(w, 4),
                      1 + (int64_t)soak_draw(w, 4), 1 };
    for (int i = 0; i < 64; i++)
        x[i] = (float)soak_draw(w, 1000) / 50 - 10;
    int rank = 1 + (int)soak_draw(w, 4);
    if (soak_chance(w, 20))
        rank = (int)soak_draw(w, 100) - 50;
    if (soak_chance(w, 20))
        dim[0] = soak_chance(w, 2) ? -dim[0] : 0;
    format_config(w, format, sizeof format, bare, "\n");
    (void)SOAK(w, session_round, session_of(w), x, x, rank, rank > 4 ? NULL : dim,
               spoil(w, format, sizeof format), SOAK_PICK(w, roles), &w->err);
}

/* ---- computing ---- */

static void step_run(struct worker *w, struct mase_net *net)
{
    static const float zero[8 * 4096];
    struct mase_runner **slot = &w->runners[soak_draw(w, RUNNERS)];
    const struct mase_run_opts o = { .size = soak_chance(w, 60) ? soak_draw(w, 50) : sizeof o,
                                     .exact = soak_chance(w, 2),
                                     .threads = (int)soak_draw(w, 5) - 1,
                                     .samples = (int64_t)soak_draw(w, 100) - 5 };
    int64_t dim[8] = { 0 }, out = 1;
    float y[8 * 4096];
    if (!*slot || soak_chance(w, 3)) {
        mase_runner_free(*slot);
        (void)SOAK(w, runner_new, net, slot, soak_chance(w, 3) ? NULL : &o, &w->err);
    }
    if (!*slot)
        return;
    const int rank = mase_runner_result(*slot, dim);
    for (int i = 0; i < rank && i < 8; i++)
        out *= dim[i];
    if (mase_runner_features(*slot) > 4096 || out > 4096)
        return;
    const int64_t n = soak_chance(w, 30) ? -1 : (int64_t)soak_draw(w, 9);
    (void)SOAK(w, runner_run, *slot, y, zero, n, &w->err);
}

static void step_measure(struct worker *w, struct mase_net *net)
{
    static const char *const tasks[] = { NULL, NULL, NULL, "classification", "regression", "none" };
    struct mase_scores s = { .size = soak_chance(w, 60) ? soak_draw(w, 50) : sizeof s };
    struct mase_proof p = { .size = soak_chance(w, 60) ? soak_draw(w, 50) : sizeof p };
    const struct mase_test_opts o = { .size = soak_chance(w, 60) ? soak_draw(w, 60) : sizeof o,
                                      .exact = soak_chance(w, 2),
                                      .threads = (int)soak_draw(w, 5) - 1,
                                      .split = soak_chance(w, 4) ? "train" : NULL,
                                      .limit = (int64_t)soak_draw(w, 50) - 5,
                                      .task = SOAK_PICK(w, tasks) };
    struct mase_rows *rows = some_rows(w);
    struct mase_text *detail = soak_chance(w, 2) ? &w->text : NULL;
    if (soak_chance(w, 3))
        (void)SOAK(w, net_prove, net, &p, rows, soak_chance(w, 9) ? "no" : NULL,
                   (int64_t)soak_draw(w, 60) - 5, detail, &w->err);
    else
        (void)SOAK(w, net_evaluate, net, &s, rows, soak_chance(w, 3) ? NULL : &o, detail, &w->err);
}

/* ---- training ---- */

struct watching {
    struct worker *w;
    struct mase_net *net;
};

/* Looks at the network that is trained, and at others; to change it is refused. */
static bool after_epoch(void *user, const struct mase_epoch *e)
{
    const struct watching *c = user;
    struct worker *w = c->w;
    struct mase_err err = { 0 };
    struct mase_text t = { 0 };
    if (e->size != sizeof *e)
        soak_die(w, "an epoch of another size");
    const char *what = w->what;
    w->depth++;
    soak_pause();
    if (soak_chance(w, 4))
        (void)SOAK(w, net_print, c->net, &t, "graph", &err);
    if (soak_chance(w, 4)) {
        w->refused_busy++;
        if (SOAK(w, net_pass, c->net, "fold_batch_norm", "", NULL, NULL, &err) != MASE_EVALUE)
            soak_die(w, "a network was changed while it was trained");
    }
    soak_resume();
    w->depth--;
    w->what = what;
    mase_text_release(&t);
    return !soak_chance(w, 4);
}

static bool after_batch(void *user, int64_t epoch, int64_t done, int64_t total, double loss)
{
    const struct watching *c = user;
    (void)epoch, (void)loss;
    if (done > total)
        soak_die(c->w, "more batches than there are");
    return !soak_chance(c->w, 10);
}

static void step_train(struct worker *w, struct mase_net *net)
{
    static const char *const options[] = { "max_steps = 2",
                                           "training_optimizer = 'adamw'",
                                           "training_optimizer = 'sgd'\nmomentum = 0.9",
                                           "task = 'no'",
                                           "loss = 'mse'",
                                           "training_optimizer = 'none'",
                                           "max_steps = 1\naverage_weights = 0.5" };
    char buffer[OPTIONS], dir[OPTIONS], resume[OPTIONS];
    struct watching watching = { w, net };
    struct mase_epoch last = { .size = soak_chance(w, 60) ? soak_draw(w, 130) : sizeof last };
    const struct mase_training t = {
        .size = soak_chance(w, 30) ? soak_draw(w, sizeof t) : sizeof t,
        .max_epochs = (int64_t)soak_draw(w, 4),
        .batch_size = soak_chance(w, 20) ? -1 : 8 + (int64_t)soak_draw(w, 64),
        .learning_rate = soak_chance(w, 9) ? -1 : 1e-2,
        .seed = soak_draw(w, 3),
        .threads = (int)soak_draw(w, 3),
        .checkpoint_dir = soak_chance(w, 4) ? path_in(w, dir, "run") : NULL,
        .resume = soak_chance(w, 9) ? path_in(w, resume, "run/last.ckpt") : NULL,
        .keep_last = soak_chance(w, 2),
        .options = option_text(w, buffer, SOAK_PICK(w, options)),
        .user = &watching,
        .on_epoch = soak_chance(w, 4) ? NULL : after_epoch,
        .on_batch = soak_chance(w, 4) ? NULL : after_batch,
    };
    uint64_t before;
    struct mase_rows *rows = some_rows(w);
    if (t.max_epochs == 0 && !soak_chance(w, 10))
        return; /* twenty epochs */
    keep_sum(w, net, &before);
    const enum mase_status st =
        SOAK(w, net_train, net, soak_chance(w, 2) ? &last : NULL, rows, &t, &w->err);
    check_sum(w, net, before, st);
}

/* ---- passes of our own ---- */

/* Who runs it is known by the thread: sessions are shared. */
static _Thread_local struct worker *running;

static enum mase_status count_nodes(void *user, struct mase_net *net, const char *args,
                                    struct mase_text *info, struct mase_err *err)
{
    char text[64];
    struct worker *w = running;
    int n = 0;
    (void)args;
    for (const struct mase_node *at = NULL; (at = mase_net_next(net, at));)
        n++;
    snprintf(text, sizeof text, soak_chance(w, 5) ? "no json %d" : "{\"nodes\": %d}", n);
    return mase_text_set(*(struct mase_session *const *)user, info, text, err);
}

static enum mase_status alter(void *user, struct mase_net *net, const char *args,
                              struct mase_text *info, struct mase_err *err)
{
    struct worker *w = running;
    struct mase_text t = { 0 };
    (void)user, (void)args, (void)info;
    w->depth++;
    enum mase_status st =
        SOAK(w, net_add, net, NULL, NULL,
             "%altered = call_function[target=operator.mul](args = (%x, 2))", err);
    for (int i = 0; i < 3 && !st; i++)
        st = soak_chance(w, 2) ? SOAK(w, net_pass, net, "fold_batch_norm", "", NULL, &t, err)
                               : SOAK(w, net_print, net, &t, "mg", err);
    mase_text_release(&t);
    w->depth--;
    w->unsure = true;
    return soak_chance(w, 4) ? MASE_OK : soak_chance(w, 8) ? MASE_EUNSUPPORTED : st;
}

static enum mase_status fold(void *user, struct mase_net *net, const char *args,
                             struct mase_text *info, struct mase_err *err)
{
    struct worker *w = running;
    struct mase_net *copy = NULL;
    (void)user, (void)args, (void)info;
    w->depth++;
    enum mase_status st = SOAK(w, net_clone, net, &copy, err);
    if (!st)
        st = SOAK(w, net_set_original, net, copy, err);
    if (!st)
        st = SOAK(w, net_passes, net, "[passes.fold_batch_norm]\n[passes.summarize_quantization]\n",
                  NULL, NULL, err);
    mase_net_free(copy);
    w->depth--;
    w->unsure = true;
    return st;
}

void soak_add_passes(struct worker *w, struct mase_session *s)
{
    struct mase_session **user = s == w->shared ? &w->shared : &w->own;
    const struct mase_own_pass own[] = {
        { sizeof own[0], "count", "counts nodes", false, user, count_nodes },
        { sizeof own[0], "alter", "edits and looks", true, user, alter },
        { sizeof own[0], "fold", NULL, true, user, fold },
        { sizeof own[0], "quantize", "a name that is taken", true, user, fold },
    };
    for (int i = 0; i < 4; i++)
        while (SOAK(w, session_add_pass, s, &own[i], &w->err) == MASE_ENOMEM)
            ;
}

/* ---- steps ---- */

static void step_net(struct worker *w)
{
    static void (*const steps[])(struct worker * w, struct mase_net * net) = {
        step_small,    step_files, step_files, step_walk,    step_walk,
        step_edit,     step_pass,  step_pass,  step_pass,    step_quantize,
        step_quantize, step_run,   step_run,   step_measure, step_train,
    };
    struct mase_net *net = some_net(w);
    if (!net) {
        step_open(w);
        return;
    }
    SOAK_PICK(w, steps)(w, net);
    if (soak_chance(w, 3) && (net = some_net(w)))
        (void)SOAK(w, net_start, net, 0, &w->err);
}

void soak_step(struct worker *w)
{
    static void (*const steps[])(struct worker * w) = { step_session, step_rows,  step_read,
                                                        step_open,    step_parse, step_clone,
                                                        step_round,   step_renew };
    running = w;
    if (soak_chance(w, 3))
        SOAK_PICK(w, steps)(w);
    else
        step_net(w);
}

static void write_csv(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    for (int k = 0; k < FEATURES; k++)
        fprintf(f, "f%d,", k);
    fprintf(f, "label\n");
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FEATURES; k++)
            fprintf(f, "%g,", ((i * 7 + k * 5) % 23) / 4.0 - 3);
        fprintf(f, "%c\n", 'a' + i % CLASSES);
    }
    fclose(f);
}

static const char module[] = "import torch\n"
                             "class Net(torch.nn.Module):\n"
                             "    def __init__(self):\n"
                             "        super().__init__()\n"
                             "        self.fc = torch.nn.Linear(16, 5)\n"
                             "    def forward(self, x):\n"
                             "        return torch.relu(self.fc(x))\n";

void soak_prepare(struct worker *w)
{
    char path[OPTIONS];
    if (mkdir(w->dir, 0700) != 0)
        abort();
    write_csv(path_in(w, path, "t.csv"));
    FILE *f = fopen(path_in(w, path, "net.py"), "w");
    if (!f || fputs(module, f) < 0 || fclose(f) != 0)
        abort();
    w->own = soak_session(&w->memory, w);
    soak_add_passes(w, w->own);
    if (w->all)
        return;
    (void)wrap_rows(w, NULL, NULL, false);
    soak_add_passes(w, w->shared);
    while (wrap_rows(w, w->shared, &w->all, false) == MASE_ENOMEM)
        ;
    if (mase_session_list(w->shared, &w->text, "formats", &w->err))
        soak_die(w, "there are no formats");
    read_formats(w->text.data);
}

void soak_end(struct worker *w)
{
    end_objects(w);
}
