/*
 * bind_call.h - match given arguments to a signature of ops.def, as Python matches a call.
 *
 * There are two steps, because a module supplies arguments that its call was not given:
 *
 *     MASE_TRY(mase_bind(&b, a, sig, args, kwargs, err));
 *     ... fill in b.value[i], b.bound[i] ...
 *     MASE_TRY(mase_bind_defaults(&b, a, sig, err));
 */
#ifndef MASE_IR_GRAPH_BIND_CALL_H
#define MASE_IR_GRAPH_BIND_CALL_H

#include <mase/graph.h>

struct mase_binding {
    struct mase_arg value[MASE_MAX_PARAMS]; /* by position in the signature */
    bool bound[MASE_MAX_PARAMS];
};

/* Positions and names only; args (a tuple) and kwargs (a dict) may be NULL. */
enum mase_status mase_bind(struct mase_binding *b, struct mase_arena *a, const struct mase_sig *sig,
                           const struct mase_arg *args, const struct mase_arg *kwargs,
                           struct mase_err *err) MASE_MUST_CHECK;
/* Defaults for what is not given, then the signature's conversions. */
enum mase_status mase_bind_defaults(struct mase_binding *b, struct mase_arena *a,
                                    const struct mase_sig *sig,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Check that these can be arguments of a call of op. A missing argument is an error, unless a
 * module supplies it. */
enum mase_status mase_bind_check(struct mase_arena *a, enum mase_op op, enum mase_node_kind kind,
                                 const struct mase_arg *args, const struct mase_arg *kwargs,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The default of parameter i, which may be the value of an earlier parameter in value[]. */
struct mase_arg mase_bind_default(struct mase_arena *a, const struct mase_sig *sig, int i,
                                  const struct mase_arg *value);
int mase_sig_find(const struct mase_sig *sig, const char *name); /* index or -1 */

#endif /* MASE_IR_GRAPH_BIND_CALL_H */
