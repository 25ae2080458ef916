/*
 * round.inc.c - rounding of single values and of blocks to number formats, as their references in
 * src/quant do, to the bit. By chance only the references round.
 */

/* Sixteen numbers of steps, whole (quant/direction.c). */
static INLINE vf direct(vf v, enum mase_direction d)
{
    const vf size = vabs(v), below = vfloor(size);
    switch (d) {
    case MASE_TO_NEAREST_AWAY: {
        const vm up = vnot(vgt(vset1(0.5f), vsub(size, below)));
        return vcopysign(vselect(up, vadd(below, vset1(1.0f)), below), v);
    }
    case MASE_TO_FLOOR:
        return vfloor(v);
    case MASE_TO_ZERO:
        return vcopysign(below, v);
    default:
        return vrint(v);
    }
}

/* ---- fixed point ---- */

/* NaN stays NaN, being the second operand of min and no equal of lo; what rounds to an unsigned
 * zero from below is lo itself, which has no sign. */
static INLINE void round_fixed(float *y, const float *x, const struct mase_integer_levels *levels,
                               long n, enum mase_direction d)
{
    const vf s = vset1(levels->scale), back = vset1(1.0f / levels->scale), l = vset1(levels->lo),
             h = vset1(levels->hi);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf r = vmin(h, direct(vmul(vload(x + i), s), d));
        vstore(y + i, vmul(vselect(at_least(l, r), l, r), back));
    }
}

void KERNEL(quantize_integer)(float *y, const float *x, const struct mase_integer_levels *levels,
                              long n)
{
    switch (levels->direction) {
    case MASE_TO_NEAREST_AWAY:
        round_fixed(y, x, levels, n, MASE_TO_NEAREST_AWAY);
        break;
    case MASE_TO_FLOOR:
        round_fixed(y, x, levels, n, MASE_TO_FLOOR);
        break;
    case MASE_TO_ZERO:
        round_fixed(y, x, levels, n, MASE_TO_ZERO);
        break;
    default:
        round_fixed(y, x, levels, n, MASE_TO_NEAREST_EVEN);
    }
}

/* ---- floating point ---- */

/* struct mase_float_levels (quant/quant.h) in all lanes. */
struct float_lanes {
    vf emin, least, inverse, steps, step, most, above, below, infinite, zero;
};

static INLINE struct float_lanes lanes_of(const struct mase_float_levels *levels)
{
    return (struct float_lanes){ vset1(levels->emin),     vset1(levels->least),
                                 vset1(levels->inverse),  vset1(levels->steps),
                                 vset1(levels->step),     vset1(levels->most),
                                 vset1(levels->above),    vset1(levels->below),
                                 vset1(levels->infinite), vset1(levels->zero) };
}

/* x 2^-e with e the exponent of x, at least emin, is exact or so small that only its sign counts,
 * and that only on the way down. */
static INLINE vf float_value(vf x, const struct float_lanes *g, enum mase_direction d)
{
    const vf size = vabs(x), infinity = vset1(INFINITY);
    const vm low = vgt(g->least, size);
    const vf e = vselect(low, g->emin, vexponent(size));
    vf v = vcopysign(vselect(low, vmul(size, g->inverse), vmantissa(size)), x);
    if (d == MASE_TO_FLOOR)
        v = vselect(vgt(vzero(), x), vmin(v, vset1(-0x1p-126f)), v);
    vf q = vscale2(vmul(direct(vmul(v, g->steps), d), g->step), e);
    q = vselect(vgt(q, g->most), g->above, vselect(vgt(vsub(vzero(), g->most), q), g->below, q));
    if (d == MASE_TO_FLOOR || d == MASE_TO_ZERO)
        q = vselect(veq(size, infinity), vcopysign(g->infinite, x), q);
    return vselect(veq(x, x), vadd(q, g->zero), x);
}

static INLINE void round_float(float *y, const float *x, const struct mase_float_levels *levels,
                               long n, enum mase_direction d)
{
    const struct float_lanes g = lanes_of(levels);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, float_value(vload(x + i), &g, d));
}

void KERNEL(quantize_float)(float *y, const float *x, const struct mase_float_levels *levels,
                            long n)
{
    switch (levels->direction) {
    case MASE_TO_NEAREST_AWAY:
        round_float(y, x, levels, n, MASE_TO_NEAREST_AWAY);
        break;
    case MASE_TO_FLOOR:
        round_float(y, x, levels, n, MASE_TO_FLOOR);
        break;
    case MASE_TO_ZERO:
        round_float(y, x, levels, n, MASE_TO_ZERO);
        break;
    default:
        round_float(y, x, levels, n, MASE_TO_NEAREST_EVEN);
    }
}

/* ---- mx: a power of two for each block ---- */

/* 2^e in two factors, since it may be too small for one; e within +-254. */
struct power_lanes {
    vf a, b;
};

static inline struct power_lanes power_lanes(vf e)
{
    const vf half = vrint(vmul(e, vset1(0.5f))), one = vset1(1.0f);
    return (struct power_lanes){ vscale2(one, half), vscale2(one, vsub(e, half)) };
}

/* x 2^-scale rounded to a level, times 2^scale. What underflows on the way up would have become
 * zero, or minus one step on the way down. */
