/*
 * late.c - a program that loads the library by name, as Python does, and then a plugin, whose
 * functions are those of that library.
 *
 *     late LIBMASE PLUGIN
 */
#include <dlfcn.h>
#include <stdio.h>

#include <mase/plugin.h>

typedef enum mase_status load_fn(const char *path, struct mase_err *err);

int main(int argc, char **argv)
{
    struct mase_err err = { 0 };
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    load_fn *load = library ? (load_fn *)dlsym(library, "mase_plugin_load") : NULL;
    if (!load) {
        puts(argc == 3 ? dlerror() : "usage: late LIBMASE PLUGIN");
        return 2;
    }
    if (load(argv[2], &err)) {
        printf("%s: %s\n", err.path, err.msg);
        return 1;
    }
    puts("loaded");
    return 0;
}
