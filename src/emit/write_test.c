/*
 * write_test.c - a program that checks test vectors of a network in C, and its Makefile.
 */
#include <math.h>

#include "emit/emit_parts.h"
#include "integer/int_parts.h"

static void add_vectors(struct mase_str *s, enum mase_emit_type t, const char *name,
                        const char *width, const int64_t *number, const float *real,
                        int64_t vectors, int64_t n)
{
    mase_str_printf(s, "static const %s %s[%lld][%s] = {\n", mase_emit_types[t].name, name,
                    (long long)vectors, width);
    for (int64_t k = 0; k < vectors; k++) {
        mase_str_add(s, "  {\n");
        mase_emit_list(s, t, number ? number + k * n : NULL, real ? real + k * n : NULL, n);
        mase_str_add(s, "  },\n");
    }
    mase_str_add(s, "};\n");
}

/* The input samples, as floats or codes. */
static void add_given(struct mase_str *s, struct mase_emit_writer *w, const char *up)
{
    const struct mase_int_format *encode = w->net->encode;
    const int64_t n = w->o->vectors * w->e->inputs;
    int64_t *code = encode ? mase_new_array(w->a, int64_t, (size_t)n) : NULL;
    for (int64_t k = 0; code && k < n; k++)
        code[k] = isnan(w->o->x[k]) ? encode[k % w->e->inputs].lo
                                    : mase_int_encode(w->o->x[k], &encode[k % w->e->inputs]);
    add_vectors(s, w->net->input->type, "given", mase_arena_printf(w->a, "%s_INPUTS", up), code,
                code ? NULL : w->o->x, w->o->vectors, w->e->inputs);
}

/* Integers must be equal; floats may differ by the order of sums. */
static const char same_bits[] = "static int same(const float *a, const float *b)\n{\n"
                                "    return memcmp(a, b, sizeof *a) == 0;\n}\n\n";
static const char same_number[] =
    "static int same(const float *a, const float *b)\n{\n"
    "    const double off = (double)*a - (double)*b, size = *b < 0 ? -(double)*b : *b;\n"
    "    return off <= 1e-4 * (1 + size) && -off <= 1e-4 * (1 + size);\n}\n\n";

/* If the network returns codes, the test decodes them. */
static void add_decode(struct mase_str *s, const struct mase_emit_writer *w, const char *up)
{
    struct mase_emitted unused = { 0 };
    struct mase_emit_writer t = { .a = w->a,
                                  .e = &unused,
                                  .net = w->net,
                                  .o = w->o,
                                  .functions = { .arena = w->a },
                                  .names = { .arena = w->a } };
    const struct mase_emit_call c = { .to = "got[i]",
                                      .from = "code[i]",
                                      .to_type = MASE_EMIT_F32,
                                      .from_type = w->net->output->type,
                                      .rows = w->e->outputs,
                                      .stride = 1 };
    mase_map_put(&t.names, w->e->name, (void *)w->e->name);
    mase_emit_map_call(&t, &w->net->decode, &c, 8);
    mase_str_printf(s, "static %s code[%lld][%s_OUTPUTS];\n\n",
                    mase_emit_types[w->net->output->type].name, (long long)w->o->vectors, up);
    mase_str_printf(s, "%s\n%s%s", mase_str_text(&t.tables), t.fma ? mase_emit_fused : "",
                    mase_str_text(&t.helpers));
    mase_str_printf(s,
                    "static void stand_for(void)\n{\n    for (int i = 0; i < %lld; i++)\n%s}\n\n",
                    (long long)w->o->vectors, mase_str_text(&t.body));
    mase_str_release(&t.tables);
    mase_str_release(&t.helpers);
    mase_str_release(&t.body);
}

static void add_main(struct mase_str *s, const struct mase_emit_writer *w, const char *up)
{
    const long long vectors = (long long)w->o->vectors, outputs = (long long)w->e->outputs;
    const char *y = w->codes ? "code" : "got", *after = w->codes ? "    stand_for();\n" : "";
    mase_str_printf(
        s,
        "static int check(const char *how)\n{\n"
        "    int wrong = 0;\n"
        "    for (int i = 0; i < %lld; i++)\n"
        "        for (int k = 0; k < %s_OUTPUTS; k++)\n"
        "            if (!same(&got[i][k], &wanted[i][k])) {\n"
        "                wrong++;\n"
        "                printf(\"%%s: sample %%d, output %%d: %%.9g, wanted %%.9g\\n\", how, i, "
        "k,\n"
        "                       (double)got[i][k], (double)wanted[i][k]);\n"
        "            }\n"
        "    return wrong;\n}\n\n",
        vectors, up);
    mase_str_printf(s,
                    "int main(void)\n{\n"
                    "    int wrong = 0;\n"
                    "    for (int i = 0; i < %lld; i++)\n"
                    "        %s(given[i], %s[i]);\n"
                    "%s    wrong += check(\"one by one\");\n"
                    "    memset(%s, 0, sizeof %s);\n"
                    "    %s_batch(given[0], %s[0], %lld);\n"
                    "%s    wrong += check(\"batch\");\n"
                    "    printf(\"%%d of %lld outputs are wrong\\n\", wrong);\n"
                    "    return wrong != 0;\n}\n",
                    vectors, w->e->name, y, after, y, y, w->e->name, y, vectors, after,
                    2 * vectors * outputs);
}

void mase_emit_test(struct mase_str *s, struct mase_emit_writer *w)
{
    const char *up = mase_emit_upper(w->a, w->e->name), *file = mase_emit_file(w);
    mase_str_printf(s,
                    "/*\n * %s_test.c - test vectors of %s; status 1: a result is another.\n *\n"
                    " *     cc -std=c99 -O2 %s.c %s_test.c -o %s_test && ./%s_test\n */\n"
                    "#include <stdio.h>\n#include <string.h>\n\n#include \"%s.h\"\n\n",
                    file, w->e->name, file, file, file, file, file);
    add_given(s, w, up);
    add_vectors(s, MASE_EMIT_F32, "wanted", mase_arena_printf(w->a, "%s_OUTPUTS", up), NULL,
                w->o->y, w->o->vectors, w->e->outputs);
    mase_str_printf(s, "static float got[%lld][%s_OUTPUTS];\n", (long long)w->o->vectors, up);
    if (w->codes)
        add_decode(s, w, up);
    mase_str_addc(s, '\n');
    mase_str_add(s, w->net->floats ? same_number : same_bits);
    add_main(s, w, up);
}

void mase_emit_makefile(struct mase_str *s, const struct mase_emit_writer *w)
{
    const char *file = mase_emit_file(w);
    mase_str_add(s, "CC ?= cc\nCFLAGS ?= -O2 -std=c99 -Wall -Wextra -pedantic\n");
    mase_str_printf(s, "check: %s_test\n\t./%s_test\n", file, file);
    mase_str_printf(s, "%s_test: %s.c %s_test.c %s.h\n", file, file, file, file);
    mase_str_printf(s, "\t$(CC) $(CFLAGS) %s.c %s_test.c -o $@\n", file, file);
    mase_str_printf(s, "clean:\n\trm -f %s_test\n.PHONY: check clean\n", file);
}
