/*
 * sobol.c - Sobol's sequence, its polynomials and direction numbers found here.
 *
 * A dimension has a primitive polynomial over GF(2), of degree s, and s odd numbers to begin with,
 * the i-th below 2^i; a recurrence gives the others (Bratley and Fox, Algorithm 659, 1988). Any
 * choice gives an even sequence in each dimension alone. How even it is in two depends on the first
 * numbers: of several drawn ones, a dimension takes those with the least defects beside the
 * dimensions before it, as Joe and Kuo do (2008) at greater length.
 */
#include "study/sobol.h"

#include <stdbool.h>

enum { BITS = MASE_SOBOL_BITS };

/* ---- polynomials over GF(2), as bits ---- */

static uint32_t multiply(uint32_t a, uint32_t b, uint32_t modulus, int degree)
{
    uint32_t product = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            product ^= a;
        a <<= 1;
        if (a >> degree & 1)
            a ^= modulus;
    }
    return product;
}

/* x to the power n. */
static uint32_t power_of_x(uint32_t n, uint32_t modulus, int degree)
{
    uint32_t result = 1, base = degree == 1 ? 1 : 2; /* x is 1 modulo x + 1 */
    for (; n; n >>= 1) {
        if (n & 1)
            result = multiply(result, base, modulus, degree);
        base = multiply(base, base, modulus, degree);
    }
    return result;
}

/* Does x run through all 2^degree - 1 powers before it comes back to 1? */
static bool is_primitive(uint32_t modulus, int degree)
{
    const uint32_t order = (1u << degree) - 1;
    if (power_of_x(order, modulus, degree) != 1)
        return false;
    uint32_t rest = order;
    for (uint32_t q = 2; q <= rest; q++) {
        if (rest % q)
            continue;
        if (order != 1 && power_of_x(order / q, modulus, degree) == 1)
            return false;
        while (rest % q == 0)
            rest /= q;
    }
    return true;
}

/* The next primitive polynomial after this one. */
static uint32_t next_polynomial(uint32_t p, int *degree)
{
    do {
        p += 2;
        *degree += (p >> (*degree + 1)) != 0;
    } while (!is_primitive(p, *degree));
    return p;
}

/* ---- direction numbers ---- */

/* first: the odd numbers, one for each degree. */
static void extend(uint32_t direction[BITS], const uint32_t *first, uint32_t polynomial, int degree)
{
    for (int i = 0; i < BITS; i++) {
        if (i < degree) {
            direction[i] = first[i] << (BITS - 1 - i);
            continue;
        }
        direction[i] = direction[i - degree] ^ direction[i - degree] >> degree;
        for (int k = 1; k < degree; k++)
            if (polynomial >> (degree - k) & 1)
                direction[i] ^= direction[i - k];
    }
}

enum { LOOKED_AT = 10 }; /* the first 2^10 points are judged */

/* The k-th digit of the points, as a row of a matrix over the bits of their numbers. */
static void digits(uint32_t row[LOOKED_AT], const uint32_t direction[BITS])
{
    for (int k = 0; k < LOOKED_AT; k++) {
        row[k] = 0;
        for (int i = 0; i < LOOKED_AT; i++)
            row[k] |= (direction[i] >> (BITS - 1 - k) & 1) << i;
    }
}

/* Add a row to an echelon form. False: it was a sum of those there. */
static bool add_row(uint32_t basis[LOOKED_AT], uint32_t row)
{
    for (int i = 0; i < LOOKED_AT && row; i++) {
        if (!(row >> i & 1))
            continue;
        if (!basis[i]) {
            basis[i] = row;
            return true;
        }
        row ^= basis[i];
    }
    return false;
}

/* How many digits of two dimensions the first 2^m points leave uneven: the t of a (t, m, 2)-net. */
static int defect(const uint32_t a[LOOKED_AT], const uint32_t b[LOOKED_AT], int m)
{
    const uint32_t mask = (1u << m) - 1;
    uint32_t basis[LOOKED_AT] = { 0 };
    int even = m;
    for (int from_a = 0; from_a < even; from_a++) {
        uint32_t trial[LOOKED_AT];
        for (int i = 0; i < LOOKED_AT; i++)
            trial[i] = basis[i];
        int from_b = 0;
        while (from_a + from_b < even && add_row(trial, b[from_b] & mask))
            from_b++;
        even = from_a + from_b;
        add_row(basis, a[from_a] & mask);
    }
    return m - even;
}

