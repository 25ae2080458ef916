/*
 * tracer.h - the script that traces a torch.nn.Module, part of the program: tracer/ joined to one
 * text when the library is built (cmake/embed.cmake).
 */
#ifndef MASE_FRONTEND_TRACER_H
#define MASE_FRONTEND_TRACER_H

extern const char mase_tracer_script[]; /* ends with a NUL */

#endif /* MASE_FRONTEND_TRACER_H */
