/*
 * t_nth_alloc.c - every call ends well, whichever allocation fails.
 *
 * Each entry point runs as a program would call it, with an allocator that has no more memory from
 * the N-th request on, for every N until there is enough. Whatever N is: the status says so, every
 * block has been given back, no descriptor is left open, the target holds what it held before, and
 * the call that succeeds in the end gives what it gives without limits.
 *
 * MASE_QUICK: every N up to a few hundred, then ever fewer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase/call.h>
#include <mase/emit.h>
#include <mase/onnx.h>
#include <mase/pass.h>
#include <mase/progress.h>
#include <mase/saved.h>
#include <mase/train.h>
#include <mase/weights.h>
#include <mase/zoo.h>

#include "base/counters.h"
#include "base/host.h"
#include "run_cases.h"
#include "traces.h"

#define DATA MASE_SOURCE_DIR "/tests/data/"

enum { FEATURES = 16, CLASSES = 5, ROWS = 60, OUTPUTS = CLASSES };

/* ---- a host with little memory ---- */

static struct {
    atomic_long alive, asked; /* blocks; requests since the call began */
    long enough;              /* requests that are granted; 0: all */
} memory;

static void *grant(void *user, void *p, size_t size)
{
    (void)user;
    if (!size) {
        atomic_fetch_sub(&memory.alive, 1);
        free(p);
        return NULL;
    }
    const long number = 1 + atomic_fetch_add(&memory.asked, 1);
    if (memory.enough && number > memory.enough)
        return NULL;
    void *q = realloc(p, size);
    if (!p && q) {
        atomic_fetch_add(&memory.alive, 1);
        memset(q, 0xa5, size < 4096 ? size : 4096); /* it is not zeroed */
    }
    return q;
}

static const struct mase_host host = { .alloc = grant, .level = MASE_CRITICAL };

/* ---- what there is before the calls ---- */

static struct {
    struct mase_arena arena;
    const char *dir;                /* of the test's own */
    const char *out;                /* an empty folder in it: what calls write to */
    FILE *nowhere;                  /* what passes print */
    struct mase_dataset *data;      /* 16 features, 5 classes */
    struct mase_graph *g, *q, *cnn; /* a float network and a quantised one of those; images */
    float x[ROWS * FEATURES];
    struct mase_input input, image;
} world;

static struct mase_err err;

static void must(enum mase_status st)
{
    if (st) {
        mase_err_print(stderr, &err);
        fail_msg("unexpected error");
    }
}

/* In memory of its own: calls ask for paths, too. Each holds until the eighth after it. */
static const char *path_of(const char *name)
{
    static char path[8][256];
    static int last;
    last = (last + 1) % 8;
    snprintf(path[last], sizeof path[last], "%s/%s", world.dir, name);
    return path[last];
}

