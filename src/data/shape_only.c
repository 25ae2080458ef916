/*
 * shape_only.c - a dataset without data: the shape of a sample, "shape:3,224,224".
 * Those of further inputs may follow, "shape:3,224,224;10", and the number of classes:
 * "shape:3,224,224:1000".
 */
#include <stdlib.h>

#include "data/dataset_parts.h"

static enum mase_status fail_shape(const char *text, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE,
                     "'%s' is no shape of a sample; expected up to %d whole numbers above 0, "
                     "separated by commas, as 3,224,224, those of at most %d further inputs behind "
                     "semicolons, and the number of classes behind a colon",
                     text, MASE_MAX_RANK - 1, (int)MASE_MORE_INPUTS);
}

/* Parse a positive integer and advance; 0: none. */
static int64_t count_at(const char **p)
{
    char *end;
    if (**p < '0' || **p > '9')
        return 0;
    const long long v = strtoll(*p, &end, 10);
    *p = end;
    return v < INT32_MAX ? v : 0;
}

/* Parse lengths and advance; false: none or too many. */
static bool shape_at(struct mase_shape *s, const char **p)
{
    *s = (struct mase_shape){ 0 };
    do {
        *p += s->rank > 0; /* the comma */
        const int64_t n = s->rank < MASE_MAX_RANK - 1 ? count_at(p) : 0;
        if (n < 1)
            return false;
        s->dim[s->rank++] = n;
    } while (**p == ',');
    return true;
}

enum mase_status mase_open_shape(struct mase_dataset *d, const struct mase_dataset_opts *opts,
                                 const char *text, struct mase_err *err)
{
    struct mase_data_info *info = &d->info.data;
    const char *p = text;
    (void)opts;
    if (!shape_at(&info->sample, &p))
        return fail_shape(text, err);
    while (*p == ';') {
        p++;
        if (info->more_count == MASE_MORE_INPUTS || !shape_at(&info->more[info->more_count++], &p))
            return fail_shape(text, err);
    }
    const bool classes = *p == ':';
    if (classes) {
        p++;
        d->info.data.classes = (int)count_at(&p);
    }
    if (*p || (classes && !d->info.data.classes))
        return fail_shape(text, err);
    d->info.data.help = "a shape without data";
    d->info.source = "given";
    return MASE_OK;
}
