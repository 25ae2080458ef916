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

/* ---- save_mase_graph.c ---- */

/* Another file that is saved with a graph, and has a sum. */
struct mase_saved_more {
    const char *name, *text; /* NULL: there must be none of this name */
};
/* mase_manager_save, with it (may be NULL): all files or none. */
enum mase_status mase_manager_save_with(struct mase_manager *m, struct mase_graph **g,
                                        const char *dir, const struct mase_saved_more *more,
                                        struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_INTERFACE_FILES_H */
