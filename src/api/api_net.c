/*
 * api_net.c - networks of programs: opened, copied, given up.
 *
 * What a word names is told as on the command line (cli/command_nets.c): a folder that was saved or
 * that a run left, a graph, a file of another kind with a network in it, a model by name.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/log.h>
#include <mase/meta.h>
#include <mase/saved.h>
#include <mase/weights.h>
#include <mase/zoo.h>

#include "base/alloc.h"

enum { A_DAY = 86400 };

/* ---- using ---- */

enum mase_status mase_net_use(const struct mase_net *net, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    if (!net->broken)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "an edit of this network ran out of memory: it can only be freed");
}

enum mase_status mase_net_need_output(const struct mase_net *net, struct mase_err *err)
{
    MASE_TRY(mase_net_use(net, err));
    if (mase_graph_output(net->graph))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "the network has no output yet: add \"return %%NODE\"");
}

static bool has_values(const char *full, struct mase_param *p, void *data)
{
    struct mase_str *first = data;
    if (p->tensor.data || !mase_tensor_count(&p->tensor))
        return true;
    mase_str_add(first, full);
    return false;
}

enum mase_status mase_net_need_values(const struct mase_net *net, struct mase_err *err)
{
    struct mase_str first = { 0 };
    enum mase_status st = MASE_OK;
    MASE_TRY(mase_net_need_output(net, err));
    const struct mase_node *n = net->graph->first;
    while (n && n->kind != MASE_PLACEHOLDER)
        n = n->next;
    if (!n)
        return mase_fail(err, MASE_EVALUE, "the network has no input");
    mase_graph_each_param(net->graph, has_values, &first);
    if (first.len)
        st = mase_fail(err, MASE_EVALUE,
                       "parameters have no values, '%s' the first of them: mase_net_start gives "
                       "them initial ones",
                       mase_str_text(&first));
    mase_str_release(&first);
    return st;
}

/* The list of blocks is the newest graph's. */
static void go_on_borrowing(struct mase_graph *older, const struct mase_graph *g)
{
    if (older && older->weights_borrowed)
        older->weights = g->weights;
}

void mase_net_become(struct mase_net *net, struct mase_graph *g, bool keep)
{
    struct mase_graph *old = net->graph;
    mase_graph_take_weights(g, old); /* the last that needs memory */
    net->edits++;
    net->graph = g;
    go_on_borrowing(net->before, g);
    go_on_borrowing(net->lent, g);
    if (old == net->lent) /* whoever lent it frees it */
        return;
    if (!keep || net->lent) {
        mase_graph_free(old);
        return;
    }
    mase_graph_free(net->before);
    net->before = old;
}

/* What the values of a parameter are copied to, and from: found before the first one changes, since
 * there may be no memory to find the last. */
struct copy {
    void *to;
    const void *from;
    size_t size;
};

struct copies {
    const struct mase_graph *g;
    struct mase_arena arena;
    struct copy *items;
    int count, cap;
};

static bool note_copy(const char *full, struct mase_param *p, void *data)
{
    struct copies *c = data;
    const struct mase_param *to = mase_graph_attr(c->g, full);
    if (!to || !to->tensor.data || !p->tensor.data || p->tied)
        return true;
    c->items = mase_arena_grow(&c->arena, c->items, c->count, &c->cap, sizeof *c->items);
    c->items[c->count++] =
        (struct copy){ to->tensor.data, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor) };
    return true;
}

void mase_net_become_trained(struct mase_net *net, struct mase_graph *g,
                             const struct mase_graph *from, struct mase_arena *a,
                             const struct mase_checkpoint_info *trained, const char *origin)
{
    struct copies c = { .g = g };
    mase_graph_each_param(from, note_copy, &c);
    mase_net_become(net, g, false); /* the last that needs memory */
    for (int i = 0; i < c.count; i++)
        memcpy(c.items[i].to, c.items[i].from, c.items[i].size);
    mase_arena_release(&c.arena);
    mase_arena_release(&net->arena);
    net->arena = *a;
    *a = (struct mase_arena){ 0 };
    net->trained = *trained;
    net->origin = origin;
}

