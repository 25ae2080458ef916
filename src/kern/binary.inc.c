/*
 * binary.inc.c - functions of two values and their gradients. An operand is a row or one number.
 */
static inline vf operand_at(const float *x, bool broadcast, long i)
{
    return broadcast ? vset1(*x) : vload(x + i);
}

static inline vf truth(vm m)
{
    return vselect(m, vset1(1.0f), vzero());
}

/* With a function of masks: >= is neither < nor unordered. */
static inline vm at_least(vf a, vf b)
{
    return vor(vgt(a, b), veq(a, b));
}

static inline vf value_of(enum mase_binary f, vf a, vf b, vf scale)
{
    switch (f) {
    case MASE_ADD:
        return vfma(scale, b, a);
    case MASE_MUL:
        return vmul(a, b);
    case MASE_DIV:
        return vdiv(a, b);
    case MASE_MAX: /* a NaN wins */
        return vselect(vor(vgt(a, b), vnot(veq(a, a))), a, b);
    case MASE_MIN:
        return vselect(vor(vgt(b, a), vnot(veq(a, a))), a, b);
    case MASE_EQ:
        return truth(veq(a, b));
    case MASE_NE:
        return truth(vnot(veq(a, b)));
    case MASE_GT:
        return truth(vgt(a, b));
    case MASE_GE:
        return truth(at_least(a, b));
    case MASE_LT:
        return truth(vgt(b, a));
    default:
        return truth(at_least(b, a));
    }
}

/* The part of a maximum's or minimum's gradient that the winner `a` over `b` gets. */
static inline vf won(vm more, vf a, vf b)
{
    return vselect(more, vset1(1.0f), vselect(veq(a, b), vset1(0.5f), vzero()));
}

/* d f / d a, or d f / d b when second. */
static inline vf slope_of(enum mase_binary f, bool second, vf a, vf b, vf scale)
{
    switch (f) {
    case MASE_ADD:
        return second ? scale : vset1(1.0f);
    case MASE_MUL:
        return second ? a : b;
    case MASE_DIV:
        return second ? vdiv(vdiv(vmul(a, vset1(-1.0f)), b), b) : vdiv(vset1(1.0f), b);
    case MASE_MAX:
        return second ? won(vgt(b, a), a, b) : won(vgt(a, b), a, b);
    case MASE_MIN:
        return second ? won(vgt(a, b), a, b) : won(vgt(b, a), a, b);
    default:
        return vzero();
    }
}

/* One loop per function, so that the switch is decided outside of it. */
#define EACH_BINARY(do)                                                                        \
    do                                                                                         \
    (MASE_ADD) do(MASE_MUL) do(MASE_DIV) do(MASE_MAX) do(MASE_MIN) do(MASE_EQ) do(MASE_NE) do( \
        MASE_GT) do(MASE_GE) do(MASE_LT) do(MASE_LE)

void KERNEL(binary)(float *y, const struct mase_pair *p, long n)
{
    const vf scale = vset1(p->scale);
    switch (p->f) {
#define FORWARD(name)                                                            \
    case name:                                                                   \
        for (long i = 0; i < n; i += MASE_LANES)                                 \
            vstore(y + i, value_of(name, operand_at(p->a, p->a_broadcast, i),    \
                                   operand_at(p->b, p->b_broadcast, i), scale)); \
        break;
        EACH_BINARY(FORWARD)
#undef FORWARD
    }
}

void KERNEL(binary_back)(float *dx, const float *dy, const struct mase_pair *p, bool second,
                         bool add, long n)
{
    const vf scale = vset1(p->scale);
    switch (p->f) {
#define BACKWARD(name)                                                             \
    case name:                                                                     \
        for (long i = 0; i < n; i += MASE_LANES) {                                 \
            const vf a = operand_at(p->a, p->a_broadcast, i),                      \
                     b = operand_at(p->b, p->b_broadcast, i);                      \
            const vf d = vmul(vload(dy + i), slope_of(name, second, a, b, scale)); \
            vstore(dx + i, add ? vadd(vload(dx + i), d) : d);                      \
        }                                                                          \
        break;
        EACH_BINARY(BACKWARD)
#undef BACKWARD
    }
}
