/*
 * t_file.c - reading files, paths, directories, SHA-256. Built twice: as shipped, and with a low
 * limit for streams (t_file_small).
 */
#include "check.h"
#include "run_cases.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/fault.h"

static void assert_reads(const char *path, const char *content, size_t n)
{
    struct mase_file f;
    struct mase_err err = { 0 };
    if (mase_file_open(&f, path, &err))
        fail_msg("%s: %s", path, err.msg);
    assert_int_equal(f.size, n);
    assert_non_null(f.data);
    assert_memory_equal(f.data, content, n);
    assert_ptr_equal(f.path, path);
    mase_file_close(&f);
    assert_null(f.data);
    mase_file_close(&f); /* once more does nothing */
}

static void assert_refused(const char *path, enum mase_status status, const char *msg)
{
    struct mase_file f;
    struct mase_err err = { 0 };
    assert_int_equal(mase_file_open(&f, path, &err), status);
    assert_string_equal(err.msg, msg);
    assert_string_equal(err.path, path);
    assert_null(f.data);
    mase_file_close(&f);
}

static void files_are_read_whole(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "f");
    static char content[10000];
    for (size_t n = 0; n <= sizeof(content); n += n < 4 ? 1 : 833) {
        memset(content, 'x', n);
        write_text(path, content, n);
        assert_reads(path, content, n);
    }
    folder_remove(&dir);
}

static void what_cannot_be_read_says_why(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *file = folder_at(&dir, "f");
    write_text(file, "x", 1);
    assert_refused(folder_at(&dir, "none"), MASE_EIO, "file not found");
    assert_refused(folder_at(&dir, "f/none"), MASE_EIO,
                   "file not found: a part of the path is no directory");
    assert_refused(dir.path, MASE_EIO, "is a directory, expected a file");
    folder_remove(&dir);
}

/* A pipe gives its bytes in pieces and has no size. */
static void streams_are_read_to_their_end(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    char *content = malloc(SIZE);
    assert_non_null(content);
    for (int i = 0; i < SIZE; i++)
        content[i] = (char)(i * 7 % 251);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        nanosleep(&(struct timespec){ 0, 20000000 }, NULL); /* the reader waits */
        for (ssize_t done = 0, n; done < SIZE; done += n) {
            n = write(ends[1], content + done, (size_t)(SIZE - done > 9999 ? 9999 : SIZE - done));
            if (n < 0)
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    assert_reads(path, content, SIZE);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    free(content);
}

/* Whoever opened a pipe that nobody writes to would wait for ever. */
static void named_pipes_and_devices_are_refused(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, MASE_EIO, "is a named pipe, expected a file");
    assert_refused("/dev/zero", MASE_EIO, "is a device, expected a file");
    assert_reads("/dev/null", "", 0);
    folder_remove(&dir);
}

#ifdef MASE_STREAM_LIMIT
static void endless_streams_are_refused(void **state)
{
    (void)state;
    char path[32];
    const int fd = open("/dev/zero", O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_refused(path, MASE_ELIMIT, "more than 400000 bytes from a stream");
    close(fd);
}
#endif

struct fault {
    const char *call;
    int error;
    int times; /* then no more */
};

static int fail_with(const char *call, void *user)
{
    struct fault *f = user;
    return mase_streq(call, f->call) && f->times-- > 0 ? f->error : 0;
}

static void failing_calls_are_reported(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "f");
    write_text(path, "x", 1);
    struct fault fault = { "open", EACCES, 1 }; /* root may read everything: not by chmod */
    mase_fault = fail_with;
    mase_fault_user = &fault;
    assert_refused(path, MASE_EIO, "not allowed to read this file");
    fault = (struct fault){ "open", EIO, 1 };
    assert_refused(path, MASE_EIO, "cannot open: Input/output error");
    fault = (struct fault){ "mmap", ENOMEM, 1 };
    assert_refused(path, MASE_EIO, "cannot map: Cannot allocate memory");
    fault = (struct fault){ "read", EIO, 1 };
    assert_refused("/dev/null", MASE_EIO, "cannot read: Input/output error");
    fault = (struct fault){ "read", EINTR, 3 }; /* interrupted: tried again */
    assert_reads("/dev/null", "", 0);
    assert_int_equal(fault.times, -1);
    mase_fault = NULL;
    folder_remove(&dir);
}

