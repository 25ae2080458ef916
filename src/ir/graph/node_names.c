/*
 * node_names.c - torch.fx's rules for the names of nodes.
 *
 * A name starts from the target: the function's own name, or the whole path, in snake case with
 * every run of other characters as one underscore. A trailing _<digits> is a number; when the name
 * is taken or reserved, the number counts up, from where it stood for that base.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph/node_names.h"

#include "base/number.h"

/* Python 3.10's keywords and builtins, and what torch.fx's generated code uses; sorted. */
/* clang-format off */
static const char *const reserved[] = {
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BlockingIOError",
    "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError",
    "Exception", "False", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning",
    "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError",
    "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "None",
    "NoneType", "NotADirectoryError", "NotImplemented", "NotImplementedError", "OSError",
    "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError",
    "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError",
    "SystemExit", "TabError", "TimeoutError", "True", "TypeError", "UnboundLocalError",
    "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError",
    "UnicodeWarning", "UserWarning", "ValueError", "Warning", "ZeroDivisionError",
    "__build_class__", "__debug__", "__doc__", "__import__", "__loader__", "__name__",
    "__package__", "__spec__", "abs", "aiter", "all", "and", "anext", "any", "as", "ascii",
    "assert", "async", "await", "bin", "bool", "break", "breakpoint", "bytearray", "bytes",
    "callable", "chr", "class", "classmethod", "compile", "complex", "continue", "copyright",
    "credits", "def", "del", "delattr", "device", "dict", "dir", "divmod", "elif", "else",
    "enumerate", "eval", "except", "exec", "exit", "filter", "finally", "float", "for", "format",
    "from", "frozenset", "fx_pytree", "getattr", "global", "globals", "hasattr", "hash", "help",
    "hex", "id", "if", "import", "in", "inf", "input", "int", "is", "isinstance", "issubclass",
    "iter", "lambda", "len", "license", "list", "locals", "map", "max", "memoryview", "min", "nan",
    "next", "nonlocal", "not", "object", "oct", "open", "or", "ord", "pass", "pow", "print",
    "property", "pytree", "quit", "raise", "range", "repr", "return", "reversed", "round", "set",
    "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "torch", "try", "tuple",
    "type", "vars", "while", "with", "yield", "zip",
};
/* clang-format on */

