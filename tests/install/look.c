/*
 * look.c - an outside program in C: opens a network and walks over it.
 */
#include <stdio.h>

#include <mase.h>

int main(void)
{
    struct mase_err err = { 0 };
    struct mase_net *net = NULL;
    struct mase_session *s = mase_session_new(NULL);
    if (!s || mase_abi() != MASE_ABI || mase_net_open(s, &net, "jsc-tiny", NULL, &err)) {
        mase_err_print(stderr, &err);
        return 1;
    }
    for (const struct mase_node *n = NULL; (n = mase_net_next(net, n));)
        printf("%s ", mase_node_mase_op(n));
    printf("of %lld parameters\n", (long long)mase_net_params(net));
    mase_net_free(net);
    mase_session_free(s);
    return 0;
}
