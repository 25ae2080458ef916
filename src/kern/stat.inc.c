/*
 * stat.inc.c - what statistics want of rows: extremes and moments, and how many values lie in each
 * bin of a histogram.
 */

/* ---- extremes and moments ---- */

enum {
    EXTENT_VECTORS = 4,
    EXTENT_ROWS = 64, /* as many are summed in float32; their sums in double */
};

struct summing {
    vf min[EXTENT_VECTORS], max[EXTENT_VECTORS];
    double sum[MASE_SUMMARY_LANES], squares[MASE_SUMMARY_LANES]; /* of each lane */
};

static INLINE vf magnitude(vf x, bool absolute)
{
    return absolute ? vabs(x) : x;
}

static inline void widen(double *to, const vf *from, bool add)
{
    float x[MASE_SUMMARY_LANES];
    for (int v = 0; v < EXTENT_VECTORS; v++)
        vstore(x + MASE_LANES * v, from[v]);
    for (int i = 0; i < MASE_SUMMARY_LANES; i++)
        to[i] = add ? to[i] + x[i] : x[i];
}

/* EXTENT_TILE full vectors of rows first..last - 1. NaN passes the extremes by and shows in the
 * sums. */
static INLINE void summary_tile(struct summing *s, vf *sum, vf *squares,
                                const struct mase_channel *c, long first, long last, int tile,
                                float from, bool absolute)
{
    /* x - from, and half of the sums, on the units that min and max leave free */
    const vf one = vset1(1), base = vset1(-from);
    vf min[EXTENT_TILE], max[EXTENT_TILE], total[EXTENT_TILE], power[EXTENT_TILE];
    UNROLL for (int v = 0; v < EXTENT_TILE; v++)
    {
        min[v] = s->min[tile + v];
        max[v] = s->max[tile + v];
        total[v] = power[v] = vzero();
    }
    for (long r = first; r < last; r++) {
        const float *row = c->x + r * c->stride + MASE_LANES * tile;
        UNROLL for (int v = 0; v < EXTENT_TILE; v++)
        {
            const vf x = magnitude(vload(row + MASE_LANES * v), absolute);
            const vf d = vfma(x, one, base);
            min[v] = vmin(x, min[v]);
            max[v] = vmax(x, max[v]);
            total[v] = v % 2 ? vfma(d, one, total[v]) : vadd(total[v], d);
            power[v] = vfma(d, d, power[v]);
        }
    }
    UNROLL for (int v = 0; v < EXTENT_TILE; v++)
    {
        s->min[tile + v] = min[v];
        s->max[tile + v] = max[v];
        sum[tile + v] = total[v];
        squares[tile + v] = power[v];
    }
}

static INLINE void summary_rows(struct summing *s, const struct mase_channel *c, long first,
                                long last, float from, bool absolute)
{
    vf sum[EXTENT_VECTORS], squares[EXTENT_VECTORS];
    for (int tile = 0; tile < EXTENT_VECTORS; tile += EXTENT_TILE)
        summary_tile(s, sum, squares, c, first, last, tile, from, absolute);
    widen(s->sum, sum, first > 0);
    widen(s->squares, squares, first > 0);
}

/* Sums of lanes of which the last are padding. */
static inline void summary_some(struct summing *s, const struct mase_channel *c, long first,
                                long last, float from, bool absolute)
{
    const vf base = vset1(from);
    vf sum[EXTENT_VECTORS], squares[EXTENT_VECTORS];
    for (int v = 0; v < EXTENT_VECTORS; v++)
        sum[v] = squares[v] = vzero();
    for (int v = 0; MASE_LANES * v < c->samples; v++) {
        const vm alive = live(c, MASE_LANES * v);
        for (long r = first; r < last; r++) {
            const vf x = magnitude(vload(c->x + r * c->stride + MASE_LANES * v), absolute);
            const vf d = vselect(alive, vsub(x, base), vzero());
            s->min[v] = vmin(vselect(alive, x, s->min[v]), s->min[v]);
            s->max[v] = vmax(vselect(alive, x, s->max[v]), s->max[v]);
            sum[v] = vadd(sum[v], d);
            squares[v] = vfma(d, d, squares[v]);
        }
    }
    widen(s->sum, sum, first > 0);
    widen(s->squares, squares, first > 0);
}

/* Lanes sixteen apart together. */
static inline void fold(double *to, const double *x)
{
    for (int i = 0; i < MASE_LANES; i++)
        to[i] = (x[i] + x[i + 2 * MASE_LANES]) + (x[i + MASE_LANES] + x[i + 3 * MASE_LANES]);
}

static inline void finish_summary(struct mase_summary *out, struct summing *s)
{
    double lanes[MASE_SUMMARY_LANES];
    vstore(out->min, vmin(vmin(s->min[0], s->min[1]), vmin(s->min[2], s->min[3])));
    vstore(out->max, vmax(vmax(s->max[0], s->max[1]), vmax(s->max[2], s->max[3])));
    for (int i = 0; i < MASE_SUMMARY_LANES; i++)
        lanes[i] = s->sum[i] * s->sum[i];
    fold(out->sum, s->sum);
    fold(out->squares, s->squares);
    fold(out->lanes, lanes);
}

