// look.cpp - an outside program in C++17: the header is C++'s, too, and its functions are C's.
#include <iostream>
#include <memory>

#include <mase.h>

int main()
{
    mase_err err{};
    mase_net *opened = nullptr;
    std::unique_ptr<mase_session, decltype(&mase_session_free)> session(mase_session_new(nullptr),
                                                                        mase_session_free);
    if (!session || mase_net_open(session.get(), &opened, "jsc-tiny", nullptr, &err)) {
        std::cerr << err.msg << '\n';
        return 1;
    }
    std::unique_ptr<mase_net, decltype(&mase_net_free)> net(opened, mase_net_free);
    for (const mase_node *n = nullptr; (n = mase_net_next(net.get(), n));)
        std::cout << mase_node_mase_op(n) << ' ';
    std::cout << "of " << mase_net_params(net.get()) << " parameters\n";
}
