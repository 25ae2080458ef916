/*
 * api_net.c - networks of programs: open, copy, release.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/meta.h>
#include <mase/work.h>

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
    if (old == net->lent) /* its owner frees it */
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

struct mase_net *mase_net_new(struct mase_session *s)
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

/* "shape:3,32,32", a name of data of which there are no samples. */
static const char *name_of_shape(struct mase_arena *a, const struct mase_open *o)
{
    const char *name = "shape:";
    for (int i = 0; i < o->rank; i++)
        name = mase_arena_printf(a, "%s%s%lld", name, i ? "," : "", (long long)o->shape[i]);
    return name;
}

static enum mase_status check_options(const struct mase_open *o, struct mase_err *err)
{
    const struct mase_task *task;
    if (!(o->seconds >= 0 && o->seconds <= A_DAY))
        return mase_fail(err, MASE_EVALUE, "capturing cannot take %g seconds, at most %d",
                         o->seconds, (int)A_DAY);
    if (!o->shape && o->rank)
        return mase_fail(err, MASE_EVALUE, "shape is NULL, and rank is %d", o->rank);
    MASE_TRY(mase_api_text(o->weights, "weights", err));
    MASE_TRY(mase_api_text(o->task, "task", err));
    MASE_TRY(mase_api_text(o->key, "key", err));
    if (o->key && !o->weights)
        return mase_fail(err, MASE_EVALUE, "key is of weights, and there are none");
    if (o->shape && (o->rank < 1 || o->rank >= MASE_MAX_RANK))
        return mase_fail(err, MASE_EVALUE, "a sample has 1 to %d dimensions, not %d",
                         MASE_MAX_RANK - 1, o->rank);
    return mase_task_need(&task, o->task, err);
}

static enum mase_status open_whole(struct open *c, struct mase_err *err)
{
    struct mase_net *net = c->net;
    struct mase_open *o = &c->o;
    struct mase_arena *a = &net->arena;
    if (c->given) {
        MASE_TRY(
            mase_api_size(c->given->size, offsetof(struct mase_open, dataset), "mase_open", err));
        MASE_API_COPY(*o, c->given);
    }
    MASE_TRY(check_options(o, err));
    struct mase_opened w;
    struct mase_work_choice choice;
    mase_work_choice_init(&choice, a);
    choice.model = c->spec;
    choice.weights = o->no_weights ? NULL : o->weights;
    choice.load =
        (struct mase_weights_opts){ .key = o->key, .lenient = o->lenient, .seed = o->seed };
    choice.task = o->task;
    choice.seconds = o->seconds;
    choice.no_values = o->no_weights;
    choice.data.dataset = o->shape ? name_of_shape(a, o) : o->dataset;
    MASE_TRY(mase_work_open(&w, &choice, err));
    net->graph = w.graph;
    net->sample = w.sample;
    net->has_sample = w.has_sample;
    net->trained = w.trained;
    if (w.source == MASE_WEIGHTS_FILE || w.source == MASE_WEIGHTS_SAVED)
        net->origin = mase_arena_strdup(a, w.weights);
    return MASE_OK;
}

static enum mase_status open_net(void *data, struct mase_err *err)
{
    struct open *c = data;
    c->net = mase_net_new(c->session);
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
    struct mase_net *net = mase_net_new(p->session);
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

static const char *const *copy_names(struct mase_arena *a, const char *const *names, int n)
{
    if (!names)
        return NULL;
    const char **copy = mase_new_array(a, const char *, (size_t)n);
    for (int i = 0; i < n; i++)
        copy[i] = mase_arena_strdup(a, names[i]);
    return copy;
}

static const char *copy_text(struct mase_arena *a, const char *s)
{
    return s ? mase_arena_strdup(a, s) : NULL;
}

static struct mase_scaling copy_scaling(struct mase_arena *a, const struct mase_scaling *s)
{
    const size_t size = (size_t)s->n * sizeof *s->mean;
    return (struct mase_scaling){ s->n, s->n ? mase_arena_memdup(a, s->mean, size) : NULL,
                                  s->n ? mase_arena_memdup(a, s->std, size) : NULL };
}

struct mase_checkpoint_info mase_copy_trained(struct mase_arena *a,
                                              const struct mase_checkpoint_info *from)
{
    struct mase_checkpoint_info t = *from;
    struct mase_data_columns *c = &t.columns;
    if (from->data.name)
        t.data = *mase_data_info_copy(a, &from->data);
    t.class_names =
        (const char **)copy_names(a, (const char *const *)from->class_names, from->data.classes);
    t.task = copy_text(a, from->task);
    t.loss = copy_text(a, from->loss);
    t.checksum = copy_text(a, from->checksum);
    t.notice = copy_text(a, from->notice);
    t.scaling = copy_scaling(a, &from->scaling);
    t.target_scaling = copy_scaling(a, &from->target_scaling);
    c->labels = copy_names(a, c->labels, c->label_count);
    c->features = copy_names(a, c->features, c->feature_count);
    c->origin = copy_text(a, c->origin);
    t.split.by = copy_text(a, from->split.by);
    return t;
}

struct mase_net *mase_net_copy(const struct mase_net *from)
{
    struct mase_net *net = mase_net_new(from->session);
    net->graph = mase_graph_clone(from->graph);
    mase_graph_own_weights(net->graph);
    net->sample = from->sample;
    net->has_sample = from->has_sample;
    net->trained = mase_copy_trained(&net->arena, &from->trained);
    net->origin = copy_text(&net->arena, from->origin);
    return net;
}

static enum mase_status clone_net(void *data, struct mase_err *err)
{
    const struct clone *c = data;
    MASE_TRY(mase_net_use(c->from, err));
    *c->out = mase_net_copy(c->from);
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

static enum mase_status start_weights(struct mase_graph *g, uint64_t seed, struct mase_err *err)
{
    MASE_TRY(mase_graph_check_size(g, err));
    mase_graph_init_weights(g, seed);
    return MASE_OK;
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

static void set_sample(struct mase_net *net, const struct mase_shape *sample)
{
    net->sample = *sample;
    net->has_sample = true;
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
