/*
 * int_layer.inc.c - layers of integers, the numbers of a sample side by side. Sixteen outputs are
 * a tile; the weights lie in tiles, and a word of the sample, four bytes or two shorts, goes to all
 * of them at once. So one sample alone is as fast as one of many.
 */

/* A group of words for MS samples. */
static INLINE void add_group(vp *sum, const int32_t *w, const int32_t *word, const char *const *x,
                             int words, int MS)
{
    UNROLL
    for (int m = 0; m < MS; m++)
        sum[m] = vp_dot_bytes(sum[m], w, x[m], word, words);
}

static INLINE void byte_sums(vp *sum, const struct mase_int_tile *t, const char *const *x, int MS)
{
    const int32_t *w = t->weight, *word = t->word;
    for (long k = 0; k < t->fours; k++, w += 4 * 16, word += 4)
        add_group(sum, w, word, x, 4, MS);
    for (long k = 0; k < t->twos; k++, w += 2 * 16, word += 2)
        add_group(sum, w, word, x, 2, MS);
    for (long k = 0; k < t->ones; k++, w += 16, word++)
        add_group(sum, w, word, x, 1, MS);
}

static INLINE void short_sums(vp *sum, const struct mase_int_tile *t, const char *const *x, int MS)
{
    for (long k = 0; k < t->ones; k++) {
        const vp v = vp_load(t->weight + 16 * k);
        UNROLL
        for (int m = 0; m < MS; m++) {
            int32_t pair;
            memcpy(&pair, x[m] + 4 * (long)t->word[k], sizeof pair);
            sum[m] = vp_dot(sum[m], v, pair);
        }
    }
}

/* Sums of a tile, lane by lane: (MS, 16). */
static INLINE void tile_sums(int32_t *y, const struct mase_int_tile *t, const char *x, long stride,
                             bool bytes, int MS)
{
    const char *row[INT_MR];
    vp sum[INT_MR];
    UNROLL
    for (int m = 0; m < MS; m++) {
        row[m] = x + m * stride;
        sum[m] = vp_load(t->bias);
    }
    if (bytes)
        byte_sums(sum, t, row, MS);
    else
        short_sums(sum, t, row, MS);
    UNROLL
    for (int m = 0; m < MS; m++)
        vp_put(y + 16 * m, sum[m]);
}

static INLINE void all_sums(int32_t *y, const struct mase_int_tile *t, const char *x, long stride,
                            bool bytes, long samples)
{
    long i = 0;
    for (; i + INT_MR <= samples; i += INT_MR)
        tile_sums(y + 16 * i, t, x + i * stride, stride, bytes, INT_MR);
    for (; i < samples; i++)
        tile_sums(y + 16 * i, t, x + i * stride, stride, bytes, 1);
}

/* Sums to codes, which stand in order then. */
static INLINE void finish_tile(const struct mase_int_layer *l, const struct mase_int_finish *f,
                               char *y, const int32_t *sum, long samples, enum mase_int_how how,
                               enum mase_int_storage to)
{
    const vf factor = vload(f->factor), offset = vload(f->offset), lo = vload(f->lo),
             hi = vload(f->hi);
    const vp base = vp_load(f->base);
    for (long i = 0; i < samples; i++, y += l->y_stride) {
        vp code = vp_load(sum + 16 * i);
        if (how == MASE_INT_BY_FLOAT)
            code = vp_rounded(vmin(vmax(vfma(vp_floats(code), factor, offset), lo), hi));
        else if (how == MASE_INT_BY_DOUBLE)
            code = vp_double_affine(code, f->mul, f->add, f->lowest, f->highest);
        if (to == MASE_INT_BYTES)
            vp_store_bytes((uint8_t *)y, vp_sub(code, base));
        else if (to == MASE_INT_SHORTS)
            vp_store_shorts((int16_t *)(void *)y, code);
        else
            vp_store((int32_t *)(void *)y, code);
    }
}

