/*
 * files.h - the files of a saved graph's folder.
 */
#ifndef MASE_PASS_INTERFACE_FILES_H
#define MASE_PASS_INTERFACE_FILES_H

#include <mase/file.h>
#include <mase/saved.h>
#include <mase/str.h>

/* ---- sums.c ---- */

/* The contents of SHA256SUMS for the files of a folder. */
enum mase_status mase_saved_sums(struct mase_str *out, const char *dir,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Check that the files of a folder were saved together. A folder without SHA256SUMS, of an earlier
 * version, passes. */
enum mase_status mase_saved_check(const char *dir, struct mase_err *err) MASE_MUST_CHECK;

/* ---- save_mase_graph.c ---- */

/* An additional file of a saved graph, listed in SHA256SUMS. */
struct mase_saved_more {
    const char *name, *text; /* text NULL: remove a file of this name */
};
/* As mase_manager_save, with an additional file (may be NULL): writes all files or none. */
enum mase_status mase_manager_save_with(struct mase_manager *m, struct mase_graph **g,
                                        const char *dir, const struct mase_saved_more *more,
                                        struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_INTERFACE_FILES_H */
