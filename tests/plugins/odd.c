/*
 * odd.c - plugins with something wrong; which, the build says.
 */
#include <mase/plugin.h>

#if !defined(ODD_none) && !defined(ODD_empty)
static enum mase_status run(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)g, (void)opts, (void)env;
    return mase_fail(err, MASE_EVALUE, "it was never going to work");
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
#if !defined(ODD_empty)
    .transform = run,
#endif
};
#endif

#if defined(ODD_old)
extern const struct mase_plugin mase_plugin;
static const struct mase_pass *const passes[] = { &odd, NULL };
const struct mase_plugin mase_plugin = { 0, sizeof(struct mase_pass), "old", passes };
#elif defined(ODD_none)
int not_a_plugin;
#else
MASE_PLUGIN("odd", &odd);
#endif
