#include "assembly/run_directory.h"

#include "base/alloc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(const char *a, const char *b) {
    char *joined = alloc(strlen(a) + strlen(b) + 1, 1);
    return strcat(strcpy(joined, a), b);
}

/// Removes a directory of files; there are no directories within a record.
static bool remove_directory(const char *path) {
    DIR *directory = opendir(path);
    if (!directory) return errno == ENOENT;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    return rmdir(path) == 0;
}

/// Whether `path` may become the record's: absent, an empty directory, or an earlier record (then *record is
/// true).
static bool may_replace(const char *path, bool *record) {
    struct stat status;
    if (lstat(path, &status) != 0) return errno == ENOENT;
    DIR *directory = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    if (!directory) return false;
    size_t entries = 0;
    for (struct dirent *entry; (entry = readdir(directory)); entries++)
        *record = *record || strcmp(entry->d_name, "record.json") == 0;
    closedir(directory);
    return *record || entries == 2; // . and ..
}

/// Makes the directories above the last component of `path`.
static bool make_parents(const char *path) {
    char *copy = alloc_string(path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) break;
        *slash = '/';
    }
    bool made = strlen(copy) == strlen(path);
    free(copy);
    return made;
}

bool run_directory_open(struct run_directory *directory, const char *path, struct error *error) {
    directory->path = alloc_string(path);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--) directory->path[n - 1] = '\0';
    directory->partial = join(directory->path, ".partial");
    const char *allowed = "a directory that is new, empty or an earlier run's record, and can be written";
    directory->replaces = false;
    if (directory->path[0] == '\0' || !may_replace(directory->path, &directory->replaces))
        return error_set(error, "--out: %s: exists and is something else; allowed: %s", path, allowed);
    if (!make_parents(directory->path) || !remove_directory(directory->partial) ||
        mkdir(directory->partial, 0777) != 0)
        return error_set(error, "--out: %s: %s; allowed: %s", path, strerror(errno), allowed);
    return true;
}

FILE *run_directory_file(const struct run_directory *directory, const char *name, struct error *error) {
    char *slashed = join(directory->partial, "/"), *path = join(slashed, name);
    FILE *file = fopen(path, "wb");
    if (!file) error_set(error, "--out: %s: %s", path, strerror(errno));
    free(slashed);
    free(path);
    return file;
}

bool run_directory_close_file(const char *name, FILE *file, bool written, struct error *error) {
    written = fflush(file) == 0 && fsync(fileno(file)) == 0 && written;
    int reason = errno;
    written = fclose(file) == 0 && written;
    return written || error_set(error, "--out: %s: not written: %s", name, strerror(reason));
}

bool run_directory_commit(struct run_directory *directory, struct error *error) {
    // rename() replaces an empty directory at once; an earlier record is removed first, since it cannot be.
    if (!remove_directory(directory->path) || rename(directory->partial, directory->path) != 0)
        return error_set(error, "--out: %s: %s", directory->path, strerror(errno));
    return true;
}

void run_directory_close(struct run_directory *directory) {
    if (directory->partial) remove_directory(directory->partial);
    free(directory->partial);
    free(directory->path);
    *directory = (struct run_directory){NULL, NULL, false};
}
