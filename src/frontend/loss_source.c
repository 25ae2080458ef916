/*
 * loss_source.c - a user's own loss, from its text (loss_source.h).
 */
#include "frontend/loss_source.h"

#include <string.h>

bool mase_loss_is_own(const char *text)
{
    return mase_model_is_file(text) || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-")];
}

enum mase_status mase_loss_check(const char *text, struct mase_err *err)
{
    struct mase_graph *g;
    if (mase_model_is_file(text))
        return MASE_OK;
    MASE_TRY(mase_loss_parse(&g, text, err));
    mase_graph_free(g);
    return MASE_OK;
}

enum mase_status mase_loss_open(struct mase_graph **g, const char *text,
                                const struct mase_data_info *output,
                                const struct mase_tensor *target, struct mase_err *err)
{
    const struct mase_model_opts opts = { .target = target };
    if (mase_model_is_file(text))
        MASE_TRY(mase_model_open(g, text, output, &opts, err));
    else
        MASE_TRY(mase_loss_parse(g, text, err));
    mase_graph_alloc(*g);
    mase_graph_init_weights(*g, 0);
    return MASE_OK;
}
