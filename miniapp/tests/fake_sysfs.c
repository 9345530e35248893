#include "fake_sysfs.h"

#include "support.h"

#include "base/alloc.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *fake_root(void) {
    char *root = alloc_string("/tmp/spikemark-sysfs-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(chmod(root, 0755), 0);
    return root;
}

void fake_file(const char *root, const char *path, const char *text) {
    char whole[400];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0755);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void fake_remove(const char *root, const char *path) {
    char whole[400];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    assert_int_equal(*path ? remove(whole) : nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void fake_zone(const char *root, const char *zone, const char *name, const char *energy_uj,
               const char *range_uj) {
    const char *const file[] = {"name", "energy_uj", "max_energy_range_uj"}, *const text[] = {name, energy_uj,
                                                                                              range_uj};
    for (int i = 0; i < 3; i++) {
        char path[200];
        snprintf(path, sizeof path, "class/powercap/%s/%s", zone, file[i]);
        if (text[i]) fake_file(root, path, text[i]);
    }
}
