/*
 * t_writer.c - a written file is whole or not there, whichever system call fails.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "check.h"
#include "run_cases.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "base/swap.h"

static void assert_writes(const char *path, const char *text)
{
    struct mase_err err = { 0 };
    if (mase_file_write(path, text, strlen(text), &err))
        fail_msg("%s: %s", path, err.msg);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void files_are_written_whole(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "a/b/out.csv");
    assert_writes(path, "first"); /* and its directories made */
    assert_content(path, "first");
    assert_writes(path, "second, longer");
    assert_content(path, "second, longer");
    assert_writes(path, "");
    assert_content(path, "");
    assert_int_equal(folder_sweep(&dir, folder_at(&dir, "a/b"), false), 1);
    folder_remove(&dir);
}

static void pieces_are_seen_only_after_close(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    struct mase_writer w;
    struct mase_err err = { 0 };
    write_text(path, "old", 3);
    assert_int_equal(mase_writer_open(&w, path, &err), MASE_OK);
    assert_int_equal(mase_writer_put(&w, "new ", 4, &err), MASE_OK);
    assert_int_equal(mase_writer_put(&w, "text", 4, &err), MASE_OK);
    assert_int_equal(w.size, 8);
    assert_content(path, "old");
    assert_int_equal(mase_writer_close(&w, &err), MASE_OK);
    assert_content(path, "new text");
    mase_writer_abort(&w); /* after close: nothing */
    assert_content(path, "new text");
    assert_int_equal(folder_entries(&dir), 1);
    folder_remove(&dir);
}

static void an_aborted_file_leaves_nothing(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_writer w, zeroed = { 0 };
    struct mase_err err = { 0 };
    assert_int_equal(mase_writer_open(&w, folder_at(&dir, "out"), &err), MASE_OK);
    assert_int_equal(mase_writer_put(&w, "text", 4, &err), MASE_OK);
    mase_writer_abort(&w);
    mase_writer_abort(&w);
    mase_writer_abort(&zeroed); /* must not close descriptor 0 */
    assert_true(fcntl(0, F_GETFD) >= 0 || errno != EBADF);
    assert_int_equal(folder_entries(&dir), 0);
    folder_remove(&dir);
}

static void permissions_follow_umask_and_the_old_file(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    const mode_t old = umask(027);
    assert_writes(path, "x");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_writes(path, "y");
    assert_int_equal(mode_of(path), 0604);
    umask(old);
    folder_remove(&dir);
}

/* Links of others, in the place of a file or of a folder on the way to it. Only root can make such
 * links here; whoever is not root has them made by others. */
