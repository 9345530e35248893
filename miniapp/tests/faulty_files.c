/// \file
/// Files that fail, for a program that is started with this loaded before the C library.
///
/// SPIKEMARK_FAULT says how a call on a file fails: ENOSPC, EIO, EROFS, EDQUOT, `kill` (the process ends by
/// SIGKILL), `slow` (the call takes 20 ms more) or `none` (it is only counted). These choose the calls:
///
///     SPIKEMARK_FAULT_IN      text that the path contains
///     SPIKEMARK_FAULT_CALLS   kinds, separated by commas: open (for writing), write, fsync, close, rename,
///                             mkdir, remove, extend (fallocate, ftruncate), map (shared, for writing);
///                             without it, all
///     SPIKEMARK_FAULT_FROM    number of the first call that fails; without it, 1
///     SPIKEMARK_FAULT_TO      number of the last; without it, the first
///     SPIKEMARK_FAULT_COUNT   a file of 4 bytes in which all processes count together; without it, each
///                             process counts its own calls
///     SPIKEMARK_FAULT_LOG     a file that gets a line "KIND PATH" for each call that is counted
///
/// A write that fails, or at which the process ends, has written the first half. A file is closed even where
/// closing fails. Nothing else is done in a call that fails. With SPIKEMARK_NO_EXCHANGE, names cannot be
/// traded.

#define _GNU_SOURCE
#include "faulty.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// \param how as `fault_of` returns it. \return whether the call fails; then errno is set.
static bool failing(int how) {
    if (how < 0) end_here();
    if (how > 0) errno = how;
    return how != 0;
}

// Opening and closing

static int open_at(int at, const char *path, int flags, unsigned mode) {
    const bool writes = flags & (O_WRONLY | O_RDWR | O_CREAT);
    if (writes && failing(fault_at("open", at, path))) return -1;
    return (int)syscall(SYS_openat, at, path, flags, mode);
}

#define OPEN(name)                                                                                           \
    int name(const char *path, int flags, ...) {                                                             \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;                    \
        va_end(more);                                                                                        \
        return open_at(AT_FDCWD, path, flags, mode);                                                         \
    }
#define OPENAT(name)                                                                                         \
    int name(int at, const char *path, int flags, ...) {                                                     \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;                    \
        va_end(more);                                                                                        \
        return open_at(at, path, flags, mode);                                                               \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
    const int how = fault_of("close", file), status = (int)syscall(SYS_close, file);
    return failing(how) ? -1 : status;
}

// Writing

ssize_t write(int file, const void *bytes, size_t count) {
    const int how = fault_of("write", file);
    if (how == 0) return syscall(SYS_write, file, bytes, count);
    syscall(SYS_write, file, bytes, count / 2);
    failing(how);
    return -1;
}

int fsync(int file) {
    return failing(fault_of("fsync", file)) ? -1 : (int)syscall(SYS_fsync, file);
}

static int extend(int file, off_t length) {
    return failing(fault_of("extend", file)) ? -1 : (int)syscall(SYS_ftruncate, file, length);
}

int ftruncate(int file, off_t length) {
    return extend(file, length);
}

int ftruncate64(int file, off_t length) {
    return extend(file, length);
}

int posix_fallocate(int file, off_t from, off_t length) {
    if (failing(fault_of("extend", file))) return errno;
    return syscall(SYS_fallocate, file, 0, from, length) == 0 ? 0 : errno;
}

static void *map(void *at, size_t length, int protection, int flags, int file, off_t from) {
    const bool writes = (protection & PROT_WRITE) && (flags & MAP_SHARED) && file >= 0;
    if (writes && failing(fault_of("map", file))) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, length, protection, flags, file, from); // NOLINT
}

void *mmap(void *at, size_t length, int protection, int flags, int file, off_t from) {
    return map(at, length, protection, flags, file, from);
}

void *mmap64(void *at, size_t length, int protection, int flags, int file, off_t from) {
    return map(at, length, protection, flags, file, from);
}

// Names

int rename(const char *old, const char *new) {
    if (failing(fault_at("rename", AT_FDCWD, new))) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (flags && getenv("SPIKEMARK_NO_EXCHANGE")) {
        errno = EINVAL;
        return -1;
    }
    if (failing(fault_at("rename", to, new))) return -1;
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

int mkdir(const char *path, mode_t mode) {
    if (failing(fault_at("mkdir", AT_FDCWD, path))) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

char *mkdtemp(char *pattern) {
    if (failing(fault_at("mkdir", AT_FDCWD, pattern))) return NULL;
    char *(*plain)(char *) = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
    return plain(pattern);
}

int unlinkat(int at, const char *path, int flags) {
    return failing(fault_at("remove", at, path)) ? -1 : (int)syscall(SYS_unlinkat, at, path, flags);
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

// Streams. The C library writes them by calls of its own, so a stream that writes becomes one of ours.

enum { most_streams = 64 };
static struct stream {
    FILE *stream;
    int file;
} streams[most_streams];

static ssize_t stream_read(void *of, char *bytes, size_t count) {
    return syscall(SYS_read, ((struct stream *)of)->file, bytes, count);
}

static ssize_t stream_write(void *of, const char *bytes, size_t count) {
    const ssize_t written = write(((struct stream *)of)->file, bytes, count);
    return written < 0 ? 0 : written; // so a cookie says that it failed
}

static int stream_seek(void *of, off64_t *at, int whence) {
    const long found = syscall(SYS_lseek, ((struct stream *)of)->file, *at, whence);
    if (found < 0) return -1;
    *at = found;
    return 0;
}

static int stream_close(void *of) {
    struct stream *stream = of;
    stream->stream = NULL;
    return close(stream->file);
}

static int flags_of(const char *mode) {
    const int access = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    const int create = *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT | O_APPEND : 0;
    return access | create | (strchr(mode, 'x') ? O_EXCL : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

static FILE *open_stream(const char *path, const char *mode, const char *name) {
    const int flags = flags_of(mode);
    if (flags == O_RDONLY || !fault_watches(path)) {
        FILE *(*plain)(const char *, const char *) =
            (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
        return plain(path, mode);
    }
    struct stream *own = streams;
    while (own < streams + most_streams && own->stream) own++;
    if (own == streams + most_streams) abort();
    own->file = open_at(AT_FDCWD, path, flags, 0666);
    if (own->file < 0) return NULL;
    const cookie_io_functions_t calls = {stream_read, stream_write, stream_seek, stream_close};
    own->stream = fopencookie(own, mode, calls);
    return own->stream;
}

FILE *fopen(const char *path, const char *mode) {
    return open_stream(path, mode, "fopen");
}

FILE *fopen64(const char *path, const char *mode) {
    return open_stream(path, mode, "fopen64");
}

int fileno(FILE *stream) {
    for (struct stream *own = streams; own < streams + most_streams; own++)
        if (stream && own->stream == stream) return own->file;
    int (*plain)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fileno");
    return plain(stream);
}