struct mase_kept_value {
    void *from, *copy;
    size_t size;
};

static bool keep_value(const char *full, struct mase_param *p, void *data)
{
    struct mase_kept *k = data;
    int i = 0;
    (void)full;
    if (!p->tensor.data || p->tied)
        return true;
    while (i < k->count && k->item[i].from != p->tensor.data)
        i++;
    if (i == k->count) {
        const size_t size = (size_t)mase_tensor_bytes(&p->tensor);
        k->item = mase_arena_grow(k->arena, k->item, k->count, &k->cap, sizeof *k->item);
        k->item[k->count++] =
            (struct mase_kept_value){ p->tensor.data, mase_arena_alloc(k->arena, size), size };
    }
    memcpy(k->item[i].copy, k->item[i].from, k->item[i].size);
    return true;
}

void mase_keep_values(struct mase_kept *k, const struct mase_graph *g)
{
    mase_graph_each_param(g, keep_value, k);
}

void mase_put_back(const struct mase_kept *k)
{
    for (int i = 0; i < k->count; i++)
        memcpy(k->item[i].from, k->item[i].copy, k->item[i].size);
}

enum mase_status mase_net_inputs(struct mase_inputs *in, struct mase_arena *a,
                                 const struct mase_net *net, struct mase_err *err)
{
    if (!net->has_sample)
        return mase_fail(err, MASE_EVALUE,
                         "nobody has said what a sample of '%s' is like: mase_net_set_sample, or "
                         "dataset or shape where it is opened",
                         net->graph->name ? net->graph->name : "the network");
    *in = mase_graph_inputs(a, net->graph, &net->sample, 1);
    return MASE_OK;
}

static struct mase_net *new_net(struct mase_session *s)
{
    struct mase_net *net = mase_xcalloc(sizeof *net);
    net->session = s;
    net->trained = (struct mase_checkpoint_info){ .epoch = -1, .step = -1 };
    return net;
}

void mase_net_free(struct mase_net *net)
{
    if (!net || net->lent) /* who was lent it cannot */
        return;
    mase_graph_free(net->before);
    mase_graph_free(net->graph);
    mase_arena_release(&net->arena);
    mase_xfree(net);
}

/* ---- opening ---- */

struct open {
    struct mase_session *session;
    struct mase_net **out;
    const char *spec;
    const struct mase_open *given;
    struct mase_open o; /* zero where nothing is given */
    struct mase_net *net;
};

/* What samples are, of the data that is named or whose shape is given; in the net's arena. */
static enum mase_status data_of(const struct mase_data_info **info, struct open *c,
                                const char *usual, struct mase_err *err)
{
    struct mase_arena *a = &c->net->arena;
    const char *name = c->o.dataset ? c->o.dataset : usual;
    if (c->o.shape) {
        struct mase_str text = { 0 };
        mase_str_add(&text, "shape:");
        for (int i = 0; i < c->o.rank; i++)
            mase_str_printf(&text, "%s%lld", i ? "," : "", (long long)c->o.shape[i]);
        name = mase_arena_strdup(a, mase_str_text(&text));
        mase_str_release(&text);
    }
    *info = NULL;
    if (!name)
        return MASE_OK;
    if (!mase_data_kind_of(name))
        return mase_data_find(info, name, err);
    struct mase_dataset *d;
    const struct mase_task *task;
    MASE_TRY(mase_task_need(&task, c->o.task, err));
    MASE_TRY(mase_dataset_open(
        &d, name, &(struct mase_dataset_opts){ .target = mase_task_reads(task) }, err));
    *info = mase_data_info_copy(a, &mase_dataset_info(d)->data);
    mase_dataset_close(d);
    return MASE_OK;
}

static void set_sample(struct mase_net *net, const struct mase_shape *sample)
{
    net->sample = *sample;
    net->has_sample = true;
}

static enum mase_status start_weights(struct mase_graph *g, uint64_t seed, struct mase_err *err)
{
    MASE_TRY(mase_graph_check_size(g, err));
    mase_graph_init_weights(g, seed);
    return MASE_OK;
}

