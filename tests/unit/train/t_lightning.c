/*
 * t_lightning.c - checkpoints that Lightning itself wrote: they load, and the network in them
 * answers as it did there.
 */
#include "check.h"
#include "run_cases.h"

#include <mase/npy.h>
#include <mase/weights.h>

static struct mase_tensor array(struct mase_arena *a, const char *net, const char *file)
{
    struct mase_tensor t;
    must(mase_npy_read(&t, a, mase_arena_printf(a, "data/lightning/%s%s", net, file), &err));
    return t;
}

static void check_answers(const char *net)
{
    struct mase_arena a = { 0 };
    struct mase_graph *g = build(net, 1);
    const char *path = mase_arena_printf(&a, "data/lightning/%s.ckpt", net);
    must(mase_weights_load(g, path, &err));
    const struct mase_tensor x = array(&a, "", "x.npy"), want = array(&a, net, "_y.npy");
    const struct mase_shape sample = { 1, { x.shape.dim[1] } };
    struct mase_predictor *p;
    must(mase_predictor_new(&p, g, &sample, NULL, &err));
    const int64_t count = mase_tensor_count(&want);
    assert_int_equal(count, x.shape.dim[0] * mase_predictor_outputs(p));
    float *y = mase_new_array(&a, float, (size_t)count);
    must(mase_predictor_run(p, y, mase_f32(&x), x.shape.dim[0], &err));
    for (int64_t i = 0; i < count; i++)
        check_near(y[i], mase_tensor_get(&want, i), 1e-5, net, i);
    mase_predictor_free(p);
    mase_graph_free(g);
    mase_arena_release(&a);
}

static void real_checkpoints_answer_the_same(void **state)
{
    (void)state;
    check_answers("jsc-tiny");
    check_answers("jsc-toy");
    check_answers("jsc-s");
}

static void nobody_claims_them_as_ours(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_checkpoint_info info;
    must(mase_checkpoint_info(&info, &a, "data/lightning/jsc-toy.ckpt", &err));
    assert_false(info.ours);
    assert_int_equal(info.epoch, 2); /* the third */
    assert_true(info.step > 0);
    assert_int_equal(info.scaling.n, 0);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_checkpoints_answer_the_same),
        cmocka_unit_test(nobody_claims_them_as_ours),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
