/*
 * t_kernels.c - every kernel: right against a plain loop in double, and the same bits on every
 * instruction set this machine has.
 */
#include "lanes.h"
#include "run_cases.h"

enum { MAX_N = 208, MAX_ROWS = 40 };

static void check_close(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("got %.9g, want %.9g", got, want);
}

static void same_bits(const struct buf *a, const struct buf *b)
{
    assert_memory_equal(a->x, b->x, (size_t)a->n * sizeof(float));
}

/* ---- products ---- */

static void one_gemm(long O, long K, long n, bool add, bool relu)
{
    struct buf x = make(K * n, 1), w = make(O * K, 2), bias = make(O, 3), first = make(O * n, 4);
    struct buf turned = make(O * K, 0);
    const float *rows[MAX_ROWS];
    for (long k = 0; k < K; k++)
        rows[k] = x.x + k * n;
    for (long i = 0; i < O * K; i++)
        turned.x[i % K * O + i / K] = w.x[i];
    EACH_ISA(k)
    {
        struct buf y = make(O * n, 4);
        struct mase_gemm g = { .w = w.x, .bias = bias.x, .rows = rows, .O = O, .K = K };
        g.y = y.x, g.y_stride = n, g.w_stride = K, g.add = add, g.relu = relu;
        k->gemm(&g, 0, n);
        for (long o = 0; o < O; o++)
            for (long i = 0; i < n; i++) {
                double want = add ? first.x[o * n + i] : bias.x[o];
                for (long j = 0; j < K; j++)
                    want += (double)w.x[o * K + j] * x.x[j * n + i];
                check_close(y.x[o * n + i], relu && want < 0 ? 0 : want, 1e-5);
            }
        struct buf parts = make(O * n, 4); /* in two shares of lanes, w read by columns */
        g.y = parts.x, g.w = turned.x, g.w_stride = 1, g.w_step = O;
        mase_kernels_of(MASE_ISA_SCALAR)->gemm(&g, 0, n / 32 * 16);
        k->gemm(&g, n / 32 * 16, n);
        same_bits(&y, &parts);
        drop(&y);
        drop(&parts);
    }
    drop(&x);
    drop(&w);
    drop(&turned);
    drop(&bias);
    drop(&first);
}

static void gemm_is_the_product_on_every_isa(void **state)
{
    (void)state;
    for (long O = 1; O <= 13; O++)
        for (long n = 16; n <= MAX_N; n += 48)
            one_gemm(O, O % 5 * 7 + 1, n, O % 2, O % 3 == 0);
    one_gemm(32, 37, 64, false, false);
}

/* One sample is to the bit what it is in lanes. */
static void gemv_is_gemm_of_one_sample(void **state)
{
    (void)state;
    for (long O = 16; O <= 112; O += 16) {
        const long K = O % 48 + 3, n = 16;
        struct buf x = make(K * n, 1), w = make(K * O, 2), b = make(O, 3), one = make(K, 0);
        const float *rows[64];
        for (long k = 0; k < K; k++) {
            rows[k] = x.x + k * n;
            one.x[k] = x.x[k * n + 5];
        }
        EACH_ISA(k)
        {
            struct buf lanes = make(O * n, 4), y = make(O, 4);
            struct mase_gemm g = { .y = lanes.x, .w = w.x, .bias = b.x, .rows = rows, .O = O };
            g.K = K, g.y_stride = n, g.w_stride = 1, g.w_step = O;
            k->gemm(&g, 0, n);
            k->gemv(y.x, w.x, b.x, one.x, O, K);
            for (long o = 0; o < O; o++)
                assert_true(y.x[o] == lanes.x[o * n + 5]);
            drop(&lanes);
            drop(&y);
        }
        drop(&x);
        drop(&w);
        drop(&b);
        drop(&one);
    }
}