#define FINISH(how, to)                                                                           \
    static void finish_##how##_##to(const struct mase_int_layer *l,                               \
                                    const struct mase_int_finish *f, char *y, const int32_t *sum, \
                                    long samples)                                                 \
    {                                                                                             \
        finish_tile(l, f, y, sum, samples, MASE_INT_##how, MASE_INT_##to);                        \
    }
FINISH(SUMS, LONGS)
FINISH(BY_FLOAT, BYTES)
FINISH(BY_FLOAT, SHORTS)
FINISH(BY_FLOAT, LONGS)
FINISH(BY_DOUBLE, BYTES)
FINISH(BY_DOUBLE, SHORTS)
FINISH(BY_DOUBLE, LONGS)
#undef FINISH

/* Tile by tile, so that what it needs is at hand for all samples. */
void KERNEL(int_layer)(const struct mase_int_layer *l, void *y, const void *x, long samples)
{
    typedef void finish_fn(const struct mase_int_layer *, const struct mase_int_finish *, char *,
                           const int32_t *, long);
    static finish_fn *const finish[][3] = {
        [MASE_INT_SUMS] = { NULL, NULL, finish_SUMS_LONGS },
        [MASE_INT_BY_FLOAT] = { finish_BY_FLOAT_BYTES, finish_BY_FLOAT_SHORTS,
                                finish_BY_FLOAT_LONGS },
        [MASE_INT_BY_DOUBLE] = { finish_BY_DOUBLE_BYTES, finish_BY_DOUBLE_SHORTS,
                                 finish_BY_DOUBLE_LONGS },
    };
    static const int sizes[] = { 1, 2, 4 };
    int32_t sum[MASE_INT_SAMPLES * 16];
    for (long t = 0; t < l->tiles; t++) {
        if (l->from == MASE_INT_BYTES)
            all_sums(sum, &l->tile[t], x, l->x_stride, true, samples);
        else
            all_sums(sum, &l->tile[t], x, l->x_stride, false, samples);
        finish[l->how][l->to](l, &l->finish[t], (char *)y + 16 * t * sizes[l->to], sum, samples);
    }
}

/* Sixteen numbers of a sample to codes. Returns how many are none. */
static INLINE int encode_tile(const struct mase_int_encoding *e, char *y, const float *x, long tile)
{
    const struct mase_int_finish *f = &e->finish[tile];
    vf v = vload(x + 16 * tile);
    if (e->affine)
        v = vfma(vload(f->scale), v, vload(f->shift));
    const int numbers = vcount(veq(v, v));
    if (e->relu)
        v = vmax(v, vzero());
    v = e->divides ? vdiv(v, vload(f->factor)) : vmul(v, vload(f->factor));
    v = vmin(vmax(e->floor ? vfloor(v) : vrint(v), vload(f->lo)), vload(f->hi));
    const vp code = vp_ordered(v);
    if (e->to == MASE_INT_BYTES)
        vp_store_bytes((uint8_t *)y + 16 * tile, vp_sub(code, vp_load(f->base)));
    else
        vp_store_shorts((int16_t *)(void *)y + 16 * tile, code);
    return 16 - numbers;
}

void KERNEL(int_encode_samples)(const struct mase_int_encoding *e, void *y, const float *x,
                                long samples, long *wrong)
{
    char *to = y;
    for (long i = 0; i < samples; i++)
        for (long t = 0; t < e->tiles; t++)
            *wrong += encode_tile(e, to + i * e->y_stride, x + i * e->x_stride, t);
}

/* Codes of sixteen outputs as floats. */
static INLINE vf decode_tile(const struct mase_int_decoding *d, const struct mase_int_finish *f,
                             const int32_t *x)
{
    if (d->how == MASE_DECODE_BY_DOUBLE)
        return vmul(vp_double_floats(x, f->mul, f->add), vload(f->factor));
    const vf v = vload_i32(x);
    if (d->how == MASE_DECODE_BY_FLOAT)
        return vfma(v, vload(f->factor), vload(f->offset));
    return vfma(vadd(vdiv(vmul(v, vload(f->factor)), vload(f->parts)), vload(f->offset)),
                vload(f->scale), vload(f->shift));
}

/* Codes as the numbers that they mean: (samples, outputs). What is written beyond a sample's
 * numbers the next ones write again; the last ones go a longer way. */
void KERNEL(int_decode_samples)(const struct mase_int_decoding *d, float *y, const int32_t *x,
                                long samples)
{
    const long all = samples * d->outputs;
    for (long i = 0; i < samples; i++)
        for (long t = 0; t < d->tiles; t++) {
            const struct mase_int_finish *f = &d->finish[t];
            const long at = i * d->outputs + 16 * t;
            const vf v = vmax(decode_tile(d, f, x + i * d->x_stride + 16 * t), vload(f->lo));
            float some[16];
            if (at + 16 <= all) {
                vstore(y + at, v);
                continue;
            }
            vstore(some, v);
            for (long j = 0; j < 16 && 16 * t + j < d->outputs; j++)
                y[at + j] = some[j];
        }
}
