/*
 * traverse.c - walk two graphs side by side: a network, and the same network after quantisation.
 *
 *     cc -std=c17 traverse.c $(pkg-config --cflags --libs mase) -o traverse
 *     ./traverse jsc-tiny
 *
 * For each node the table says what kind of thing it is, what it called before and after, and
 * whether that changed. The walk itself is main's loop: nodes stand in the order of execution, and
 * quantising keeps their names and their order.
 */
#include <stdio.h>
#include <string.h>

#include <mase/log.h>
#include <mase/pass.h>
#include <mase/table.h>
#include <mase/zoo.h>

static const char config[] = "by = 'type'\n"
                             "default.config.name = 'NA'\n"
                             "[linear.config]\n"
                             "name = 'integer'\n"
                             "data_in_width = 8\n"
                             "data_in_frac_width = 4\n"
                             "weight_width = 8\n"
                             "weight_frac_width = 4\n"
                             "bias_width = 8\n"
                             "bias_frac_width = 4\n";

/* One sample of the data, which the shapes of all nodes follow from. */
static struct mase_input dummy_input(struct mase_arena *a, const struct mase_data_info *data)
{
    struct mase_shape shape = { .rank = 1 + data->sample.rank, .dim = { 1 } };
    memcpy(shape.dim + 1, data->sample.dim, sizeof shape.dim - sizeof shape.dim[0]);
    return (struct mase_input){ "x", mase_tensor(a, MASE_F32, &shape, false) };
}

static enum mase_status build(struct mase_graph **g, struct mase_input *x, struct mase_arena *a,
                              const char *name, struct mase_err *err)
{
    const struct mase_model *model;
    const struct mase_data_info *data;
    MASE_TRY(mase_zoo_find(&model, name, err));
    MASE_TRY(mase_data_find(&data, model->dataset, err));
    *x = dummy_input(a, data);
    return model->build(g, data, err);
}

static enum mase_status quantise(struct mase_graph **g, const struct mase_input *x,
                                 struct mase_arena *a, struct mase_err *err)
{
    struct mase_manager m = { .env = { .inputs = x, .input_count = 1 } };
    struct mase_value *args;
    enum mase_status st = mase_toml_parse(&args, a, config, strlen(config), "config", err);
    if (!st)
        st = mase_manager_run(&m, g, "quantize", args, err);
    mase_manager_release(&m);
    return st;
}

static void add_row(struct mase_table *t, const struct mase_node *was, const struct mase_node *is)
{
    struct mase_str before = { 0 }, after = { 0 };
    mase_node_type_name(&before, was);
    mase_node_type_name(&after, is);
    mase_table_add(t,
                   (const char *[]){
                       was->name,
                       mase_op_type_names[mase_node_op_type(was)],
                       mase_ops[was->op].name,
                       mase_str_text(&before),
                       mase_str_text(&after),
                       mase_streq(mase_str_text(&before), mase_str_text(&after)) ? "False" : "True",
                   });
    mase_str_release(&before);
    mase_str_release(&after);
}

int main(int argc, char **argv)
{
    static const char *const headers[] = {
        "Name", "MASE_TYPE", "Mase_OP", "Original type", "Quantized type", "Changed", NULL
    };
    struct mase_arena arena = { 0 };
    struct mase_graph *g = NULL, *original = NULL;
    struct mase_input x;
    struct mase_err err = { 0 };
    struct mase_str out = { 0 };

    enum mase_status st = build(&g, &x, &arena, argc > 1 ? argv[1] : "jsc-tiny", &err);
    if (!st) {
        original = mase_graph_clone(g);
        st = quantise(&g, &x, &arena, &err);
    }
    if (!st) {
        struct mase_table t = mase_table(&arena, headers);
        const struct mase_node *was = original->first, *is = g->first;
        for (; was && is; was = was->next, is = is->next)
            add_row(&t, was, is);
        mase_table_render(&t, MASE_TABLE_GITHUB, &out);
        puts(mase_str_text(&out));
    } else {
        mase_err_print(stderr, &err);
    }
    mase_str_release(&out);
    mase_graph_free(original); /* it borrows the weights of g */
    mase_graph_free(g);
    mase_arena_release(&arena);
    return st ? 2 : 0;
}
