/*
 * events_tool.c - write an event file for a reader that is not ours.
 *
 *     events_tool DIR        prints "TAG STEP VALUE" for each point it wrote
 */
#include <math.h>
#include <stdio.h>

#include <mase/events.h>

static enum mase_status write_curves(struct mase_events *e, struct mase_err *err)
{
    static const char *const tags[] = { "train_loss_step", "val_acc_epoch", "epoch" };
    for (int i = 0; i < 300; i++) {
        for (int t = 0; t < 3; t++) {
            const double value = exp(-i * 0.01) * (t + 1);
            MASE_TRY(mase_events_scalar(e, tags[t], (int64_t)i * i * 50, value, err));
            printf("%s %d %.9g\n", tags[t], i * i * 50, (double)(float)value);
        }
    }
    return MASE_OK;
}

int main(int argc, char **argv)
{
    struct mase_events *e;
    struct mase_err err;
    if (argc != 2) {
        fprintf(stderr, "usage: events_tool DIR\n");
        return 2;
    }
    enum mase_status st = mase_events_open(&e, argv[1], &err);
    if (!st) {
        st = write_curves(e, &err);
        const enum mase_status closed = mase_events_close(e, st ? NULL : &err);
        st = st ? st : closed;
    }
    if (st)
        mase_err_print(stderr, &err);
    return st ? 1 : 0;
}
