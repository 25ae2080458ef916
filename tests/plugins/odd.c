/*
 * odd.c - plugins with something wrong; which, the build says.
 */
#include <mase/plugin.h>

#if defined(ODD_looking)
static enum mase_status look(const struct mase_graph *g, const void *opts,
                             struct mase_pass_env *env, struct mase_err *err)
{
    (void)opts, (void)env;
    return mase_fail(err, MASE_EVALUE, "%s: there is nothing to see", g->first->name);
}
#elif !defined(ODD_none) && !defined(ODD_empty)
static enum mase_status run(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)g, (void)opts, (void)env;
#if defined(ODD_lost)
    extern int mase_that_does_not_exist(void);
    return mase_fail(err, MASE_EVALUE, "%d", mase_that_does_not_exist());
#elif defined(ODD_silent)
    (void)err;
    return MASE_EVALUE;
#elif defined(ODD_counting)
    (void)err;
    puts("counted"); /* an effect of its own */
    return MASE_OK;
#else
    return mase_fail(err, MASE_EVALUE, "it was never going to work");
#endif
}
#endif

#if !defined(ODD_none)
static const struct mase_pass odd = {
#if defined(ODD_taken)
    .name = "quantize",
#else
    .name = "odd",
#endif
    .help = "fail",
#if defined(ODD_looking)
    .analyse = look,
#elif !defined(ODD_empty)
    .transform = run,
#endif
};
#endif

#if defined(ODD_old) || defined(ODD_small)
MASE_API extern const struct mase_plugin mase_plugin;
static const struct mase_pass *const passes[] = { &odd, NULL };
#endif

#if defined(ODD_old)
const struct mase_plugin mase_plugin = { 0, sizeof(struct mase_pass), "old", passes };
#elif defined(ODD_small)
const struct mase_plugin mase_plugin = { MASE_PLUGIN_API, 8, "small", passes };
#elif defined(ODD_none)
int not_a_plugin;
#else
MASE_PLUGIN("odd", &odd);
#endif
