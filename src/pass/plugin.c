/*
 * plugin.c - load shared objects with passes.
 *
 * Everything is checked before the first pass is added, so a refused plugin leaves nothing behind.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <mase/file.h>
#include <mase/plugin.h>

#include "pass/pass_table.h"
#include "pass/support.h"

/* Does the file contain every segment of the shared object? The loader trusts the headers and dies
 * of a signal if the file is truncated. Files that are not shared objects are left to the loader,
 * which has an error message for them. */
static bool is_whole(const unsigned char *data, size_t size)
{
    ElfW(Ehdr) head;
    if (size < sizeof head || memcmp(data, ELFMAG, SELFMAG) != 0)
        return true;
    memcpy(&head, data, sizeof head);
    for (size_t i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        if (head.e_phoff > size || size - head.e_phoff < (i + 1) * sizeof segment)
            return false;
        memcpy(&segment, data + head.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_offset > size || size - segment.p_offset < segment.p_filesz)
            return false;
    }
    return true;
}

static enum mase_status check_file(const char *path, struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    const bool whole = is_whole(f.data, f.size);
    mase_file_close(&f);
    if (whole)
        return MASE_OK;
    return mase_fail_in(err, MASE_EPARSE, path, "cannot be loaded as a plugin: it is cut short");
}

static enum mase_status check_api(const struct mase_plugin *p, const char *path,
                                  struct mase_err *err)
{
    if (p->api != MASE_PLUGIN_API)
        return mase_fail_in(err, MASE_EUNSUPPORTED, path,
                            "a plugin for API version %d, but this is version %d; compile it "
                            "against the headers of this version",
                            p->api, MASE_PLUGIN_API);
    if (p->pass_size != sizeof(struct mase_pass))
        return mase_fail_in(err, MASE_EUNSUPPORTED, path,
                            "a plugin whose passes have %zu bytes instead of %zu; compile it "
                            "against the headers of this version",
                            p->pass_size, sizeof(struct mase_pass));
    if (!p->passes || !p->passes[0])
        return mase_fail_in(err, MASE_EVALUE, path, "a plugin without passes");
    return MASE_OK;
}

static enum mase_status check_pass(const struct mase_pass *p, const char *path,
                                   struct mase_err *err)
{
    if (!p->name || !*p->name || !p->help)
        return mase_fail_in(err, MASE_EVALUE, path, "a pass of this plugin has no %s",
                            p->name && *p->name ? "help" : "name");
    if (!p->analyse == !p->transform)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "pass %s must have one of analyse and transform, and has %s", p->name,
                            p->analyse ? "both" : "none");
    if (mase_pass_find(p->name))
        return mase_fail_in(err, MASE_EVALUE, path, "pass %s: there is one of this name already",
                            p->name);
    return MASE_OK;
}

static enum mase_status check(const struct mase_plugin *p, const char *path, struct mase_err *err)
{
    int count = 0;
    MASE_TRY(check_api(p, path, err));
    for (; p->passes[count]; count++) {
        MASE_TRY(check_pass(p->passes[count], path, err));
        for (int i = 0; i < count; i++)
            if (mase_streq(p->passes[i]->name, p->passes[count]->name))
                return mase_fail_in(err, MASE_EVALUE, path, "pass %s is given twice",
                                    p->passes[i]->name);
    }
    if (!mase_pass_room(count))
        return mase_fail_in(err, MASE_ELIMIT, path, "no room for %d more passes", count);
    return MASE_OK;
}

static bool is_loaded(const struct mase_plugin *p)
{
    return p->api == MASE_PLUGIN_API && p->passes && p->passes[0] && p->passes[0]->name &&
           mase_pass_find(p->passes[0]->name) == p->passes[0];
}

/* Make libmase's symbols global: a plugin links nothing, and a program such as Python loads
 * libmase.so with local symbols. */
static void show_library(void)
{
    static const char here;
    Dl_info info;
    if (dladdr(&here, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

enum mase_status mase_plugin_load(const char *path, struct mase_err *err)
{
    MASE_TRY(check_file(path, err));
    struct mase_arena a = { 0 };
    const char *full =
        mase_path_absolute(&a, path); /* dlopen searches other folders for a name without a slash */
    show_library();
    void *object = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    const struct mase_plugin *plugin = object ? dlsym(object, "mase_plugin") : NULL;
    enum mase_status st = MASE_OK;

    if (!object)
        st = mase_fail_in(err, MASE_EPARSE, path, "cannot be loaded as a plugin: %s", dlerror());
    else if (!plugin)
        st = mase_fail_in(err, MASE_EPARSE, path,
                          "a shared object, but no plugin: it defines no mase_plugin");
    else if (!is_loaded(plugin) && !(st = check(plugin, path, err)))
        for (int i = 0; plugin->passes[i]; i++)
            mase_pass_add(plugin->passes[i]);
    if (st && object)
        dlclose(object);
    mase_arena_release(&a);
    return st;
}
