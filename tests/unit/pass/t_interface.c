/*
 * t_interface.c - what is saved loads again, equal; what does not fit is refused at its place.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase/saved.h>

#include "base/fault.h"
#include "run_cases.h"

#include "fixture.h"

#define QUANTIZE                                                                              \
    "by = 'type'\n[default.config]\nname = 'NA'\n[linear.config]\nname = 'integer'\n"         \
    "data_in_width = 8\ndata_in_frac_width = 'NA'\nweight_width = 8\nweight_frac_width = 4\n" \
    "bias_width = 8\nbias_frac_width = 4\n[relu.config]\nname = 'fixed'\n"                    \
    "data_in_width = 6\ndata_in_frac_width = 2\n[add.config]\nname = 'integer'\n"             \
    "data_in_width = 9\ndata_in_frac_width = 3\n[matmul.config]\nname = 'integer'\n"          \
    "data_in_width = 9\ndata_in_frac_width = 3\nweight_width = 8\nweight_frac_width = 4\n"

static const char *const saved_files[] = { "graph_module.mg", "state_dict.safetensors",
                                           "node_meta_param.toml", "SHA256SUMS" };

static void remove_saved(struct fixture *f, const char *dir)
{
    for (int i = 0; i < 4; i++)
        (void)remove(mase_path_join(&f->arena, dir, saved_files[i]));
    assert_int_equal(remove(dir), 0); /* nothing else is left in it */
}

static const char *with_dir(struct fixture *f, const char *key, const char *dir)
{
    return mase_arena_printf(&f->arena, "%s = '%s'", key, dir);
}

static float *weights_of(struct fixture *f, const char *path)
{
    return mase_f32(&mase_module_param(mase_graph_module(f->g, path), "weight")->tensor);
}

/* ---- whole graphs ---- */

static void check_round_trip(const char *model, bool hardware)
{
    struct fixture f;
    setup(&f, model);
    const char *one = temp_dir(&f), *two = temp_dir(&f);
    RUN(&f, "add_software_metadata", NULL);
    RUN(&f, "quantize", QUANTIZE);
    if (hardware)
        RUN(&f, "add_hardware_metadata", NULL);
    RUN(&f, "save_mase_graph", with_dir(&f, "save_dir", one));
    assert_int_equal(f.m.env.files->count, 4);
    struct mase_graph *before = f.g;
    unsigned props = f.g->props;
    f.g = mase_graph_new("other");
    mase_manager_release(&f.m);
    RUN(&f, "load_mase_graph", with_dir(&f, "load_dir", one));
    struct mase_str why = { 0 };
    if (!mase_graph_equal(before, f.g, &why))
        fail_msg("%s: %s", model, mase_str_text(&why));
    mase_str_release(&why);
    assert_int_equal(f.g->props, props);
    RUN(&f, "verify_common_metadata", NULL);
    RUN(&f, "save_mase_graph", with_dir(&f, "save_dir", two));
    for (int i = 0; i < 4; i++) {
        const char *a = mase_path_join(&f.arena, one, saved_files[i]);
        const char *b = mase_path_join(&f.arena, two, saved_files[i]);
        struct mase_file fa, fb;
        MUST(&f, mase_file_open(&fa, a, &f.err));
        MUST(&f, mase_file_open(&fb, b, &f.err));
        assert_int_equal(fa.size, fb.size);
        assert_memory_equal(fa.data, fb.data, fa.size);
        mase_file_close(&fa);
        mase_file_close(&fb);
    }
    remove_saved(&f, one);
    remove_saved(&f, two);
    mase_graph_free(before);
    teardown(&f);
}

static void a_saved_graph_loads_equal(void **state)
{
    (void)state;
    check_round_trip("jsc-tiny", false);
    check_round_trip("jsc-tiny", true);
    check_round_trip("res_mlp", true);
    check_round_trip("toy_custom_fn", false);
    check_round_trip("matmul_net", false);
    check_round_trip("conv_bn", true);
}

static void weights_come_back_to_the_bit(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    const char *dir = temp_dir(&f);
    float kept[80];
    memcpy(kept, weights_of(&f, "seq_blocks.2"), sizeof kept);
    RUN(&f, "save_mase_graph", with_dir(&f, "save_dir", dir));
    mase_graph_init_weights(f.g, 99);
    assert_memory_not_equal(kept, weights_of(&f, "seq_blocks.2"), sizeof kept);
    /* a file in the folder serves as well as the folder */
    RUN(&f, "load_mase_graph",
        with_dir(&f, "load_dir", mase_path_join(&f.arena, dir, "graph_module.mg")));
    assert_memory_equal(kept, weights_of(&f, "seq_blocks.2"), sizeof kept);
    assert_string_equal(f.g->name, "jsc-tiny");
    assert_null(f.m.env.original); /* a loaded graph has no earlier self */
    remove_saved(&f, dir);
    teardown(&f);
}

