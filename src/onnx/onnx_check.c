/*
 * onnx_check.c - the rules of ONNX, asked of a model as a file has it (onnx_check.h).
 *
 * The bytes are read anew, so what is checked is what others will read. Lengths that follow the
 * samples are checked for two numbers of them.
 */
#include "onnx/onnx_check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <mase/str.h>

#include "base/number.h"
#include "program/program_parts.h"

/* ---- signatures ---- */

enum {
    FLOAT = 1,
    UINT8,
    INT8,
    UINT16,
    INT16,
    INT32,
    INT64,
    BOOL = 9,
    FLOAT16,
    DOUBLE,
    UINT32,
    UINT64
};
#define TYPE(t)        (1u << (t))
#define OLD_FLOATS     (TYPE(FLOAT) | TYPE(FLOAT16) | TYPE(DOUBLE))
#define FLOATS         (OLD_FLOATS | TYPE(16)) /* bfloat16 */
#define PRODUCTS       (FLOATS | TYPE(INT32) | TYPE(INT64) | TYPE(UINT32) | TYPE(UINT64))
#define BYTES          (TYPE(INT8) | TYPE(UINT8))
#define WORDS          (TYPE(INT16) | TYPE(UINT16))
#define NUMBERS        (PRODUCTS | BYTES | WORDS)
#define SIGNED_NUMBERS (FLOATS | TYPE(INT8) | TYPE(INT16) | TYPE(INT32) | TYPE(INT64))
#define POWERS         (FLOATS | TYPE(INT32) | TYPE(INT64))
#define POOLED         (OLD_FLOATS | BYTES)
#define REDUCED        (PRODUCTS | BYTES)
#define ANY            (NUMBERS | TYPE(BOOL))

static const struct signature {
    const char *domain, *op;
    int since;
    const char *takes, *gives;
    unsigned t, u;
    const char *attributes;
    mase_oc_shape_fn *shape;
} signatures[] = {
#define CHECK(op, since, takes, gives, T, U, attributes, shape) \
    { "", #op, since, takes, gives, T, U, attributes, mase_oc_##shape },
#define QONNX(op, takes, gives, attributes, shape) \
    { "qonnx.custom_op.general", #op, 1, takes, gives, 0, 0, attributes, mase_oc_##shape },
#include "onnx/check.def"
};

static const struct signature *find_signature(const struct mase_onnx_node *n, int64_t opset)
{
    const struct signature *found = NULL;
    for (size_t k = 0; k < sizeof signatures / sizeof *signatures; k++) {
        const struct signature *s = &signatures[k];
        if (mase_streq(s->op, n->op_type) && mase_streq(s->domain, n->domain) &&
            s->since <= opset && (!found || s->since > found->since))
            found = s;
    }
    return found;
}

/* ---- faults ---- */

struct check {
    const struct mase_onnx_model *model;
    struct mase_arena arena;
    struct mase_map values;
    int64_t samples; /* N */
    int node;        /* the current node; -1: none */
    struct mase_err *err;
};

static enum mase_status fault(const struct check *c, const char *fmt, ...) MASE_PRINTF(2, 3);
static enum mase_status fault(const struct check *c, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    mase_vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (c->node < 0)
        return mase_fail(c->err, MASE_EUNSUPPORTED, "%s", text);
    const struct mase_onnx_node *n = &c->model->graph->node.items[c->node];
    return mase_fail(c->err, MASE_EUNSUPPORTED, "%s (%s): %s", n->name ? n->name : "", n->op_type,
                     text);
}

bool mase_oc_fail(struct mase_oc_node *n, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    mase_vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)mase_fail(n->err, MASE_EUNSUPPORTED, "%s (%s): %s", n->node->name, n->node->op_type,
                    text);
    return false;
}

/* ---- attributes ---- */

static const struct mase_onnx_attribute *attribute_of(const struct mase_onnx_node *n,
                                                      const char *name)
{
    for (int k = 0; k < n->attribute.count; k++)
        if (mase_streq(n->attribute.items[k].name, name))
            return &n->attribute.items[k];
    return NULL;
}

int64_t mase_oc_int(const struct mase_oc_node *n, const char *name, int64_t dflt)
{
    const struct mase_onnx_attribute *a = attribute_of(n->node, name);
    return a ? a->i : dflt;
}

const int64_t *mase_oc_ints(const struct mase_oc_node *n, const char *name, int *count)
{
    const struct mase_onnx_attribute *a = attribute_of(n->node, name);
    *count = a ? a->ints.count : 0;
    return a ? a->ints.items : NULL;
}

/* The type letter of an attribute in a signature; 0: unknown attribute. */
static char letter_of(const struct signature *s, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = s->attributes; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, length) == 0 && at[length] == ':')
            return at[length + 1];
    return 0;
}