void KERNEL(summary)(struct mase_summary *out, const struct mase_channel *c, float from,
                     bool absolute)
{
    struct summing s;
    for (int v = 0; v < EXTENT_VECTORS; v++) {
        s.min[v] = vset1(INFINITY);
        s.max[v] = vset1(-INFINITY);
    }
    for (long r = 0; r < c->count; r += EXTENT_ROWS) {
        const long last = r + EXTENT_ROWS < c->count ? r + EXTENT_ROWS : c->count;
        if (c->samples < MASE_SUMMARY_LANES)
            summary_some(&s, c, r, last, from, absolute);
        else if (absolute)
            summary_rows(&s, c, r, last, from, true);
        else
            summary_rows(&s, c, r, last, from, false);
    }
    finish_summary(out, &s);
}

/* ---- histogram ---- */

/*
 * A value becomes a word with one bit, that of its bin. Words are added bit by bit without carrying
 * through memory: three words of equal weight become one of that weight and one of twice it, the
 * bits of their sum. Sixteen vectors of words so leave one of weight sixteen, and what is left in
 * the planes at the end is counted. There is no table to update, so equal values in a row cost no
 * more than others.
 */
enum {
    HOT_WORDS = 8,
    HOT_BLOCK = 16 * HOT_WORDS, /* values */
    HOT_LOW = 4,                /* planes of weights 1, 2, 4, 8, which live in registers */
    HOT_LEVELS = 40,
};

struct low_planes {
    vword sum[HOT_LOW];
};

struct planes {
    vword sum[HOT_LEVELS];
    vword held[HOT_LEVELS]; /* waits for a second one of its weight */
    uint64_t holds;         /* bit l: held[l] is set */
    int top;                /* levels in use */
};

/* Two, four, eight, sixteen vectors of words: what is carried out of them. */
static INLINE vword add_two(struct low_planes *p, const float *x, double scale, double offset)
{
    vword two;
    const vword one = vhot(x, scale, offset);
    p->sum[0] = vadd3(&two, p->sum[0], one, vhot(x + HOT_WORDS, scale, offset));
    return two;
}

static INLINE vword add_four(struct low_planes *p, const float *x, double scale, double offset)
{
    vword four;
    const vword two = add_two(p, x, scale, offset);
    p->sum[1] = vadd3(&four, p->sum[1], two, add_two(p, x + 2 * HOT_WORDS, scale, offset));
    return four;
}

static INLINE vword add_eight(struct low_planes *p, const float *x, double scale, double offset)
{
    vword eight;
    const vword four = add_four(p, x, scale, offset);
    p->sum[2] = vadd3(&eight, p->sum[2], four, add_four(p, x + 4 * HOT_WORDS, scale, offset));
    return eight;
}

static INLINE vword add_sixteen(struct low_planes *p, const float *x, double scale, double offset)
{
    vword sixteen;
    const vword eight = add_eight(p, x, scale, offset);
    p->sum[3] = vadd3(&sixteen, p->sum[3], eight, add_eight(p, x + 8 * HOT_WORDS, scale, offset));
    return sixteen;
}

static inline void add_plane(struct planes *p, vword a)
{
    int level = HOT_LOW;
    for (; p->holds >> level & 1; level++) {
        vword twice;
        p->sum[level] = vadd3(&twice, p->sum[level], p->held[level], a);
        p->holds &= ~(UINT64_C(1) << level);
        a = twice;
    }
    for (; p->top <= level; p->top++)
        p->sum[p->top] = vword0();
    p->held[level] = a;
    p->holds |= UINT64_C(1) << level;
}

/* Four weights fit into a byte: twice 8 words x (1 + 2 + 4 + 8). */
static inline void count_planes(int64_t *count, const struct planes *p)
{
    for (int level = 0; level < p->top; level += 4) {
        uint8_t part[MASE_BINS] = { 0 };
        for (int l = level; l < level + 4 && l < p->top; l++) {
            vtally(part, p->sum[l], 1 << (l - level));
            if (p->holds >> l & 1)
                vtally(part, p->held[l], 1 << (l - level));
        }
        for (int b = 0; b < MASE_BINS; b++)
            count[b] += (int64_t)part[b] << level;
    }
}

/* The rows that remain after whole blocks, packed into blocks. */
static inline void count_rest(struct planes *p, struct low_planes *low,
                              const struct mase_channel *c, double scale, double offset)
{
    const long whole = c->samples / HOT_BLOCK * HOT_BLOCK;
    float rest[HOT_BLOCK];
    long filled = 0;
    for (long r = 0; r < c->count; r++) {
        for (long n = whole, some; n < c->samples; n += some) {
            some = c->samples - n < HOT_BLOCK - filled ? c->samples - n : HOT_BLOCK - filled;
            memcpy(rest + filled, c->x + r * c->stride + n, (size_t)some * sizeof rest[0]);
            filled += some;
            if (filled == HOT_BLOCK)
                add_plane(p, add_sixteen(low, rest, scale, offset));
            filled %= HOT_BLOCK;
        }
    }
    for (long i = filled; i < HOT_BLOCK; i++)
        rest[i] = INFINITY; /* in no bin */
    if (filled)
        add_plane(p, add_sixteen(low, rest, scale, offset));
}

void KERNEL(count_bins)(int64_t *count, const struct mase_channel *c, double scale, double offset)
{
    const long whole = c->samples / HOT_BLOCK * HOT_BLOCK;
    struct low_planes low = { { vword0(), vword0(), vword0(), vword0() } };
    struct planes p;
    p.holds = 0;
    p.top = HOT_LOW;
    for (long r = 0; r < c->count; r++)
        for (long n = 0; n < whole; n += HOT_BLOCK)
            add_plane(&p, add_sixteen(&low, c->x + r * c->stride + n, scale, offset));
    count_rest(&p, &low, c, scale, offset);
    for (int l = 0; l < HOT_LOW; l++)
        p.sum[l] = low.sum[l];
    count_planes(count, &p);
}
