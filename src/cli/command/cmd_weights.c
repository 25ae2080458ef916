/*
 * cmd_weights.c - ch weights A [B]: print the weights that quantised layers compute with.
 *
 * Floats come from A, formats from B, or from A when there is no B, or from the configuration. If B
 * is a file of weights, its values were quantised elsewhere, and are checked without rounding. The
 * check that its format represents every value decides the exit status.
 */
#include <inttypes.h>

#include <mase/compare.h>
#include <mase/prune.h>

#include "cli/command_nets.h"

struct job {
    struct mase_cli *c;
    struct mase_opened a, b;
    struct mase_quantised *list;
    int count;
};

/* ---- floats and quantised values ---- */

static enum mase_status lacks(const struct mase_opened *n, const struct mase_quantised *p,
                              struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE, "'%s' has no %s of that shape", n->word.text, p->name);
}

/* Both are networks: floats from A, quantised values from B. */
static enum mase_status take_floats(struct job *j, struct mase_err *err)
{
    for (int i = 0; i < j->count; i++) {
        struct mase_quantised *p = &j->list[i];
        const struct mase_param *x = mase_graph_attr(j->a.graph, p->name);
        if (!x)
            return lacks(&j->a, p, err);
        p->x = &x->tensor;
        const struct mase_tensor q = p->q;
        if (!mase_quantised_check(p, &q))
            return lacks(&j->a, p, err);
    }
    return MASE_OK;
}

/* B is a file of weights, whose values are checked. */
static enum mase_status take_values(struct job *j, struct mase_err *err)
{
    for (int i = 0; i < j->count; i++) {
        const struct mase_tensor *q = NULL;
        for (int k = 0; k < j->b.tensors.count; k++)
            if (mase_streq(j->b.tensors.items[k].name, j->list[i].name))
                q = &j->b.tensors.items[k].tensor;
        if (!q || !mase_quantised_check(&j->list[i], q))
            return lacks(&j->b, &j->list[i], err);
    }
    return MASE_OK;
}

static enum mase_status collect(struct job *j, struct mase_err *err)
{
    struct mase_cli *c = j->c;
    const bool second = c->operand_count > 1;
    if (second)
        MASE_TRY(mase_cli_net_open(&j->b, c, c->operands[1], err));
    else if (c->config && j->a.graph && mase_value_at(c->config, "passes.quantize"))
        MASE_TRY(mase_cli_net_quantise(&j->b, c, &j->a, err));
    MASE_TRY(mase_cli_net_adopt(&j->a, &j->b, err));
    if (!j->a.graph)
        return mase_fail(err, MASE_EVALUE, "'%s' holds weights alone: name the network, too",
                         j->a.word.text);
    const struct mase_opened *formats = j->b.graph ? &j->b : &j->a;
    j->count = mase_quantised_params(&j->list, &c->arena, formats->graph);
    if (!j->count)
        return mase_fail(err, MASE_EVALUE,
                         "no parameter of '%s' is quantised: name a folder that transform saved, "
                         "or give --config FILE",
                         formats->word.text);
    if (!second)
        return MASE_OK;
    return j->b.graph ? take_floats(j, err) : take_values(j, err);
}

/* ---- choose parameters ---- */

static enum mase_status select_node(struct job *j, struct mase_err *err)
{
    const char *name = mase_cli_text(j->c, MASE_CLI_node);
    const char **names = mase_new_array(&j->c->arena, const char *, (size_t)j->count);
    int kept = 0;
    if (!name)
        return MASE_OK;
    for (int i = 0; i < j->count; i++) {
        names[i] = j->list[i].node->name;
        if (mase_streq(names[i], name))
            j->list[kept++] = j->list[i];
    }
    if (!kept) {
        const char *first = mase_arena_printf(&j->c->arena, "; the first is '%s'", names[0]);
        return mase_fail_unknown(err, MASE_NOWHERE,
                                 &(struct mase_unknown){ name, names, j->count,
                                                         .before = "; did you mean '",
                                                         .otherwise = first },
                                 "--node: no quantised layer is called '%s'", name);
    }
    j->count = kept;
    return MASE_OK;
}

/* ---- tables ---- */

/* "; 29 (34.1 %) saturate, 3 (3.53 %) become zero", over the listed parameters. */
static const char *lost_in(struct mase_arena *a, const struct job *j)
{
    int64_t values = 0, saturated = 0, zeroed = 0;
    const char *text = "";
    for (int i = 0; i < j->count; i++) {
        const struct mase_quantised *p = &j->list[i];
        values += p->error.count;
        saturated += p->saturated;
        for (int64_t k = 0; k < p->error.count; k++)
            zeroed += mase_tensor_get(p->x, k) != 0 && mase_tensor_get(&p->q, k) == 0;
    }
    const double percent = 100 / (double)values;
    if (saturated)
        text = mase_arena_printf(a, "; %" PRId64 " (%.3g %%) saturate", saturated,
                                 percent * (double)saturated);
    if (zeroed)
        text = mase_arena_printf(a, "%s%s %" PRId64 " (%.3g %%) become zero", text,
                                 saturated ? "," : ";", zeroed, percent * (double)zeroed);
    return text;
}

