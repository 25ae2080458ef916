/*
 * engine.c - an outside program that calls the engine, whose headers are those of one version.
 * Tables of the library are the same for both, although the loader puts them into the program.
 */
#include <stdio.h>

#include <mase/zoo.h>

int main(void)
{
    const struct mase_model *found = NULL;
    struct mase_err err = { 0 };
    if (mase_zoo_find(&found, mase_zoo[0].name, &err))
        mase_err_print(stderr, &err);
    puts(found == &mase_zoo[0] ? "one table" : "two tables");
    return found != &mase_zoo[0];
}
