/*
 * jsc_sim.c - jets from a formula: a stand-in for the file of the real ones.
 *
 * For each class a mixture of sixteen Gaussians in twelve variables b, fitted to simulated jets;
 * jsc_sim.json has their numbers and is part of the library. A row is a pure function of its seed
 * and number, from four blocks of Philox:
 *
 *     word 0       class, each as likely
 *     word 1       component, by the thresholds `pick`
 *     words 2-7    lengths and
 *     words 8-13   angles of six Box-Muller pairs: twelve standard normals z
 *
 * b = mean + L z with L lower triangular (`chol`: L00, L10, L11, L20, ...), cut to [low, high].
 * Then j_zlogz = -exp(b0), ten further features are exp(b1) to exp(b10), the multiplicity is
 * exp(b11) rounded, at least 3, and the four energy ratios d2 follow from their parts.
 *
 * Only + - * / and sqrt on floats are used, in a fixed order, so that a row has the same bits with
 * every compiler, C library and instruction set. The loops run over whole blocks of rows and have
 * no branches: compilers vectorise them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/rng.h>
#include <mase/value.h>

#include "base/alloc.h"
#include "data/dataset_parts.h"

enum {
    VARIABLES = 12,
    PAIRS = VARIABLES / 2,
    COMPONENTS = 16,
    PACKED = VARIABLES * (VARIABLES + 1) / 2,
    ROWS_DEFAULT = 800000,
    ROWS_MAX = 100000000,
    BLOCK = 32, /* rows computed at a time */
};

struct jet_class {
    float low[VARIABLES], high[VARIABLES];
    uint32_t pick[COMPONENTS];
    float mean[COMPONENTS][VARIABLES];
    float chol[COMPONENTS][PACKED];
};

const char *const mase_jsc_features[] = {
    "j_zlogz",         "j_c1_b0_mmdt",    "j_c1_b1_mmdt", "j_c1_b2_mmdt",
    "j_c2_b1_mmdt",    "j_c2_b2_mmdt",    "j_d2_b1_mmdt", "j_d2_b2_mmdt",
    "j_d2_a1_b1_mmdt", "j_d2_a1_b2_mmdt", "j_m2_b1_mmdt", "j_m2_b2_mmdt",
    "j_n2_b1_mmdt",    "j_n2_b2_mmdt",    "j_mass_mmdt",  "j_multiplicity",
};
const char *const mase_jsc_classes[] = { "g", "q", "w", "z", "t" };

/* ---- the table ---- */

static void read_floats(float *to, int n, const struct mase_value *list)
{
    for (int i = 0; i < n; i++)
        to[i] = (float)mase_value_number(list->items[i]);
}

/* Cumulative weights as thresholds for 32 random bits. */
static void read_thresholds(uint32_t *to, const struct mase_value *weight)
{
    double total = 0, passed = 0;
    for (int k = 0; k < COMPONENTS; k++)
        total += mase_value_number(weight->items[k]);
    for (int k = 0; k < COMPONENTS - 1; k++) {
        passed += mase_value_number(weight->items[k]);
        to[k] = (uint32_t)rint(passed / total * 0x1p32);
    }
    to[COMPONENTS - 1] = UINT32_MAX;
}

static void read_class(struct jet_class *to, const struct mase_value *from)
{
    const struct mase_value *mean = mase_value_get(from, "mean"),
                            *chol = mase_value_get(from, "chol");
    read_floats(to->low, VARIABLES, mase_value_get(from, "low"));
    read_floats(to->high, VARIABLES, mase_value_get(from, "high"));
    read_thresholds(to->pick, mase_value_get(from, "weight"));
    for (int k = 0; k < COMPONENTS; k++) {
        read_floats(to->mean[k], VARIABLES, mean->items[k]);
        read_floats(to->chol[k], PACKED, chol->items[k]);
    }
}

static void read_classes(struct jet_class *to)
{
    struct mase_arena a = { 0 };
    struct mase_value *root;
    struct mase_err err;
    if (mase_json_parse(&root, &a, mase_jsc_sim_json, mase_jsc_sim_json_size, "jsc_sim.json", &err))
        mase_bug("jsc_sim.json: %s", err.msg);
    for (int c = 0; c < MASE_JSC_CLASSES; c++)
        read_class(&to[c], mase_value_get(root, "class")->items[c]);
    mase_arena_release(&a);
}

/* ---- elementary functions, n at a time ---- */

static void to_float(float *x, const uint32_t *bits, int n)
{
    memcpy(x, bits, (size_t)n * sizeof *x);
}

