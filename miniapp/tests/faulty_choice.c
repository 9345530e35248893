#define _GNU_SOURCE
#include "faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { path_bytes = 4096 };

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static const char *target(const char *link, char *path) {
    const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, path_bytes - 1);
    if (length < 0 || length >= path_bytes - 1) return NULL;
    path[length] = '\0';
    return path;
}

/// The path of an open file; NULL where the system does not tell.
static const char *path_of(int file, char *path) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return file < 0 ? NULL : target(link, path);
}

/// The absolute path of `name` in the folder that is open as `at`; NULL where it is too long.
static const char *path_at(int at, const char *name, char *path) {
    if (!name) return NULL;
    if (*name == '/') return strlen(name) < path_bytes ? strcpy(path, name) : NULL;
    if (!(at == AT_FDCWD ? target("/proc/self/cwd", path) : path_of(at, path))) return NULL;
    const size_t folder = strlen(path);
    if (folder + strlen(name) + 2 > path_bytes) return NULL;
    path[folder] = '/';
    strcpy(path + folder + 1, name);
    return path;
}

/// The counter of this process, or that of all.
static _Atomic uint32_t *counter(void) {
    static _Atomic uint32_t own, *shared;
    const char *path = setting("SPIKEMARK_FAULT_COUNT", NULL);
    if (shared || !path) return shared ? shared : &own;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    const long at = syscall(SYS_mmap, NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) syscall(SYS_close, file);
    shared = at == -1 ? &own : (_Atomic uint32_t *)at; // NOLINT
    return shared;
}

static void note(const char *kind, const char *path) {
    const char *log = setting("SPIKEMARK_FAULT_LOG", NULL);
    if (!log) return;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    char line[path_bytes + 32];
    const int length = snprintf(line, sizeof line, "%s %s\n", kind, path);
    if (file >= 0 && length > 0) syscall(SYS_write, file, line, (size_t)length);
    if (file >= 0) syscall(SYS_close, file);
}

static bool listed(const char *kind) {
    const char *kinds = setting("SPIKEMARK_FAULT_CALLS", NULL);
    if (!kinds) return true;
    const size_t length = strlen(kind);
    for (const char *at = kinds; (at = strstr(at, kind)); at += length)
        if ((at == kinds || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

static int error_named(const char *name) {
    static const struct {
        const char *name;
        int number;
    } known[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EROFS", EROFS}, {"EDQUOT", EDQUOT}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].number;
    return 0;
}

static bool watched(const char *path) {
    return getenv("SPIKEMARK_FAULT") && path && strstr(path, setting("SPIKEMARK_FAULT_IN", ""));
}

static int fault(const char *kind, const char *path) {
    if (!watched(path) || !listed(kind)) return 0;
    const uint32_t number = atomic_fetch_add(counter(), 1) + 1;
    note(kind, path);
    const char *from = setting("SPIKEMARK_FAULT_FROM", "1"), *to = setting("SPIKEMARK_FAULT_TO", from);
    if (number < (uint32_t)atol(from) || number > (uint32_t)atol(to)) return 0;
    const char *how = getenv("SPIKEMARK_FAULT");
    if (strcmp(how, "kill") == 0) return -1;
    if (strcmp(how, "slow") == 0) {
        const struct timespec pause = {0, 20000000};
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return error_named(how);
}

int fault_of(const char *kind, int file) {
    const int before = errno;
    char path[path_bytes];
    const int found = getenv("SPIKEMARK_FAULT") ? fault(kind, path_of(file, path)) : 0;
    errno = before;
    return found;
}

int fault_at(const char *kind, int at, const char *name) {
    const int before = errno;
    char path[path_bytes];
    const int found = getenv("SPIKEMARK_FAULT") ? fault(kind, path_at(at, name, path)) : 0;
    errno = before;
    return found;
}

void end_here(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
}

bool fault_watches(const char *name) {
    char path[path_bytes];
    return getenv("SPIKEMARK_FAULT") && watched(path_at(AT_FDCWD, name, path));
}