static INLINE vf scaled_value(vf x, const struct power_lanes *up, const struct power_lanes *down,
                              const struct float_lanes *g, enum mase_direction d)
{
    vf v = vmul(vmul(x, up->a), up->b);
    if (d == MASE_TO_FLOOR)
        v = vselect(vgt(vzero(), x), vmin(v, vset1(-0x1p-126f)), v);
    return vmul(vmul(float_value(v, g, d), down->a), down->b);
}

/* The exponent of subnormals counts as -127, and no scale is less. */
static inline vf mx_scale(vf largest, const struct mase_mx_levels *levels)
{
    return vmax(vsub(vexponent(largest), vset1(levels->emax)), vset1(-127.0f));
}

/* Each lane rounds one block. */
static INLINE void round_mx(float *y, const float *x, const int64_t *row, long rows,
                            const struct mase_mx_levels *levels, long n, enum mase_direction d)
{
    const struct float_lanes g = lanes_of(&levels->element);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf largest = largest_of(x + i, row, rows), scale = mx_scale(largest, levels);
        const struct power_lanes up = power_lanes(vsub(vzero(), scale)), down = power_lanes(scale);
        const vm finite = vgt(vset1(INFINITY), largest);
        for (long r = 0; r < rows; r++) {
            const vf q = scaled_value(vload(x + row[r] + i), &up, &down, &g, d);
            vstore(y + row[r] + i, vselect(finite, q, vset1(NAN)));
        }
    }
}

void KERNEL(quantize_mx)(float *y, const float *x, const int64_t *row, long rows,
                         const struct mase_mx_levels *levels, long n)
{
    switch (levels->element.direction) {
    case MASE_TO_NEAREST_AWAY:
        round_mx(y, x, row, rows, levels, n, MASE_TO_NEAREST_AWAY);
        break;
    case MASE_TO_FLOOR:
        round_mx(y, x, row, rows, levels, n, MASE_TO_FLOOR);
        break;
    case MASE_TO_ZERO:
        round_mx(y, x, row, rows, levels, n, MASE_TO_ZERO);
        break;
    default:
        round_mx(y, x, row, rows, levels, n, MASE_TO_NEAREST_EVEN);
    }
}

static INLINE void round_mx_run(float *y, const float *x, long n, vf largest,
                                const struct mase_mx_levels *levels, enum mase_direction d)
{
    const struct float_lanes g = lanes_of(&levels->element);
    const vf scale = mx_scale(largest, levels);
    const struct power_lanes up = power_lanes(vsub(vzero(), scale)), down = power_lanes(scale);
    for (long i = 0; i < n; i += MASE_LANES)
        vstore(y + i, scaled_value(vload(x + i), &up, &down, &g, d));
}

/* To nearest even without scaling: a number so much larger that its last bit is a step of x is
 * added and taken away again. Every power of two on the way has to be a normal number. */
static INLINE void round_mx_run_even(float *y, const float *x, long n, float scale,
                                     const struct mase_float_levels *levels)
{
    const vf least = vset1(scale * levels->least), most = vset1(scale * levels->most);
    const vf lowest = vset1(-scale * levels->most), larger = vset1(0x1.8p23f * levels->step);
    const bool keeps_sign = signbit(levels->zero);
    for (long i = 0; i < n; i += MASE_LANES) {
        const vf v = vload(x + i), far = vmul(vmax(vpower(v), least), larger);
        const vf q = vmax(lowest, vmin(most, vsub(vadd(v, far), far)));
        vstore(y + i, keeps_sign ? vcopysign(q, v) : q);
    }
}

static inline float power_below(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits &= 0x7f800000;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/* Blocks one after the other, of whole vectors each. */
static INLINE void round_mx_runs(float *y, const float *x, long run, long blocks,
                                 const struct mase_mx_levels *levels, enum mase_direction d)
{
    const float top = ldexpf(1.0f, (int)levels->emax),
                from = 0x1p-126f * top / levels->element.least;
    const float to = 0x1p103f * levels->element.steps;
    for (long b = 0; b < blocks; b++, x += run, y += run) {
        vf size = vabs(vload(x));
        for (long i = MASE_LANES; i < run; i += MASE_LANES)
            size = vlarger(size, vabs(vload(x + i)));
        const float largest = vlargest(size), power = power_below(largest);
        if (d == MASE_TO_NEAREST_EVEN && power >= from && power <= to)
            round_mx_run_even(y, x, run, power / top, &levels->element);
        else if (largest < INFINITY)
            round_mx_run(y, x, run, vset1(largest), levels, d);
        else
            for (long i = 0; i < run; i += MASE_LANES)
                vstore(y + i, vset1(NAN));
    }
}

void KERNEL(quantize_mx_runs)(float *y, const float *x, long run, long blocks,
                              const struct mase_mx_levels *levels)
{
    switch (levels->element.direction) {
    case MASE_TO_NEAREST_AWAY:
        round_mx_runs(y, x, run, blocks, levels, MASE_TO_NEAREST_AWAY);
        break;
    case MASE_TO_FLOOR:
        round_mx_runs(y, x, run, blocks, levels, MASE_TO_FLOOR);
        break;
    case MASE_TO_ZERO:
        round_mx_runs(y, x, run, blocks, levels, MASE_TO_ZERO);
        break;
    default:
        round_mx_runs(y, x, run, blocks, levels, MASE_TO_NEAREST_EVEN);
    }
}
