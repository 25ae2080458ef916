/*
 * model.c - open a model: of the zoo, a file, or a list of layers.
 */
#include <string.h>

#include <mase/file.h>

#include "base/number.h"
#include "frontend/source.h"

/* ---- files ---- */

/* The end of ".py" in "net.py" or "net.py:Net(width=3)", or NULL. */
static const char *end_of_py(const char *spec)
{
    for (const char *p = strstr(spec, ".py"); p; p = strstr(p + 1, ".py"))
        if (p > spec && (p[3] == ':' || !p[3]))
            return p + 3;
    return NULL;
}

static bool starts_name(char c)
{
    return mase_is_alpha(c) || c == '_';
}

/* The end of the module name in "torchvision.models:resnet18(num_classes=10)", or NULL. */
static const char *end_of_module(const char *spec)
{
    const char *p = mase_data_kind_of(spec) ? "" : spec; /* csv:FILE names a dataset */
    while (starts_name(*p)) {
        while (starts_name(*p) || mase_is_digit(*p))
            p++;
        if (p[0] == ':')
            return starts_name(p[1]) ? p : NULL;
        p += *p == '.';
    }
    return NULL;
}

static const char *end_of_source(const char *spec)
{
    const char *end = end_of_py(spec);
    return end ? end : end_of_module(spec);
}

bool mase_model_is_file(const char *spec)
{
    return mase_ends_with(spec, ".mg") || mase_ends_with(spec, ".onnx") || end_of_source(spec);
}

const char *mase_model_class(struct mase_arena *a, const char *spec)
{
    const char *end = end_of_source(spec);
    if (!end || end[0] != ':' || !end[1])
        return NULL;
    const size_t n = strcspn(end + 1, "(");
    return mase_arena_strndup(a, end + 1, n);
}

static enum mase_status open_source(struct mase_graph **g, const char *spec, const char *end,
                                    const struct mase_data_info *data,
                                    const struct mase_model_opts *opts, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_file f;
    const char *path = mase_arena_strndup(&a, spec, (size_t)(end - spec));
    const char *call = end[0] == ':' && end[1] ? end + 1 : NULL;
    enum mase_status st = MASE_OK;
    if (mase_ends_with(path, ".py")) {
        st = mase_file_open(&f, path, err); /* reports a missing file */
        if (!st)
            mase_file_close(&f);
    }
    if (!st)
        st = mase_source_trace(g, path, call, data, opts, err);
    mase_arena_release(&a);
    return st;
}

static enum mase_status open_mg(struct mase_graph **g, const char *path, struct mase_err *err)
{
    MASE_TRY(mase_graph_read_mg(g, path, err));
    const enum mase_status st = mase_graph_check_writes(*g, err);
    if (st) {
        mase_graph_free(*g);
        *g = NULL;
    }
    return st;
}

/* Check that samples have the shape that the file needs. */
static enum mase_status check_onnx(const struct mase_onnx_info *info, const char *path,
                                   const struct mase_shape *sample, struct mase_err *err)
{
    struct mase_str want = { 0 }, got = { 0 };
    enum mase_status st = MASE_OK;
    if (sample && info->has_sample && !mase_shape_equal(sample, &info->sample)) {
        mase_shape_print(&want, &info->sample);
        mase_shape_print(&got, sample);
        st = mase_fail_in(err, MASE_EVALUE, path, "it takes samples of %s, not of %s",
                          mase_str_text(&want), mase_str_text(&got));
    }
    mase_str_release(&want);
    mase_str_release(&got);
    return st;
}

enum mase_status mase_model_open_onnx(struct mase_graph **g, struct mase_onnx_info *info,
                                      const char *path, const struct mase_shape *sample,
                                      struct mase_err *err)
{
    const struct mase_onnx_opts opts = { .sample = sample };
    MASE_TRY(mase_onnx_read(g, info, path, &opts, err));
    (*g)->batch = info->batch;
    if (info->batch)
        mase_graph_refuse_training(
            *g, mase_arena_printf(&(*g)->arena,
                                  "its shapes hold for batches of %lld alone; export it with a "
                                  "batch of any size (dynamic_axes, dynamic_shapes)",
                                  (long long)info->batch));
    const enum mase_status st = check_onnx(info, path, sample, err);
    if (st) {
        mase_graph_free(*g);
        *g = NULL;
    }
    return st;
}

/* Data of which only the shape is known has no classes: take those of the model's usual data. */
static enum mase_status build_named(struct mase_graph **g, const struct mase_model *m,
                                    const struct mase_data_info *data, struct mase_err *err)
{
    struct mase_data_info fitted = *data;
    if (fitted.classes == 0) {
        const struct mase_data_info *usual;
        MASE_TRY(mase_data_find(&usual, m->dataset, err));
        fitted.classes = usual->classes;
    }
    return m->build(g, &fitted, err);
}

static enum mase_status open_model(struct mase_graph **g, const char *spec,
                                   const struct mase_data_info *data,
                                   const struct mase_model_opts *opts, struct mase_err *err)
{
    const struct mase_model *m;
    const char *source = end_of_source(spec);
    if (source)
        return open_source(g, spec, source, data, opts, err);
    if (mase_ends_with(spec, ".mg"))
        return open_mg(g, spec, err);
    struct mase_onnx_info info;
    if (mase_ends_with(spec, ".onnx"))
        return mase_model_open_onnx(g, &info, spec, data ? &data->sample : NULL, err);
    MASE_TRY(mase_zoo_find(&m, spec, err));
    return build_named(g, m, data, err);
}