static void links_of_others_are_not_followed(void **state)
{
    (void)state;
    enum { SOMEBODY = 65534 };
    struct folder dir = folder_make();
    struct mase_err err = { 0 };
    const char *target = folder_at(&dir, "target"), *link = folder_at(&dir, "link");
    const char *inner = folder_at(&dir, "folder"), *way = folder_at(&dir, "way");
    if (geteuid() != 0) {
        folder_remove(&dir);
        skip();
    }
    write_text(target, "old", 3);
    assert_int_equal(mkdir(inner, 0777), 0);
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(symlink("folder", way), 0);
    assert_int_equal(lchown(link, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(lchown(way, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(mase_file_write(link, "new", 3, &err), MASE_EIO);
    assert_non_null(strstr(err.msg, "is a symbolic link of another user"));
    assert_string_equal(err.path, link);
    assert_int_equal(mase_file_write(folder_at(&dir, "way/out"), "new", 3, &err), MASE_EIO);
    assert_int_equal(mase_make_dirs(folder_at(&dir, "way/deeper"), &err), MASE_EIO);
    assert_string_equal(err.path, way);
    assert_content(target, "old");
    assert_int_equal(rmdir(inner), 0); /* nothing was put into it */
    folder_remove(&dir);
}

static void a_link_stays_and_its_target_changes(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *target = folder_at(&dir, "target"), *link = folder_at(&dir, "link");
    struct stat st;
    write_text(target, "old", 3);
    assert_int_equal(symlink("target", link), 0);
    assert_writes(link, "new");
    assert_content(target, "new");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    folder_remove(&dir);
}

static void what_cannot_be_written_says_why(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_err err = { 0 };
    assert_int_equal(mase_file_write(dir.path, "x", 1, &err), MASE_EIO);
    assert_string_equal(err.msg, "is a directory, expected a file");
    write_text(folder_at(&dir, "f"), "x", 1);
    assert_int_equal(mase_file_write(folder_at(&dir, "f/out"), "x", 1, &err), MASE_EIO);
    assert_string_equal(err.msg, "is a file, expected a directory");
    assert_int_equal(mase_file_write("", "x", 1, &err), MASE_EIO);
    assert_string_equal(err.msg, "cannot write to a file without a name");
    folder_remove(&dir);
}

static void names_may_be_as_long_as_the_system_allows(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_writes(folder_at(&dir, name), "x");
    assert_content(folder_at(&dir, name), "x");
    folder_remove(&dir);
}

static void pipes_are_written_directly(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        struct mase_err err;
        _exit(mase_file_write(path, "through the pipe", 16, &err) ? 1 : 0);
    }
    char got[32];
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    read_all(fd, got, sizeof(got));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(got, "through the pipe");
    assert_int_equal(folder_entries(&dir), 1);
    folder_remove(&dir);
}

/* stdout redirected to a file: what was printed before and after must stay, in order. */
static void stdout_keeps_its_order(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "log");
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        struct mase_err err;
        if (!freopen(path, "w", stdout))
            _exit(2);
        printf("before ");
        const enum mase_status st = mase_file_write("/dev/stdout", "table ", 6, &err);
        printf("after");
        fflush(stdout);
        _exit(st ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_content(path, "before table after");
    folder_remove(&dir);
}

static void short_writes_are_continued(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    mase_fault_write_max = 3;
    assert_writes(path, "in pieces of three bytes");
    mase_fault_write_max = 0;
    assert_content(path, "in pieces of three bytes");
    folder_remove(&dir);
}

struct plan {
    int at;    /* the call to fail, from 0 */
    int seen;  /* calls so far */
    int error; /* what it fails with */
    char call[16];
};

static int fail_nth(const char *call, void *user)
{
    struct plan *p = user;
    if (p->seen++ != p->at)
        return 0;
    snprintf(p->call, sizeof(p->call), "%s", call);
    return p->error;
}

static void interruptions_are_retried(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    struct plan plan = { .at = 1, .error = EINTR }; /* open, then write */
    mase_fault = fail_nth;
    mase_fault_user = &plan;
    assert_writes(path, "text");
    mase_fault = NULL;
    assert_string_equal(plan.call, "write");
    assert_content(path, "text");
    folder_remove(&dir);
}

/* Fail the n-th call of replacing a file, for every n: the result is the old text or, once the
 * rename has happened, the new one; never a part, never a file more. */
static void whichever_call_fails_the_file_is_whole(void **state)
{
    (void)state;
    static const char *const order[] = { "open", "fchmod", "write",  "fsync", "link",
                                         "link", "close",  "rename", "open",  "fsync" };
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    for (int i = 0; i < COUNT(order); i++) {
        struct plan plan = { .at = i, .error = ENOSPC };
        struct mase_err err = { 0 };
        write_text(path, "old", 3);
        mase_fault = fail_nth;
        mase_fault_user = &plan;
        assert_int_equal(mase_file_write(path, "new text", 8, &err), MASE_EIO);
        mase_fault = NULL;
        assert_string_equal(plan.call, order[i]);
        assert_non_null(strstr(err.msg, "No space left on device"));
        assert_content(path, i < 8 ? "old" : "new text");
        assert_int_equal(folder_entries(&dir), 1);
    }
    struct plan none = { .at = -1 };
    mase_fault = fail_nth;
    mase_fault_user = &none;
    assert_writes(path, "newest text");
    mase_fault = NULL;
    assert_int_equal(none.seen, COUNT(order) + 1); /* and the directory's close, which may fail */
    folder_remove(&dir);
}

/* Writing what the file holds already touches neither it nor the disk's patience. */
static void an_unchanged_file_is_left_alone(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    struct plan plan = { .at = -1 };
    struct stat before, after;
    write_text(path, "text", 4);
    assert_int_equal(stat(path, &before), 0);
    mase_fault = fail_nth;
    mase_fault_user = &plan;
    assert_writes(path, "text");
    mase_fault = NULL;
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(plan.seen, 4); /* open fchmod write close, of the copy: no fsync, no rename */
    assert_int_equal(folder_entries(&dir), 1);
    assert_writes(path, "texu");
    folder_remove(&dir);
}

/* The same for a new file: without its name there is no file at all. */
static void a_new_file_is_there_or_not(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    for (int i = 0; i < 5; i++) { /* open write fsync link close */
        struct plan plan = { .at = i, .error = EIO };
        struct mase_err err = { 0 };
        mase_fault = fail_nth;
        mase_fault_user = &plan;
        assert_int_equal(mase_file_write(path, "new text", 8, &err), MASE_EIO);
        mase_fault = NULL;
        assert_int_equal(folder_entries(&dir), 0);
    }
    folder_remove(&dir);
}

/* Does the folder's file system have files without names? */
static bool has_nameless(const struct folder *dir)
{
    const int fd = open(dir->path, O_TMPFILE | O_WRONLY, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void of_a_writer_that_is_killed_nothing_is_left(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    if (!has_nameless(&dir)) {
        folder_remove(&dir);
        skip();
    }
    for (int exists = 0; exists < 2; exists++) {
        int status;
        if (exists)
            write_text(path, "old", 3);
        const pid_t child = fork();
        if (child == 0) {
            struct mase_writer w;
            struct mase_err err;
            if (!mase_writer_open(&w, path, &err) && !mase_writer_put(&w, "new", 3, &err))
                raise(SIGKILL);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(folder_entries(&dir), exists);
    }
    assert_content(path, "old");
    folder_remove(&dir);
}

/* Where every file has a name, it is one beside the final one until it is whole. */
static void without_nameless_files_it_is_one_beside(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    struct plan plan = { .at = 0, .error = EOPNOTSUPP };
    struct mase_writer w;
    struct mase_err err = { 0 };
    mase_fault = fail_nth;
    mase_fault_user = &plan;
    assert_int_equal(mase_writer_open(&w, path, &err), MASE_OK);
    mase_fault = NULL;
    assert_int_equal(folder_entries(&dir), 1);
    assert_int_equal(mase_writer_put(&w, "text", 4, &err), MASE_OK);
    assert_int_equal(mase_writer_close(&w, &err), MASE_OK);
    assert_content(path, "text");
    assert_int_equal(folder_entries(&dir), 1);
    folder_remove(&dir);
}

static void after_a_failed_piece_the_rest_is_skipped(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct plan plan = { .at = 1, .error = ENOSPC };
    struct mase_writer w;
    struct mase_err err = { 0 };
    mase_fault = fail_nth;
    mase_fault_user = &plan;
    assert_int_equal(mase_writer_open(&w, folder_at(&dir, "out"), &err), MASE_OK);
    assert_int_equal(mase_writer_put(&w, "a", 1, &err), MASE_EIO);
    assert_int_equal(mase_writer_put(&w, "b", 1, &err), MASE_EIO);
    assert_int_equal(plan.seen, 2); /* the second piece was not tried */
    assert_int_equal(mase_writer_close(&w, &err), MASE_EIO);
    mase_fault = NULL;
    assert_string_equal(err.msg, "cannot write: No space left on device");
    assert_int_equal(folder_entries(&dir), 0);
    folder_remove(&dir);
}

static void a_file_system_that_cannot_flush_is_accepted(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "out");
    struct plan plan = { .at = 2, .error = EINVAL };
    mase_fault = fail_nth;
    mase_fault_user = &plan;
    assert_writes(path, "text");
    mase_fault = NULL;
    assert_string_equal(plan.call, "fsync");
    assert_content(path, "text");
    folder_remove(&dir);
}

struct calls {
    char text[256];
};

static int note_call(const char *call, void *user)
{
    struct calls *c = user;
    snprintf(c->text + strlen(c->text), sizeof c->text - strlen(c->text), "%s ", call);
    return 0;
}

/* The disk is waited for in one go, no name stands for a part, and the folder is flushed once. */
static void several_files_are_flushed_before_the_first_has_its_name(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_writer w[3];
    struct mase_err err = { 0 };
    struct calls calls = { "" };
    static const char *const names[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mase_writer_open(&w[i], folder_at(&dir, names[i]), &err), MASE_OK);
        assert_int_equal(mase_writer_put(&w[i], names[i], 1, &err), MASE_OK);
    }
    assert_int_equal(folder_entries(&dir), 0);
    mase_fault = note_call;
    mase_fault_user = &calls;
    assert_int_equal(mase_writers_close(w, 3, &err), MASE_OK);
    mase_fault = NULL;
    assert_string_equal(calls.text, "fsync fsync fsync link close link close link close "
                                    "open fsync close ");
    for (int i = 0; i < 3; i++)
        assert_content(folder_at(&dir, names[i]), names[i]);
    folder_remove(&dir);
}

/* Neither does a failed flush of one give a name to the others. */
static void of_several_files_none_is_named_when_one_cannot_be_flushed(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_writer w[2];
    struct mase_err err = { 0 };
    struct plan plan = { .at = 1, .error = EIO };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mase_writer_open(&w[i], folder_at(&dir, i ? "b" : "a"), &err), MASE_OK);
        assert_int_equal(mase_writer_put(&w[i], "x", 1, &err), MASE_OK);
    }
    mase_fault = fail_nth;
    mase_fault_user = &plan;
    assert_int_equal(mase_writers_close(w, 2, &err), MASE_EIO);
    mase_fault = NULL;
    assert_string_equal(plan.call, "fsync");
    assert_int_equal(folder_entries(&dir), 0);
    folder_remove(&dir);
}

/* Of a folder that takes its place as a whole: its parts are not flushed one by one. */
static void parts_of_a_save_are_flushed_together(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct calls calls = { "" };
    static const char *const names[] = { "x", "y" };
    struct mase_swap *s = mase_swap_new(&a, dir.path, names, 2);
    assert_int_equal(mase_swap_begin(s, &err), MASE_OK);
    mase_fault = note_call;
    mase_fault_user = &calls;
    for (int i = 0; i < 2; i++)
        assert_writes(mase_swap_next(s, i), names[i]);
    assert_string_equal(calls.text, "open write close open write close ");
    calls.text[0] = '\0';
    assert_int_equal(mase_swap_commit(s, &err), MASE_OK);
    mase_fault = NULL;
    assert_string_equal(calls.text, "open fsync close open fsync close rename rename "
                                    "open fsync close ");
    mase_swap_free(s);
    for (int i = 0; i < 2; i++)
        assert_content(folder_at(&dir, names[i]), names[i]);
    assert_int_equal(folder_entries(&dir), 2);
    mase_arena_release(&a);
    folder_remove(&dir);
}

/* Threads that write into one folder do not take each other's unfinished file: each name is used by
 * one of them alone. The thread sanitizer sees what this test cannot. */
static void threads_write_side_by_side(void **state)
{
    enum { FILES = 64 };
    (void)state;
    struct folder dir = folder_make();
    int failed = 0;
#pragma omp parallel for num_threads(4) reduction(+ : failed)
    for (int i = 0; i < FILES; i++) {
        char path[4096], text[16];
        struct mase_err err = { 0 };
        snprintf(path, sizeof path, "%s/%d", dir.path, i);
        snprintf(text, sizeof text, "%d", i);
        failed += mase_file_write(path, text, strlen(text), &err) != MASE_OK;
    }
    assert_int_equal(failed, 0);
    assert_int_equal(folder_entries(&dir), FILES);
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_content(folder_at(&dir, name), name);
    }
    folder_remove(&dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(pieces_are_seen_only_after_close),
        cmocka_unit_test(an_aborted_file_leaves_nothing),
        cmocka_unit_test(permissions_follow_umask_and_the_old_file),
        cmocka_unit_test(a_link_stays_and_its_target_changes),
        cmocka_unit_test(links_of_others_are_not_followed),
        cmocka_unit_test(what_cannot_be_written_says_why),
        cmocka_unit_test(names_may_be_as_long_as_the_system_allows),
        cmocka_unit_test(pipes_are_written_directly),
        cmocka_unit_test(stdout_keeps_its_order),
        cmocka_unit_test(short_writes_are_continued),
        cmocka_unit_test(interruptions_are_retried),
        cmocka_unit_test(whichever_call_fails_the_file_is_whole),
        cmocka_unit_test(an_unchanged_file_is_left_alone),
        cmocka_unit_test(a_new_file_is_there_or_not),
        cmocka_unit_test(of_a_writer_that_is_killed_nothing_is_left),
        cmocka_unit_test(without_nameless_files_it_is_one_beside),
        cmocka_unit_test(after_a_failed_piece_the_rest_is_skipped),
        cmocka_unit_test(a_file_system_that_cannot_flush_is_accepted),
        cmocka_unit_test(several_files_are_flushed_before_the_first_has_its_name),
        cmocka_unit_test(of_several_files_none_is_named_when_one_cannot_be_flushed),
        cmocka_unit_test(parts_of_a_save_are_flushed_together),
        cmocka_unit_test(threads_write_side_by_side),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
