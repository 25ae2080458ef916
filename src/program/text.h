/*
 * text.h - words that the writer and the reader of programs share.
 */
#ifndef MASE_PROGRAM_TEXT_H
#define MASE_PROGRAM_TEXT_H

#include "program/program_parts.h"

#define MASE_PROGRAM_MAGIC   "mase-program"
#define MASE_PROGRAM_VERSION 1

extern const char *const mase_psource_names[]; /* "input", "param", "const" */
extern const char *const mase_psign_names[];   /* "signed", "unsigned" */
extern const char *const mase_prole_names[];   /* "data", "weight" */

#endif /* MASE_PROGRAM_TEXT_H */