/* sqrt(-2 ln u), where u is the number as a fraction in (0, 1]. */
static void lengths(float *y, const uint32_t *word)
{
    enum { N = BLOCK * PAIRS };
    uint32_t bits[N];
    float u[N], m[N], e[N];
    for (int i = 0; i < N; i++)
        u[i] = (float)(int32_t)((word[i] >> 8) + 1) * 0x1p-24f;
    memcpy(bits, u, sizeof bits);
    for (int i = 0; i < N; i++) { /* u = m 2^e with m in [sqrt(1/2), sqrt(2)) */
        const uint32_t shifted = bits[i] + (0x3f800000u - 0x3f3504f3u);
        e[i] = (float)((int32_t)(shifted >> 23) - 127);
        bits[i] = (shifted & 0x7fffffu) + 0x3f3504f3u;
    }
    to_float(m, bits, N);
    for (int i = 0; i < N; i++) { /* ln m = 2 artanh(s) */
        const float s = (m[i] - 1) / (m[i] + 1), q = s * s;
        const float series = 1 + q * (1 / 3.0f + q * (1 / 5.0f + q * (1 / 7.0f + q * (1 / 9.0f))));
        const float minus_log = -(2 * s * series + e[i] * 0.693147181f);
        y[i] = sqrtf(2 * (minus_log > 0 ? minus_log : 0));
    }
}

/* Cosine and sine of the number as a fraction of a full turn: reduce to the nearest quarter, then
 * series. */
static void cosines_sines(float *c, float *s, const uint32_t *word)
{
    for (int i = 0; i < BLOCK * PAIRS; i++) {
        const uint32_t quarter = (word[i] + 0x20000000u) >> 30;
        const float t = (float)(int32_t)(word[i] - (quarter << 30)) * (6.28318531f * 0x1p-32f);
        const float q = t * t;
        const float cosine = 1 + q * (-1 / 2.0f + q * (1 / 24.0f + q * (-1 / 720.0f + q / 40320)));
        const float sine = t * (1 + q * (-1 / 6.0f + q * (1 / 120.0f + q * (-1 / 5040.0f))));
        const float x = quarter & 1 ? sine : cosine, y = quarter & 1 ? cosine : sine;
        c[i] = (quarter + 1) & 2 ? -x : x;
        s[i] = quarter & 2 ? -y : y;
    }
}

/* e^x in place, for |x| < 80: 2^k times a series. */
static void exponentials(float *x)
{
    enum { N = BLOCK * VARIABLES };
    uint32_t bits[N];
    float scale[N];
    for (int i = 0; i < N; i++) {
        const float k = (x[i] * 1.44269504f + 0x1.8p23f) - 0x1.8p23f;
        const float r = (x[i] - k * 0.693359375f) - k * -2.12194440e-4f;
        bits[i] = (uint32_t)((int32_t)k + 127) << 23;
        x[i] =
            1 +
            r * (1 + r * (1 / 2.0f +
                          r * (1 / 6.0f + r * (1 / 24.0f + r * (1 / 120.0f + r * (1 / 720.0f))))));
    }
    to_float(scale, bits, N);
    for (int i = 0; i < N; i++)
        x[i] *= scale[i];
}

/* ---- rows ---- */

struct mase_jets {
    struct jet_class class[MASE_JSC_CLASSES];
    /* L by columns, so that b accumulates twelve sums in parallel */
    float column[MASE_JSC_CLASSES][COMPONENTS][VARIABLES][VARIABLES];
};

static void unpack(struct mase_jets *m)
{
    for (int c = 0; c < MASE_JSC_CLASSES; c++)
        for (int k = 0; k < COMPONENTS; k++)
            for (int row = 0, i = 0; row < VARIABLES; row++)
                for (int col = 0; col <= row; col++)
                    m->column[c][k][col][row] = m->class[c].chol[k][i++];
}

struct mase_jets *mase_jets_new(void)
{
    struct mase_jets *m = mase_xcalloc(sizeof *m);
    read_classes(m->class);
    unpack(m);
    return m;
}

/* b of one row */
static void mix(float *b, const struct mase_jets *m, const float *z_cos, const float *z_sin, int c,
                int k)
{
    const struct jet_class *jets = &m->class[c];
    float sum[VARIABLES];
    memcpy(sum, jets->mean[k], sizeof sum);
    for (int col = 0; col < VARIABLES; col++) {
        const float z = col < PAIRS ? z_cos[col] : z_sin[col - PAIRS];
        for (int row = 0; row < VARIABLES; row++)
            sum[row] += m->column[c][k][col][row] * z;
    }
    for (int row = 0; row < VARIABLES; row++) {
        const float v = sum[row] > jets->low[row] ? sum[row] : jets->low[row];
        b[row] = v < jets->high[row] ? v : jets->high[row];
    }
}

/* The sixteen features from exp(b). */
static void features(float *x, const float *e)
{
    const float c1_b1 = e[2], c1_b2 = e[3], c2_b1 = e[4], c2_b2 = e[5];
    const float count = (float)(int32_t)(e[11] + 0.5f);
    x[0] = -e[0];
    memcpy(x + 1, e + 1, 5 * sizeof *x);
    x[6] = x[8] = c2_b1 / c1_b1;
    x[7] = c2_b2 / c1_b2;
    x[9] = c2_b1 * (c1_b1 * c1_b1) / (c1_b2 * sqrtf(c1_b2));
    memcpy(x + 10, e + 6, 5 * sizeof *x);
    x[15] = count > 3 ? count : 3;
}

