/*
 * pass_table.h - add passes of plugins to the table.
 */
#ifndef MASE_PASS_PASS_TABLE_H
#define MASE_PASS_PASS_TABLE_H

#include <mase/pass.h>

/* Is there room for `count` more passes? */
bool mase_pass_room(int count);
/* Add a pass, which must live as long as the process. */
void mase_pass_add(const struct mase_pass *p);

#endif /* MASE_PASS_PASS_TABLE_H */
