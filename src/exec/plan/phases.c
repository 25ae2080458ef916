/*
 * phases.c - what runs in a plan, one phase after the other: the phases of all steps, bodies that
 * repeat turn by turn, and behind each step those who watch its result.
 */
#include "exec/plan/plan_parts.h"

static long count_phases(const struct mase_phases *list)
{
    long count = 0;
    for (int i = 0; i < list->count; i += list->item[i].body)
        count += list->item[i].body * list->item[i].turns;
    return count;
}

static void list_phases(struct mase_works *works, const struct mase_step *s,
                        const struct mase_phases *list)
{
    for (int i = 0; i < list->count; i += list->item[i].body)
        for (long turn = 0; turn < list->item[i].turns; turn++)
            for (int j = i; j < i + list->item[i].body; j++)
                works->item[works->count++] = (struct mase_work){ s, &list->item[j], turn };
}

static long count_watch(const struct mase_step *w)
{
    long count = 0;
    for (; w; w = w->next_watch)
        count += count_phases(&w->forward);
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
        count += count_phases(&p->step[i]->forward) + count_watch(p->step[i]->watch);
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
        count += count_phases(&p->step[i]->backward);
    p->backward = room_for(p, count);
    for (int i = p->step_count - 1; i >= 0; i--)
        list_phases(&p->backward, p->step[i], &p->step[i]->backward);
}
