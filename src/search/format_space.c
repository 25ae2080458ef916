/*
 * format_space.c - which formats the nodes of a network may have, as dimensions of a space.
 */
#include "search/format_space.h"

#include <string.h>

#include <mase/format.h>

#include "base/number.h"
#include "pass/transform/quantize_parts.h"
#include "search/option_space.h"

/* ---- keys ---- */

bool mase_operand_key(enum mase_operand *o, const char **parameter, const char *key)
{
    for (int i = 0; i < MASE_OPERAND_COUNT; i++) {
        const size_t n = strlen(mase_operand_names[i]);
        if (strncmp(key, mase_operand_names[i], n) != 0 || key[n] != '_')
            continue;
        *o = (enum mase_operand)i;
        *parameter = key + n + 1;
        return true;
    }
    return false;
}

bool mase_format_has_parameter(enum mase_quant_kind kind, const char *parameter)
{
    for (const struct mase_opt *p = kind < MASE_QUANT_COUNT ? mase_quants[kind]->params : NULL;
         p && p->type; p++)
        if (mase_streq(p->key, parameter))
            return true;
    return false;
}

/* The format of an operand in a configuration of single values. */
static enum mase_quant_kind kind_of(const struct mase_value *config, enum mase_operand o)
{
    char key[32];
    mase_snprintf(key, sizeof key, "%s_name", mase_operand_names[o]);
    const struct mase_value *own = mase_value_get(config, key);
    const struct mase_value *name = own ? own : mase_value_get(config, "name");
    return name->kind == MASE_STRING ? mase_quant_find(name->s) : MASE_QUANT_COUNT;
}

/* ---- configurations ---- */

/* Keys of the formats that were not chosen are left out: a list of several formats has the
 * parameters of them all. */
static struct mase_value *without_other_keys(struct mase_arena *a, const struct mase_value *config)
{
    struct mase_value *kept = mase_value_table(a);
    kept->at = config->at;
    for (int i = 0; i < config->count; i++) {
        enum mase_operand o;
        const char *parameter;
        if (mase_operand_key(&o, &parameter, config->keys[i]) && !mase_streq(parameter, "name") &&
            !mase_format_has_parameter(kind_of(config, o), parameter))
            continue;
        mase_value_set(a, kept, config->keys[i], config->items[i]);
        kept->key_at[kept->count - 1] = config->key_at[i];
    }
    return kept;
}

static struct mase_value *combine(struct mase_arena *a, const struct mase_value *lists,
                                  const int *digit)
{
    struct mase_value *config = mase_value_table(a);
    config->at = lists->at;
    for (int i = 0; i < lists->count; i++) {
        mase_value_set(a, config, lists->keys[i], lists->items[i]->items[digit[i]]);
        config->key_at[i] = lists->key_at[i];
    }
    return config;
}

struct mase_value *mase_format_site_combine(struct mase_arena *a, const struct mase_format_site *s,
                                            const int *digit)
{
    return combine(a, s->config, digit);
}

/* {config: ...}, as a section of the quantise pass has it. */
static struct mase_value *section_of(struct mase_arena *a, struct mase_value *config)
{
    struct mase_value *section = mase_value_table(a);
    section->at = config->at;
    mase_value_set(a, section, "config", config);
    return section;
}

enum mase_status mase_format_site_bind(struct mase_decision *d, struct mase_arena *a,
                                       struct mase_value *config, struct mase_node *n,
                                       struct mase_err *err)
{
    const struct mase_rule rule = { .key = n->name,
                                    .at = config->at,
                                    .section = section_of(a, without_other_keys(a, config)) };
    *d = (struct mase_decision){ .node = n, .reason = MASE_SAYS_NA };
    MASE_TRY(mase_quant_check(&rule, err));
    if (mase_quant_is_none(&rule))
        return MASE_OK;
    MASE_TRY(mase_quant_bind(&d->quant, &d->pending, a, &rule, n, err));
    d->reason = d->quant.bypass ? MASE_BYPASSED : MASE_QUANTISED;
    return MASE_OK;
}

/* ---- what decides an operand ---- */

bool mase_format_decides(const char *key, enum mase_operand o)
{
    enum mase_operand of;
    const char *parameter;
    return mase_operand_key(&of, &parameter, key) ? of == o : true;
}

int64_t mase_format_site_index(const struct mase_format_site *s, enum mase_operand o,
                               const int *digit)
{
    int64_t index = 0;
    for (int i = 0; i < s->config->count; i++)
        if (mase_format_decides(s->config->keys[i], o))
            index = index * s->config->items[i]->count + digit[i];
    return index;
}

