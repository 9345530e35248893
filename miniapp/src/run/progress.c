/// \file
/// Makes, maps and removes the file of progress.
///
/// Room for it is taken on the disk first, since writing to what is mapped beyond a full disk would be fatal.
/// The cycle loop stores one number; no call of the system is made, and whoever reads the file disturbs
/// nobody.

#include "run/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { bytes = 2 * sizeof(uint32_t) }; ///< of the file: cycles done, and cycles in all

bool progress_open(struct progress *progress, const char *path, int rank, const struct description *run,
                   struct error *error) {
    *progress = (struct progress){.path = path};
    if (!path || rank != 0) return true;
    // The file must be new, so that two runs cannot share it by mistake.
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (file < 0) return error_set(error, "--progress: %s: %s; expected a new file", path, strerror(errno));
    const int why = posix_fallocate(file, 0, bytes);
    void *mapped = why ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    // The mapping stays when the file is closed.
    close(file);
    if (mapped == MAP_FAILED) {
        unlink(path);
        return error_set(error, "--progress: %s: %s; expected an ordinary file on a disk with room", path,
                         strerror(why ? why : errno));
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