static struct mase_sheet summary(const struct job *j, int64_t *unrepresentable, int64_t *values)
{
    static const char *const headers[] = { "Parameter", "Format",    "Step",       "Lowest",
                                           "Highest",   "Values",    "Zeros",      "Off grid",
                                           "Saturated", "Max error", "Mean error", "SQNR dB",
                                           NULL };
    struct mase_arena *a = &j->c->arena;
    struct mase_sheet s = { .key = "parameters", .table = mase_table(a, headers) };
    for (int i = 0; i < j->count; i++) {
        const struct mase_quantised *p = &j->list[i];
        const int row = mase_table_row(&s.table);
        struct mase_str format = { 0 };
        mase_format_tell(&format, p->rounding.format);
        mase_table_set(&s.table, row, 0, p->name);
        mase_table_set(&s.table, row, 1, mase_str_text(&format));
        mase_str_release(&format);
        if (p->step != 0)
            mase_cli_set_real(&s.table, row, 2, (double)p->step);
        else
            mase_table_set(&s.table, row, 2, "-"); /* differs by block */
        mase_cli_set_real(&s.table, row, 3, p->low);
        mase_cli_set_real(&s.table, row, 4, p->high);
        mase_table_setf(&s.table, row, 5, "%" PRId64, p->error.count);
        mase_table_setf(&s.table, row, 6, "%" PRId64, mase_tensor_sparsity(&p->q).zeros);
        mase_table_setf(&s.table, row, 7, "%" PRId64, p->unrepresentable);
        mase_table_setf(&s.table, row, 8, "%" PRId64, p->saturated);
        mase_cli_set_error(&s.table, row, 9, p->error.max);
        mase_cli_set_error(&s.table, row, 10, p->error.mean);
        mase_table_setf(&s.table, row, 11, "%.2f", p->error.sqnr);
        *unrepresentable += p->unrepresentable;
        *values += p->error.count;
    }
    const char *cut = lost_in(a, j);
    s.title =
        *unrepresentable
            ? mase_arena_printf(
                  a, "%" PRId64 " of %" PRId64 " values are off their grid or out of range%s",
                  *unrepresentable, *values, cut)
            : mase_arena_printf(a, "all %" PRId64 " values lie on their grid and in their range%s",
                                *values, cut);
    return s;
}

/* The index of a value in its tensor: "[0, 3]". */
static void set_index(struct mase_table *t, int row, int column, const struct mase_shape *shape,
                      int64_t i)
{
    struct mase_shape at = { .rank = shape->rank };
    struct mase_str text = { 0 };
    for (int d = shape->rank - 1; d >= 0; d--) {
        at.dim[d] = i % shape->dim[d];
        i /= shape->dim[d];
    }
    mase_shape_print(&text, &at);
    mase_table_set(t, row, column, mase_str_text(&text));
    mase_str_release(&text);
}

static const int64_t *codes_of(struct mase_arena *a, const struct mase_quantised *p)
{
    float *q = mase_new_array(a, float, (size_t)p->error.count);
    int64_t *code = mase_new_array(a, int64_t, (size_t)p->error.count);
    for (int64_t k = 0; k < p->error.count; k++)
        q[k] = (float)mase_tensor_get(&p->q, k);
    mase_format_codes(code, p->rounding.format, q, &p->q.shape, p->rounding.role, p->rounding.sign);
    return code;
}

static struct mase_sheet numbers(const struct job *j)
{
    static const char *const headers[] = { "Parameter", "Index", "Float", "Quantised",
                                           "Code",      "Error", NULL };
    struct mase_arena *a = &j->c->arena;
    struct mase_sheet s = { .key = "values", .table = mase_table(a, headers) };
    for (int i = 0; i < j->count; i++) {
        const struct mase_quantised *p = &j->list[i];
        const int64_t *code = codes_of(a, p);
        for (int64_t k = 0; k < p->error.count; k++) {
            const double x = mase_tensor_get(p->x, k), q = mase_tensor_get(&p->q, k);
            const int row = mase_table_row(&s.table);
            mase_table_set(&s.table, row, 0, p->name);
            set_index(&s.table, row, 1, &p->x->shape, k);
            mase_cli_set_real(&s.table, row, 2, x);
            mase_cli_set_real(&s.table, row, 3, q);
            if (code[k] != MASE_NO_CODE)
                mase_table_setf(&s.table, row, 4, "%" PRId64, code[k]);
            else
                mase_table_set(&s.table, row, 4, "none");
            mase_cli_set_error(&s.table, row, 5, q - x);
        }
    }
    s.title = mase_arena_printf(a, "the numbers of %s", mase_cli_text(j->c, MASE_CLI_node));
    return s;
}

static enum mase_status report(struct job *j, struct mase_err *err)
{
    struct mase_sheet sheets[2];
    int64_t unrepresentable = 0, values = 0;
    const bool all = mase_cli_text(j->c, MASE_CLI_node) != NULL;
    MASE_TRY(collect(j, err));
    MASE_TRY(select_node(j, err));
    sheets[0] = summary(j, &unrepresentable, &values);
    if (all)
        sheets[1] = numbers(j);
    mase_cli_put_sheets(j->c, sheets, all ? 2 : 1);
    if (unrepresentable)
        return mase_fail(err, MASE_EVALUE,
                         "%" PRId64 " of %" PRId64 " values are off their grid or out of range",
                         unrepresentable, values);
    return MASE_OK;
}

enum mase_status mase_cli_weights_command(struct mase_cli *c, struct mase_err *err)
{
    struct job j = { .c = c };
    const char *word;
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_subject(&word, c, err));
    MASE_TRY(mase_cli_net_open(&j.a, c, word, err));
    enum mase_status st = report(&j, err);
    mase_work_close(&j.b); /* may borrow weights of a */
    mase_work_close(&j.a);
    return st;
}
