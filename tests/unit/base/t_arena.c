/*
 * t_arena.c - the arena. Built twice: as shipped, and with chunks of 64 bytes so that every case
 * crosses chunk borders (t_arena_small).
 */
#include "check.h"
#include "run_cases.h"

#include <limits.h>
#include <sys/wait.h>

#include <mase/arena.h>

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    for (size_t size = 0; size < 300; size++) {
        unsigned char *p = mase_arena_alloc(&a, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size); /* must not reach a later object */
    }
    assert_int_equal(a.used, 299 * 300 / 2);
    mase_arena_release(&a);
    assert_null(a.last);
    assert_int_equal(a.used, 0);
    mase_arena_release(&a); /* once more does nothing */
}

static void empty_objects_have_addresses_of_their_own(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    const char *p = mase_arena_alloc(&a, 0), *q = mase_arena_alloc(&a, 0);
    assert_non_null(p);
    assert_ptr_not_equal(p, q);
    assert_non_null(mase_arena_memdup(&a, NULL, 0));
    mase_arena_release(&a);
}

/* Objects keep their content whatever is allocated after them, large ones between small ones. */
static void objects_do_not_overlap(void **state)
{
    (void)state;
    enum { N = 200 };
    struct mase_arena a = { 0 };
    unsigned char *object[N];
    size_t size[N];
    for (int i = 0; i < N; i++) {
        size[i] = i % 17 == 0 ? 100000 : (size_t)i * 7 % 97;
        object[i] = mase_arena_alloc(&a, size[i]);
        memset(object[i], i, size[i]);
    }
    for (int i = 0; i < N; i++) {
        for (size_t j = 0; j < size[i]; j++)
            assert_int_equal(object[i][j], (unsigned char)i);
    }
    mase_arena_release(&a);
}

static void texts_are_copied(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    char text[] = "weight";
    const char *whole = mase_arena_strdup(&a, text), *part = mase_arena_strndup(&a, text, 3);
    const char *beyond = mase_arena_strndup(&a, text, 100);
    const char *made = mase_arena_printf(&a, "%s_%d%200s", text, 12, "|");
    text[0] = 'X';
    assert_string_equal(whole, "weight");
    assert_string_equal(part, "wei");
    assert_string_equal(beyond, "weight");
    assert_memory_equal(made, "weight_12 ", 10);
    assert_int_equal(strlen(made), 209);
    const int numbers[] = { 1, 2, 3 };
    assert_memory_equal(mase_arena_memdup(&a, numbers, sizeof(numbers)), numbers, sizeof(numbers));
    mase_arena_release(&a);
}

static void arrays_grow_and_keep_their_elements(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    int *v = NULL, cap = 0;
    for (int i = 0; i < 1000; i++) {
        v = mase_arena_grow(&a, v, i, &cap, sizeof(*v));
        assert_true(i < cap);
        v[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v[i], i);
    int *same = mase_arena_grow(&a, v, 5, &cap, sizeof(*v));
    assert_ptr_equal(same, v);
    mase_arena_release(&a);
}

typedef void exhaust_fn(struct mase_arena *a);

static void overflowing_array(struct mase_arena *a)
{
    mase_arena_alloc_array(a, SIZE_MAX / 4, 8);
}

static void enormous_object(struct mase_arena *a)
{
    mase_arena_alloc(a, SIZE_MAX - 8);
}

static void overflowing_growth(struct mase_arena *a)
{
    int cap = INT_MAX / 2 + 1;
    mase_arena_grow(a, NULL, cap, &cap, 1);
}

/* Run f in a child; it must say so on stderr and exit with status 1. */
static void assert_out_of_memory(exhaust_fn *f)
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        struct mase_arena a = { 0 };
        dup2(fds[1], STDERR_FILENO);
        f(&a);
        _exit(0);
    }
    close(fds[1]);
    char said[128];
    read_all(fds[0], said, sizeof(said));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_true(mase_starts_with(said, "out of memory: "));
}

static void without_memory_it_says_so_and_exits(void **state)
{
    (void)state;
    assert_out_of_memory(overflowing_array);
    assert_out_of_memory(enormous_object);
    assert_out_of_memory(overflowing_growth);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(empty_objects_have_addresses_of_their_own),
        cmocka_unit_test(objects_do_not_overlap),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(arrays_grow_and_keep_their_elements),
        cmocka_unit_test(without_memory_it_says_so_and_exits),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
