/*
 * study_text.h - a study on a terminal (study_text.c).
 */
#ifndef MASE_CLI_STUDY_TEXT_H
#define MASE_CLI_STUDY_TEXT_H

#include <mase/study.h>

#include "cli/cli.h"

/* Charts for people; which parameters mattered and the bits of the best trials as tables, in every
 * format. */
void mase_cli_put_study(struct mase_cli *c, const struct mase_study *s);

#endif /* MASE_CLI_STUDY_TEXT_H */
