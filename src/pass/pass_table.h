/*
 * pass_table.h - adding to the table of passes: for plugins alone.
 */
#ifndef MASE_PASS_PASS_TABLE_H
#define MASE_PASS_PASS_TABLE_H

#include <mase/pass.h>

/* Is there room for so many more? */
bool mase_pass_room(int count);
/* The pass stays where it is and must live as long as the process. */
void mase_pass_add(const struct mase_pass *p);

#endif /* MASE_PASS_PASS_TABLE_H */