/* Of the zoo, of a .py file, of an installed package. */
static enum mase_status open_model(struct open *c, struct mase_err *err)
{
    const struct mase_model *model = NULL;
    const struct mase_data_info *data;
    const struct mase_task *task;
    if (!mase_model_is_file(c->spec) && mase_zoo_find(&model, c->spec, err))
        return mase_wrap(err, "'%s' is no file or folder", c->spec);
    MASE_TRY(data_of(&data, c, model ? model->dataset : NULL, err));
    MASE_TRY(mase_task_need(&task, c->o.task, err));
    if (!data)
        return mase_fail(err, MASE_EVALUE,
                         "'%s' does not say what data it takes: give the dataset, or the shape of "
                         "a sample",
                         c->spec);
    struct mase_data_info fitted = *data;
    fitted.classes = (int)mase_task_outputs(task, data);
    MASE_TRY(mase_model_open(&c->net->graph, c->spec, &fitted,
                             &(struct mase_model_opts){ .seconds = c->o.seconds }, err));
    set_sample(c->net, &data->sample);
    return MASE_OK;
}

static enum mase_status open_onnx(struct open *c, struct mase_err *err)
{
    const struct mase_data_info *data;
    struct mase_onnx_info info;
    MASE_TRY(data_of(&data, c, NULL, err));
    MASE_TRY(
        mase_model_open_onnx(&c->net->graph, &info, c->spec, data ? &data->sample : NULL, err));
    if (info.has_sample)
        set_sample(c->net, &info.sample);
    return MASE_OK;
}

static enum mase_status open_graph(struct open *c, struct mase_err *err)
{
    struct mase_net *net = c->net;
    const struct mase_data_info *data;
    MASE_TRY(mase_graph_read_mg(&net->graph, c->spec, err));
    net->has_sample = mase_graph_says_sample(&net->sample, net->graph);
    MASE_TRY(data_of(&data, c, NULL, err));
    if (!data)
        return MASE_OK;
    set_sample(net, &data->sample);
    const char *features; /* of the data, which whoever opens it asks again */
    return data->more_count || data->other_count
               ? mase_inputs_match(&features, &net->arena, net->graph, data, err)
               : MASE_OK;
}

static enum mase_status open_folder(struct open *c, const char *dir, struct mase_err *err)
{
    struct mase_net *net = c->net;
    MASE_TRY(mase_graph_load(&net->graph, dir, NULL, err));
    MASE_TRY(mase_trained_on(&net->trained, &net->arena, dir, err));
    net->has_sample = mase_graph_says_sample(&net->sample, net->graph);
    net->origin = mase_arena_strdup(&net->arena, dir);
    return MASE_OK;
}

static enum mase_status open_checkpoint(struct open *c, const char *path, struct mase_err *err)
{
    struct mase_net *net = c->net;
    MASE_TRY(mase_checkpoint_need_graph(&net->graph, path, err));
    MASE_TRY(mase_trained_on(&net->trained, &net->arena, path, err));
    net->origin = mase_arena_strdup(&net->arena, path);
    if (net->trained.data.name) {
        set_sample(net, &net->trained.data.sample);
        mase_graph_set_more(net->graph, net->trained.data.more, net->trained.data.more_count);
    }
    if (c->o.no_weights)
        return MASE_OK;
    MASE_TRY(mase_graph_check_size(net->graph, err));
    return mase_weights_load(net->graph, path, err);
}

static enum mase_status open_path(struct open *c, const char *path, struct mase_err *err)
{
    return mase_is_dir(path) ? open_folder(c, path, err) : open_checkpoint(c, path, err);
}

