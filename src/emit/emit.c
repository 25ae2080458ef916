/*
 * emit.c - the table of targets; write a network for one of them (mase/emit.h).
 */
#include "emit/emit_parts.h"
#include "ir/graph/graph_parts.h"

const struct mase_target mase_targets[] = {
#define TARGET(name, ends, floats, help) \
    { #name, ends, floats, help, mase_target_##name##_rows, &mase_target_##name },
#include "emit/targets.def"
    { 0 },
};

const struct mase_target *mase_target_find(const char *name)
{
    for (const struct mase_target *t = mase_targets; t->name; t++)
        if (mase_streq(t->name, name))
            return t;
    return NULL;
}

const struct mase_target *mase_target_of_path(const char *path)
{
    for (const struct mase_target *t = mase_targets; t->name; t++)
        if (mase_ends_with(path, t->ends))
            return t;
    return NULL;
}

/* The source for a target: the integer program of a network with number formats, else its program.
 */
static enum mase_status find_source(struct mase_emit_source *from, struct mase_int_program **x,
                                    struct mase_program **p, const struct mase_target *t,
                                    struct mase_graph *g, int input_count, struct mase_err *err)
{
    const struct mase_lower_opts opts = { .inputs = from->input, .input_count = input_count };
    if (mase_graph_is_quantised(g))
        MASE_TRY(mase_int_program_new(x, g, from->input, input_count, err));
    else if (t->floats)
        MASE_TRY(mase_program_lower(p, g, &opts, err));
    else
        return mase_fail(err, MASE_EVALUE,
                         "%s is written from integers: the network has no number formats", t->name);
    from->exact = *x;
    from->program = *p;
    return MASE_OK;
}

/* Files are written after everything is lowered, so that the target can refuse, and after the steps
 * have given the right results. */
static enum mase_status emit(struct mase_emit_job *j, const struct mase_target_functions *f,
                             struct mase_err *err)
{
    MASE_TRY(f->lower(j, err));
    MASE_TRY(f->check(j, err));
    f->write(j);
    return MASE_OK;
}

enum mase_status mase_emit(struct mase_emitted *e, const struct mase_target *t,
                           struct mase_graph *g, const struct mase_input *inputs, int input_count,
                           const struct mase_emit_opts *o, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_int_program *x = NULL;
    struct mase_program *p = NULL;
    struct mase_emit_source from = { .input = inputs };
    struct mase_emit_job j = { .a = &a, .target = t, .from = &from, .o = o, .e = e };
    *e = (struct mase_emitted){ 0 };
    enum mase_status st = find_source(&from, &x, &p, t, g, input_count, err);
    if (!st) {
        j.name = o->name ? o->name : x ? x->program->name : p->name;
        st = emit(&j, t->functions, err);
    }
    mase_int_program_free(x);
    if (p)
        mase_program_free(p);
    mase_arena_release(&a);
    if (st)
        mase_emitted_release(e);
    return st;
}

void mase_emitted_release(struct mase_emitted *e)
{
    for (int i = 0; i < MASE_EMITTED_FILES; i++)
        mase_str_release(&e->file[i].text);
    mase_arena_release(&e->arena);
    *e = (struct mase_emitted){ 0 };
}
