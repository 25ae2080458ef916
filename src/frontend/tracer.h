/*
 * tracer.h - the script that traces a torch.nn.Module, part of the program: tracer/ joined to one
 * text when the library is built (cmake/embed.cmake), and compiled by the python3 of the build
 * (cmake/compile_tracer.py).
 */
#ifndef MASE_FRONTEND_TRACER_H
#define MASE_FRONTEND_TRACER_H

#include <stddef.h>

extern const char mase_tracer_script[];
extern const size_t mase_tracer_script_size;

/* The magic number of that python3, and the code; empty where there was none. */
extern const char mase_tracer_code[];
extern const size_t mase_tracer_code_size;

#endif /* MASE_FRONTEND_TRACER_H */
