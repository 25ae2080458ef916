/*
 * phases.c - list the phases that a plan runs: those of all steps in order, and behind each step
 * those of the observers of its result.
 */
#include "exec/plan/plan_parts.h"

static void list_phases(struct mase_works *works, const struct mase_step *s,
                        const struct mase_phases *list)
{
    for (int i = 0; i < list->count; i++)
        works->item[works->count++] = (struct mase_work){ s, &list->item[i] };
}

static long count_watch(const struct mase_step *w)
{
    long count = 0;
    for (; w; w = w->next_watch)
        count += w->forward.count;
    return count;
}

static void list_watch(struct mase_works *works, const struct mase_step *w)
{
    for (; w; w = w->next_watch)
        list_phases(works, w, &w->forward);
}

static struct mase_works room_for(struct mase_plan *p, long count)
{
    return (struct mase_works){ .item =
                                    mase_new_array(&p->arena, struct mase_work, (size_t)count) };
}

void mase_plan_list_forward(struct mase_plan *p)
{
    long count = count_watch(p->watch);
    for (int i = 0; i < p->step_count; i++)
        count += p->step[i]->forward.count + count_watch(p->step[i]->watch);
    p->forward = room_for(p, count);
    list_watch(&p->forward, p->watch);
    for (int i = 0; i < p->step_count; i++) {
        list_phases(&p->forward, p->step[i], &p->step[i]->forward);
        list_watch(&p->forward, p->step[i]->watch);
    }
}

void mase_plan_list_backward(struct mase_plan *p)
{
    long count = 0;
    for (int i = 0; i < p->step_count; i++)
        count += p->step[i]->backward.count;
    p->backward = room_for(p, count);
    for (int i = p->step_count - 1; i >= 0; i--)
        list_phases(&p->backward, p->step[i], &p->step[i]->backward);
}
