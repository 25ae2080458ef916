/*
 * match.c - the inputs of a network and the arrays of its data.
 *
 * A network that takes (x, mask) finds arrays of these names in an .npz or HDF5 file. Where they
 * are called otherwise, --features names them in the order of forward's parameters; columns of a
 * table are divided among inputs by semicolons.
 */
#include <mase/trained.h>

#include <string.h>

#include <mase/log.h>
#include <mase/meta.h>

enum { MOST = 1 + MASE_MORE_INPUTS };

struct match {
    const char *input[MOST]; /* of the network */
    const char *array[MOST]; /* what each is given */
    int count;
};

static enum mase_status fail_match(const struct match *m, const struct mase_data_info *d,
                                   struct mase_arena *a, struct mase_err *err)
{
    const char *takes = "", *has = d->names[0] ? d->names[0] : "columns";
    for (int i = 0; i < m->count; i++)
        takes = mase_arena_printf(a, "%s%s%s", takes, i ? ", " : "", m->input[i]);
    for (int i = 0; i < d->more_count; i++)
        has = mase_arena_printf(a, "%s, %s", has, d->names[i + 1] ? d->names[i + 1] : "columns");
    for (int i = 0; i < d->other_count; i++)
        has = mase_arena_printf(a, "%s, %s", has, d->others[i].name);
    return mase_fail(err, MASE_EVALUE,
                     "the network takes %d input%s, %s; %s has %s: --features A,B names an array "
                     "for each in their order, and --features 'A,B;C' divides columns among them",
                     m->count, m->count == 1 ? "" : "s", takes, d->name, has);
}

static int list_inputs(struct match *m, const struct mase_graph *g)
{
    int all = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->kind == MASE_PLACEHOLDER && all++ < MOST)
            m->input[m->count++] = n->target;
    return all;
}

/* Match every input by name; the first input may be the array usually called X. */
static bool match_names(struct match *m, const struct mase_data_info *d)
{
    for (int i = 0; i < m->count; i++) {
        const bool named = mase_data_input(d, m->input[i]) != NULL;
        if (!named && (i || d->more_count || d->guessed || !d->names[0]))
            return false;
        m->array[i] = named ? m->input[i] : d->names[0];
    }
    return true;
}

/* Does the dataset as read match? */
static bool is_read(const struct match *m, const struct mase_data_info *d)
{
    for (int i = 0; i < m->count; i++)
        if (m->count != 1 + d->more_count || !d->names[i] || !mase_streq(m->array[i], d->names[i]))
            return false;
    return true;
}

static void tell(const struct match *m, const struct mase_data_info *d, struct mase_arena *a)
{
    const char *text = "";
    for (int i = 0; i < m->count; i++)
        text = mase_arena_printf(a, "%s%s%s from %s", text, i ? ", " : "", m->input[i],
                                 m->array[i] ? m->array[i] : "its columns");
    mase_info("Inputs of the network: %s of %s", text, d->name);
}

static enum mase_status find_match(struct match *m, const struct mase_data_info *d,
                                   struct mase_arena *a, struct mase_err *err)
{
    const bool one = m->count == 1 && !d->more_count;
    if (one && (!d->guessed || !d->other_count)) {
        m->array[0] = d->names[0];
        return MASE_OK;
    }
    if (match_names(m, d))
        return MASE_OK;
    if (one || m->count != 1 + d->more_count)
        return fail_match(m, d, a, err);
    for (int i = 0; i < m->count; i++)
        m->array[i] = d->names[i];
    return MASE_OK;
}

/* Set shapes of the inputs of a saved graph, which does not keep them. */
static void set_shapes(struct mase_graph *g, const struct match *m, const struct mase_data_info *d)
{
    struct mase_shape more[MASE_MORE_INPUTS] = { 0 };
    for (int i = 1; i < m->count; i++)
        more[i - 1] = m->array[i] ? *mase_data_input(d, m->array[i]) : d->more[i - 1];
    mase_graph_set_more(g, more, m->count - 1);
}

enum mase_status mase_inputs_match(const char **features, struct mase_arena *a,
                                   struct mase_graph *g, const struct mase_data_info *data,
                                   struct mase_err *err)
{
    struct match m = { 0 };
    *features = NULL;
    if (list_inputs(&m, g) > MOST)
        return mase_fail(err, MASE_ELIMIT, "the network has more than %d inputs", (int)MOST);
    if (!data->names[0] && !data->more_count && m.count == 1) /* pictures, columns, jets */
        return MASE_OK;
    MASE_TRY(find_match(&m, data, a, err));
    if (m.count > 1 || data->guessed)
        tell(&m, data, a);
    set_shapes(g, &m, data);
    if (!m.array[0] || is_read(&m, data))
        return MASE_OK;
    *features = m.array[0];
    for (int i = 1; i < m.count; i++)
        *features = mase_arena_printf(a, "%s,%s", *features, m.array[i]);
    return MASE_OK;
}

/* ---- without data ---- */

static const struct mase_shape *batch_of(const struct mase_node *x)
{
    const bool known = x->meta && x->meta->result_count && x->meta->results[0].shape.rank >= 1;
    return known ? &x->meta->results[0].shape : NULL;
}

bool mase_graph_says_sample(struct mase_shape *sample, struct mase_graph *g)
{
    struct mase_shape more[MASE_MORE_INPUTS] = { 0 };
    int count = 0;
    for (const struct mase_node *x = g->first; x && count <= MASE_MORE_INPUTS; x = x->next) {
        const struct mase_shape *whole = x->kind == MASE_PLACEHOLDER ? batch_of(x) : NULL;
        if (!whole)
            continue;
        struct mase_shape *one = count ? &more[count - 1] : sample;
        one->rank = whole->rank - 1;
        memcpy(one->dim, whole->dim + 1, sizeof one->dim - sizeof one->dim[0]);
        count++;
    }
    if (count > 1)
        mase_graph_set_more(g, more, count - 1);
    return count > 0;
}