/* Results are compared by a sum of their bytes. */
static bool add_param(const char *full, struct mase_param *p, void *data)
{
    uint64_t *h = data;
    *h = add_bytes(*h, full, strlen(full));
    if (p->tensor.data)
        *h = add_bytes(*h, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

static uint64_t graph_sum(const struct mase_graph *g)
{
    struct mase_str s = { 0 };
    mase_graph_print_mg(&s, g);
    uint64_t h = add_bytes(1, s.data, s.len);
    mase_str_release(&s);
    mase_graph_each_param(g, add_param, &h);
    return h;
}

static struct mase_train_opts train_opts(void)
{
    struct mase_train_opts o;
    struct mase_arena a = { 0 };
    must(mase_opts_bind(&o, sizeof o, mase_train_rows, NULL, &a, &err));
    mase_arena_release(&a);
    o.max_epochs = 1;
    o.max_steps = 1;
    o.batch_size = 16;
    o.threads = 1;
    return o;
}

/* ---- the calls ---- */

/* Each leaves what it computed in sum, frees what it made, and may be left anywhere. */
struct attempt {
    uint64_t sum;
};

static enum mase_status keep(struct attempt *t, struct mase_graph *g, enum mase_status st)
{
    if (st)
        return st;
    t->sum = graph_sum(g);
    mase_graph_free(g);
    return MASE_OK;
}

static enum mase_status read_mg(void *data, struct mase_err *e)
{
    struct mase_graph *g;
    MASE_TRY(mase_graph_read_mg(&g, path_of("net.mg"), e));
    return keep(data, g, MASE_OK);
}

static enum mase_status load_saved(void *data, struct mase_err *e)
{
    struct mase_graph *g;
    MASE_TRY(mase_graph_load(&g, path_of("saved"), NULL, e));
    return keep(data, g, MASE_OK);
}

static enum mase_status load_weights(struct attempt *t, const char *path, struct mase_err *e)
{
    struct mase_graph *g;
    MASE_TRY(mase_graph_read_mg(&g, path_of("net.mg"), e));
    const enum mase_status st = mase_weights_load(g, path, e);
    if (st)
        mase_graph_free(g);
    return keep(t, g, st);
}

static enum mase_status load_safetensors(void *data, struct mase_err *e)
{
    return load_weights(data, path_of("w.safetensors"), e);
}

static enum mase_status load_pt(void *data, struct mase_err *e)
{
    return load_weights(data, path_of("w.pt"), e);
}

static enum mase_status load_npz(void *data, struct mase_err *e)
{
    return load_weights(data, path_of("w.npz"), e);
}

static enum mase_status load_ckpt(void *data, struct mase_err *e)
{
    return load_weights(data, path_of("last.ckpt"), e);
}

static enum mase_status read_onnx(void *data, struct mase_err *e)
{
    struct mase_graph *g;
    struct mase_onnx_info info;
    MASE_TRY(mase_onnx_read(&g, &info, DATA "onnx/cnn_script.onnx", NULL, e));
    return keep(data, g, MASE_OK);
}

static enum mase_status read_onnx_attention(void *data, struct mase_err *e)
{
    struct mase_graph *g;
    struct mase_onnx_info info;
    MASE_TRY(mase_onnx_read(&g, &info, DATA "onnx/attention_script.onnx", NULL, e));
    return keep(data, g, MASE_OK);
}

static enum mase_status open_zoo(void *data, struct mase_err *e)
{
    const struct mase_model *m;
    const struct mase_data_info d = { .sample = { 1, { FEATURES } }, .classes = CLASSES };
    struct mase_graph *g;
    MASE_TRY(mase_zoo_find(&m, "jsc-tiny", e));
    MASE_TRY(m->build(&g, &d, e));
    mase_graph_init_weights(g, 3);
    return keep(data, g, MASE_OK);
}

static enum mase_status capture(void *data, struct mase_err *e)
{
    const struct mase_data_info d = { .sample = { 1, { FEATURES } }, .classes = CLASSES };
    struct mase_graph *g;
    MASE_TRY(mase_model_open(&g, path_of("net.py"), &d, NULL, e));
    return keep(data, g, MASE_OK);
}

static enum mase_status count_rows(void *data, const char *split, int64_t *count,
                                   struct mase_err *e)
{
    (void)data, (void)split, (void)e;
    *count = ROWS;
    return MASE_OK;
}

static enum mase_status read_rows(void *data, const char *split, int64_t first, int64_t n, float *x,
                                  struct mase_err *e)
{
    (void)data, (void)split, (void)e;
    memcpy(x, world.x + first * FEATURES, (size_t)(n * FEATURES) * sizeof *x);
    return MASE_OK;
}

static const struct mase_samples samples = { .count = count_rows, .read = read_rows };

static enum mase_status run_pass(struct attempt *t, const char *pass, const char *args,
                                 struct mase_err *e)
{
    struct mase_arena a = { 0 };
    struct mase_value *section;
    struct mase_graph *g = mase_graph_clone(world.g);
    struct mase_manager m = { .verify = true,
                              .env = { .out = world.nowhere,
                                       .inputs = &world.input,
                                       .input_count = 1,
                                       .samples = &samples,
                                       .info_arena = &a } };
    MASE_TRY(mase_toml_parse(&section, &a, args, strlen(args), "args.toml", e));
    MASE_TRY(mase_manager_run(&m, &g, pass, section, e));
    mase_manager_release(&m);
    mase_arena_release(&a);
    return keep(t, g, MASE_OK);
}

static const char formats[] = "by = 'type'\n[default.config]\nname = 'NA'\n[linear.config]\nname = "
                              "'integer'\ndata_in_width = 8\n"
                              "data_in_frac_width = 4\nweight_width = 6\nweight_frac_width = 3\n"
                              "bias_width = 6\nbias_frac_width = 3\n";

static enum mase_status quantise(void *data, struct mase_err *e)
{
    return run_pass(data, "quantize", formats, e);
}

static enum mase_status quantise_by_pattern(void *data, struct mase_err *e)
{
    return run_pass(
        data, "quantize",
        "by = 'regex_name'\n[default.config]\nname = 'NA'\n"
        "['seq_blocks_[2-5]'.config]\nname = 'int'\ndata_in_width = 4\nweight_width = 4\n"
        "bias_width = 4\n",
        e);
}

static enum mase_status profile(void *data, struct mase_err *e)
{
    return run_pass(data, "profile_statistics",
                    "by = 'type'\ntarget_weight_nodes = ['linear']\n"
                    "target_activation_nodes = ['linear', 'relu']\nnum_samples = 32\n"
                    "[weight_statistics.variance_precise]\ndevice = 'cpu'\n"
                    "[activation_statistics.range_quantile]\nquantile = 0.9\n"
                    "[activation_statistics.histogram]\nbins = 8\n",
                    e);
}

static enum mase_status predict(struct attempt *t, struct mase_graph *g,
                                const struct mase_predictor_opts *o, struct mase_err *e)
{
    struct mase_predictor *p;
    float y[ROWS * OUTPUTS] = { 0 };
    MASE_TRY(mase_predictor_new(&p, g, &(struct mase_shape){ 1, { FEATURES } }, o, e));
    MASE_TRY(mase_predictor_run(p, y, world.x, ROWS, e));
    mase_predictor_free(p);
    t->sum = add_bytes(1, y, sizeof y);
    return MASE_OK;
}

static enum mase_status predict_float(void *data, struct mase_err *e)
{
    return predict(data, world.g, NULL, e);
}

static enum mase_status predict_exact(void *data, struct mase_err *e)
{
    return predict(data, world.q,
                   &(struct mase_predictor_opts){ .engine = mase_engine_find("int") }, e);
}

static enum mase_status predict_threads(void *data, struct mase_err *e)
{
    return predict(data, world.g, &(struct mase_predictor_opts){ .threads = 2, .batch = 16 }, e);
}

static enum mase_status evaluate(void *data, struct mase_err *e)
{
    struct attempt *t = data;
    struct mase_predictor *p;
    struct mase_objective o;
    struct mase_evaluation result = { 0 };
    struct mase_arena detail = { 0 };
    const struct mase_predictor_opts po = { .threads = 2, .batch = 4 };
    MASE_TRY(mase_objective_find(&o, NULL, "mean(cross_entropy(output, target))", 0, e));
    MASE_TRY(mase_predictor_new(&p, world.g, &(struct mase_shape){ 1, { FEATURES } }, &po, e));
    MASE_TRY(mase_evaluate(&result, p, world.data, &o, MASE_SPLIT_TRAIN, 0, &detail, e));
    mase_predictor_free(p);
    mase_arena_release(&detail);
    t->sum = add_bytes(1, &result.loss, sizeof result.loss);
    t->sum = add_bytes(t->sum, &result.accuracy, sizeof result.accuracy);
    return MASE_OK;
}

static enum mase_status train(void *data, struct mase_err *e)
{
    struct mase_trainer *t;
    const struct mase_train_opts o = train_opts();
    struct mase_graph *g = mase_graph_clone(world.g);
    mase_graph_own_weights(g);
    MASE_TRY(mase_trainer_new(&t, g, world.data, &o, e));
    MASE_TRY(mase_trainer_run(t, NULL, e));
    mase_trainer_free(t);
    return keep(data, g, MASE_OK);
}

static enum mase_status train_quantised(void *data, struct mase_err *e)
{
    struct mase_trainer *t;
    struct mase_train_opts o = train_opts();
    struct mase_graph *g = mase_graph_clone(world.q);
    mase_graph_own_weights(g);
    o.average_weights = 0.9;
    o.distill = 0.5;
    MASE_TRY(mase_trainer_new(&t, g, world.data, &o, e));
    MASE_TRY(mase_trainer_run(t, NULL, e));
    mase_trainer_free(t);
    return keep(data, g, MASE_OK);
}

static enum mase_status save(void *data, struct mase_err *e)
{
    struct attempt *t = data;
    t->sum = 1;
    return mase_graph_save(world.q, world.out, e);
}

static enum mase_status save_weights(void *data, struct mase_err *e)
{
    struct attempt *t = data;
    t->sum = 1;
    return mase_weights_save(world.g, path_of("out/weights.pt"), e);
}

static enum mase_status checkpoint(void *data, struct mase_err *e)
{
    struct attempt *t = data;
    struct mase_trainer *tr;
    const struct mase_train_opts o = train_opts();
    struct mase_graph *g = mase_graph_clone(world.g);
    mase_graph_own_weights(g);
    MASE_TRY(mase_trainer_new(&tr, g, world.data, &o, e));
    MASE_TRY(mase_trainer_run(tr, NULL, e));
    MASE_TRY(mase_trainer_save(tr, path_of("out/last.ckpt"), e));
    mase_trainer_free(tr);
    mase_graph_free(g);
    t->sum = 1;
    return MASE_OK;
}

static enum mase_status resume(void *data, struct mase_err *e)
{
    struct mase_trainer *t;
    struct mase_train_opts o = train_opts();
    struct mase_graph *g = mase_graph_clone(world.g);
    mase_graph_own_weights(g);
    o.max_epochs = 2;
    o.max_steps = 2;
    MASE_TRY(mase_trainer_new(&t, g, world.data, &o, e));
    MASE_TRY(mase_trainer_resume(t, path_of("last.ckpt"), e));
    MASE_TRY(mase_trainer_run(t, NULL, e));
    mase_trainer_free(t);
    return keep(data, g, MASE_OK);
}

static enum mase_status export_onnx(void *data, struct mase_err *e)
{
    struct attempt *t = data;
    struct mase_str out = { 0 };
    struct mase_onnx_written how = { 0 };
    MASE_TRY(mase_onnx_export(&out, world.q, &world.input, 1, &how, e));
    t->sum = add_bytes(1, out.data, out.len);
    MASE_TRY(mase_file_write(path_of("out/net.onnx"), out.data, out.len, e));
    mase_str_release(&out);
    return MASE_OK;
}

static enum mase_status emit(void *data, struct mase_graph *g, const struct mase_input *in,
                             struct mase_err *e)
{
    struct attempt *t = data;
    struct mase_emitted c;
    MASE_TRY(mase_emit(&c, mase_target_find("c"), g, in, 1,
                       &(struct mase_emit_opts){ .name = "net" }, e));
    t->sum = add_bytes(1, c.file[0].text.data, c.file[0].text.len);
    mase_emitted_release(&c);
    return MASE_OK;
}

static enum mase_status emit_c(void *data, struct mase_err *e)
{
    return emit(data, world.q, &world.input, e);
}

static enum mase_status emit_images(void *data, struct mase_err *e)
{
    return emit(data, world.cnn, &world.image, e);
}

static enum mase_status open_data(struct attempt *t, const char *path, struct mase_err *e)
{
    struct mase_dataset *d;
    MASE_TRY(
        mase_dataset_open(&d, path, &(struct mase_dataset_opts){ .cache_dir = "/nowhere" }, e));
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const struct mase_table_view v = mase_dataset_table(d);
    t->sum = add_bytes(1, &info->rows, sizeof info->rows);
    if (v.data)
        t->sum = add_bytes(t->sum, v.data, (size_t)(info->rows * v.stride) * sizeof *v.data);
    mase_dataset_close(d);
    return MASE_OK;
}

static enum mase_status open_csv(void *data, struct mase_err *e)
{
    return open_data(data, path_of("t.csv"), e);
}

static enum mase_status open_npz(void *data, struct mase_err *e)
{
    return open_data(data, DATA "data/own.npz", e);
}

static enum mase_status open_h5(void *data, struct mase_err *e)
{
    return open_data(data, DATA "data/own.h5", e);
}

static enum mase_status open_pictures(void *data, struct mase_err *e)
{
    return open_data(data, path_of("pictures"), e);
}

/* ---- trying ---- */

static const struct call {
    const char *name;
    mase_guarded_fn *run;
    int most; /* N's that are tried, as it starts a process; 0: all */
} calls[] = {
    { "read .mg", read_mg, 0 },
    { "load a saved folder", load_saved, 0 },
    { "load .safetensors", load_safetensors, 0 },
    { "load .pt", load_pt, 0 },
    { "load .npz", load_npz, 0 },
    { "load .ckpt", load_ckpt, 0 },
    { "read .onnx", read_onnx, 0 },
    { "read .onnx, attention", read_onnx_attention, 0 },
    { "build of the zoo, draw weights", open_zoo, 0 },
    { "capture .py", capture, 25 },
    { "quantise", quantise, 0 },
    { "quantise by pattern", quantise_by_pattern, 0 },
    { "profile", profile, 0 },
    { "predict", predict_float, 0 },
    { "predict, integers", predict_exact, 0 },
    { "predict, two threads", predict_threads, 0 },
    { "evaluate, own loss, two threads", evaluate, 0 },
    { "train a step", train, 0 },
    { "train a step, formats", train_quantised, 0 },
    { "save a folder", save, 0 },
    { "save weights", save_weights, 0 },
    { "train and write a checkpoint", checkpoint, 0 },
    { "resume", resume, 0 },
    { "export ONNX", export_onnx, 0 },
    { "emit C", emit_c, 0 },
    { "emit C, images", emit_images, 0 },
    { "open .csv", open_csv, 0 },
    { "open .npz", open_npz, 0 },
    { "open .h5", open_h5, 60 },
    { "open pictures", open_pictures, 60 },
};

/* Names and bytes of the target folder; it must hold nothing unfinished. */
static uint64_t folder_sum(void)
{
    uint64_t sum = 0;
    DIR *d = opendir(world.out);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct mase_file f;
        char path[4096];
        if (mase_streq(e->d_name, ".") || mase_streq(e->d_name, ".."))
            continue;
        if (e->d_name[0] == '.')
            fail_msg("%s is left in the target", e->d_name);
        snprintf(path, sizeof path, "%s/%s", world.out, e->d_name);
        must(mase_file_open(&f, path, &err));
        sum += add_bytes(add_bytes(1, e->d_name, strlen(e->d_name)), f.data, f.size);
        mase_file_close(&f);
    }
    closedir(d);
    return sum;
}

/* Files as earlier calls may have left them; whatever a call writes is another. */
static void fill_target(void)
{
    static const char *const names[] = { "weights.pt", "last.ckpt", "net.onnx" };
    DIR *d = opendir(world.out);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", world.out, e->d_name);
        (void)unlink(path);
    }
    closedir(d);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct mase_arena a = { 0 };
        must(mase_file_write(mase_path_join(&a, world.out, names[i]), "old", 3, &err));
        mase_arena_release(&a);
    }
    must(mase_graph_save(world.g, world.out, &err));
}