static enum mase_status check_attributes(const struct check *c, const struct signature *s,
                                         const struct mase_onnx_node *n)
{
    static const struct {
        char letter;
        int type;
    } types[] = { { 'f', 1 }, { 'i', 2 }, { 's', 3 }, { 'I', 7 } };
    for (int k = 0; k < n->attribute.count; k++) {
        const struct mase_onnx_attribute *a = &n->attribute.items[k];
        const char letter = letter_of(s, a->name);
        bool right = false;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            right |= types[t].letter == letter && types[t].type == a->type;
        if (!letter)
            return fault(c, "it has no attribute '%s'", a->name);
        if (!right)
            return fault(c, "its attribute '%s' is of another type", a->name);
        if (attribute_of(n, a->name) != a)
            return fault(c, "its attribute '%s' is given twice", a->name);
    }
    for (const char *at = s->attributes; *at; at += strcspn(at, " "), at += *at == ' ') {
        const size_t length = strcspn(at, ":");
        char name[40];
        mase_snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (at[length + 2] == '!' && !attribute_of(n, name))
            return fault(c, "its attribute '%s' is missing", name);
    }
    return MASE_OK;
}

/* ---- types of operands ---- */

/* Is the type allowed for a signature's letter? *bound: the types found for T and U so far. */
static bool allows(const struct signature *s, char letter, int64_t type, int64_t bound[2])
{
    if (letter == 'L' || letter == 'S')
        return type == (letter == 'L' ? INT64 : FLOAT);
    int64_t *is = &bound[letter == 'U'];
    if (type < 0 || type > 31 || !((letter == 'U' ? s->u : s->t) >> type & 1) ||
        (*is && *is != type))
        return false;
    *is = type;
    return true;
}

/* The letter of operand i of a signature; 0: it has no operand i. */
static char operand(const char *takes, int i, bool *may_be_absent)
{
    const char *at = takes;
    *may_be_absent = false;
    for (; *at; i--) {
        const char mark = at[1];
        if (mark == '*' || i == 0) {
            *may_be_absent = mark == '?';
            return *at;
        }
        at += mark == '?' ? 2 : 1;
    }
    return 0;
}

static enum mase_status check_operands(const struct check *c, const struct signature *s,
                                       const struct mase_oc_node *n, int64_t bound[2])
{
    bool may_be_absent;
    for (int i = 0; i < n->count; i++) {
        const char letter = operand(s->takes, i, &may_be_absent);
        if (!letter)
            return fault(c, "%d inputs are too many", n->count);
        if (!n->in[i] && !may_be_absent)
            return fault(c, "input %d is missing", i);
        if (n->in[i] && !allows(s, letter, n->in[i]->type, bound))
            return fault(c, "its input '%s' is of type %s, which is not allowed there",
                         n->node->input.items[i], mase_onnx_type_name(n->in[i]->type));
    }
    if (operand(s->takes, n->count, &may_be_absent) && !may_be_absent &&
        !(strchr(s->takes, '*') && n->count > 0))
        return fault(c, "%d inputs are too few", n->count);
    return MASE_OK;
}

/* ---- values ---- */

