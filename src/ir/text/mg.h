/*
 * mg.h - declarations shared by the reader and the writer of .mg, and the reader's tokens.
 *
 * The format is described at the head of mg_parse.c.
 */
#ifndef MASE_IR_TEXT_MG_H
#define MASE_IR_TEXT_MG_H

#include <mase/graph.h>

#define MASE_MG_MAGIC   "mase-graph"
#define MASE_MG_VERSION 1

extern const char *const mase_init_names[]; /* "zeros", "ones", "uniform", "normal" */

enum mase_mg_kind {
    MASE_MG_END,
    MASE_MG_NEWLINE, /* not inside of brackets */
    MASE_MG_WORD,    /* module, seq_blocks.0, torch.float32 */
    MASE_MG_NODE,    /* %x; text is x */
    MASE_MG_INT,
    MASE_MG_FLOAT,
    MASE_MG_TEXT, /* 'text', escapes resolved */
    MASE_MG_MARK, /* one of ( ) [ ] { } , : = */
};

struct mase_mg_token {
    enum mase_mg_kind kind;
    struct mase_loc at;
    const char *text; /* in the lexer's arena; of a mark, that one character */
    int64_t i;
    double f;
};

struct mase_mg_lexer {
    struct mase_arena *arena; /* for the texts of tokens */
    const char *path, *pos, *end, *line_start;
    int line;
    int depth;              /* open brackets */
    bool numbered;          /* names of nodes may be numbers, as those of a program's values */
    struct mase_mg_token t; /* the current token */
    struct mase_err *err;
};

/* Read the next token into lx->t. */
enum mase_status mase_mg_next(struct mase_mg_lexer *lx) MASE_MUST_CHECK;
/* Append the current token as a message names it: "'fc'", "the end of the line". */
void mase_mg_describe(struct mase_str *out, const struct mase_mg_token *t);

/* ---- the parser (mg_parse.c, mg_value.c, mg_quant.c) ---- */

struct mase_mg_parser {
    struct mase_mg_lexer lx;
    struct mase_arena scratch; /* tokens and values */
    struct mase_graph *g;
    struct mase_err *err;
    int depth;                 /* of nested values */
    bool ended_with_comma;     /* the last list of items ended with a comma, as (1,) does */
    bool takes_atoms;          /* a bare word may be an argument of a call */
    int64_t bytes;             /* of weights asked for so far */
    struct mase_mg_tied *ties; /* ties read so far: the other name may follow later */
    int tie_count, tie_cap;
    struct mase_node *before; /* insert nodes before this; NULL: before the output, or at the end */
    struct mase_node *added;  /* the last one */
};

/* Make p read text into g, errors at this path. */
void mase_mg_begin(struct mase_mg_parser *p, struct mase_graph *g, const char *text, size_t size,
                   const char *path, struct mase_err *err);
/* One statement, whose first token is the current one. */
enum mase_status mase_mg_statement(struct mase_mg_parser *p) MASE_MUST_CHECK;

enum mase_status mase_mg_fail(struct mase_mg_parser *p, const char *fmt, ...) MASE_PRINTF(2, 3);
/* Fail with "expected WHAT, got TOKEN". */
enum mase_status mase_mg_expected(struct mase_mg_parser *p, const char *what);
/* Is the current token this mark or word? */
bool mase_mg_at(const struct mase_mg_parser *p, const char *mark_or_word);
/* Skip this mark or word, or fail. */
enum mase_status mase_mg_need(struct mase_mg_parser *p, const char *mark_or_word) MASE_MUST_CHECK;
/* The first line, "mase-graph 1". what: "a graph". */
enum mase_status mase_mg_magic(struct mase_mg_parser *p, const char *what, const char *magic,
                               int version) MASE_MUST_CHECK;
/* All further lines, one statement each. */
typedef enum mase_status mase_mg_line_fn(struct mase_mg_parser *p, void *data);
enum mase_status mase_mg_lines(struct mase_mg_parser *p, mase_mg_line_fn *line,
                               void *data) MASE_MUST_CHECK;
/* A name, path or target: a word, a number that is part of a path, or a quoted text. */
enum mase_status mase_mg_label(struct mase_mg_parser *p, const char **label,
                               const char *what) MASE_MUST_CHECK;

/* Any value; texts and items live in scratch. */
enum mase_status mase_mg_value(struct mase_mg_parser *p, struct mase_arg *v) MASE_MUST_CHECK;
/* Items up to the closing mark; named as "name=value" after the positional ones, when kwargs is
 * given. The opening mark is still the current token. */
enum mase_status mase_mg_items(struct mase_mg_parser *p, struct mase_arg *seq,
                               struct mase_arg *kwargs, const char *close) MASE_MUST_CHECK;
/* f32[8, 16] */
enum mase_status mase_mg_tensor_type(struct mase_mg_parser *p,
                                     struct mase_tensor *t) MASE_MUST_CHECK;
/* zeros, uniform(0.5), [1, 2] ... (mg_param.c) */
enum mase_status mase_mg_start(struct mase_mg_parser *p, struct mase_param *param) MASE_MUST_CHECK;
/* {weight: zeros, ...} */
enum mase_status mase_mg_starts(struct mase_mg_parser *p, struct mase_module *m) MASE_MUST_CHECK;
/* {weight, bias} */
enum mase_status mase_mg_frozen(struct mase_mg_parser *p, struct mase_module *m) MASE_MUST_CHECK;
/* {weight: embed.weight, ...}, and the name after "tied" of an attribute */
enum mase_status mase_mg_ties(struct mase_mg_parser *p, struct mase_module *m) MASE_MUST_CHECK;
enum mase_status mase_mg_tie(struct mase_mg_parser *p, const char *path) MASE_MUST_CHECK;
/* All that were read, when the graph is complete. */
enum mase_status mase_mg_tie_all(struct mase_mg_parser *p) MASE_MUST_CHECK;
/* {name: 'integer', data_in_width: 8, ...} */
enum mase_status mase_mg_quant(struct mase_mg_parser *p, struct mase_quant *q) MASE_MUST_CHECK;

#endif /* MASE_IR_TEXT_MG_H */