int64_t mase_format_site_indices(const struct mase_format_site *s, enum mase_operand o)
{
    int64_t count = 1;
    for (int i = 0; i < s->config->count; i++)
        if (mase_format_decides(s->config->keys[i], o) &&
            __builtin_mul_overflow(count, s->config->items[i]->count, &count))
            return INT64_MAX;
    return count;
}

/* ---- the sites of a network ---- */

/* Every choice, with the first of the other keys. */
static enum mase_status check_choices(const struct mase_value *lists, struct mase_node *n,
                                      struct mase_err *err)
{
    struct mase_arena a = { 0 };
    int *digit = mase_new_array(&a, int, (size_t)lists->count);
    enum mase_status st = MASE_OK;
    for (int i = 0; i < lists->count && !st; i++) {
        for (digit[i] = 0; digit[i] < lists->items[i]->count && !st; digit[i]++) {
            struct mase_decision d;
            st = mase_format_site_bind(&d, &a, combine(&a, lists, digit), n, err);
        }
        digit[i] = 0;
    }
    mase_arena_release(&a);
    return st;
}

static void add_site(struct mase_format_space *f, struct mase_space *space, struct mase_arena *a,
                     const struct mase_node *n, const struct mase_value *lists)
{
    f->site = mase_arena_grow(a, f->site, f->sites, &f->cap, sizeof *f->site);
    f->site[f->sites++] = (struct mase_format_site){ .node = mase_arena_strdup(a, n->name),
                                                     .config = lists,
                                                     .first = space->count,
                                                     .combinations = 1 };
    for (int i = 0; i < lists->count; i++) {
        const struct mase_value *list = lists->items[i];
        int64_t *all = &f->site[f->sites - 1].combinations;
        if (__builtin_mul_overflow(*all, list->count, all))
            *all = INT64_MAX;
        mase_space_add_choices(space, a,
                               mase_arena_printf(a, "%s/config/%s", n->name, lists->keys[i]), list);
    }
}

/* The sections with the first of all choices: rules of the quantise pass. */
static struct mase_value *first_choices(struct mase_arena *a, const struct mase_value *seed)
{
    struct mase_value *sections = mase_value_table(a);
    for (int i = 0; i < seed->count; i++) {
        const struct mase_value *lists = mase_value_get(seed->items[i], "config");
        int *digit = mase_new_array(a, int, (size_t)lists->count);
        if (mase_streq(seed->keys[i], "default"))
            continue;
        mase_value_set(a, sections, seed->keys[i],
                       section_of(a, without_other_keys(a, combine(a, lists, digit))));
        sections->key_at[sections->count - 1] = seed->key_at[i];
    }
    return sections;
}

static struct mase_value *default_choices(struct mase_arena *a, const struct mase_value *seed)
{
    const struct mase_value *section = mase_value_get(seed, "default");
    const struct mase_value *lists = section ? mase_value_get(section, "config") : NULL;
    return lists ? section_of(
                       a, without_other_keys(
                              a, combine(a, lists, mase_new_array(a, int, (size_t)lists->count))))
                 : NULL;
}

static const struct mase_format_site *find_site(const struct mase_format_space *f, const char *node)
{
    for (int i = 0; i < f->sites; i++)
        if (mase_streq(f->site[i].node, node))
            return &f->site[i];
    return NULL;
}

static enum mase_status add_sites(struct mase_format_space *f, struct mase_space *space,
                                  struct mase_arena *a, struct mase_rules *r,
                                  const struct mase_graph *g, const struct mase_value *seed,
                                  struct mase_err *err)
{
    MASE_TRY(mase_rules_check_nodes(r, g, err));
    for (struct mase_node *n = g->first; n; n = n->next) {
        struct mase_rule *rule = NULL;
        if (mase_ops[n->op].quantisable)
            MASE_TRY(mase_rules_pick(r, &rule, n, err));
        if (!rule || (n->kind != MASE_CALL_MODULE && n->kind != MASE_CALL_FUNCTION))
            continue;
        const struct mase_value *lists = mase_value_get(mase_value_get(seed, rule->key), "config");
        MASE_TRY(check_choices(lists, n, err));
        const struct mase_format_site *other = find_site(f, n->name);
        if (other && other->config != lists)
            return mase_fail_at(err, MASE_EVALUE, lists->at,
                                "%s falls under different sections in networks of different "
                                "arguments",
                                n->name);
        if (!other)
            add_site(f, space, a, n, lists);
    }
    return MASE_OK;
}

