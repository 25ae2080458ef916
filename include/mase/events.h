/*
 * events.h - scalars over time in TensorBoard's event files.
 *
 *     struct mase_events *e;
 *     MASE_TRY(mase_events_open(&e, "software/tensorboard", err));
 *     st = mase_events_scalar(e, "train_loss_step", step, loss, err);
 *     ...
 *     st = mase_events_close(e, err);
 *
 * Records gather in memory and reach the file whole, a few kilobytes or two seconds at a time: a
 * reader that follows the file, or finds it after a crash, sees complete records only. When a write
 * fails the file is cut back to its last whole record.
 */
#ifndef MASE_EVENTS_H
#define MASE_EVENTS_H

#include <stdint.h>

#include <mase/api.h>
#include <mase/err.h>

MASE_API_BEGIN

struct mase_events;

/* A new file in dir, which is made if missing. *e is NULL on failure. */
enum mase_status mase_events_open(struct mase_events **e, const char *dir,
                                  struct mase_err *err) MASE_MUST_CHECK;
const char *mase_events_path(const struct mase_events *e); /* the file's path, owned by e */

/* One point of the curve called tag. The format keeps value as a 32-bit float. */
enum mase_status mase_events_scalar(struct mase_events *e, const char *tag, int64_t step,
                                    double value, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_events_flush(struct mase_events *e, struct mase_err *err) MASE_MUST_CHECK;

/* Flush, close and free, also on failure; e may be NULL. */
enum mase_status mase_events_close(struct mase_events *e, struct mase_err *err) MASE_MUST_CHECK;

/* Call fn for every point of every curve in a file, in the order of writing; tag is valid during
 * the call. An incomplete last record, of a file that is being written, is left out. */
typedef void mase_event_fn(const char *tag, int64_t step, double value, void *data);
enum mase_status mase_events_read(const char *path, mase_event_fn *fn, void *data,
                                  struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_EVENTS_H */
