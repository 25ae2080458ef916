/*
 * thread_tuner.c - choose between one thread and all of them (thread_tuner.h).
 */
#include "exec/plan/thread_tuner.h"

enum {
    WARM = 8,        /* steps before the first trial */
    SOON = 256,      /* steps from one trial to the next at first, and when the answer changed */
    SELDOM = 1 << 14 /* and at last */
};

/* As many steps slower than one thread's as make a new trial worth while. */
enum { PATIENCE = 16 };

struct mase_thread_tuner mase_thread_tuner(void)
{
    return (struct mase_thread_tuner){ .left = WARM, .wait = SOON };
}

bool mase_thread_tuner_single(const struct mase_thread_tuner *p)
{
    return p->trial ? p->trial % 2 : p->single;
}

/* A step may be held up by chance; most of them are not. */
static double median(const double *x)
{
    for (int i = 0; i < MASE_TUNER_TURNS; i++) {
        int below = 0, above = 0;
        for (int j = 0; j < MASE_TUNER_TURNS; j++) {
            below += x[j] < x[i];
            above += x[j] > x[i];
        }
        if (below <= MASE_TUNER_TURNS / 2 && above <= MASE_TUNER_TURNS / 2)
            return x[i];
    }
    return x[0];
}

static void judge(struct mase_thread_tuner *p)
{
    p->single_takes = median(p->took[1]);
    const bool single = p->single_takes < median(p->took[0]);
    if (single != p->single)
        p->wait = SOON;
    else if (p->wait < SELDOM)
        p->wait *= 2;
    p->single = single;
    p->left = p->wait;
    p->slow = 0;
}

void mase_thread_tuner_record(struct mase_thread_tuner *p, double nanoseconds, int64_t samples)
{
    const double each = nanoseconds / (double)samples;
    if (p->trial) {
        p->trial--;
        p->took[p->trial % 2 == 0][p->trial / 2] = each;
        if (p->trial == 0)
            judge(p);
        return;
    }
    p->slow += !p->single && p->single_takes > 0 && each > p->single_takes;
    if (--p->left <= 0 || p->slow >= PATIENCE)
        p->trial = 2 * MASE_TUNER_TURNS;
}