static long next(long n, long step)
{
    const long coarse = getenv("MASE_QUICK") && n >= 300 ? 1 + n / 30 : 1;
    return n + (coarse > step ? coarse : step);
}

/* How many requests the call makes, tried one by one. */
static long try_call(const struct call *c, long *tried)
{
    struct attempt wanted = { 0 }, got;
    fill_target();
    memory.enough = 0;
    memory.asked = 0;
    must(mase_guarded(&host, c->run, &wanted, &err)); /* also what is made once for the process */
    assert_int_equal(memory.alive, 0);
    const uint64_t after = folder_sum();
    const long all = memory.asked;
    const long step = c->most && all > c->most ? all / c->most : 1;
    fill_target();
    const uint64_t before = folder_sum();
    const int files = open_files();
    enum mase_status st = MASE_ENOMEM;
    *tried = 0;
    for (long n = 1; st; n = next(n, step)) {
        memory.enough = n;
        memory.asked = 0;
        got.sum = 0;
        st = mase_guarded(&host, c->run, &got, &err);
        ++*tried;
        if (memory.alive)
            fail_msg("%s, %ld allocations: %ld blocks are left", c->name, n, (long)memory.alive);
        assert_int_equal(open_files(), files);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child either */
        if (!st)
            break;
        if (st != MASE_ENOMEM || err.status != MASE_ENOMEM)
            fail_msg("%s, %ld allocations: status %d, %s", c->name, n, (int)st, err.msg);
        if (folder_sum() != before)
            fail_msg("%s, %ld allocations: the target has changed", c->name, n);
    }
    assert_true(got.sum == wanted.sum);
    assert_true(folder_sum() == after);
    return all;
}

