/*
 * emit_plain.c - 16-64-32-32-5 in float as plain C: for each output the sum over its inputs. The
 * weights do not matter for size and speed; they are no zeros and no powers of two.
 */
#define W(i)   0.1f + 0.001f * (float)((i) % 97)
#define W4(i)  W(i), W((i) + 1), W((i) + 2), W((i) + 3)
#define W16(i) W4(i), W4((i) + 4), W4((i) + 8), W4((i) + 12)
#define W64(i) W16(i), W16((i) + 16), W16((i) + 32), W16((i) + 48)
#define R4(row, i)                                  \
    { row(i) }, { row((i) + 1) }, { row((i) + 2) }, \
    {                                               \
        row((i) + 3)                                \
    }
#define R16(row, i) R4(row, i), R4(row, (i) + 4), R4(row, (i) + 8), R4(row, (i) + 12)
#define W32(i)      W16(i), W16((i) + 16)

static const float w0[64][16] = { R16(W16, 0), R16(W16, 1), R16(W16, 2), R16(W16, 3) };
static const float w1[32][64] = { R16(W64, 4), R16(W64, 5) };
static const float w2[32][32] = { R16(W32, 6), R16(W32, 7) };
static const float w3[5][32] = { R4(W32, 8), { W32(9) } };
static const float b0[64] = { W64(1) }, b1[32] = { W32(2) }, b2[32] = { W32(3) },
                   b3[5] = { W4(4), W(5) };
static float u[64], v[64];

void plain(const float *x, float *y);

#define LAYER(to, from, w, b, m, n)        \
    for (unsigned o = 0; o < (m); o++) {   \
        float s = 0;                       \
        for (unsigned k = 0; k < (n); k++) \
            s += (from)[k] * (w)[o][k];    \
        (to)[o] = s + (b)[o];              \
    }
#define RELU(to, m)                    \
    for (unsigned o = 0; o < (m); o++) \
        (to)[o] = (to)[o] > 0 ? (to)[o] : 0;

void plain(const float *x, float *y)
{
    LAYER(u, x, w0, b0, 64, 16)
    RELU(u, 64)
    LAYER(v, u, w1, b1, 32, 64)
    RELU(v, 32)
    LAYER(u, v, w2, b2, 32, 32)
    RELU(u, 32)
    LAYER(y, u, w3, b3, 5, 32)
}
