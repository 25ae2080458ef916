/*
 * files.h - the files of a saved graph's folder.
 */
#ifndef MASE_PASS_INTERFACE_FILES_H
#define MASE_PASS_INTERFACE_FILES_H

#include <mase/file.h>
#include <mase/saved.h>
#include <mase/str.h>

/* ---- sums.c ---- */

/* The text of SHA256SUMS for the files of a folder. */
enum mase_status mase_saved_sums(struct mase_str *out, const char *dir,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Were the files of a folder saved together? One without SHA256SUMS, of an earlier version, is
 * taken as it is. */
enum mase_status mase_saved_check(const char *dir, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_INTERFACE_FILES_H */