static void whichever_allocation_fails(void **state)
{
    (void)state;
    const char *only = getenv("MASE_ONLY_CALL"); /* to look at one */
    printf("%-34s %11s %6s %8s\n", "call", "allocations", "tried", "seconds");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (only && !strstr(calls[i].name, only))
            continue;
        const uint64_t started = mase_clock();
        long tried;
        const long n = try_call(&calls[i], &tried);
        printf("%-34s %11ld %6ld %8.2f\n", calls[i].name, n, tried,
               1e-9 * (double)(mase_clock() - started));
        fflush(stdout);
    }
}

/* An object that is older than the call that fails: it can be used again, or freed. */
struct using
{
    struct mase_trainer *trainer;
    struct mase_predictor *predictor;
    struct mase_graph *g;
    float y[ROWS * OUTPUTS];
};

static enum mase_status make_objects(void *data, struct mase_err *e)
{
    struct using *u = data;
    struct mase_train_opts o = train_opts();
    o.max_steps = 3;
    o.average_weights = 0.5;
    u->g = mase_graph_clone(world.q);
    mase_graph_own_weights(u->g);
    MASE_TRY(mase_trainer_new(&u->trainer, u->g, world.data, &o, e));
    return mase_predictor_new(&u->predictor, world.g, &(struct mase_shape){ 1, { FEATURES } }, NULL,
                              e);
}