static void paths_join(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    assert_string_equal(mase_path_join(&a, "dir", "name"), "dir/name");
    assert_string_equal(mase_path_join(&a, "dir/", "name"), "dir/name");
    assert_string_equal(mase_path_join(&a, "dir", "/name"), "/name");
    assert_string_equal(mase_path_join(&a, "", "name"), "name");
    assert_string_equal(mase_path_join(&a, NULL, "name"), "name");
    assert_string_equal(mase_path_join(&a, "/", "name"), "/name");
    mase_arena_release(&a);
}

static void paths_become_absolute(void **state)
{
    (void)state;
    static const struct {
        const char *path, *absolute;
    } cases[] = {
        { "/", "/" },           { "/a/b", "/a/b" }, { "/a//b/", "/a/b" },     { "/a/./b", "/a/b" },
        { "/a/../b", "/b" },    { "/../..", "/" },  { "/a/b/../../c", "/c" }, { "/...", "/..." },
        { "/a/..b", "/a/..b" },
    };
    struct mase_arena a = { 0 };
    for (int i = 0; i < COUNT(cases); i++)
        assert_string_equal(mase_path_absolute(&a, cases[i].path), cases[i].absolute);
    char cwd[4096];
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_string_equal(mase_path_absolute(&a, "."), cwd);
    assert_string_equal(mase_path_absolute(&a, "x/../y"), mase_path_join(&a, cwd, "y"));
    mase_arena_release(&a);
}

static void directories_are_made_with_their_parents(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_err err = { 0 };
    assert_int_equal(mase_make_dirs(folder_at(&dir, "a/b//c/"), &err), MASE_OK);
    assert_true(mase_is_dir(folder_at(&dir, "a/b/c")));
    assert_int_equal(mase_make_dirs(folder_at(&dir, "a/b/c"), &err), MASE_OK); /* again */
    assert_int_equal(mase_make_dirs("/", &err), MASE_OK);
    assert_int_equal(mase_make_dirs("", &err), MASE_OK);
    const char *file = folder_at(&dir, "f");
    write_text(file, "x", 1);
    assert_true(mase_is_file(file));
    assert_false(mase_is_dir(file));
    assert_false(mase_is_file(dir.path));
    assert_int_equal(mase_make_dirs(folder_at(&dir, "f/x"), &err), MASE_EIO);
    assert_string_equal(err.msg, "is a file, expected a directory");
    assert_string_equal(err.path, file);
    struct fault fault = { "mkdir", EIO, 1000 }; /* every one */
    mase_fault = fail_with;
    mase_fault_user = &fault;
    assert_int_equal(mase_make_dirs(folder_at(&dir, "n/m"), &err), MASE_EIO);
    assert_string_equal(err.msg, "cannot make the directory: Input/output error");
    mase_fault = NULL;
    folder_remove(&dir);
}

static void sha256_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
          "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    char hex[65];
    for (int i = 0; i < COUNT(cases); i++) {
        mase_sha256(hex, cases[i].text, strlen(cases[i].text));
        assert_string_equal(hex, cases[i].digest);
    }
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    mase_sha256(hex, million, 1000000);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

/* The digests of "a" * n for n = 0..130, chained: covers every length of the padding. */
static void sha256_pads_every_length(void **state)
{
    (void)state;
    struct mase_str all = { 0 };
    char text[130], hex[65];
    memset(text, 'a', sizeof(text));
    for (size_t n = 0; n <= sizeof(text); n++) {
        mase_sha256(hex, text, n);
        mase_str_add(&all, hex);
    }
    mase_sha256(hex, all.data, all.len);
    assert_string_equal(hex, "5eee4c50e1b5ec4f1a47f34c25ca988850b49da7904f5ab1b3abc5cc0ae66ef9");
    mase_str_release(&all);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_whole),
        cmocka_unit_test(what_cannot_be_read_says_why),
        cmocka_unit_test(streams_are_read_to_their_end),
        cmocka_unit_test(named_pipes_and_devices_are_refused),
#ifdef MASE_STREAM_LIMIT
        cmocka_unit_test(endless_streams_are_refused),
#endif
        cmocka_unit_test(failing_calls_are_reported),
        cmocka_unit_test(paths_join),
        cmocka_unit_test(paths_become_absolute),
        cmocka_unit_test(directories_are_made_with_their_parents),
        cmocka_unit_test(sha256_gives_the_published_answers),
        cmocka_unit_test(sha256_pads_every_length),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