static enum mase_status define(struct check *c, const char *name, const struct mase_oc_value *v)
{
    if (!name || !*name)
        return fault(c, "a value has no name");
    if (mase_map_get(&c->values, name))
        return fault(c, "the name '%s' is taken", name);
    mase_map_put(&c->values, mase_arena_strdup(&c->arena, name),
                 mase_arena_memdup(&c->arena, v, sizeof *v));
    return MASE_OK;
}

static enum mase_status check_tensor(struct check *c, const struct mase_onnx_tensor *t)
{
    struct mase_oc_value v = { .type = t->data_type, .shape.rank = t->dims.count, .init = t };
    enum mase_dtype dtype;
    if (t->dims.count > MASE_MAX_RANK || !mase_onnx_dtype(&dtype, t->data_type))
        return fault(c, "the tensor '%s' is of a type or rank that we do not write", t->name);
    for (int d = 0; d < t->dims.count; d++)
        v.shape.dim[d] = t->dims.items[d];
    if ((uint64_t)mase_shape_count(&v.shape) * (uint64_t)mase_dtypes[dtype].size !=
        t->raw_data.size)
        return fault(c, "the tensor '%s' has %zu bytes, which its shape does not say", t->name,
                     t->raw_data.size);
    return define(c, t->name, &v);
}

/* A number, or N, Nx4, N-1 for N samples. */
static bool length_of(const struct check *c, const struct mase_onnx_dimension *d, int64_t *length)
{
    struct mase_extent e = { .plus = d->dim_value };
    if (!mase_onnx_has(&d->head, 1) && (!d->dim_param || !mase_extent_parse(d->dim_param, &e)))
        return false;
    *length = mase_extent_at(e, c->samples);
    return *length >= 0;
}

static enum mase_status read_info(struct check *c, struct mase_oc_value *v,
                                  const struct mase_onnx_value_info *info)
{
    const struct mase_onnx_tensor_type *t = info->type ? info->type->tensor_type : NULL;
    *v = (struct mase_oc_value){ 0 };
    if (!t || !t->shape || !mase_onnx_has(&t->head, 1) || t->shape->dim.count > MASE_MAX_RANK)
        return fault(c, "'%s' has no type and shape", info->name);
    v->type = t->elem_type;
    v->shape.rank = t->shape->dim.count;
    for (int d = 0; d < v->shape.rank; d++)
        if (!length_of(c, &t->shape->dim.items[d], &v->shape.dim[d]))
            return fault(c, "a length of '%s' is no number, nor follows the samples", info->name);
    return MASE_OK;
}

/* ---- nodes ---- */

static enum mase_status set_type(const struct check *c, const struct signature *s,
                                 struct mase_oc_node *n, const int64_t bound[2])
{
    const struct mase_onnx_attribute *to = attribute_of(n->node, "to");
    const char gives = s->gives[0];
    n->out.type = gives == 'S' ? FLOAT : gives == 'L' ? INT64 : to ? to->i : bound[gives == 'U'];
    if (gives == 'U' && !n->out.type)
        n->out.type = UINT8; /* a constant with codes and without a zero point */
    const unsigned may = gives == 'T' ? s->t : gives == 'U' ? s->u : ~0u;
    if (n->out.type < 1 || n->out.type > 31 || !(may >> n->out.type & 1))
        return fault(c, "type %s is none that it gives", mase_onnx_type_name(n->out.type));
    return MASE_OK;
}

static enum mase_status check_node(struct check *c, const struct mase_onnx_node *node,
                                   int64_t opset)
{
    const struct signature *s = find_signature(node, opset);
    const int count = node->input.count;
    const struct mase_oc_value **in =
        mase_new_array(&c->arena, const struct mase_oc_value *, (size_t)count + 1);
    struct mase_oc_node n = { .node = node, .in = in, .count = count, .err = c->err };
    int64_t bound[2] = { 0, 0 };
    if (!s)
        return fault(c, "opset %lld has no such operation, or we do not write it",
                     (long long)opset);
    for (int i = 0; i < count; i++) {
        in[i] = mase_map_get(&c->values, node->input.items[i]);
        if (!in[i] && *node->input.items[i])
            return fault(c, "its input '%s' is made by no node before it", node->input.items[i]);
    }
    MASE_TRY(check_attributes(c, s, node));
    MASE_TRY(check_operands(c, s, &n, bound));
    MASE_TRY(set_type(c, s, &n, bound));
    if (!s->shape(&n))
        return MASE_EUNSUPPORTED;
    if (node->output.count != 1)
        return fault(c, "it has %d outputs, not 1", node->output.count);
    return define(c, node->output.items[0], &n.out);
}