static enum mase_status run_trainer(void *data, struct mase_err *e)
{
    return mase_trainer_run(((struct using *)data)->trainer, NULL, e);
}

static enum mase_status run_predictor(void *data, struct mase_err *e)
{
    struct using *u = data;
    return mase_predictor_run(u->predictor, u->y, world.x, ROWS, e);
}

static void objects_outlive_a_failure(void **state)
{
    (void)state;
    enum mase_status trained = MASE_ENOMEM;
    for (long n = 1; trained; n = next(n, 1)) {
        struct using u = { 0 };
        memory.enough = 0;
        must(mase_guarded(&host, make_objects, &u, &err));
        memory.enough = n;
        memory.asked = 0;
        trained = mase_guarded(&host, run_trainer, &u, &err);
        memory.asked = 0;
        const enum mase_status st = mase_guarded(&host, run_predictor, &u, &err);
        memory.enough = 0;
        if (trained) {
            assert_int_equal(mase_guarded(&host, run_trainer, &u, &err), MASE_EVALUE);
            assert_non_null(strstr(err.msg, "cannot go on"));
        }
        if (st)
            must(mase_guarded(&host, run_predictor, &u, &err));
        mase_trainer_free(u.trainer);
        mase_predictor_free(u.predictor);
        mase_graph_free(u.g);
        assert_int_equal(memory.alive, 0);
    }
}