enum mase_status mase_format_space_read(struct mase_format_space *f, struct mase_space *space,
                                        struct mase_arena *a, const struct mase_graph *g,
                                        const char *by, const struct mase_value *seed,
                                        struct mase_err *err)
{
    if (!seed)
        return MASE_OK;
    const struct mase_rules_opts o = { by, "usual", first_choices(a, seed),
                                       default_choices(a, seed) };
    struct mase_rules r = { 0 };
    enum mase_status st = mase_rules_init(&r, a, &o, err);
    if (!st)
        st = add_sites(f, space, a, &r, g, seed, err);
    mase_rules_release(&r);
    return st;
}

/* ---- points ---- */

/* Combinations of more choices than this are bound anew each time. */
enum { MOST_KEPT = 1 << 16 };

void mase_format_choices_init(struct mase_format_choices *c, const struct mase_format_space *f)
{
    *c = (struct mase_format_choices){ .space = f };
    c->made = mase_new_array(&c->arena, struct mase_format_choice *, (size_t)f->sites);
    for (int i = 0; i < f->sites; i++)
        if (f->site[i].combinations <= MOST_KEPT)
            c->made[i] = mase_new_array(&c->arena, struct mase_format_choice,
                                        (size_t)f->site[i].combinations);
}

void mase_format_choices_release(struct mase_format_choices *c)
{
    mase_arena_release(&c->arena);
    *c = (struct mase_format_choices){ 0 };
}

static int64_t combination_of(const struct mase_format_site *s, const double *x)
{
    int64_t n = 0;
    for (int i = 0; i < s->config->count; i++)
        n = n * s->config->items[i]->count + (int64_t)x[s->first + i];
    return n;
}

static int *digits_at(struct mase_arena *a, const struct mase_format_site *s, const double *x)
{
    int *digit = mase_new_array(a, int, (size_t)s->config->count);
    for (int i = 0; i < s->config->count; i++)
        digit[i] = (int)x[s->first + i];
    return digit;
}

/* NULL: float. What calibration found takes the place of what is pending. */
static const struct mase_quant *quant_of(struct mase_arena *a, const struct mase_format_site *s,
                                         const struct mase_decision *d, const int *digit)
{
    if (d->reason == MASE_SAYS_NA)
        return NULL;
    struct mase_quant *q = mase_arena_memdup(a, &d->quant, sizeof d->quant);
    for (int o = 0; o < MASE_OPERAND_COUNT && d->pending; o++)
        if (s->found[o] && q->operand[o])
            q->operand[o] = s->found[o][mase_format_site_index(s, (enum mase_operand)o, digit)];
    return q;
}

enum mase_status mase_format_choose(const struct mase_format_choice **out,
                                    struct mase_format_choices *c, int site, struct mase_node *n,
                                    const double *x, struct mase_err *err)
{
    struct mase_arena *a = &c->arena;
    const struct mase_format_site *s = &c->space->site[site];
    struct mase_format_choice *made = c->made[site] ? &c->made[site][combination_of(s, x)]
                                                    : mase_new(a, struct mase_format_choice);
    struct mase_decision d;
    *out = made;
    if (made->config)
        return MASE_OK;
    const int *digit = digits_at(a, s, x);
    struct mase_value *config = combine(a, s->config, digit);
    MASE_TRY(mase_format_site_bind(&d, a, config, n, err));
    made->quant = quant_of(a, s, &d, digit);
    made->config = config;
    return MASE_OK;
}

/* What the original quantises with where no section fits: nothing. */
static struct mase_value *bypassed(struct mase_arena *a)
{
    static const struct {
        const char *key;
        int value;
    } rows[] = { { "bias_frac_width", 5 }, { "bias_width", 8 },        { "data_in_frac_width", 5 },
                 { "data_in_width", 8 },   { "weight_frac_width", 3 }, { "weight_width", 8 } };
    struct mase_value *config = mase_value_table(a);
    mase_value_set(a, config, "name", mase_value_string(a, "integer"));
    mase_value_set(a, config, "bypass", mase_value_bool(a, true));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        mase_value_set(a, config, rows[i].key, mase_value_int(a, rows[i].value));
    return section_of(a, config);
}

struct mase_value *mase_format_config(struct mase_arena *a, const struct mase_format_space *f,
                                      const double *x)
{
    struct mase_value *all = mase_value_table(a);
    for (int i = 0; i < f->sites; i++)
        mase_value_set(a, all, f->site[i].node,
                       section_of(a, combine(a, f->site[i].config, digits_at(a, &f->site[i], x))));
    mase_value_set(a, all, "default", bypassed(a));
    mase_value_set(a, all, "by", mase_value_string(a, "name"));
    return all;
}