static enum mase_status open_spec(struct open *c, struct mase_err *err)
{
    const char *spec = c->spec, *slash = strrchr(spec, '/'), *path;
    enum mase_file_kind kind = MASE_KIND_UNKNOWN;
    if (mase_is_dir(spec)) {
        MASE_TRY(mase_network_find(&path, &c->net->arena, spec, err));
        return open_path(c, path, err);
    }
    if (mase_ends_with(spec, ".onnx"))
        return open_onnx(c, err);
    if (!mase_is_file(spec) && !mase_ends_with(spec, ".mg"))
        return open_model(c, err);
    if (mase_streq(slash ? slash + 1 : spec, MASE_SAVED_GRAPH))
        return open_folder(c, spec, err);
    MASE_TRY(mase_file_kind_find(&kind, spec, err));
    if (kind == MASE_KIND_MG || mase_ends_with(spec, ".mg"))
        return open_graph(c, err);
    return mase_model_is_file(spec) ? open_model(c, err) : open_checkpoint(c, spec, err);
}

/* ---- weights ---- */

/* A folder that was saved is a network, too: it must be this one. */
static enum mase_status take_folder(struct mase_net *net, const char *dir, struct mase_err *err)
{
    struct mase_graph *saved = NULL;
    struct mase_str why = { 0 };
    MASE_TRY(mase_graph_load(&saved, dir, net->graph->name, err));
    enum mase_status st = MASE_OK;
    if (!mase_graph_same_network(net->graph, saved, &why))
        st = mase_fail_in(err, MASE_EVALUE, dir, "holds another network than '%s': %s",
                          net->graph->name ? net->graph->name : "this one", mase_str_text(&why));
    else
        mase_graph_set_more(saved, net->graph->more, net->graph->more_count);
    mase_str_release(&why);
    struct mase_graph *other = st ? saved : net->graph;
    if (!st)
        net->graph = saved;
    mase_graph_free(other);
    return st;
}

static enum mase_status take_weights(struct open *c, struct mase_err *err)
{
    struct mase_net *net = c->net;
    const char *path = c->o.weights;
    const struct mase_weights_opts opts = { .key = c->o.key,
                                            .lenient = c->o.lenient,
                                            .seed = c->o.seed };
    if (mase_is_dir(path)) {
        const char *inside = mase_network_in(&net->arena, path);
        inside = inside ? inside : mase_weights_in(&net->arena, path);
        if (!inside)
            return mase_network_find(&inside, &net->arena, path, err);
        path = inside;
    }
    MASE_TRY(mase_trained_on(&net->trained, &net->arena, path, err));
    net->origin = mase_arena_strdup(&net->arena, path);
    if (mase_is_dir(path))
        return take_folder(net, path, err);
    MASE_TRY(mase_graph_check_size(net->graph, err));
    MASE_TRY(mase_checkpoint_follow(net->graph, path, err));
    return mase_weights_load_by(net->graph, path, &opts, err);
}

static enum mase_status open_whole(struct open *c, struct mase_err *err)
{
    if (c->given) {
        MASE_TRY(
            mase_api_size(c->given->size, offsetof(struct mase_open, dataset), "mase_open", err));
        MASE_API_COPY(c->o, c->given);
    }
    if (!(c->o.seconds >= 0 && c->o.seconds <= A_DAY))
        return mase_fail(err, MASE_EVALUE, "capturing cannot take %g seconds, at most %d",
                         c->o.seconds, (int)A_DAY);
    if (!c->o.shape && c->o.rank)
        return mase_fail(err, MASE_EVALUE, "shape is NULL, and rank is %d", c->o.rank);
    MASE_TRY(mase_api_text(c->o.weights, "weights", err));
    MASE_TRY(mase_api_text(c->o.task, "task", err));
    MASE_TRY(mase_api_text(c->o.key, "key", err));
    if (c->o.key && !c->o.weights)
        return mase_fail(err, MASE_EVALUE, "key is of weights, and there are none");
    if (c->o.shape && (c->o.rank < 1 || c->o.rank >= MASE_MAX_RANK))
        return mase_fail(err, MASE_EVALUE, "a sample has 1 to %d dimensions, not %d",
                         MASE_MAX_RANK - 1, c->o.rank);
    MASE_TRY(open_spec(c, err));
    if (c->o.weights && !c->o.no_weights)
        return take_weights(c, err);
    return c->net->graph->weights || c->o.no_weights ? MASE_OK
                                                     : start_weights(c->net->graph, c->o.seed, err);
}