static void one_grad(long O, long K, long P, long n, bool add)
{
    struct buf x = make(K * n, 1), dy = make(O * P * n, 2), first = make(O * K, 3),
               standard = { 0 };
    const float *rows[4 * MAX_ROWS];
    for (long i = 0; i < P * K; i++)
        rows[i] = x.x + (i * 5 + i / K) % K * n; /* any rows will do */
    EACH_ISA(k)
    {
        struct buf dw = make(O * K, 3);
        const struct mase_grad g = { dw.x, dy.x, rows, O, K, P, n, K, P * n, n, add };
        k->grad(&g, 0, O / 2);
        k->grad(&g, O / 2, O);
        for (long i = 0; i < O * K; i++) {
            double want = add ? first.x[i] : 0;
            for (long p = 0; p < P; p++)
                for (long l = 0; l < n; l++)
                    want += (double)dy.x[(i / K * P + p) * n + l] * rows[p * K + i % K][l];
            check_close(dw.x[i], want, 2e-5);
        }
        if (isa == 0)
            standard = dw;
        else {
            same_bits(&dw, &standard);
            drop(&dw);
        }
    }
    drop(&standard);
    drop(&x);
    drop(&dy);
    drop(&first);
}

static void grad_is_the_sum_over_samples(void **state)
{
    (void)state;
    for (long O = 1; O <= 9; O++)
        for (long K = 1; K <= 9; K += 2)
            one_grad(O, K, O % 3 + 1, 16 * (K % 4 + 1), K % 4 == 1);
}

/* ---- sums ---- */

static void moments_leave_the_padding_out(void **state)
{
    (void)state;
    for (long samples = 2; samples <= 150; samples += 37) {
        const long n = (samples + 15) / 16 * 16, rows = samples % 3 + 1;
        struct buf x = make(rows * n, 5), dy = make(rows * n, 6);
        double mean = 0, var = 0, sum = 0, sum_x = 0;
        for (long r = 0; r < rows; r++)
            for (long i = 0; i < n; i++) {
                mean += i < samples ? x.x[r * n + i] : 0;
                dy.x[r * n + i] = i < samples ? dy.x[r * n + i] : 0;
            }
        mean /= (double)(rows * samples);
        for (long r = 0; r < rows; r++)
            for (long i = 0; i < samples; i++) {
                const double d = x.x[r * n + i] - mean;
                var += d * d / (double)(rows * samples);
                sum += dy.x[r * n + i];
                sum_x += dy.x[r * n + i] * d;
            }
        float first[5] = { 0 };
        EACH_ISA(k)
        {
            const struct mase_channel c = { x.x, rows, n, n, samples };
            const struct mase_channel d = { dy.x, rows, n, n, samples };
            float got[5] = { [4] = 1 };
            k->moments(&got[0], &got[1], &c);
            k->norm_sums(&got[2], &got[3], &c, dy.x, got[0]);
            k->row_sum(&got[4], &d, true);
            const double want[5] = { mean, var, sum, sum_x, sum + 1 };
            for (int i = 0; i < 5; i++)
                check_close(got[i], want[i], 2e-5);
            if (isa == 0)
                memcpy(first, got, sizeof first);
            assert_memory_equal(first, got, sizeof first);
        }
        drop(&x);
        drop(&dy);
    }
}

/* ---- rows ---- */

static void exp_is_within_two_ulp(void **state)
{
    (void)state;
    const long n = 4096;
    struct buf x = make(n, 11), first = make(n, 0);
    for (long i = 0; i < n; i++)
        x.x[i] = -90.0f + 179.0f * (float)i / (float)n;
    EACH_ISA(k)
    {
        struct buf y = make(n, 12);
        k->exp_rows(y.x, x.x, n);
        for (long i = 0; i < n; i++)
            if (isinf((float)exp((double)x.x[i])))
                assert_true(y.x[i] == INFINITY);
            else
                check_close(y.x[i] / exp(x.x[i]), x.x[i] < -87.3f ? 0 : 1, 2.5e-7);
        if (isa == 0)
            memcpy(first.x, y.x, (size_t)n * sizeof(float));
        same_bits(&first, &y);
        drop(&y);
    }
    drop(&x);
    drop(&first);
}

