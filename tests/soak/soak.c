/*
 * soak.c - the whole library in use by two threads for a long time: random calls, wrong inputs,
 * memory that ends at any moment, callbacks that call again.
 *
 *     soak [SECONDS [SEED [THREADS]]]
 *
 * It ends by 0 when no call has given a status it must not give, every block of every session has
 * been given back, and the resident memory of the last quarter is that of the second. What a
 * sanitizer or valgrind sees, it reports by itself. A run of one thread is repeated by its seed.
 */
#include "soak.h"
#include "../traces.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WORKERS = 8, MOST_SAMPLES = 7200 };

static atomic_bool over;
static struct memory shared_memory;

/* ---- chance ---- */

uint64_t soak_draw(struct worker *w, uint64_t n)
{
    w->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = w->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
}

bool soak_chance(struct worker *w, int one_in)
{
    return soak_draw(w, (uint64_t)one_in) == 0;
}

/* ---- memory ---- */

/* Of the thread that calls: requests that are still granted; 0: all. */
static _Thread_local long granted;
static _Thread_local bool starved;
static _Thread_local int paused;

static void *grant(void *user, void *p, size_t size)
{
    struct memory *m = user;
    if (!size) {
        atomic_fetch_sub_explicit(&m->alive, 1, memory_order_relaxed);
        free(p);
        return NULL;
    }
    if (!paused && granted && --granted == 0) {
        starved = true;
        granted = 1; /* and so it stays */
        return NULL;
    }
    if (size > (size_t)1 << 32)
        return NULL; /* nothing here is so large */
    void *q = realloc(p, size);
    if (!p && q)
        atomic_fetch_add_explicit(&m->alive, 1, memory_order_relaxed);
    return q;
}

void soak_pause(void)
{
    paused++;
}

void soak_resume(void)
{
    paused--;
}

/* ---- calls ---- */

void soak_die(struct worker *w, const char *why)
{
    char text[2048];
    mase_err_text(&w->err, text, sizeof text);
    fprintf(stderr, "soak: worker %d, call %ld, mase_%s: %s: %s\n", w->number, w->calls, w->what,
            why, text);
    abort();
}

void soak_arm(struct worker *w, const char *what)
{
    w->what = what;
    if (w->depth)
        return;
    starved = false;
    w->unsure = false;
    granted = 0;
    if (soak_chance(w, 4))
        granted = 1 + (long)soak_draw(w, (uint64_t)1 << (1 + soak_draw(w, 13)));
}

enum mase_status soak_finish(struct worker *w, enum soak_call call, enum mase_status st)
{
    w->calls++;
    w->count[call][(unsigned)st < STATUSES ? (unsigned)st : STATUSES - 1]++;
    if (st == MASE_EBUG || (unsigned)st >= STATUSES)
        soak_die(w, "a bug of the library");
    if (w->depth)
        return st;
    granted = 0;
    if (starved && st != MASE_ENOMEM && !w->unsure)
        soak_die(w, "there was no memory, and the status says otherwise");
    if (st && w->err.status != st)
        soak_die(w, "the error has another status");
    if (st && !w->err.msg[0])
        soak_die(w, "a failure without a sentence");
    w->starved += starved;
    starved = false;
    return st;
}

/* ---- hooks: they call the library again ---- */

static _Thread_local struct worker *self;

static void hear(void *user, enum mase_log_level level, const char *message)
{
    (void)user, (void)level;
    if (!message[0] || !self)
        abort(); /* by the thread that called, and no other */
    if (self->depth > 2 || !soak_chance(self, 64))
        return;
    struct mase_text t = { 0 };
    struct mase_err err = { 0 };
    const char *what = self->what;
    self->depth++;
    soak_pause();
    (void)soak_finish(self, SOAK_session_list,
                      mase_session_list(self->own ? self->own : self->shared, &t, "tasks", &err));
    soak_resume();
    self->depth--;
    self->what = what;
    mase_text_release(&t);
}

static void watch(void *user, const char *title, int64_t done, int64_t total)
{
    (void)done, (void)total;
    hear(user, MASE_INFO, title);
}

struct mase_session *soak_session(struct memory *memory, struct worker *w)
{
    (void)w;
    const struct mase_hooks hooks = {
        .size = sizeof hooks, .user = memory, .alloc = grant, .log = hear, .progress = watch
    };
    struct mase_session *s = mase_session_new(&hooks);
    if (!s)
        abort();
    return s;
}

/* ---- threads ---- */

