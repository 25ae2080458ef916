// look.cpp - an outside program in C++17: the headers are C++'s, too, and the library's functions C's.
#include <iostream>
#include <memory>

#include <mase/graph.h>
#include <mase/zoo.h>

int main()
{
    mase_err err{};
    const mase_model *model = nullptr;
    std::unique_ptr<mase_graph, decltype(&mase_graph_free)> g(mase_graph_new("outside"), mase_graph_free);
    if (mase_zoo_find(&model, "jsc-tiny", &err))
        std::cerr << err.msg << '\n';
    std::cout << (g->first ? "nodes" : "no nodes") << ", " << (model ? model->class_name : "no model") << '\n';
    return !model;
}
