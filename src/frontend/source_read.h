/*
 * source_read.h - declarations shared by the files that read the tracer's answer.
 */
#ifndef MASE_FRONTEND_SOURCE_READ_H
#define MASE_FRONTEND_SOURCE_READ_H

#include <mase/value.h>

#include "frontend/source.h"
#include "ir/text/arg.h"

struct reading {
    struct mase_arena scratch;
    struct mase_graph *g;
    const char *path;                     /* the user's file */
    struct mase_node **nodes, **assigned; /* assigned: nodes of x += y */
    int count, cap, assigned_count, assigned_cap;
    struct tie {
        const char *path, *to;
        struct mase_loc at;
    } * ties;
    int tie_count, tie_cap;
    int64_t bytes; /* size of all weights so far */
    struct mase_err *err;
};

/* Fail: the answer is malformed, by an error of the script or by user code that interferes with it.
 */
enum mase_status mase_reading_malformed(const struct reading *r, const char *what);
const char *mase_reading_text(const struct mase_value *v, const char *key); /* NULL if absent */
bool mase_reading_number(const struct mase_value *v, double *out);
/* Add the modules, attributes and nodes of an object of the answer. */
enum mase_status mase_reading_extend(struct reading *r, const struct mase_value *v);
/* [[name, value], ...] */
enum mase_status mase_reading_dict(struct reading *r, const struct mase_value *v,
                                   struct mase_arg *out);
/* Read the initial values of a parameter or buffer. */
enum mase_status mase_reading_start(struct reading *r, const struct mase_value *v,
                                    struct mase_param *p);

/* ---- questions (source_ask.c) ---- */

/* The graph that the tracer has recorded so far, extended with each question. */
struct mase_question {
    struct reading r;
    const struct mase_data_info *data;
    const struct mase_tensor *target; /* of a loss: sample shape of its second input; else NULL */
    bool is_lost;                     /* a question could not be parsed: later nodes are unknown */
    struct mase_answers *known;       /* private: answers given so far */
};
/* Append the shapes of the new nodes as one line of JSON. data: a struct mase_question. */
void mase_question_reply(struct mase_str *reply, const char *question, size_t size, void *data);
void mase_question_release(struct mase_question *q);

#endif /* MASE_FRONTEND_SOURCE_READ_H */