/* Compute rows first..first + BLOCK - 1, and keep n of them. */
static void make_block(float *x, int32_t *label, const struct mase_jets *m, uint64_t seed,
                       int64_t first, int64_t n)
{
    uint32_t length[BLOCK][PAIRS], angle[BLOCK][PAIRS], pick[BLOCK];
    float radius[BLOCK][PAIRS], z_cos[BLOCK][PAIRS], z_sin[BLOCK][PAIRS], b[BLOCK][VARIABLES];
    int32_t class_of[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        uint32_t word[16];
        const uint64_t row = (uint64_t)(first + i);
        for (uint32_t k = 0; k < 4; k++)
            mase_philox(word + 4 * k,
                        (uint32_t[]){ k, (uint32_t)MASE_STREAM_JETS << 24, (uint32_t)row,
                                      (uint32_t)(row >> 32) },
                        (uint32_t[]){ (uint32_t)seed, (uint32_t)(seed >> 32) });
        class_of[i] = (int32_t)((uint64_t)word[0] * MASE_JSC_CLASSES >> 32);
        pick[i] = word[1];
        memcpy(length[i], word + 2, sizeof length[i]);
        memcpy(angle[i], word + 2 + PAIRS, sizeof angle[i]);
    }
    lengths(radius[0], length[0]);
    cosines_sines(z_cos[0], z_sin[0], angle[0]);
    for (int i = 0; i < BLOCK; i++) {
        int k = 0;
        while (k < COMPONENTS - 1 && pick[i] >= m->class[class_of[i]].pick[k])
            k++;
        for (int p = 0; p < PAIRS; p++) {
            z_cos[i][p] *= radius[i][p];
            z_sin[i][p] *= radius[i][p];
        }
        mix(b[i], m, z_cos[i], z_sin[i], class_of[i], k);
    }
    exponentials(b[0]);
    for (int64_t i = 0; i < n; i++) {
        features(x + i * MASE_JSC_FEATURES, b[i]);
        label[i] = class_of[i];
    }
}

void mase_jets_rows(float *x, int32_t *label, const struct mase_jets *m, uint64_t seed,
                    int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i += BLOCK)
        make_block(x + i * MASE_JSC_FEATURES, label + i, m, seed, first + i,
                   n - i < BLOCK ? n - i : BLOCK);
}

/* ---- the dataset ---- */

/* As mase_floats_row, with a constant width, since start-up waits for it. */
static void get_row(double *row, const void *table, int64_t i)
{
    const float *x = (const float *)table + i * MASE_JSC_FEATURES;
    for (int f = 0; f < MASE_JSC_FEATURES; f++)
        row[f] = (double)x[f];
}

/* Scale in place, unless the unscaled numbers are needed. */
static enum mase_status scale(struct mase_dataset *d, float *made,
                              const struct mase_dataset_opts *opts, int64_t training,
                              struct mase_err *err)
{
    const struct mase_scale_source from = { get_row, made, true, training };
    if (opts->ranges) {
        d->plain = d->plain_block = made;
        d->block = mase_new_table(d);
    }
    return mase_scale_table(d, d->block, opts, &from, err);
}

/* The checksum: of the tables, seed and number of rows. */
static void checksum(char hex[65], const struct mase_jets *m, uint64_t seed, int64_t rows)
{
    struct mase_str s = { 0 };
    mase_sha256(hex, m->class, sizeof m->class);
    mase_str_printf(&s, "jsc-sim 1 table %s seed %" PRIu64 " rows %" PRId64, hex, seed, rows);
    mase_sha256(hex, s.data, s.len);
    mase_str_release(&s);
}

enum mase_status mase_open_jsc_sim(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                   const char *file, struct mase_err *err)
{
    const int64_t rows = opts->sim_rows ? opts->sim_rows : ROWS_DEFAULT;
    if (file)
        return mase_fail(err, MASE_EVALUE, "jsc-sim is built in and reads no file '%s'", file);
    if (rows < 10 || rows > ROWS_MAX)
        return mase_fail(err, MASE_EVALUE, "jsc-sim can have 10 to %d rows, not %" PRId64, ROWS_MAX,
                         rows);
    d->info.rows = rows;
    d->block = mase_new_table(d);
    int32_t *label = mase_new_array(&d->arena, int32_t, (size_t)rows);
    struct mase_jets *jets = mase_jets_new();
    mase_jets_rows(d->block, label, jets, opts->sim_seed, 0, rows);
    checksum(d->info.checksum, jets, opts->sim_seed, rows);
    mase_xfree(jets);
    d->label = label;
    d->info.source = "built in";
    d->info.simulated = true;
    d->info.notice = "simulated jets, not the CERN file";
    d->info.feature_names = mase_jsc_features;
    d->info.class_names = mase_jsc_classes;
    const int64_t training = rows - mase_split_test_count(rows);
    MASE_TRY(mase_split_parts(d, opts, training, 0, MASE_SPLIT_TRAIN, err));
    return scale(d, d->block, opts, training, err);
}