/* ---- loss ---- */

struct loss_case {
    long C, samples;
    float smoothing;
    bool weighted;
};

/* The loss of sample i, and d[j] its gradient, in double. */
static double plain_loss(double *d, const struct mase_cross_entropy *c, long i)
{
    double sum = 0, loss = 0, weights = 0;
    const int32_t y = c->label[i];
    for (long j = 0; j < c->C; j++) {
        sum += exp(c->logits[j * c->stride + i]);
        weights += c->weight ? c->weight[j] : 1;
    }
    const double wy = (1 - (double)c->smoothing) * (c->weight ? c->weight[y] : 1);
    const double share = (double)c->smoothing / (double)c->C;
    for (long j = 0; j < c->C; j++) {
        const double nll = log(sum) - c->logits[j * c->stride + i], p = exp(-nll);
        const double wj = c->weight ? c->weight[j] : 1;
        loss += (j == y ? wy * nll : 0) + share * wj * nll;
        d[j] = c->scale * (wy * (p - (j == y)) + share * (p * weights - wj));
    }
    return loss;
}

static void one_loss(const struct loss_case *lc)
{
    const long n = (lc->samples + 15) / 16 * 16;
    struct buf x = make(lc->C * n, 13), weight = make(lc->C, 14), standard = { 0 };
    int32_t label[MAX_N];
    int64_t right = 0;
    for (long i = 0; i < lc->samples; i++) {
        long best = 0;
        for (long j = 1; j < lc->C; j++)
            best = x.x[j * n + i] > x.x[best * n + i] ? j : best;
        label[i] = (int32_t)(i % 3 ? (long)i * 7 % lc->C : best);
        right += label[i] == best;
    }
    for (long j = 0; j < lc->C; j++)
        weight.x[j] = 0.5f + fabsf(weight.x[j]);
    EACH_ISA(k)
    {
        struct buf d = make(lc->C * n + n, 15); /* the gradient, then the losses */
        struct mase_cross_entropy c = { .logits = x.x,
                                        .dlogits = d.x,
                                        .label = label,
                                        .weight = lc->weighted ? weight.x : NULL,
                                        .loss = d.x + lc->C * n,
                                        .C = lc->C,
                                        .n = n,
                                        .samples = lc->samples,
                                        .stride = n,
                                        .scale = 0.25f,
                                        .smoothing = lc->smoothing };
        k->cross_entropy(&c);
        assert_int_equal(c.correct, right);
        for (long i = 0; i < n; i++) {
            double want[MAX_ROWS] = { 0 };
            check_close(c.loss[i], i < lc->samples ? plain_loss(want, &c, i) : 0, 1e-6);
            for (long j = 0; j < lc->C; j++)
                check_close(d.x[j * n + i], want[j], 1e-6);
        }
        if (isa == 0)
            standard = d;
        else {
            same_bits(&standard, &d);
            drop(&d);
        }
    }
    drop(&standard);
    drop(&x);
    drop(&weight);
}

