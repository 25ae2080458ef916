/*
 * soak.h - what soak.c, which runs for long, and its calls (calls.c) share.
 *
 * Each worker is a thread with a generator, a folder, a session and objects of its own; some of its
 * objects are of the session that all workers share, and all read the same rows.
 */
#ifndef MASE_SOAK_H
#define MASE_SOAK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mase.h>

enum { FEATURES = 16, CLASSES = 5, ROWS = 120, NETS = 4, TABLES = 3, RUNNERS = 3, STATUSES = 8 };

/* Every function of mase.h that returns a status. */
/* clang-format off */
#define SOAK_CALLS(X)                                                                             \
    X(session_call) X(session_list) X(session_add_pass) X(text_set) X(rows_open) X(rows_from)     \
    X(rows_info) X(rows_read) X(rows_table) X(net_open) X(net_parse) X(net_clone)                 \
    X(net_set_original) X(net_start) X(net_set_sample) X(net_save) X(net_write) X(net_load)       \
    X(net_print) X(node_json) X(net_weight) X(net_add) X(net_set_args) X(net_replace)             \
    X(net_erase) X(net_check) X(net_pass) X(net_passes) X(net_quantize) X(net_explain)            \
    X(session_round) X(net_profile) X(runner_new) X(runner_run) X(net_evaluate) X(net_prove)      \
    X(net_train)
/* clang-format on */
enum soak_call {
#define X(name) SOAK_##name,
    SOAK_CALLS(X)
#undef X
        SOAK_COUNT
};

struct memory {
    atomic_long alive; /* blocks of a session */
};

struct worker {
    int number;
    uint64_t state;
    char dir[192];
    struct memory memory; /* of own */
    struct mase_session *own, *shared;
    struct mase_net *nets[NETS];
    struct mase_rows *rows[TABLES], *all; /* all: shared, for reading */
    struct mase_runner *runners[RUNNERS];
    struct mase_text text;
    struct mase_err err;
    int depth;        /* of callbacks */
    bool unsure;      /* the call may swallow what failed within it */
    const char *what; /* the call under way, for messages */
    long count[SOAK_COUNT][STATUSES], calls, starved;
    long refused_busy;
};

/* ---- soak.c ---- */

/* A number below n; one of a few texts. */
uint64_t soak_draw(struct worker *w, uint64_t n);
bool soak_chance(struct worker *w, int one_in);
#define SOAK_PICK(w, list) ((list)[soak_draw(w, sizeof(list) / sizeof *(list))])

/* Around a call: memory may end in its middle, and its status must say so. */
void soak_arm(struct worker *w, const char *what);
enum mase_status soak_finish(struct worker *w, enum soak_call call, enum mase_status st);
#define SOAK(w, name, ...) \
    (soak_arm(w, #name), soak_finish(w, SOAK_##name, mase_##name(__VA_ARGS__)))
/* The same without running out of memory, and not counted. */
void soak_pause(void);
void soak_resume(void);

_Noreturn void soak_die(struct worker *w, const char *why);

/* A session with the hooks of this program. */
struct mase_session *soak_session(struct memory *memory, struct worker *w);

/* ---- calls.c ---- */

void soak_prepare(struct worker *w); /* by the first worker, before the threads begin */
void soak_step(struct worker *w);
void soak_end(struct worker *w);
/* Passes of our own, into a session. */
void soak_add_passes(struct worker *w, struct mase_session *s);

#endif /* MASE_SOAK_H */