static struct mase_graph *build(const char *name, struct mase_shape sample, int classes)
{
    const struct mase_model *m;
    const struct mase_data_info d = { .sample = sample, .classes = classes };
    struct mase_graph *g;
    must(mase_zoo_find(&m, name, &err));
    must(m->build(&g, &d, &err));
    mase_graph_init_weights(g, 1);
    return g;
}

/* What a call finds of the shapes of an older graph stays with that, or is gone. */

struct asking {
    struct mase_graph *g;
    int64_t outputs;
};

static enum mase_status ask_shapes(void *data, struct mase_err *e)
{
    struct asking *k = data;
    struct mase_arena a = { 0 };
    struct mase_values v;
    MASE_TRY(mase_infer_shapes(&v, &a, k->g, &world.input, 1, e));
    k->outputs = mase_values_get(&v, mase_graph_output(k->g))->tensor->shape.dim[1];
    mase_arena_release(&a);
    return MASE_OK;
}

static void shapes_stay_with_an_older_graph(void **state)
{
    (void)state;
    enum mase_status st = MASE_ENOMEM;
    for (long n = 1; st; n++) {
        struct asking k = { .g = build("jsc-tiny", (struct mase_shape){ 1, { FEATURES } },
                                       CLASSES) };
        memory.enough = n;
        memory.asked = 0;
        st = mase_guarded(&host, ask_shapes, &k, &err);
        memory.enough = 0;
        const int64_t rules = mase_counted(MASE_COUNT_SHAPE_RULES);
        must(ask_shapes(&k, &err));
        assert_int_equal(k.outputs, OUTPUTS);
        assert_true(st || mase_counted(MASE_COUNT_SHAPE_RULES) == rules);
        mase_graph_free(k.g);
        assert_int_equal(memory.alive, 0);
    }
}