static void *work(void *data)
{
    struct worker *w = data;
    self = w;
    while (!over)
        soak_step(w);
    soak_end(w);
    self = NULL;
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In MiB. */
static double resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

/* ---- the report ---- */

static double mean(const double *x, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += x[i];
    return to > from ? sum / (to - from) : 0;
}

/* The first quarter warms up; the second and the last must be alike. */
static bool report_memory(const double *mib, int n)
{
    printf("resident MiB:");
    for (int i = 0; i < 20 && n; i++)
        printf(" %.0f", mib[(int64_t)i * (n - 1) / 19]);
    const double early = mean(mib, n / 4, n / 2), late = mean(mib, n - n / 4, n);
    printf("\nresident MiB, second quarter %.1f, last quarter %.1f (%+.1f %%)\n", early, late,
           early > 0 ? 100 * (late / early - 1) : 0);
    /* Blocks are counted; this sees what has no session, beside an allocator's and a sanitizer's
     * own growth. A few seconds show nothing. */
    return n < 240 || late <= 1.15 * early;
}

static void report_calls(const struct worker *w, int workers)
{
    static const char *const names[] = {
#define X(name) #name,
        SOAK_CALLS(X)
#undef X
    };
    long all = 0, without = 0, busy = 0;
    printf("%-18s %9s %9s %8s %8s %8s %8s %8s\n", "call", "ok", "value", "parse", "io", "unsupp",
           "limit", "nomem");
    for (int c = 0; c < SOAK_COUNT; c++) {
        long sum[STATUSES] = { 0 };
        for (int i = 0; i < workers; i++)
            for (int s = 0; s < STATUSES; s++)
                sum[s] += w[i].count[c][s];
        printf("%-18s %9ld %9ld %8ld %8ld %8ld %8ld %8ld\n", names[c], sum[0], sum[1], sum[2],
               sum[3], sum[4], sum[5], sum[6]);
    }
    for (int i = 0; i < workers; i++) {
        all += w[i].calls;
        without += w[i].starved;
        busy += w[i].refused_busy;
    }
    printf(
        "%ld calls by %d threads, %ld of them ran out of memory, %ld of callbacks were refused\n",
        all, workers, without, busy);
}

/* ---- the run ---- */

static struct worker workers[MOST_WORKERS];
static double mib[MOST_SAMPLES];

static bool run(int threads, double seconds)
{
    pthread_t id[MOST_WORKERS];
    int n = 0;
    const double start = now(), step = seconds / 240 > 0.05 ? seconds / 240 : 0.05;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&id[i], NULL, work, &workers[i]))
            abort();
    while (now() - start < seconds) {
        const struct timespec nap = { .tv_sec = (time_t)step,
                                      .tv_nsec = (long)((step - (double)(time_t)step) * 1e9) };
        nanosleep(&nap, NULL);
        if (n < MOST_SAMPLES)
            mib[n++] = resident();
    }
    over = true;
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    report_calls(workers, threads);
    return report_memory(mib, n);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 60;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const int threads = argc > 3 ? atoi(argv[3]) : 2;
    const char *base = getenv("TMPDIR");
    char dir[128];
    if (threads < 1 || threads > MOST_WORKERS || !(seconds > 0))
        return 2;
    snprintf(dir, sizeof dir, "%.100s/mase-soak-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir) || chdir(dir) != 0) /* what has no folder is written there, too */
        return 2;
    printf("soak: %g s, seed %llu, %d threads\n", seconds, (unsigned long long)seed, threads);
    fflush(stdout);
    struct mase_session *shared = soak_session(&shared_memory, NULL);
    for (int i = 0; i < threads; i++) {
        struct worker *w = &workers[i];
        w->number = i;
        w->state = seed * 1000003 + (uint64_t)i;
        w->shared = shared;
        w->all = workers[0].all;
        snprintf(w->dir, sizeof w->dir, "%s/%d", dir, i);
        self = w;
        soak_prepare(w);
    }
    self = NULL;
    const int files = open_files();
    bool good = run(threads, seconds);
    if (open_files() > files) {
        printf("soak: %d descriptors are open, of %d before\n", open_files(), files);
        good = false;
    }
    mase_rows_free(workers[0].all);
    mase_session_free(shared);
    for (int i = 0; i < threads; i++)
        if (workers[i].memory.alive) {
            printf("soak: worker %d left %ld blocks\n", i, (long)workers[i].memory.alive);
            good = false;
        }
    if (shared_memory.alive) {
        printf("soak: the shared session left %ld blocks\n", (long)shared_memory.alive);
        good = false;
    }
    remove_all(dir);
    puts(good ? "soak: ok" : "soak: FAILED");
    return good ? 0 : 1;
}
