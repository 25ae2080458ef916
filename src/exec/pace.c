/*
 * pace.c - one thread or all of them (pace.h).
 */
#include "exec/pace.h"

enum {
    WARM = 8,        /* steps before the first trial */
    SOON = 256,      /* steps from one trial to the next at first, and when the answer changed */
    SELDOM = 1 << 14 /* and at last */
};

/* As many steps slower than one thread's as make a new trial worth while. */
enum { PATIENCE = 16 };

struct mase_pace mase_pace(void)
{
    return (struct mase_pace){ .left = WARM, .wait = SOON };
}

bool mase_pace_one(const struct mase_pace *p)
{
    return p->trial ? p->trial % 2 : p->one;
}

/* A step may be held up by chance; most of them are not. */
static double median(const double *x)
{
    for (int i = 0; i < MASE_PACE_TURNS; i++) {
        int below = 0, above = 0;
        for (int j = 0; j < MASE_PACE_TURNS; j++) {
            below += x[j] < x[i];
            above += x[j] > x[i];
        }
        if (below <= MASE_PACE_TURNS / 2 && above <= MASE_PACE_TURNS / 2)
            return x[i];
    }
    return x[0];
}

static void judge(struct mase_pace *p)
{
    p->one_takes = median(p->took[1]);
    const bool one = p->one_takes < median(p->took[0]);
    if (one != p->one)
        p->wait = SOON;
    else if (p->wait < SELDOM)
        p->wait *= 2;
    p->one = one;
    p->left = p->wait;
    p->slow = 0;
}

void mase_pace_step(struct mase_pace *p, double nanoseconds, int64_t samples)
{
    const double each = nanoseconds / (double)samples;
    if (p->trial) {
        p->trial--;
        p->took[p->trial % 2 == 0][p->trial / 2] = each;
        if (p->trial == 0)
            judge(p);
        return;
    }
    p->slow += !p->one && p->one_takes > 0 && each > p->one_takes;
    if (--p->left <= 0 || p->slow >= PATIENCE)
        p->trial = 2 * MASE_PACE_TURNS;
}
