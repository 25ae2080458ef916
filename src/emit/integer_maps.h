/*
 * integer_maps.h - instructions of exact integers that map each row.
 */
#ifndef MASE_EMIT_INTEGER_MAPS_H
#define MASE_EMIT_INTEGER_MAPS_H

#include "emit/emit_parts.h"

/* The rows that share parameters: row k is k * stride. */
struct mase_emit_rows {
    int64_t count, stride;
    bool each; /* a parameter for each row, not for runs of rows */
};
enum mase_status mase_emit_map_round(struct mase_arena *a, struct mase_emit_map *m,
                                     const struct mase_int_instr *i, const struct mase_emit_rows *w,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_emit_map_scale(struct mase_arena *a, struct mase_emit_map *m,
                                     const struct mase_int_instr *i, const struct mase_emit_rows *w,
                                     struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_emit_map_encode(struct mase_arena *a, struct mase_emit_map *m,
                                      const struct mase_int_instr *i,
                                      struct mase_err *err) MASE_MUST_CHECK;
void mase_emit_map_affine(struct mase_arena *a, struct mase_emit_map *m,
                          const struct mase_int_instr *i);
void mase_emit_map_table(struct mase_arena *a, struct mase_emit_map *m,
                         const struct mase_int_instr *i);
/* The map that decodes the codes of a value. */
enum mase_status mase_emit_map_decode(struct mase_arena *a, struct mase_emit_map *m,
                                      const struct mase_int_value *v,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EMIT_INTEGER_MAPS_H */
