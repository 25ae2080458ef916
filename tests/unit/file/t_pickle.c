/*
 * t_pickle.c - the pickle machine alone: what its opcodes build, and what it refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "bounded.h"
#include "file/pickle.h"
#include "run_cases.h"

/* A pickle of the bytes of a literal, STOP included. */
#define PICKLE(literal) literal, sizeof literal - 1

static enum mase_status run(struct mase_arena *a, struct mase_pickle *p,
                            const struct mase_obj **root, const char *bytes, size_t n,
                            struct mase_err *err)
{
    *p = (struct mase_pickle){ .arena = a, .limit = 1 << 20 };
    struct mase_cursor in = { "t.pkl", (const unsigned char *)bytes, n, 0 };
    return mase_pickle_read(p, &in, root, err);
}

static const struct {
    const char *bytes;
    size_t n;
    const char *printed;
} good[] = {
    { PICKLE("N."), "None" },
    { PICKLE("\x80\x02\x88."), "True" },
    { PICKLE("\x80\x05\x95\0\0\0\0\0\0\0\0\x89."), "False" },
    { PICKLE("K\xff."), "255" },
    { PICKLE("M\xff\xff."), "65535" },
    { PICKLE("J\xfe\xff\xff\xff."), "-2" },
    { PICKLE("\x8a\0."), "0" },
    { PICKLE("\x8a\x01\xff."), "-1" },
    { PICKLE("\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808" },
    { PICKLE("\x8b\x02\0\0\0\0\x80."), "-32768" },
    { PICKLE("G?\xb9\x99\x99\x99\x99\x99\x9a."), "0.1" },
    { PICKLE("X\x02\0\0\0\xc3\xa9."), "'\xc3\xa9'" },
    { PICKLE("\x8c\x01"
             "a."),
      "'a'" },
    { PICKLE("U\x01"
             "a."),
      "'a'" },
    { PICKLE("U\x01\xff."), "b'\\xff'" },
    { PICKLE("C\x02\0'."), "b'\\x00\\x27'" },
    { PICKLE("\x8e\x01\0\0\0\0\0\0\0z."), "b'z'" },
    { PICKLE("]."), "[]" },
    { PICKLE("](K\x01K\x02"
             "e."),
      "[1, 2]" },
    { PICKLE("]K\x01"
             "a."),
      "[1]" },
    { PICKLE("(K\x01K\x02l."), "[1, 2]" },
    { PICKLE("(l."), "[]" }, /* of an empty stack */
    { PICKLE(")."), "()" },
    { PICKLE("K\x01\x85."), "(1,)" },
    { PICKLE("K\x01K\x02K\x03\x87."), "(1, 2, 3)" },
    { PICKLE("(K\x01K\x02t."), "(1, 2)" },
    { PICKLE("}K\x01Ns."), "{1: None}" },
    { PICKLE("}(K\x01NK\x02Nu."), "{1: None, 2: None}" },
    { PICKLE("(K\x01Nd."), "{1: None}" },
    { PICKLE("\x8f(K\x01\x90."), "[1]" },
    { PICKLE("]q\0(h\0h\0t0."), "[]" },
    { PICKLE("]q\0(K\x01"
             "eh\0\x86."),
      "([1], [1])" },
    { PICKLE("K\x07\x94h\0\x86."), "(7, 7)" },
    { PICKLE("K\x07"
             "2\x86."),
      "(7, 7)" },
    { PICKLE("K\x07(K\x08"
             "1."),
      "7" },
    { PICKLE("K\x07K\x08"
             "0."),
      "7" },
    { PICKLE("ccollections\nOrderedDict\n)R(K\x01K\x02u}b."), "{1: 2}" },
    { PICKLE("ccollections\nOrderedDict\n](]K\x01"
             "ae\x85R."),
      NULL }, /* a pair of one */
    { PICKLE("ccollections\nOrderedDict\n]](K\x01K\x02"
             "ea\x85R."),
      "{1: 2}" },
    { PICKLE("\x8c\x05torch\x8c\x07"
             "float16\x93."),
      "torch.float16" },
    { PICKLE("ctorch\nSize\n(K\x02K\x03t\x85R."), "(2, 3)" },
    { PICKLE("ctorch\ndevice\nX\x04\0\0\0cudaK\x01\x86R."), "'cuda:1'" },
    { PICKLE("c_codecs\nencode\nX\x03\0\0\0a\xc3\xbfX\x06\0\0\0latin1\x86R."), "b'a\\xff'" },
    { PICKLE("cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\0\0\0f4\x89\x88\x87R"
             "(K\x03X\x01\0\0\0>NtbC\x04?\x80\0\0\x86R."),
      "1.0" },
    { PICKLE("cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\0\0\0i2\x89\x88\x87RC\x02\xfe"
             "\xff\x86R."),
      "-2" },
    /* the classic, os.system('id'), and others that are not on the list: named, never run */
    { PICKLE("\x80\x02"
             "cposix\nsystem\nX\x02\0\0\0id\x85R."),
      "posix.system('id')" },
    { PICKLE("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R."), "posix.system('id')" },
    { PICKLE("c__builtin__\neval\nX\x01\0\0\0"
             "1\x85R."),
      "__builtin__.eval('1')" },
    { PICKLE("ctorch\nload\n."), "<torch.load>" },
    { PICKLE("ctorch.FloatStorage\n\n."), "<torch.FloatStorage.>" },
    { PICKLE("ctorch\nFloatStorage\n."), "<torch.FloatStorage>" },
    { PICKLE("](ctorch\nTensor\ne."), "[<torch.Tensor>]" },
    { PICKLE("ca\x1b[31m\nb\n."), "<a?[31m.b>" }, /* no letters that steer a terminal */
    { PICKLE("cm\nC\n)\x81}X\x01\0\0\0kK\x01sb."), "m.C(k=1)" },
    { PICKLE("cm\nC\n)\x81N}X\x01\0\0\0kK\x01s\x86"
             "b."),
      "m.C(k=1)" },                                             /* slots */
    { PICKLE("cm\nC\n)}X\x01\0\0\0kK\x01s\x92."), "m.C(k=1)" }, /* NEWOBJ_EX */
    { PICKLE("cm\nC\n)\x81K\x05"
             "a(K\x06NuK\x07"
             "b."),
      "m.C(5, None, 7)" }, /* items of a subclass of list and dict, a state of its own */
    { PICKLE("cm\nC\n)\x81q\0}X\x01\0\0\0kh\0sb."), "m.C(k=<m.C above>)" }, /* itself */
    { PICKLE("]q\0cm\nC\nh\0\x85Ra."), "[m.C(<list above>)]" },
    { PICKLE("ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x01K\x02u."), "{1: 2}" },
    { PICKLE("ccollections\ndeque\n)K\x05\x86R(K\x01"
             "e."),
      "[1]" },
    { PICKLE("cbuiltins\nfrozenset\n](K\x01"
             "e\x85R."),
      "[1]" },
    { PICKLE("ctorch._utils\n_rebuild_sparse_tensor\n)R."), "<a sparse tensor>" },
    { PICKLE("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n\x85R(K\x01K\x02\x85NNNtb."),
      "numpy.ndarray((2,))" },
    { PICKLE("\x8a\x09\0\0\0\0\0\0\0\0\x01."), "<an integer of 9 bytes>" },
};

static void opcodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_pickle p;
        struct mase_err err = { 0 };
        const struct mase_obj *root;
        const enum mase_status st = run(&a, &p, &root, good[i].bytes, good[i].n, &err);
        if (!good[i].printed) {
            assert_int_equal(st, MASE_EPARSE);
        } else {
            if (st)
                fail_msg("%s: %s", good[i].printed, err.msg);
            struct mase_str s = { 0 };
            mase_obj_print(&s, root);
            assert_string_equal(mase_str_text(&s), good[i].printed);
            mase_str_release(&s);
        }
        mase_arena_release(&a);
    }
}

