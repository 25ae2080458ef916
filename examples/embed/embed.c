/*
 * embed.c - libmase in another program: train, give eight bits, prove the integers, predict.
 *
 *     cc -std=c17 embed.c $(pkg-config --cflags --libs mase) -o embed && ./embed
 */
#include <stdio.h>

#include <mase.h>

static const char formats[] = "by = 'type'\n"
                              "default.config.name = 'NA'\n"
                              "linear.config = { name = 'integer', data_in_width = 8,"
                              " data_in_frac_width = 4, weight_width = 8, weight_frac_width = 6,"
                              " bias_width = 8, bias_frac_width = 6 }\n";

static bool tell(void *user, const struct mase_epoch *e)
{
    fprintf(user, "epoch %lld: accuracy %.4f\n", (long long)e->epoch + 1, e->val_score);
    return true; /* false would stop here */
}

static enum mase_status run(struct mase_net *net, struct mase_rows *jets, struct mase_err *err)
{
    const struct mase_run_opts exact = { .size = sizeof exact, .exact = true };
    const struct mase_training training = { .size = sizeof training,
                                            .max_epochs = 2,
                                            .batch_size = 1024,
                                            .learning_rate = 1e-2,
                                            .user = stdout,
                                            .on_epoch = tell };
    struct mase_proof proof = { .size = sizeof proof };
    struct mase_runner *integers = NULL;
    float x[16], y[5];
    MASE_TRY(mase_net_train(net, NULL, jets, &training, err));
    MASE_TRY(mase_net_pass(net, "quantize", formats, NULL, NULL, err));
    MASE_TRY(mase_net_prove(net, &proof, jets, "test", 10000, NULL, err));
    printf("%lld of %lld outputs differ\n", (long long)proof.differ, (long long)proof.outputs);
    MASE_TRY(mase_rows_read(jets, "test", 0, 1, x, NULL, NULL, err));
    MASE_TRY(mase_runner_new(net, &integers, &exact, err));
    const enum mase_status st = mase_runner_run(integers, y, x, 1, err);
    for (int i = 0; i < 5 && !st; i++)
        printf("%g%c", (double)y[i], i < 4 ? ' ' : '\n');
    mase_runner_free(integers);
    return st;
}

int main(void)
{
    struct mase_err err = { 0 };
    struct mase_net *net = NULL;
    struct mase_rows *jets = NULL;
    struct mase_session *s = mase_session_new(NULL);
    if (mase_net_open(s, &net, "jsc-toy", NULL, &err) ||
        mase_rows_open(s, &jets, "jsc", NULL, NULL, &err) || run(net, jets, &err))
        mase_err_print(stderr, &err);
    mase_rows_free(jets);
    mase_net_free(net);
    mase_session_free(s);
    return err.status;
}