static void saving_goes_to_the_output_folder_by_default(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    assert_int_equal(run(&f, "save_mase_graph", NULL), MASE_EVALUE);
    assert_non_null(strstr(f.err.msg, "save_dir is not given"));
    const char *dir = temp_dir(&f);
    f.m.env.out_dir = dir;
    RUN(&f, "save_mase_graph", NULL);
    remove_saved(&f, mase_path_join(&f.arena, dir, "saved_mase_graph"));
    RUN(&f, "save_node_meta_param", NULL);
    dir = mase_path_join(&f.arena, dir, "saved_node_meta_param");
    assert_int_equal(remove(mase_path_join(&f.arena, dir, "node_meta_param.toml")), 0);
    assert_int_equal(remove(dir), 0);
    assert_int_equal(remove(f.m.env.out_dir), 0);
    teardown(&f);
}

/* The n-th system call from now on fails. */
static int countdown(const char *call, void *user)
{
    (void)call;
    int *left = user;
    return --*left == 0 ? EIO : 0;
}

static int entries(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

/* One hash over the three files of a folder, which must hold nothing else but their sums. */
static const char *hash_of(struct fixture *f, const char *dir)
{
    char hex[4][65];
    assert_int_equal(entries(dir), 4);
    for (int i = 0; i < 3; i++) {
        struct mase_file file;
        MUST(f, mase_file_open(&file, mase_path_join(&f->arena, dir, saved_files[i]), &f->err));
        mase_sha256(hex[i], file.data, file.size);
        mase_file_close(&file);
    }
    mase_sha256(hex[3], hex, 3 * sizeof hex[0]);
    return mase_arena_strdup(&f->arena, hex[3]);
}

static enum mase_status save(struct fixture *f, struct mase_graph *g, const char *dir)
{
    return mase_manager_run(&f->m, &g, "save_mase_graph", toml(f, with_dir(f, "save_dir", dir)),
                            &f->err);
}

static void graphs_save_and_load_by_call(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_str why = { 0 };
    setup(&f, "jsc-tiny");
    struct mase_graph *g = NULL;
    const char *dir = temp_dir(&f);
    assert_int_equal(mase_graph_load(&g, dir, NULL, &f.err), MASE_EIO); /* nothing is there yet */
    assert_null(g);
    RUN(&f, "quantize", QUANTIZE);
    MUST(&f, mase_manager_save(&f.m, &f.g, dir, &f.err));
    MUST(&f, mase_graph_load(&g, dir, "other", &f.err));
    if (!mase_graph_equal(f.g, g, &why))
        fail_msg("%s", mase_str_text(&why));
    const char *first = hash_of(&f, dir);
    mase_graph_init_weights(g, 7);
    MUST(&f, mase_graph_save(g, dir, &f.err));
    assert_string_not_equal(hash_of(&f, dir), first);
    mase_graph_free(g);
    MUST(&f, mase_graph_load(&g, mase_path_join(&f.arena, dir, MASE_SAVED_GRAPH), NULL, &f.err));
    MUST(&f, mase_graph_save(f.g, dir, &f.err));
    assert_string_equal(hash_of(&f, dir), first);
    mase_graph_free(g);
    mase_str_release(&why);
    remove_saved(&f, dir);
    teardown(&f);
}

static void a_save_happens_wholly_or_not_at_all(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    RUN(&f, "add_common_metadata", NULL);
    struct mase_graph *plain = mase_graph_clone(f.g);
    mase_graph_own_weights(plain);
    mase_graph_init_weights(plain, 5);
    RUN(&f, "quantize", QUANTIZE);
    const char *dir = temp_dir(&f);
    MUST(&f, save(&f, f.g, dir));
    const char *after = hash_of(&f, dir);
    int n = 0, failures = 0;
    for (int left = 0; left <= 0; failures += left <= 0) {
        MUST(&f, save(&f, plain, dir));
        const char *before = hash_of(&f, dir);
        left = ++n;
        mase_fault = countdown;
        mase_fault_user = &left;
        enum mase_status st = save(&f, f.g, dir);
        mase_fault = NULL;
        assert_string_equal(hash_of(&f, dir), st ? before : after);
    }
    assert_true(failures > 15); /* every system call of the save has failed once */
    remove_saved(&f, dir);
    mase_graph_free(plain);
    teardown(&f);
}

/* The process ends at the n-th system call from now on. */
static int killed(const char *call, void *user)
{
    (void)call;
    int *left = user;
    if (--*left == 0)
        _exit(1);
    return 0;
}

/* Save in a process of its own, which ends at its n-th system call; true if it was done before. */
static bool save_until(struct fixture *f, struct mase_graph *g, const char *dir, int n)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        mase_fault = killed;
        mase_fault_user = &n;
        _exit(save(f, g, dir) ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* One hash over graph, weights and metadata, whatever else is there. */
static const char *content_of(struct fixture *f, const char *dir)
{
    struct mase_str all = { 0 };
    char hex[65];
    for (int i = 0; i < 3; i++) {
        struct mase_file file;
        const char *path = mase_path_join(&f->arena, dir, saved_files[i]);
        MUST(f, mase_file_open(&file, path, &f->err));
        mase_str_addn(&all, (const char *)file.data, file.size);
        mase_file_close(&file);
    }
    mase_sha256(hex, all.data, all.len);
    mase_str_release(&all);
    return mase_arena_strdup(&f->arena, hex);
}

/* What a kill leaves loads as the save before or the one after, or is refused. */
static void a_broken_save_does_not_load_as_a_mixture(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    RUN(&f, "add_common_metadata", NULL);
    struct mase_graph *plain = mase_graph_clone(f.g);
    mase_graph_own_weights(plain);
    mase_graph_init_weights(plain, 5);
    RUN(&f, "quantize", QUANTIZE);
    const char *dir = temp_dir(&f);
    MUST(&f, save(&f, f.g, dir));
    const char *after = content_of(&f, dir);
    int refused = 0, loaded = 0;
    bool done = false;
    for (int n = 1; !done; n++) {
        MUST(&f, save(&f, plain, dir));
        const char *before = content_of(&f, dir);
        if (n % 2) /* as an earlier version saved it */
            assert_int_equal(remove(mase_path_join(&f.arena, dir, "SHA256SUMS")), 0);
        done = save_until(&f, f.g, dir, n);
        struct mase_graph *g = mase_graph_new("any");
        const enum mase_status st = mase_manager_run(
            &f.m, &g, "load_mase_graph", toml(&f, with_dir(&f, "load_dir", dir)), &f.err);
        refused += st != MASE_OK;
        loaded += st == MASE_OK;
        if (!st) {
            const char *now = content_of(&f, dir);
            assert_true(!strcmp(now, before) || !strcmp(now, after));
        }
        mase_graph_free(g);
    }
    assert_true(refused >= 3 && loaded >= 10);
    MUST(&f, save(&f, plain, dir));
    (void)hash_of(&f, dir); /* and what was left is gone */
    remove_saved(&f, dir);
    mase_graph_free(plain);
    teardown(&f);
}

static void a_folder_without_its_weights_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    const char *dir = temp_dir(&f);
    struct mase_graph *before = f.g;
    MUST(&f, save(&f, f.g, dir));
    assert_int_equal(remove(mase_path_join(&f.arena, dir, "state_dict.safetensors")), 0);
    assert_int_equal(run(&f, "load_mase_graph", with_dir(&f, "load_dir", dir)), MASE_EIO);
    assert_non_null(strstr(f.err.path, "state_dict.safetensors"));
    assert_non_null(strstr(f.err.msg, "is missing"));
    assert_ptr_equal(f.g, before);
    remove_saved(&f, dir);
    teardown(&f);
}

/* A changed weight is a change; nothing changed leaves the files as they are. */
static void what_is_there_already_is_not_written_again(void **state)
{
    (void)state;
    struct fixture f;
    struct stat first, second;
    setup(&f, "jsc-tiny");
    const char *dir = temp_dir(&f), *path = mase_path_join(&f.arena, dir, saved_files[1]);
    MUST(&f, save(&f, f.g, dir));
    assert_int_equal(stat(path, &first), 0);
    MUST(&f, save(&f, f.g, dir));
    assert_int_equal(stat(path, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    assert_int_equal(f.m.env.files->count, 8); /* they are results of both */
    const char *before = hash_of(&f, dir);
    weights_of(&f, "seq_blocks.2")[79] += 1;
    MUST(&f, save(&f, f.g, dir));
    assert_string_not_equal(hash_of(&f, dir), before);
    remove_saved(&f, dir);
    teardown(&f);
}

static void what_cannot_be_loaded_is_named(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    const char *dir = temp_dir(&f);
    struct mase_graph *before = f.g;
    assert_int_equal(run(&f, "load_mase_graph", NULL), MASE_EVALUE);
    assert_non_null(strstr(f.err.msg, "'load_dir' is missing"));
    assert_int_equal(run(&f, "load_mase_graph", with_dir(&f, "load_dir", dir)), MASE_EIO);
    assert_non_null(strstr(f.err.path, "graph_module.mg"));
    RUN(&f, "save_mase_graph", with_dir(&f, "save_dir", dir));
    assert_int_equal(remove(mase_path_join(&f.arena, dir, "node_meta_param.toml")), 0);
    assert_int_equal(run(&f, "load_mase_graph", with_dir(&f, "load_dir", dir)), MASE_EIO);
    assert_ptr_equal(f.g, before); /* the graph stays when loading fails */
    remove_saved(&f, dir);
    teardown(&f);
}

/* ---- metadata alone ---- */

static void metadata_loads_equal(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "toy_custom_fn");
    const char *dir = temp_dir(&f), *path = mase_path_join(&f.arena, dir, "meta.toml");
    RUN(&f, "add_software_metadata", NULL);
    RUN(&f, "save_node_meta_param", with_dir(&f, "save_path", path));
    const char *text = file_text(&f, path);
    RUN(&f, "init_metadata", NULL);
    RUN(&f, "load_node_meta_param", with_dir(&f, "load_path", path));
    assert_int_equal(f.g->props, MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE);
    RUN(&f, "save_node_meta_param", with_dir(&f, "save_path", path));
    assert_string_equal(file_text(&f, path), text);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(dir), 0);
    teardown(&f);
}

/* The text of jsc-tiny's metadata with one place changed. */
static const char *changed(struct fixture *f, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("'%s' is not in the file", from);
    return mase_arena_printf(&f->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void metadata_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        { "[seq_blocks_1.common]", "[seq_blocks_9.common]",
          "the graph has no node 'seq_blocks_9'" },
        { "mase_op = \"linear\"", "mase_op = \"relu\"", "is a linear in the graph, not a relu" },
        { "mase_type = \"module\"", "mase_type = \"output\"", "is of type module in the graph" },
        { "shape = [5, 16]", "shape = [6, 16]", "weight is [5, 16] in the graph, not [6, 16]" },
        { "shape = [8, 16]", "shape = [8, -1]", "a shape holds integers from 0" },
        { "shape = [8, 16]", "shape = 8", "shape must be of type" },
        { "type = \"float\"", "type = \"flaot\"", "'flaot' is no number format" },
        { "type = \"float\"", "type = \"integer\"", "integer has 2 to 3 parameters" },
        { "torch_dtype = \"torch.float32\"", "torch_dtype = \"torch.float33\"",
          "torch_dtype 'torch.float33' is unknown" },
    };
    struct fixture f;
    setup(&f, "jsc-tiny");
    const char *dir = temp_dir(&f), *path = mase_path_join(&f.arena, dir, "meta.toml");
    RUN(&f, "save_node_meta_param", with_dir(&f, "save_path", path));
    const char *text = file_text(&f, path);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *bad = changed(&f, text, faults[i].from, faults[i].to);
        MUST(&f, mase_file_write(path, bad, strlen(bad), &f.err));
        assert_int_equal(run(&f, "load_node_meta_param", with_dir(&f, "load_path", path)),
                         MASE_EVALUE);
        if (!strstr(f.err.msg, faults[i].message))
            fail_msg("'%s' is not in: %s", faults[i].message, f.err.msg);
        assert_string_equal(f.err.path, path);
        assert_true(f.err.loc.line > 0);
    }
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(dir), 0);
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_graph_loads_equal),
        cmocka_unit_test(weights_come_back_to_the_bit),
        cmocka_unit_test(saving_goes_to_the_output_folder_by_default),
        cmocka_unit_test(graphs_save_and_load_by_call),
        cmocka_unit_test(a_save_happens_wholly_or_not_at_all),
        cmocka_unit_test(a_broken_save_does_not_load_as_a_mixture),
        cmocka_unit_test(a_folder_without_its_weights_is_refused),
        cmocka_unit_test(what_is_there_already_is_not_written_again),
        cmocka_unit_test(what_cannot_be_loaded_is_named),
        cmocka_unit_test(metadata_loads_equal),
        cmocka_unit_test(metadata_that_does_not_fit_is_refused),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