static int compare_text(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

bool mase_name_is_reserved(const char *name)
{
    return bsearch(name, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved,
                   compare_text);
}

bool mase_name_is_identifier(const char *name)
{
    if (mase_is_digit(*name) || !*name)
        return false;
    for (; *name; name++)
        if (!mase_is_alnum(*name) && *name != '_')
            return false;
    return true;
}

struct mase_names *mase_names_new(struct mase_arena *arena, struct mase_intern *intern)
{
    struct mase_names *names = mase_new(arena, struct mase_names);
    names->arena = arena;
    names->intern = intern;
    names->map.arena = arena;
    return names;
}

static struct mase_name *entry(struct mase_names *names, const char *text)
{
    struct mase_name *e = mase_map_get(&names->map, text);
    if (e)
        return e;
    e = mase_new(names->arena, struct mase_name);
    e->text = mase_intern(names->intern, text);
    mase_map_put(&names->map, e->text, e);
    *(names->last ? &names->last->next : &names->first) = e;
    names->last = e;
    return e;
}

/* ---- from target to candidate ---- */

void mase_names_candidate(struct mase_str *out, enum mase_node_kind kind, const char *target)
{
    const char *dot = strrchr(target, '.');
    const char *s = kind == MASE_CALL_FUNCTION && dot ? dot + 1 : target;
    size_t n = strlen(s);
    bool prev_lower = false;

    if (mase_starts_with(s, "__") && mase_ends_with(s, "__")) {
        s += 2;
        n = n > 4 ? n - 4 : 0;
    }
    for (size_t i = 0; i < n; i++) {
        const char c = s[i];
        if (prev_lower && mase_is_upper(c))
            mase_str_addc(out, '_');
        mase_str_addc(out, mase_to_lower(c));
        prev_lower = mase_is_lower(c);
    }
}

/* ---- from candidate to name ---- */

static void legalise(struct mase_str *out, const char *candidate)
{
    if (mase_is_digit(*candidate))
        mase_str_addc(out, '_');
    for (bool in_run = false; *candidate; candidate++) {
        bool legal = mase_is_alnum(*candidate) || *candidate == '_';
        if (legal || !in_run)
            mase_str_addc(out, legal ? *candidate : '_');
        in_run = !legal;
    }
    if (!out->len)
        mase_str_add(out, "_unnamed");
}

/* Cut "base_12" into base and 12; -1 when there is no number. A number too long to count with is
 * part of the base. */
static int64_t split_number(struct mase_str *name)
{
    size_t end = name->len;
    while (end > 0 && mase_is_digit(name->data[end - 1]))
        end--;
    size_t digits = name->len - end;
    if (!digits || digits > 15 || !end || name->data[end - 1] != '_')
        return -1;
    int64_t number = strtoll(name->data + end, NULL, 10);
    name->len = end - 1;
    name->data[name->len] = '\0';
    return number;
}

static bool is_free(const struct mase_names *names, const char *text)
{
    const struct mase_name *e = mase_map_get(&names->map, text);
    return !(e && e->used) && !mase_name_is_reserved(text);
}

/* The next number to try behind a base when base_NUMBER, the text, is taken. All names from there
 * to its own `skip` are known to be taken, too: a module that is called over and over is not
 * counted up from its first call each time. */
static int64_t next_number(const struct mase_names *names, const char *text, int64_t number)
{
    const struct mase_name *e = mase_map_get(&names->map, text);
    return e && e->skip > number ? e->skip : number + 1;
}

const char *mase_names_make(struct mase_names *names, const char *candidate)
{
    struct mase_str base_text = { 0 }, text = { 0 };
    legalise(&base_text, candidate);
    int64_t number = split_number(&base_text);
    struct mase_name *base = entry(names, mase_str_text(&base_text));

    mase_str_add(&text, base->text);
    bool numbered = number > 0; /* the text is base_NUMBER */
    struct mase_name *first = NULL;
    if (number >= 0)
        mase_str_printf(&text, "_%lld", (long long)number);
    if (number <= 0)
        number = base->count;
    for (; !is_free(names, mase_str_text(&text)); numbered = true) {
        first = first || !numbered ? first : mase_map_get(&names->map, mase_str_text(&text));
        number = numbered ? next_number(names, mase_str_text(&text), number) : number + 1;
        mase_str_cut(&text, strlen(base->text));
        mase_str_printf(&text, "_%lld", (long long)number);
    }
    base->count = number;
    if (first)
        first->skip = number + 1;

    struct mase_name *e = entry(names, mase_str_text(&text));
    e->used = true;
    mase_str_release(&base_text);
    mase_str_release(&text);
    return e->text;
}

const char *mase_names_take(struct mase_names *names, const char *name)
{
    struct mase_name *e = entry(names, name);
    if (e->used && e->node)
        return NULL;
    e->used = true; /* again, if the node of this name was erased */

    struct mase_str base = { 0 };
    mase_str_add(&base, name);
    int64_t number = split_number(&base);
    if (number > 0)
        entry(names, mase_str_text(&base))->count = number;
    mase_str_release(&base);
    return e->text;
}

void mase_names_set_node(struct mase_names *names, const char *name, struct mase_node *node)
{
    entry(names, name)->node = node;
}

struct mase_node *mase_names_node(const struct mase_names *names, const char *name)
{
    const struct mase_name *e = mase_map_get(&names->map, name);
    return e ? e->node : NULL;
}

void mase_names_copy(struct mase_names *dst, const struct mase_names *src)
{
    for (const struct mase_name *e = src->first; e; e = e->next) {
        struct mase_name *copy = entry(dst, e->text);
        copy->used = e->used;
        copy->count = e->count;
    }
}