/* ---- the world ---- */

static void write_csv(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int k = 0; k < FEATURES; k++)
        fprintf(f, "f%d,", k);
    fprintf(f, "label\n");
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < FEATURES; k++) {
            world.x[i * FEATURES + k] = (float)((i * 7 + k * 5) % 23) / 4 - 3;
            fprintf(f, "%g,", (double)world.x[i * FEATURES + k]);
        }
        fprintf(f, "%c\n", 'a' + i % CLASSES);
    }
    assert_int_equal(fclose(f), 0);
}

static const char module[] = "import torch\n"
                             "class Net(torch.nn.Module):\n"
                             "    def __init__(self):\n"
                             "        super().__init__()\n"
                             "        self.fc = torch.nn.Linear(16, 5)\n"
                             "    def forward(self, x):\n"
                             "        return torch.relu(self.fc(x)).reshape(x.shape[0], 5)\n";

static void write_pictures(void)
{
    static const char *const classes[] = { "a", "b" };
    for (int i = 0; i < 24; i++) {
        struct mase_file f;
        char name[64];
        must(mase_file_open(&f, i % 2 ? DATA "pictures/colour.jpg" : DATA "pictures/alpha.png",
                            &err));
        snprintf(name, sizeof name, "pictures/%s/%d.%s", classes[i / 12], i, i % 2 ? "jpg" : "png");
        must(mase_file_write(path_of(name), f.data, f.size, &err));
        mase_file_close(&f);
    }
}