/* ---- inputs ---- */

/* Find arrays by name if there are several, else by order. */
const struct mase_shape *mase_model_sample(const struct mase_data_info *data, const char *name,
                                           int number)
{
    const struct mase_shape *own =
        data->more_count || data->other_count ? mase_data_input(data, name) : NULL;
    if (own)
        return own;
    return !number ? &data->sample : number <= data->more_count ? &data->more[number - 1] : NULL;
}

void mase_model_set_inputs(struct mase_graph *g, const struct mase_data_info *data)
{
    struct mase_shape more[MASE_MORE_INPUTS] = { 0 };
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_shape *own =
            n->kind == MASE_PLACEHOLDER ? mase_model_sample(data, n->target, count) : NULL;
        if (own && count)
            more[count - 1] = *own;
        count += own != NULL;
        if (count > MASE_MORE_INPUTS)
            break;
    }
    mase_graph_set_more(g, more, count > 1 ? count - 1 : 0);
}

enum mase_status mase_model_open(struct mase_graph **g, const char *spec,
                                 const struct mase_data_info *data,
                                 const struct mase_model_opts *opts, struct mase_err *err)
{
    MASE_TRY(open_model(g, spec, data, opts, err));
    mase_model_set_inputs(*g, data);
    return MASE_OK;
}

/* ---- lists of layers ---- */

/* A list becomes the text of a .mg file, with one module in each line after these. So line n of the
 * text is item n - 2 of the list, and lists can have everything that .mg has for modules ("init",
 * "quantized"). */
enum { LINES_BEFORE = 2 };
#define MODULE_TEXT "module seq_blocks.%d = "

static enum mase_status check_layer(const struct mase_value *v, struct mase_err *err)
{
    if (v->kind != MASE_STRING)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "a layer is a text as \"Linear(16, 64)\", got %s",
                            mase_value_kind_names[v->kind]);
    int depth = 0;
    for (size_t i = 0; i < v->len; i++)
        depth += (v->s[i] == '(') - (v->s[i] == ')');
    if (depth)
        return mase_fail_at(err, MASE_EVALUE, v->at, "'%s': its brackets do not match", v->s);
    for (size_t i = 0; i < v->len; i++)
        if ((unsigned char)v->s[i] < ' ' || v->s[i] == 0x7f || v->s[i] == '#')
            return mase_fail_at(err, MASE_EVALUE, v->at, "a layer is one line without comments");
    return MASE_OK;
}

static void write_chain(struct mase_str *text, const char *name, const struct mase_value *layers)
{
    mase_str_add(text, "mase-graph 1\nname ");
    mase_repr_string(text, name, strlen(name));
    for (int i = 0; i < layers->count; i++)
        mase_str_printf(text, "\n" MODULE_TEXT "%s", i, layers->items[i]->s);
    mase_str_add(text, "\n%x = placeholder[target=x]\n");
    for (int i = 0; i < layers->count; i++) {
        mase_str_printf(text, "%%seq_blocks_%d = call_module[target=seq_blocks.%d](args = (%%", i,
                        i);
        mase_str_printf(text, i ? "seq_blocks_%d" : "x", i - 1);
        mase_str_add(text, ",), kwargs = {})\n");
    }
    mase_str_printf(text, "return %%seq_blocks_%d\n", layers->count - 1);
}

/* Convert a place in that text to a place in the list. */
static void move_place(struct mase_err *err, const struct mase_value *layers)
{
    const int i = err->loc.line - LINES_BEFORE - 1;
    if (i < 0 || i >= layers->count)
        return;
    struct mase_loc at = layers->items[i]->at;
    const int before = mase_snprintf(NULL, 0, MODULE_TEXT, i);
    if (at.line && err->loc.col > before) { /* after the opening quote */
        at.col += err->loc.col - before;
        at.span = err->loc.span;
    }
    char message[sizeof err->msg];
    memcpy(message, err->msg, sizeof message);
    mase_fail_at(err, err->status, at, "%s", message);
}

static void place_nodes(struct mase_graph *g, const struct mase_value *layers)
{
    int i = 0;
    for (struct mase_node *n = g->first; n; n = n->next)
        mase_node_set_place(n, n->kind == MASE_CALL_MODULE ? layers->items[i++]->at : layers->at);
}

enum mase_status mase_model_layers(struct mase_graph **g, const char *name,
                                   const struct mase_value *layers, struct mase_err *err)
{
    struct mase_str text = { 0 };
    struct mase_err unwanted;
    err = err ? err : &unwanted;
    if (layers->kind != MASE_LIST || !layers->count)
        return mase_fail_at(err, MASE_EVALUE, layers->at,
                            "layers must be a list of at least one layer, as \"Linear(16, 64)\"");
    for (int i = 0; i < layers->count; i++)
        MASE_TRY(check_layer(layers->items[i], err));
    write_chain(&text, name, layers);
    const enum mase_status st =
        mase_graph_parse_mg(g, mase_str_text(&text), text.len, "layers", err);
    if (st)
        move_place(err, layers);
    else
        place_nodes(*g, layers);
    mase_str_release(&text);
    return st;
}
