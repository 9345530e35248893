#include "app/load.h"

#include "base/alloc.h"
#include "description/description.h"
#include "transport/agree.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/// Gives the JSON of rank 0 to all ranks, as text. Collective. \return NULL, on all ranks, where one of them
/// has an error. `path` is for the message.
static json_t *share(json_t *json, const char *path, MPI_Comm world, struct error *error) {
    int rank;
    unsigned long long bytes = 0;
    char *text = NULL;
    MPI_Comm_rank(world, &rank);
    if (rank == 0) {
        if (!error_stands(error))
            text = json_dumps(json, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY | JSON_COMPACT);
        if (!text) error_set(error, "%s: cannot be read as JSON", path);
        bytes = text ? strlen(text) + 1 : 0;
        if (bytes > INT_MAX)
            error_set(error, "%s: %llu bytes; allowed: at most %d, which MPI can count", path, bytes,
                      INT_MAX);
        json_decref(json);
    }
    if (!agree(world, error)) {
        free(text);
        return NULL;
    }
    MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, world);
    if (rank != 0) text = alloc(bytes, 1);
    MPI_Bcast(text, (int)bytes, MPI_CHAR, 0, world);
    json_t *shared = json_loads(text, JSON_DECODE_ANY, NULL);
    free(text);
    return shared;
}

json_t *load_run(const char *path, const char *const *overrides, int n_overrides, MPI_Comm world,
                 struct error *error) {
    int rank;
    json_t *run = NULL;
    MPI_Comm_rank(world, &rank);
    if (rank == 0) {
        json_error_t where;
        run = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
        if (!run && where.line < 1)
            error_set(error, "%s: %s; allowed: a run description that can be read", path, where.text);
        else if (!run)
            error_set(error, "%s:%d: %s; allowed: one JSON object", path, where.line, where.text);
        for (int i = 0; run && i < n_overrides && !error_stands(error); i++)
            description_override(run, overrides[i], error);
    }
    return share(run, path, world, error);
}

json_t *load_beside(const char *run, const char *file, const char *field, MPI_Comm world,
                    struct error *error) {
    int rank;
    json_t *json = NULL;
    MPI_Comm_rank(world, &rank);
    if (rank == 0) {
        json_error_t where;
        const char *slash = *file == '/' ? NULL : strrchr(run, '/');
        const size_t folder = slash ? (size_t)(slash + 1 - run) : 0;
        char *path = alloc(folder + strlen(file) + 1, 1);
        memcpy(path, run, folder);
        strcpy(path + folder, file);
        json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
        if (!json && where.line < 1)
            error_set(error,
                      "%s: %.400s: %s; allowed: a file that can be read, by its path from the "
                      "folder of the run description",
                      field, file, where.text);
        else if (!json)
            error_set(error, "%s: %.400s:%d: %s; allowed: one JSON object", field, file, where.line,
                      where.text);
        free(path);
    }
    return share(json, field, world, error);
}