/* Metadata is what a saved folder is made of. */
static void quantise_world(void)
{
    struct mase_value *args;
    struct mase_manager m = { .env = { .out = world.nowhere,
                                       .inputs = &world.input,
                                       .input_count = 1,
                                       .info_arena = &world.arena } };
    must(mase_manager_save(&m, &world.g, path_of("saved"), &err));
    mase_manager_release(&m);
    world.q = mase_graph_clone(world.g);
    mase_graph_own_weights(world.q);
    must(mase_toml_parse(&args, &world.arena, formats, strlen(formats), "args.toml", &err));
    must(mase_manager_run(&m, &world.q, "quantize", args, &err));
    must(mase_manager_save(&m, &world.q, path_of("saved-q"), &err));
    mase_manager_release(&m);
}

static void write_networks(void)
{
    struct mase_str s = { 0 };
    mase_graph_print_mg(&s, world.g);
    must(mase_file_write(path_of("net.mg"), s.data, s.len, &err));
    mase_str_release(&s);
    must(mase_file_write(path_of("net.py"), module, sizeof module - 1, &err));
    must(mase_weights_save(world.g, path_of("w.safetensors"), &err));
    must(mase_weights_save(world.g, path_of("w.pt"), &err));
    must(mase_weights_save(world.g, path_of("w.npz"), &err));
    struct mase_trainer *t;
    struct mase_graph *g = mase_graph_clone(world.g);
    struct mase_train_opts o = train_opts();
    mase_graph_own_weights(g);
    must(mase_trainer_new(&t, g, world.data, &o, &err));
    must(mase_trainer_run(t, NULL, &err));
    must(mase_trainer_save(t, path_of("last.ckpt"), &err));
    mase_trainer_free(t);
    mase_graph_free(g);
}

/* Networks that are older than the calls keep what these find, which is not what is looked for. */
static void find_shapes(const struct mase_graph *g, const struct mase_input *in)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    must(mase_infer_shapes(&v, &a, g, in, 1, &err));
    mase_arena_release(&a);
}

static int make_world(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    char *dir = mase_arena_printf(&world.arena, "%s/mase-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    world.dir = dir;
    world.out = mase_arena_printf(&world.arena, "%s/out", dir);
    must(mase_make_dirs(world.out, &err));
    mase_log_set_level(MASE_ERROR);
    world.nowhere = fopen("/dev/null", "w");
    assert_non_null(world.nowhere);
    write_csv(path_of("t.csv"));
    write_pictures();
    must(mase_dataset_open(&world.data, path_of("t.csv"),
                           &(struct mase_dataset_opts){ .cache_dir = "/nowhere" }, &err));
    world.g = build("jsc-tiny", (struct mase_shape){ 1, { FEATURES } }, CLASSES);
    world.cnn = build("toy_convnet", (struct mase_shape){ 3, { 3, 8, 8 } }, 4);
    world.input = (struct mase_input){ "x", { .shape = { 2, { 8, FEATURES } } } };
    world.image = (struct mase_input){ "x", { .shape = { 4, { 8, 3, 8, 8 } } } };
    quantise_world();
    find_shapes(world.g, &world.input);
    find_shapes(world.q, &world.input);
    find_shapes(world.cnn, &world.image);
    write_networks();
    return 0;
}

static int end_world(void **state)
{
    (void)state;
    mase_graph_free(world.q);
    mase_graph_free(world.g);
    mase_graph_free(world.cnn);
    mase_dataset_close(world.data);
    fclose(world.nowhere);
    remove_all(world.dir);
    mase_arena_release(&world.arena);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_allocation_fails),
        cmocka_unit_test(objects_outlive_a_failure),
        cmocka_unit_test(shapes_stay_with_an_older_graph),
    };
    return run_cases(argc, argv, tests, make_world, end_world);
}
