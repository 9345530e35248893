/// \file
/// Files that fail, for a program that is started with this loaded before the C library.
///
/// SPIKEMARK_DIE_AFTER=n ends the process after the n-th call of rename() or renameat2(). With
/// SPIKEMARK_NO_EXCHANGE, names cannot be traded. With SPIKEMARK_FULL, no small file gets room on any disk.
/// Files named SPIKEMARK_READ_ONLY cannot be written, as if the disk were read-only.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int die_after(int status) {
    static int calls;
    const char *last = getenv("SPIKEMARK_DIE_AFTER");
    if (last && ++calls == atoi(last)) _exit(9);
    return status;
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (flags && getenv("SPIKEMARK_NO_EXCHANGE")) {
        errno = EINVAL;
        return -1;
    }
    return die_after((int)syscall(SYS_renameat2, from, old, to, new, flags));
}

int posix_fallocate(int file, off_t from, off_t length) {
    enum { page = 4096 }; // MPI libraries reserve more than that for themselves
    if (getenv("SPIKEMARK_FULL") && length < page) return ENOSPC;
    return syscall(SYS_fallocate, file, 0, from, length) == 0 ? 0 : errno;
}

FILE *fopen(const char *path, const char *mode) {
    FILE *(*plain)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    const char *last = strrchr(path, '/'), *refused = getenv("SPIKEMARK_READ_ONLY");
    if (refused && mode[0] == 'w' && last && strcmp(last + 1, refused) == 0) {
        errno = EROFS;
        return NULL;
    }
    return plain(path, mode);
}

int rename(const char *old, const char *new) {
    return die_after((int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0));
}