static enum mase_status open_net(void *data, struct mase_err *err)
{
    struct open *c = data;
    c->net = new_net(c->session);
    const enum mase_status st = open_whole(c, err);
    if (st)
        mase_net_free(c->net);
    else
        *c->out = c->net;
    return st;
}

enum mase_status mase_net_open(struct mase_session *s, struct mase_net **net, const char *spec,
                               const struct mase_open *options, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    *net = NULL;
    MASE_API_NEED(spec, err);
    struct open c = { .session = s, .out = net, .spec = spec, .given = options };
    return mase_api_run(s, open_net, &c, err);
}

/* ---- from a text ---- */

struct parse {
    struct mase_session *session;
    struct mase_net **out;
    const char *text, *name;
};

/* A first line alone, or with a name: a network to be built. */
static bool is_empty(const char *text)
{
    const char *end = strchr(text, '\n');
    if (!mase_starts_with(text, "mase-graph 1"))
        return false;
    const char *next = end ? end + strspn(end, " \t\r\n") : "";
    if (mase_starts_with(next, "name ")) {
        next += strcspn(next, "\n");
        next += strspn(next, " \t\r\n");
    }
    return !*next;
}

static enum mase_status parse_net(void *data, struct mase_err *err)
{
    const struct parse *p = data;
    struct mase_graph *g = NULL;
    if (is_empty(p->text))
        g = mase_graph_new(p->name);
    else
        MASE_TRY(mase_graph_parse_mg(&g, p->text, strlen(p->text), p->name, err));
    struct mase_net *net = new_net(p->session);
    net->graph = g;
    net->has_sample = mase_graph_says_sample(&net->sample, g);
    *p->out = net;
    return MASE_OK;
}

enum mase_status mase_net_parse(struct mase_session *s, struct mase_net **net, const char *text,
                                const char *name, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    *net = NULL;
    MASE_API_NEED(text, err);
    return mase_api_run(s, parse_net, &(struct parse){ s, net, text, name }, err);
}

/* ---- copies ---- */

struct clone {
    const struct mase_net *from;
    struct mase_net **out;
};

const char *const *mase_copy_names(struct mase_arena *a, const char *const *names, int n)
{
    if (!names)
        return NULL;
    const char **copy = mase_new_array(a, const char *, (size_t)n);
    for (int i = 0; i < n; i++)
        copy[i] = mase_arena_strdup(a, names[i]);
    return copy;
}

const char *mase_copy_text(struct mase_arena *a, const char *s)
{
    return s ? mase_arena_strdup(a, s) : NULL;
}

struct mase_scaling mase_copy_scaling(struct mase_arena *a, const struct mase_scaling *s)
{
    const size_t size = (size_t)s->n * sizeof *s->mean;
    return (struct mase_scaling){ s->n, s->n ? mase_arena_memdup(a, s->mean, size) : NULL,
                                  s->n ? mase_arena_memdup(a, s->std, size) : NULL };
}

/* What weights were trained on, with everything in the arena of the other network. */
static struct mase_checkpoint_info copy_trained(struct mase_arena *a,
                                                const struct mase_checkpoint_info *from)
{
    struct mase_checkpoint_info t = *from;
    struct mase_data_columns *c = &t.columns;
    if (from->data.name)
        t.data = *mase_data_info_copy(a, &from->data);
    t.class_names = (const char **)mase_copy_names(a, (const char *const *)from->class_names,
                                                   from->data.classes);
    t.task = mase_copy_text(a, from->task);
    t.loss = mase_copy_text(a, from->loss);
    t.checksum = mase_copy_text(a, from->checksum);
    t.notice = mase_copy_text(a, from->notice);
    t.scaling = mase_copy_scaling(a, &from->scaling);
    t.target_scaling = mase_copy_scaling(a, &from->target_scaling);
    c->labels = mase_copy_names(a, c->labels, c->label_count);
    c->features = mase_copy_names(a, c->features, c->feature_count);
    c->origin = mase_copy_text(a, c->origin);
    t.split.by = mase_copy_text(a, from->split.by);
    return t;
}