enum { CANDIDATES = 8, NEIGHBOURS = 8 };

/* The defects of a dimension beside those before it, up to a limit. */
static int defects(uint32_t (*rows)[LOOKED_AT], int dimension, const uint32_t own[LOOKED_AT],
                   int limit)
{
    int sum = 0;
    for (int k = 1; k <= NEIGHBOURS && k <= dimension && sum < limit; k++)
        for (int m = 2; m <= LOOKED_AT; m++)
            sum += defect(rows[dimension - k], own, m);
    return sum;
}

static void choose(uint32_t direction[BITS], uint32_t (*rows)[LOOKED_AT], int dimension,
                   uint32_t polynomial, int degree)
{
    struct mase_rng r = mase_rng(0, MASE_STREAM_SAMPLE, (uint64_t)dimension);
    int best = INT32_MAX;
    for (int c = 0; c < CANDIDATES; c++) {
        uint32_t first[BITS], all[BITS], own[LOOKED_AT];
        for (int i = 0; i < degree; i++)
            first[i] = (mase_rng_u32(&r) & ((1u << (i + 1)) - 1)) | 1;
        extend(all, first, polynomial, degree);
        digits(own, all);
        const int bad = defects(rows, dimension, own, best);
        if (bad >= best)
            continue;
        best = bad;
        for (int i = 0; i < BITS; i++)
            direction[i] = all[i];
        for (int i = 0; i < LOOKED_AT; i++)
            rows[dimension][i] = own[i];
    }
}

void mase_sobol_open(struct mase_sobol *s, struct mase_arena *a, int count)
{
    uint32_t(*rows)[LOOKED_AT] = mase_arena_alloc_array(a, (size_t)count, sizeof *rows);
    uint32_t polynomial = 1;
    int degree = 1;
    s->count = count;
    s->direction = mase_arena_alloc_array(a, (size_t)count, sizeof *s->direction);
    s->shift = mase_new_array(a, uint32_t, (size_t)count);
    for (int d = 0; d < count; d++) {
        if (d == 0) { /* no polynomial: the digits of the number, backwards */
            for (int i = 0; i < BITS; i++)
                s->direction[0][i] = 1u << (BITS - 1 - i);
            digits(rows[0], s->direction[0]);
            continue;
        }
        polynomial = next_polynomial(polynomial, &degree);
        choose(s->direction[d], rows, d, polynomial, degree);
    }
}

/* Each digit becomes a random sum of itself and those before it (Matousek, 1998). */
void mase_sobol_scramble(struct mase_sobol *s, struct mase_rng *r)
{
    for (int d = 0; d < s->count; d++) {
        uint32_t sum[BITS];
        for (int k = 0; k < BITS; k++) {
            const uint32_t own = 1u << (BITS - 1 - k), before = ~(own - 1) & ~own;
            sum[k] = own | (mase_rng_u32(r) & before);
        }
        for (int i = 0; i < BITS; i++) {
            uint32_t digit = 0;
            for (int k = 0; k < BITS; k++)
                digit |= (uint32_t)__builtin_parity(s->direction[d][i] & sum[k]) << (BITS - 1 - k);
            s->direction[d][i] = digit;
        }
        s->shift[d] = mase_rng_u32(r);
    }
}

void mase_sobol_point(double *u, const struct mase_sobol *s, int64_t n)
{
    /* In the order of the Gray code, which changes no power of two of first points. */
    const uint32_t gray = (uint32_t)((uint64_t)n ^ (uint64_t)n >> 1);
    for (int d = 0; d < s->count; d++) {
        uint32_t x = s->shift[d];
        for (int i = 0; i < BITS && gray >> i; i++)
            if (gray >> i & 1)
                x ^= s->direction[d][i];
        u[d] = x * 0x1p-32;
    }
}