static void cross_entropy_and_its_gradient(void **state)
{
    static const struct loss_case cases[] = {
        { 5, 48, 0, false },     { 5, 37, 0, false },    { 1, 3, 0, false },
        { 10, 16, 0.1f, false }, { 10, 31, 0.2f, true }, { 33, 64, 0.0f, true },
        { 2, 200, 0, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        one_loss(&cases[i]);
}

/* ---- losses of numbers ---- */

/* Three samples of three numbers each: what PyTorch 1.13 says in double of mse_loss, l1_loss,
 * huber_loss with delta 1.5 and binary_cross_entropy_with_logits of targets cut to 0..1. */
static const float loss_x[3][3] = { { 0.5f, -1.25f, 3 }, { 20, -30, 0 }, { -0.75f, 2.5f, 1e-3f } };
static const float loss_t[3][3] = { { 1, -1, 0.25f }, { 0, 1, 1 }, { 0.5f, 2.5f, 0 } };
static const struct {
    const char *name;
    double mean, gradient[9];
} torch_losses[] = {
    { "mse",
      152.38194455555555,
      { -0.111111111, -0.0555555556, 0.611111111, 4.44444444, -6.88888889, -0.222222222,
        -0.277777778, 0, 0.000222222222 } },
    { "l1",
      6.3056666666666672,
      { -0.111111111, -0.111111111, 0.111111111, 0.111111111, -0.111111111, -0.111111111,
        -0.111111111, 0, 0.111111111 } },
    { "huber",
      8.7430556111111102,
      { -0.0555555556, -0.0277777778, 0.166666667, 0.166666667, -0.166666667, -0.111111111,
        -0.138888889, 0, 0.000111111111 } },
    { "bce",
      6.1391276272986444,
      { -0.0419489632, 0.0247444599, 0.0780637919, 0.111111111, -0.111111111, -0.0555555556,
        -0.0199087444, -0.00842868667, 0.0555833333 } },
};

static void losses_of_numbers_are_those_of_pytorch(void **state)
{
    (void)state;
    EACH_ISA(k)
    {
        void (*const run[])(const struct mase_pointwise_loss *) = { k->mse, k->l1, k->huber,
                                                                    k->bce };
        for (int i = 0; i < 4; i++) {
            struct buf x = make(3 * 16, 1), t = make(3 * 16, 2), d = make(4 * 16, 3);
            double sum = 0;
            for (int n = 0; n < 3; n++)
                for (int r = 0; r < 3; r++) {
                    x.x[r * 16 + n] = loss_x[n][r];
                    t.x[r * 16 + n] = i == 3 ? fminf(fmaxf(loss_t[n][r], 0), 1) : loss_t[n][r];
                }
            run[i](&(struct mase_pointwise_loss){ .x = x.x,
                                                  .target = t.x,
                                                  .dx = d.x,
                                                  .loss = d.x + 3 * 16,
                                                  .rows = 3,
                                                  .n = 16,
                                                  .samples = 3,
                                                  .stride = 16,
                                                  .target_stride = 16,
                                                  .scale = 1.0f / 9,
                                                  .delta = 1.5f });
            for (int n = 0; n < 16; n++) {
                sum += d.x[3 * 16 + n];
                for (int r = 0; r < 3; r++)
                    check_close(d.x[r * 16 + n], n < 3 ? torch_losses[i].gradient[3 * n + r] : 0,
                                3e-7);
            }
            check_close(sum / 9, torch_losses[i].mean, 3e-7);
            drop(&x);
            drop(&t);
            drop(&d);
        }
    }
}

/* log softmax(x / T) of sample i, class j, in double. */
static double log_share(const float *x, long stride, long C, long i, long j, double T)
{
    double sum = 0;
    for (long c = 0; c < C; c++)
        sum += exp(x[c * stride + i] / T);
    return x[j * stride + i] / T - log(sum);
}

/* Losses and gradients of one, ones and twos become those of both; padding becomes zero, whatever
 * the teacher has there. */
static void one_distillation(long C, long samples, float temperature)
{
    const long n = (samples + 15) / 16 * 16, apart = n + 16;
    struct buf x = make(C * n, 21), teacher = make(C * apart, 22), standard = { 0 };
    const double T = temperature, keep = 0.375, weight = 1.25, scale = 0.5;
    for (long i = samples; i < n; i++)
        teacher.x[i] = NAN;
    teacher.x[(C - 1) * apart] = C > 1 ? -INFINITY : 0; /* ruled out: counts nothing */
    EACH_ISA(k)
    {
        struct buf d = make(C * n + n, 23); /* the gradient, then the losses */
        for (long i = 0; i < C * n + n; i++)
            d.x[i] = i < C * n ? 2.0f : 1.0f;
        k->distillation(&(struct mase_distillation){ .logits = x.x,
                                                     .teacher = teacher.x,
                                                     .dlogits = d.x,
                                                     .loss = d.x + C * n,
                                                     .C = C,
                                                     .n = n,
                                                     .samples = samples,
                                                     .stride = n,
                                                     .teacher_stride = apart,
                                                     .keep = (float)keep,
                                                     .weight = (float)weight,
                                                     .temperature = temperature,
                                                     .scale = (float)scale });
        for (long i = 0; i < n; i++) {
            double kl = 0;
            for (long j = 0; j < C; j++) {
                const double r = log_share(teacher.x, apart, C, i, j, T);
                const double q = log_share(x.x, n, C, i, j, T);
                kl += exp(r) > 0 ? exp(r) * (r - q) : 0;
                const double want = keep * 2 + weight * scale * T * (exp(q) - exp(r));
                check_close(d.x[j * n + i], i < samples ? want : 0, 2e-6);
            }
            check_close(d.x[C * n + i], i < samples ? keep + weight * T * T * kl : 0, 1e-5);
        }
        if (isa == 0) {
            standard = d;
            continue;
        }
        same_bits(&standard, &d);
        drop(&d);
    }
    drop(&standard);
    drop(&x);
    drop(&teacher);
}

static void distillation_and_its_gradient(void **state)
{
    (void)state;
    one_distillation(5, 48, 2);
    one_distillation(5, 37, 1);
    one_distillation(1, 3, 4);
    one_distillation(10, 31, 0.5f);
    one_distillation(33, 64, 3);
}

/* ---- optimisers ---- */

/* One weight, its moments and its gradient. */
typedef void in_double_fn(double *w, double *m, double *v, double g, const struct mase_optim *o);

static void adam_in_double(double *w, double *m, double *v, double g, const struct mase_optim *o)
{
    *m = o->beta1 * *m + o->take1 * g;
    *v = o->beta2 * *v + o->take2 * g * g;
    *w = o->keep * *w - o->step * *m / (sqrt(*v) * o->root + o->eps);
}

static void sgd_in_double(double *w, double *m, double *v, double g, const struct mase_optim *o)
{
    (void)v;
    *m = o->beta1 * *m + g;
    *w -= o->step * (o->nesterov ? g + o->beta1 * *m : *m);
}

static void nadam_in_double(double *w, double *m, double *v, double g, const struct mase_optim *o)
{
    *m = o->beta1 * *m + o->take1 * g;
    *v = o->beta2 * *v + o->take2 * g * g;
    *w -= (o->step * *m + o->ahead * g) / (sqrt(*v) * o->root + o->eps);
}

static void root_square_in_double(double *w, double *m, double *v, double g,
                                  const struct mase_optim *o)
{
    (void)m;
    *v = o->beta2 * *v + o->take2 * g * g;
    *w -= o->step * g / (sqrt(*v) + o->eps);
}

static void lion_in_double(double *w, double *m, double *v, double g, const struct mase_optim *o)
{
    const double way = o->beta1 * *m + o->take1 * g;
    (void)v;
    *w = o->keep * *w - o->step * ((way > 0) - (way < 0));
    *m = o->beta2 * *m + o->take2 * g;
}

#define OPTIMISER(name)                                       \
    {                                                         \
        offsetof(struct mase_kernels, name), name##_in_double \
    }
static const struct optimiser {
    size_t kernel;
    in_double_fn *in_double;
} optimisers[] = { OPTIMISER(adam), OPTIMISER(sgd), OPTIMISER(nadam), OPTIMISER(root_square),
                   OPTIMISER(lion) };

static void run_optimiser(const struct mase_kernels *k, const struct optimiser *c,
                          const struct mase_optim *o)
{
    void (*run)(const struct mase_optim *);
    memcpy(&run, (const char *)k + c->kernel, sizeof run);
    run(o);
}

static void one_optimiser(const struct optimiser *c, bool variant)
{
    enum { N = 48 };
    struct buf g = make(N, 16), standard = { 0 };
    EACH_ISA(k)
    {
        struct buf s = make(3 * N, 17); /* w, m, v */
        double w[N], m[N], v[N];
        s.x[N] = g.x[0] = 0; /* lion: no way to go */
        for (int i = 0; i < N; i++) {
            w[i] = s.x[i];
            m[i] = s.x[N + i];
            v[i] = s.x[2 * N + i] = fabsf(s.x[2 * N + i]);
        }
        struct mase_optim o = { .w = s.x, .m = s.x + N, .v = s.x + 2 * N, .g = g.x, .n = N };
        o.clip = 0.5f, o.decay = variant ? 0.0f : 0.02f, o.keep = variant ? 0.98f : 1.0f;
        o.beta1 = 0.9f, o.take1 = 0.1f, o.beta2 = 0.999f, o.take2 = 0.001f;
        o.root = 22.0f, o.eps = 1e-8f, o.step = 0.05f, o.ahead = 0.03f, o.nesterov = variant;
        run_optimiser(k, c, &o);
        for (int i = 0; i < N; i++) {
            c->in_double(&w[i], &m[i], &v[i], g.x[i] * o.clip + o.decay * w[i], &o);
            check_close(s.x[i], w[i], 1e-6);
            check_close(s.x[N + i], m[i], 1e-6);
            check_close(s.x[2 * N + i], v[i], 1e-6);
        }
        if (isa == 0)
            standard = s;
        else {
            same_bits(&standard, &s);
            drop(&s);
        }
    }
    drop(&standard);
    drop(&g);
}

static void optimisers_step_as_defined(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof optimisers / sizeof *optimisers; i++) {
        one_optimiser(&optimisers[i], false);
        one_optimiser(&optimisers[i], true);
    }
}

/* ---- table rows ---- */

static void gather_puts_samples_in_lanes(void **state)
{
    (void)state;
    for (long F = 1; F <= 40; F += 13)
        for (long samples = 1; samples <= 70; samples += 23) {
            const long n = (samples + 15) / 16 * 16;
            struct buf table = make(100 * F + 16, 18);
            uint32_t index[MAX_N];
            for (long i = 0; i < samples; i++)
                index[i] = (uint32_t)(i * 37 % 100);
            EACH_ISA(k)
            for (int ordered = 0; ordered < 2; ordered++) {
                struct buf y = make(F * n, 19);
                k->gather(&(struct mase_gather){ y.x, table.x, ordered ? NULL : index, F, n,
                                                 samples, n, F });
                for (long i = 0; i < F * n; i++) {
                    const long s = i % n, row = ordered ? s : (long)index[s < samples ? s : 0];
                    assert_true(y.x[i] == (s < samples ? table.x[row * F + i / n] : 0.0f));
                }
                drop(&y);
            }
            drop(&table);
        }
}

static void the_environment_chooses(void **state)
{
    const struct mase_kernels *k;
    struct mase_err err = { 0 };
    (void)state;
    setenv("MASE_ISA", "scalar", 1);
    assert_int_equal(mase_kernels_select(&k, &err), MASE_OK);
    assert_string_equal(k->isa, "scalar");
    setenv("MASE_ISA", "avx9", 1);
    assert_int_equal(mase_kernels_select(&k, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "MASE_ISA=avx9 is not one of scalar, avx2, avx512, vnni");
    unsetenv("MASE_ISA");
    assert_int_equal(mase_kernels_select(&k, &err), MASE_OK);
}

/* ---- statistics ---- */

static void check_summary(const struct mase_summary *got, const struct mase_channel *c, float from,
                          bool absolute)
{
    double sum = 0, squares = 0, lanes = 0, min = INFINITY, max = -INFINITY;
    for (long i = 0; i < c->samples; i++) {
        double lane = 0;
        for (long r = 0; r < c->count; r++) {
            const float v = c->x[r * c->stride + i], x = absolute ? fabsf(v) : v;
            min = fmin(min, x);
            max = fmax(max, x);
            lane += x - from;
            squares += ((double)x - from) * ((double)x - from);
        }
        sum += lane;
        lanes += lane * lane;
    }
    struct mase_summary all = *got;
    for (int i = 1; i < MASE_LANES; i++) {
        all.min[0] = fminf(all.min[0], all.min[i]);
        all.max[0] = fmaxf(all.max[0], all.max[i]);
        all.sum[0] += all.sum[i];
        all.squares[0] += all.squares[i];
        all.lanes[0] += all.lanes[i];
    }
    assert_true(all.min[0] == min && all.max[0] == max);
    check_close(all.sum[0], sum, 1e-5);
    check_close(all.squares[0], squares, 1e-6);
    check_close(all.lanes[0], lanes, 1e-5);
}

static void a_summary_is_of_the_samples_alone(void **state)
{
    (void)state;
    static const long samples[] = { 1, 15, 16, 17, 63, 64 }, rows[] = { 1, 3, 64, 130 };
    struct buf x = make(130 * 80, 41);
    for (int i = 0; i < 6 * 4 * 2; i++) {
        const struct mase_channel c = { x.x, rows[i / 2 % 4], 80, (samples[i / 8] + 15) / 16 * 16,
                                        samples[i / 8] };
        struct mase_summary first = { 0 };
        EACH_ISA(k)
        {
            struct mase_summary got;
            k->summary(&got, &c, 0.25f, i % 2);
            check_summary(&got, &c, 0.25f, i % 2);
            if (!isa)
                first = got;
            assert_memory_equal(&got, &first, sizeof got);
        }
    }
    x.x[7] = NAN;
    x.x[80] = INFINITY;
    EACH_ISA(k)
    {
        struct mase_summary got;
        k->summary(&got, &(struct mase_channel){ x.x, 2, 80, 64, 64 }, 0, false);
        assert_true(got.max[0] == INFINITY && got.min[7] >= -2 && got.min[7] <= 2);
        assert_false(isfinite(got.squares[7]) || isfinite(got.squares[0]));
    }
    drop(&x);
}

static void bins_hold_every_sample_once(void **state)
{
    (void)state;
    static const struct {
        long rows, samples;
    } shape[] = {
        { 1, 1 }, { 3, 16 }, { 2, 127 }, { 1, 128 }, { 40, 130 }, { 40, 208 }, { 7, 200 }
    };
    struct buf x = make(MAX_ROWS * MAX_N, 42);
    for (long i = 0; i < x.n; i += 3)
        x.x[i] = i % 2 ? -2.0f : 2.0f; /* many alike; the last edge lies in no bin */
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        const struct mase_channel c = { x.x, shape[i].rows, MAX_N, 0, shape[i].samples };
        int64_t want[MASE_BINS] = { 0 };
        for (long r = 0; r < c.count; r++)
            for (long n = 0; n < c.samples; n++)
                if (c.x[r * MAX_N + n] < 2)
                    want[(int)((c.x[r * MAX_N + n] - -2.0) * 16)]++;
        EACH_ISA(k)
        {
            int64_t got[MASE_BINS] = { 0 };
            k->count_bins(got, &c, 16, 32);
            assert_memory_equal(got, want, sizeof got);
        }
    }
    drop(&x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_is_the_product_on_every_isa),
        cmocka_unit_test(gemv_is_gemm_of_one_sample),
        cmocka_unit_test(grad_is_the_sum_over_samples),
        cmocka_unit_test(moments_leave_the_padding_out),
        cmocka_unit_test(exp_is_within_two_ulp),
        cmocka_unit_test(cross_entropy_and_its_gradient),
        cmocka_unit_test(distillation_and_its_gradient),
        cmocka_unit_test(losses_of_numbers_are_those_of_pytorch),
        cmocka_unit_test(optimisers_step_as_defined),
        cmocka_unit_test(gather_puts_samples_in_lanes),
        cmocka_unit_test(a_summary_is_of_the_samples_alone),
        cmocka_unit_test(bins_hold_every_sample_once),
        cmocka_unit_test(the_environment_chooses),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