static enum mase_status clone_net(void *data, struct mase_err *err)
{
    const struct clone *c = data;
    MASE_TRY(mase_net_use(c->from, err));
    struct mase_net *net = new_net(c->from->session);
    net->graph = mase_graph_clone(c->from->graph);
    mase_graph_own_weights(net->graph);
    net->sample = c->from->sample;
    net->has_sample = c->from->has_sample;
    net->trained = copy_trained(&net->arena, &c->from->trained);
    net->origin = mase_copy_text(&net->arena, c->from->origin);
    *c->out = net;
    return MASE_OK;
}

enum mase_status mase_net_clone(const struct mase_net *net, struct mase_net **copy,
                                struct mase_err *err)
{
    MASE_API_NEED(copy, err);
    *copy = NULL;
    MASE_API_NEED(net, err);
    return mase_api_run(net->session, clone_net, &(struct clone){ net, copy }, err);
}

struct original {
    struct mase_net *net;
    const struct mase_net *original;
};

static enum mase_status set_original(void *data, struct mase_err *err)
{
    const struct original *o = data;
    MASE_TRY(mase_net_use(o->net, err));
    MASE_TRY(mase_net_use(o->original, err));
    struct mase_graph *g = mase_graph_clone(o->original->graph);
    mase_graph_own_weights(g);
    mase_graph_free(o->net->before);
    o->net->before = g;
    return MASE_OK;
}

enum mase_status mase_net_set_original(struct mase_net *net, const struct mase_net *original,
                                       struct mase_err *err)
{
    MASE_API_NEED(net, err);
    MASE_API_NEED(original, err);
    return mase_api_change(net, set_original, &(struct original){ net, original }, err);
}

/* ---- small things ---- */

struct start {
    struct mase_net *net;
    uint64_t seed;
};

static bool is_missing(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    *(bool *)data |= !p->tensor.data;
    return true;
}

/* Parameters that have values keep them. */
static enum mase_status start_net(void *data, struct mase_err *err)
{
    const struct start *c = data;
    bool missing = false;
    MASE_TRY(mase_net_use(c->net, err));
    mase_graph_each_param(c->net->graph, is_missing, &missing);
    if (!missing)
        return MASE_OK;
    struct mase_graph *g = mase_graph_clone(c->net->graph);
    const enum mase_status st =
        g->weights ? mase_graph_init_missing(g, c->seed, err) : start_weights(g, c->seed, err);
    if (st)
        mase_graph_free(g);
    else
        mase_net_become(c->net, g, false);
    return st;
}

enum mase_status mase_net_start(struct mase_net *net, uint64_t seed, struct mase_err *err)
{
    MASE_API_NEED(net, err);
    return mase_api_change(net, start_net, &(struct start){ net, seed }, err);
}

int mase_net_sample(const struct mase_net *net, int64_t dim[8])
{
    return net && net->has_sample ? mase_api_dims(&net->sample, dim) : -1;
}

struct sample {
    struct mase_net *net;
    int rank;
    const int64_t *dim;
};

static enum mase_status change_sample(void *data, struct mase_err *err)
{
    const struct sample *c = data;
    struct mase_shape s;
    MASE_TRY(mase_net_use(c->net, err));
    if (mase_api_shape(&s, c->rank, c->dim, MASE_MAX_RANK - 1, err))
        return mase_wrap(err, "the shape of a sample");
    if (c->net->has_sample && mase_shape_equal(&s, &c->net->sample))
        return MASE_OK;
    set_sample(c->net, &s);
    mase_graph_drop_props(c->net->graph, MASE_PROP_ALL); /* shapes follow from it */
    c->net->edits++;
    return MASE_OK;
}

enum mase_status mase_net_set_sample(struct mase_net *net, int rank, const int64_t *dim,
                                     struct mase_err *err)
{
    MASE_API_NEED(net, err);
    return mase_api_change(net, change_sample, &(struct sample){ net, rank, dim }, err);
}

uint64_t mase_net_edits(const struct mase_net *net)
{
    return net ? net->edits : 0;
}
