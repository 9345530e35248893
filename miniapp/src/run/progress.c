#include "run/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { bytes = 2 * sizeof(uint32_t) };

bool progress_open(struct progress *progress, const char *path, int rank, const struct description *run,
                   struct error *error) {
    *progress = (struct progress){.path = path};
    if (!path || rank != 0) return true;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (file < 0) return error_set(error, "--progress: %s: %s; allowed: a new file", path, strerror(errno));
    void *mapped = MAP_FAILED;
    int why =
        posix_fallocate(file, 0, bytes); // on a full disk, writing to what is mapped would end the program
    if (why == 0) {
        mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        why = errno;
    }
    close(file);
    if (mapped == MAP_FAILED) {
        unlink(path);
        return error_set(error, "--progress: %s: %s; allowed: an ordinary file on a disk with room", path,
                         strerror(why));
    }
    progress->cycles = mapped;
    progress->cycles[1] = run->warmup_cycles + run->cycles;
    return true;
}

void progress_close(struct progress *progress, bool keep) {
    if (!progress->cycles) return;
    munmap((void *)progress->cycles, bytes);
    if (!keep) unlink(progress->path);
}
