/*
 * pace.c - one thread or all of them (pace.h).
 */
#include "exec/pace.h"

enum {
    WARM = 8,        /* steps before the first trial */
    TURNS = 4,       /* of each in a trial */
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

static void judge(struct mase_pace *p)
{
    const bool one = p->took[1] < p->took[0];
    if (one != p->one)
        p->wait = SOON;
    else if (p->wait < SELDOM)
        p->wait *= 2;
    p->one = one;
    p->left = p->wait;
    p->slow = 0;
}

static void try_both(struct mase_pace *p)
{
    p->trial = 2 * TURNS;
    p->took[0] = p->took[1] = 0;
}

void mase_pace_step(struct mase_pace *p, double nanoseconds, int64_t samples)
{
    const double each = nanoseconds / (double)samples;
    if (p->trial) {
        p->took[mase_pace_one(p)] += each / TURNS;
        if (--p->trial == 0)
            judge(p);
        return;
    }
    p->slow += !p->one && p->took[1] > 0 && each > p->took[1];
    if (--p->left <= 0 || p->slow >= PATIENCE)
        try_both(p);
}