static enum mase_status check_output(struct check *c, const struct mase_onnx_value_info *info)
{
    const struct mase_oc_value *v = info->name ? mase_map_get(&c->values, info->name) : NULL;
    struct mase_oc_value said;
    MASE_TRY(read_info(c, &said, info));
    if (!v)
        return fault(c, "nothing makes the output '%s'", info->name ? info->name : "");
    if (v->type != said.type)
        return fault(c, "the output '%s' is of type %s, not %s", info->name,
                     mase_onnx_type_name(v->type), mase_onnx_type_name(said.type));
    if (!mase_shape_equal(&v->shape, &said.shape))
        return fault(c, "the output '%s' is said to be of another shape than it is", info->name);
    return MASE_OK;
}

/* ---- models ---- */

static enum mase_status find_opset(const struct check *c, const char *domain, int64_t *opset)
{
    const struct mase_onnx_model *m = c->model;
    *opset = 0;
    for (int k = 0; k < m->opset_import.count; k++)
        if (mase_streq(m->opset_import.items[k].domain, domain))
            *opset = m->opset_import.items[k].version;
    return *opset > 0 ? MASE_OK : fault(c, "there is no opset of the domain '%s'", domain);
}

/* The first IR version that has an opset. */
static int64_t least_ir(int64_t opset)
{
    return opset >= 21 ? 10 : opset >= 19 ? 9 : 8;
}

static enum mase_status check_graph(struct check *c)
{
    const struct mase_onnx_graph *g = c->model->graph;
    int64_t opset, own;
    struct mase_oc_value v;
    MASE_TRY(find_opset(c, "", &own));
    if (!mase_onnx_has(&c->model->head, 1) || c->model->ir_version < least_ir(own))
        return fault(c, "version %lld of the format has no opset %lld",
                     (long long)c->model->ir_version, (long long)own);
    if (!g->name || !*g->name)
        return fault(c, "the graph has no name");
    for (int k = 0; k < g->input.count; k++) {
        MASE_TRY(read_info(c, &v, &g->input.items[k]));
        MASE_TRY(define(c, g->input.items[k].name, &v));
    }
    for (int k = 0; k < g->initializer.count; k++)
        MASE_TRY(check_tensor(c, &g->initializer.items[k]));
    for (c->node = 0; c->node < g->node.count; c->node++) {
        const struct mase_onnx_node *n = &g->node.items[c->node];
        MASE_TRY(find_opset(c, n->domain, &opset));
        MASE_TRY(check_node(c, n, opset));
    }
    c->node = -1;
    if (g->output.count < 1)
        return fault(c, "there is no output");
    for (int k = 0; k < g->output.count; k++)
        MASE_TRY(check_output(c, &g->output.items[k]));
    return MASE_OK;
}

enum mase_status mase_onnx_check(int *node, const void *data, size_t size, struct mase_err *err)
{
    static const int64_t samples[] = { 2, 3 };
    struct mase_onnx_file f;
    enum mase_status st = mase_onnx_file_parse(&f, data, size, "model", err);
    *node = -1;
    if (st)
        return st;
    for (size_t k = 0; !st && k < sizeof samples / sizeof *samples; k++) {
        struct check c = { .model = f.model, .samples = samples[k], .node = -1, .err = err };
        c.values.arena = &c.arena;
        st = check_graph(&c);
        *node = c.node;
        mase_arena_release(&c.arena);
    }
    mase_onnx_file_close(&f);
    return st;
}
