/// \file
/// Writes the directory of a run beside its place, and moves it there when it is whole: nobody ever sees half
/// a record.
///
/// run_directory_open() makes DIR.partial-XXXXXX, before the network is built, so that a place that cannot be
/// written is found at once. Files are written there, flushed to the disk, and closed. run_directory_commit()
/// gives the directory its name: the system trades the names of two directories at once where it can; else an
/// earlier record moves out of the way first. run_directory_close() removes what has not been committed.
///
/// A directory is only ever replaced if it holds a record and no file of another name, so that a mistyped
/// path costs nothing.

#include "record/run_directory.h"

#include "base/alloc.h"
#include "base/registry.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const allowed =
    "a directory that is new, empty, or an earlier run's record and nothing else";

/// Returns the three texts joined, owned by the caller.
static char *join(const char *a, const char *b, const char *c) {
    char *joined = alloc(strlen(a) + strlen(b) + strlen(c) + 1, 1);
    return strcat(strcat(strcpy(joined, a), b), c);
}

/// Removes a record and its directory. It fails where there is a file that is not a record's, which stays.
static bool remove_record(const char *path) {
    for (int i = 0; run_files[i]; i++) {
        char *file = join(path, "/", run_files[i]->name);
        unlink(file);
        free(file);
    }
    return rmdir(path) == 0;
}

/// Says whether `path` may become the directory of the record. *record says whether an earlier record stands
/// there.
static bool may_take(const char *path, bool *record) {
    struct stat status;
    *record = false;
    if (lstat(path, &status) != 0) return errno == ENOENT;
    DIR *directory = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    if (!directory) return false;
    bool foreign = false, empty = true;
    for (struct dirent *entry; (entry = readdir(directory));) {
        // Known names are those of `run_files`; record.json makes it a record.
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        const struct run_file *known = registry_find(run_files, name);
        *record = *record || (known && strcmp(name, "record.json") == 0);
        foreign = foreign || !known;
        empty = false;
    }
    closedir(directory);
    return empty || (*record && !foreign);
}

/// Makes the directories above a path, where they are missing.
static bool make_parents(const char *path) {
    char *copy = alloc_string(path);
    bool made = true;
    for (char *slash = strchr(copy + 1, '/'); slash && made; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        made = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    free(copy);
    return made;
}

bool run_directory_open(struct run_directory *directory, const char *path, struct error *error) {
    *directory = (struct run_directory){.path = alloc_string(path)};
    // Without slashes at the end, so that names can be appended.
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--) directory->path[n - 1] = '\0';
    const char *slash = strrchr(directory->path, '/'), *name = slash ? slash + 1 : directory->path;
    const bool named = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    errno = 0;
    if (!named || !may_take(directory->path, &directory->replaces))
        return error_set(error, "--out: \"%s\": %s; expected %s", path,
                         errno ? strerror(errno) : "is used for something else", allowed);

    // Beside DIR, since a directory can only be renamed within its file system.
    char *partial = join(directory->path, ".partial-XXXXXX", "");
    if (!make_parents(directory->path) || !mkdtemp(partial)) {
        free(partial);
        return error_set(error, "--out: \"%s\": %s; expected a directory that can be written", path,
                         strerror(errno));
    }
    directory->partial = partial;
    const mode_t mask = umask(0); // mkdtemp() makes it private, unlike other directories
    umask(mask);
    chmod(partial, 0777 & ~mask);
    return true;
}

FILE *run_directory_file(const struct run_directory *directory, const char *name, struct error *error) {
    char *path = join(directory->partial, "/", name);
    FILE *file = fopen(path, "wb");
    if (!file) error_set(error, "--out: %s/%s: %s", directory->path, name, strerror(errno));
    free(path);
    return file;
}

bool run_directory_close_file(const char *name, FILE *file, bool written, struct error *error) {
    written = written && !ferror(file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int reason = errno; // of the first call that failed
    if (fclose(file) != 0 && written) {
        reason = errno;
        written = false;
    }
    return written || error_set(error, "--out: %s: not written: %s", name, strerror(reason));
}

/// Lets two directories trade names at once, so that nobody ever finds a name without a directory. \return
/// false where the system cannot do that; then nothing has changed.
static bool trade(const char *a, const char *b) {
#ifdef RENAME_EXCHANGE // of the C library, glibc from 2.28 on
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
#else
    (void)a, (void)b;
    return false;
#endif
}

bool run_directory_commit(struct run_directory *directory, struct error *error) {
    // Look again: much may have happened since the run began.
    if (!may_take(directory->path, &directory->replaces))
        return error_set(error, "--out: \"%s\": something else has appeared there; expected %s",
                         directory->path, allowed);
    if (directory->replaces && trade(directory->partial, directory->path)) return true; // closing removes it
    // Where names cannot be traded: out of the way with the old record, then the new one into its place.
    char *old = join(directory->partial, ".old", "");
    bool done = !directory->replaces || rename(directory->path, old) == 0;
    if (done && rename(directory->partial, directory->path) != 0) {
        done = false;
        if (directory->replaces) rename(old, directory->path);
    }
    if (!done) error_set(error, "--out: \"%s\": %s", directory->path, strerror(errno));
    if (done && directory->replaces) remove_record(old);
    free(old);
    return done;
}

void run_directory_close(struct run_directory *directory) {
    if (directory->partial) remove_record(directory->partial);
    FREE(directory->partial, directory->path);
    *directory = (struct run_directory){NULL, NULL, false};
}

#define FILE_OF(...) ENTRY(run_file, __VA_ARGS__)
// clang-format off
const struct run_file *const run_files[] = {
    FILE_OF("record.json", "miniapp", "what was run, where, and what came out"),
    FILE_OF("ranks.csv", "miniapp", "counts and times of each rank"),
    FILE_OF("cycles.npy", "miniapp", "time of each phase of each cycle and rank"),
    FILE_OF("activity.npy", "miniapp", "spikes of each population in each stretch of cycles"),
    FILE_OF("spikes.npy", "miniapp", "neuron and step of each spike"),
    FILE_OF("counters.csv", "miniapp", "counters by rank, thread and phase"),
    FILE_OF("placement.json", "miniapp", "the placement file of the run"),
    FILE_OF("exchange.json", "miniapp", "the files that exchanges of the run name"),
    FILE_OF("energy.csv", "spikemark", "readings of the energy meters"),
    FILE_OF("launch.json", "spikemark", "how the run was started"),
    FILE_OF("simulation.json", "spikemark", "how the run was simulated"),
    FILE_OF(".snakemake_timestamp", "snakemake", "when the run was made"),
    NULL};
// clang-format on