/* ---- what is refused, where, and with which words ---- */

static const struct {
    const char *bytes;
    size_t n;
    enum mase_status status;
    int64_t off;
    const char *message;
} bad[] = {
    /* INST, OBJ, EXT1, NEXT_BUFFER and no opcode at all */
    { PICKLE("(iposix\nsystem\n."), MASE_EUNSUPPORTED, 1, "opcode 0x69" },
    { PICKLE("(ccollections\nOrderedDict\no."), MASE_EUNSUPPORTED, 26, "opcode 0x6f" },
    { PICKLE("\x82\x01."), MASE_EUNSUPPORTED, 0, "opcode 0x82" },
    { PICKLE("\x97."), MASE_EUNSUPPORTED, 0, "opcode 0x97" },
    { PICKLE("\xff."), MASE_EUNSUPPORTED, 0, "opcode 0xff" },
    { PICKLE("I1\n."), MASE_EUNSUPPORTED, 0, "opcode 0x49" }, /* protocol 0 */
    { PICKLE("\x80\x06N."), MASE_EUNSUPPORTED, 0, "protocol 6" },
    /* out of place */
    { PICKLE("."), MASE_EPARSE, 0, "ends with 0 objects" },
    { PICKLE("NN."), MASE_EPARSE, 2, "ends with 2 objects" },
    { PICKLE("N(."), MASE_EPARSE, 2, "and 1 marks" },
    { PICKLE("0."), MASE_EPARSE, 0, "needs 1 objects on the stack, there are 0" },
    { PICKLE("2."), MASE_EPARSE, 0, "needs 1 objects" },
    { PICKLE("t."), MASE_EPARSE, 0, "needs a mark" },
    { PICKLE("1."), MASE_EPARSE, 0, "needs a mark" },
    { PICKLE("N(\x85."), MASE_EPARSE, 2, "there are 0" }, /* not across a mark */
    { PICKLE("Na."), MASE_EPARSE, 1, "needs a list on the stack" },
    { PICKLE("NNa."), MASE_EPARSE, 2, "needs a list, not a none" },
    { PICKLE("](NNu."), MASE_EPARSE, 4, "needs a dict, not a list" },
    { PICKLE("}(Nu."), MASE_EPARSE, 3, "a key without a value" },
    { PICKLE("(NNNd."), MASE_EPARSE, 4, "a key without a value" },
    { PICKLE("NNR."), MASE_EPARSE, 2, "a call of none" },
    { PICKLE("ctorch\nTensor\n)R."), MASE_EPARSE, 15, "a call of Tensor" },
    { PICKLE("ctorch\nSize\nNR."), MASE_EPARSE, 13, "are a none, not a tuple" },
    { PICKLE("ctorch\nSize\nN\x85R."), MASE_EPARSE, 14, "torch.Size: unexpected arguments" },
    { PICKLE("}}b."), MASE_EPARSE, 2, "a dict with attributes" },
    { PICKLE("NQ."), MASE_EPARSE, 1, "not a storage's" },
    { PICKLE("K\x01K\x02\x93."), MASE_EPARSE, 4, "two texts" },
    { PICKLE("ctorch\n."), MASE_EPARSE, 0, "no end" },
    { PICKLE("X\x01\0\0\0\xff."), MASE_EPARSE, 0, "not UTF-8" },
    { PICKLE("X\xff\xff\xff\x7f."), MASE_EPARSE, 5, "file ends" },
    { PICKLE("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), MASE_EPARSE, 9, "file ends" },
    { PICKLE("\x8b\xff\xff\xff\xff."), MASE_EPARSE, 5, "file ends" },
    { PICKLE("c_codecs\nencode\nX\x03\0\0\0\xe2\x82\xacX\x06\0\0\0latin1\x86R."), MASE_EPARSE, 36,
      "_codecs.encode" },
    { PICKLE("c_codecs\nencode\nX\x01\0\0\0aX\x03\0\0\0hex\x86R."), MASE_EPARSE, 31,
      "_codecs.encode" },
    /* the memo */
    { PICKLE("h\0."), MASE_EPARSE, 0, "memo 0 was never written" },
    { PICKLE("j\xff\xff\xff\xff."), MASE_EPARSE, 0, "memo 4294967295 was never written" },
    { PICKLE("q\0."), MASE_EPARSE, 0, "no object to remember" },
    { PICKLE("Nr\xff\xff\xff\x7f."), MASE_EPARSE, 1, "memo 2147483647 is out of place" },
    /* trees that others could not walk */
    { PICKLE("]q\0h\0a."), MASE_EUNSUPPORTED, 6, "a list that contains itself" },
    { PICKLE("}q\0K\x01h\0s."), MASE_EUNSUPPORTED, 8, "a dict that contains itself" },
    { PICKLE("}]Ns."), MASE_EPARSE, 4, "a list as a key" },
    { PICKLE("}(X\x01\0\0\0aNX\x01\0\0\0aNu."), MASE_EPARSE, 17, "the key 'a' twice" },
    { PICKLE("}X\x03\0\0\0a\0bNs."), MASE_EUNSUPPORTED, 11, "NUL" },
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_pickle p;
        struct mase_err err = { 0 };
        const struct mase_obj *root;
        const enum mase_status st = run(&a, &p, &root, bad[i].bytes, bad[i].n, &err);
        if (st != bad[i].status || err.loc.off != bad[i].off || !strstr(err.msg, bad[i].message))
            fail_msg("case %zu, '%s': status %d at %d: %s", i, bad[i].message, (int)st,
                     (int)err.loc.off, err.msg);
        mase_arena_release(&a);
    }
}

/* ---- storages and tensors ---- */

#define STORAGE(key, count) \
    "(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0" key "X\x03\0\0\0cpu" count "tQ"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n("
#define NO_GRAD "\211ccollections\nOrderedDict\n)RtR"

static const struct {
    const char *bytes;
    size_t n;
    const char *message; /* or NULL: a tensor */
} tensors[] = {
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(K\x02K\x03t(K\x03K\x01t" NO_GRAD "."), NULL },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\x01(K\x02K\x03t(K\x03K\x01t" NO_GRAD "."),
      "beyond its storage '0' of 6 elements" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(K\x02K\x03t(K\x04K\x01t" NO_GRAD "."), "beyond" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(K\0K\x09t(K\x09K\x09t" NO_GRAD "."), NULL },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0)(K\x01t" NO_GRAD "."), "for every dimension" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(J\xff\xff\xff\xfft(K\x01t" NO_GRAD "."),
      "none negative" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "J\xff\xff\xff\xff))" NO_GRAD "."), "an offset" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "N))" NO_GRAD "."), "an offset" },
    { PICKLE(REBUILD "NK\0))" NO_GRAD "."), "needs a storage" },
    { PICKLE(REBUILD STORAGE("0", "J\xff\xff\xff\xff") "K\0))" NO_GRAD "."), "of -1 elements" },
    { PICKLE(REBUILD STORAGE("0", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f") "K\0))" NO_GRAD "."),
      "of 9223372036854775807 elements" },
    /* 2^32 * 2^32 elements with stride 0: the count overflows */
    { PICKLE(REBUILD STORAGE(
          "0", "K\x06") "K\0(\x8a\x05\0\0\0\0\x01\x8a\x05\0\0\0\0\x01t(K\0K\0t" NO_GRAD "."),
      "beyond" },
    /* 2^55 elements with stride 0: their bytes could be counted, those of a few such could not */
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(\x8a\x07\0\0\0\0\0\0\x80t(K\0t" NO_GRAD "."),
      "none negative" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(\x8a\x07\0\0\0\0\0\0\x40t(K\0t" NO_GRAD "."),
      "a tensor of 18014398509481984 elements; at most 34359738368" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(K\x02K\x02t(\x8a\x08\xff\xff\xff\xff\xff\xff\xff"
                                           "\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ft" NO_GRAD
                                           "."),
      "beyond" },
    { PICKLE(REBUILD STORAGE("0", "K\x06") "K\0(K\1K\1K\1K\1K\1K\1K\1K\1K\1t(K\1K\1K\1K\1K\1K\1K\1"
                                           "K\1K\1t" NO_GRAD "."),
      "rank 9" },
    { PICKLE("(" REBUILD STORAGE("0", "K\x06") "K\0))" NO_GRAD REBUILD STORAGE(
          "0", "K\x05") "K\0))" NO_GRAD "t."),
      "storage '0' is given twice" },
};

static void views(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_pickle p;
        struct mase_err err = { 0 };
        const struct mase_obj *root;
        const enum mase_status st = run(&a, &p, &root, tensors[i].bytes, tensors[i].n, &err);
        if (!tensors[i].message) {
            if (st)
                fail_msg("case %zu: %s", i, err.msg);
            assert_int_equal(root->kind, MASE_OBJ_TENSOR);
            assert_int_equal(p.view_count, 1);
            assert_int_equal(p.storage_count, 1);
        } else if (!st || !strstr(err.msg, tensors[i].message)) {
            fail_msg("case %zu, '%s': %s", i, tensors[i].message, st ? err.msg : "accepted");
        }
        mase_arena_release(&a);
    }
}

/* ---- bombs ---- */

static void expect_limit(struct mase_str *s, const char *message)
{
    struct mase_arena a = { 0 };
    struct mase_pickle p;
    struct mase_err err = { 0 };
    const struct mase_obj *root;
    assert_int_equal(run(&a, &p, &root, s->data, s->len, &err), MASE_ELIMIT);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
    assert_true(a.used < 4 << 20);
    mase_arena_release(&a);
    mase_str_release(s);
}

/* Each list holds the one before twice: 2^60 leaves in 60 * 7 bytes. */
static void memo_bomb(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_add(&s, "]");
    for (int i = 0; i < 60; i++) {
        const char put[] = { 'q', (char)i, '0', '(', 'h', (char)i, 'h', (char)i, 'l' };
        mase_str_addn(&s, put, sizeof put);
    }
    mase_str_add(&s, ".");
    expect_limit(&s, "describes more than 2680 objects by repeating its own");
}

/* The same without an end in sight: 2^13 leaves, which could be walked, in 100 bytes. */
static void small_memo_bomb(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_add(&s, "N");
    for (int i = 0; i < 13; i++)
        mase_str_add(&s, "2\x86");
    mase_str_add(&s, ".");
    expect_limit(&s, "the pickle of 28 bytes describes more than 624 objects");
}

/* One text of 10 000 letters, named 300 times. */
static void repeated_text(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_addn(&s, "(X\x10\x27\0\0", 6);
    mase_str_pad(&s, 'a', 10000);
    mase_str_addn(&s, "q\0", 2);
    for (int i = 0; i < 300; i++)
        mase_str_addn(&s, "h\0", 2);
    mase_str_add(&s, "l.");
    expect_limit(&s, "by repeating its own");
}

/* What good files repeat: the names of settings, a tuple of rates. */
static void honest_repetition(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    struct mase_arena a = { 0 };
    struct mase_pickle p;
    struct mase_err err = { 0 };
    const struct mase_obj *root;
    mase_str_addn(&s, "(X\x0a\0\0\0exp_avg_sqq\0", 18);
    mase_str_addn(&s, "K\x01K\x02\x86q\1", 7);
    for (int i = 0; i < 2000; i++)
        mase_str_addn(&s, "}h\0h\1s", 6);
    mase_str_add(&s, "l.");
    if (run(&a, &p, &root, s.data, s.len, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(root->count, 2002);
    mase_arena_release(&a);
    mase_str_release(&s);
}

static void deep(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_pad(&s, '(', 5000);
    mase_str_pad(&s, 'l', 5000);
    mase_str_add(&s, ".");
    expect_limit(&s, "deeper than 100 levels");
}

/* As deep, but flat for who visits every object once: the list of all lists, innermost first. */
static void deep_by_memo(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_add(&s, "(]");
    for (int i = 0; i < 200; i++) {
        const char put[] = { 'q', (char)i, '(', 'h', (char)i, 'l' };
        mase_str_addn(&s, put, sizeof put);
    }
    mase_str_add(&s, "l.");
    expect_limit(&s, "deeper than 100 levels");
}

/* set(list) copies the list at every call. */
static void copies(void **state)
{
    (void)state;
    struct mase_str s = { 0 };
    mase_str_add(&s, "cbuiltins\nset\nq\1(");
    mase_str_pad(&s, 'N', 5000);
    mase_str_addn(&s, "l\x85q\2", 4);
    for (int i = 0; i < 5000; i++)
        mase_str_add(&s, "h\1h\2R");
    expect_limit(&s, "more than 1048576 bytes of memory");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes),       cmocka_unit_test(refusals),
        cmocka_unit_test(views),         cmocka_unit_test(memo_bomb),
        cmocka_unit_test(deep),          cmocka_unit_test(deep_by_memo),
        cmocka_unit_test(copies),        cmocka_unit_test(small_memo_bomb),
        cmocka_unit_test(repeated_text), cmocka_unit_test(honest_repetition),
    };
    bound_memory();
    return run_cases(argc, argv, tests, NULL, NULL);
}
