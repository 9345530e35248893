/// \file
/// Reads and shares the files of a run, plans it, builds it, runs it, and closes what is open.
///
/// job_plan(): rank 0 reads the run description and the files that it names; all ranks get their text and
/// check everything alike, before any memory is taken. job_build(): refuses a network that does not fit the
/// node, opens files, and builds (run/build.c). job_run(): simulates (run/simulate.c), gathers what the ranks
/// measured, and writes the record (record/record.c). job_close() closes whatever has been opened.

#include "app/job.h"

#include "base/alloc.h"
#include "measurement/platform.h"
#include "record/record.h"
#include "run/build.h"
#include "run/simulate.h"
#include "schedule/schedule.h"
#include "transport/communicator.h"

#include "measurement/clock.h"
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>

/// Returns what else than a file `path` names, or NULL. Opening a FIFO would wait for a writer, and /dev/zero
/// never ends; what a shell hands over from another program, as `<(...)` or standard input, is taken.
static const char *no_file(const char *path) {
    struct stat status;
    if (strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", strlen("/dev/fd/")) == 0) return NULL;
    if (stat(path, &status) != 0) return NULL; // opening it says why
    if (S_ISDIR(status.st_mode)) return "a folder";
    if (S_ISFIFO(status.st_mode)) return "a FIFO";
    if (S_ISSOCK(status.st_mode)) return "a socket";
    if (!S_ISREG(status.st_mode)) return "a device";
    return status.st_size > INT_MAX ? "more than 2147483647 bytes" : NULL; // MPI_Bcast() counts in int
}

/// Skips a byte order mark of UTF-8. \return false for that of UTF-16, and what begins like none of both.
static bool skip_mark(FILE *file) {
    const int first = getc(file);
    if (first == 0xef) return getc(file) == 0xbb && getc(file) == 0xbf;
    ungetc(first, file);
    return first != 0xff && first != 0xfe;
}

/// Reads up to so many bytes of a file, for json_load_callback(), which is faster than json_loadf(): that
/// asks for one byte at a time.
static size_t read_bytes(void *buffer, size_t bytes, void *file) {
    return fread(buffer, 1, bytes, file);
}

/// Reads a JSON file. \return NULL where there is none; where->line is then below 1 if nothing could be read.
static json_t *read_file(const char *path, json_error_t *where) {
    where->line = 0;
    const char *other = no_file(path);
    FILE *file = other ? NULL : fopen(path, "rb");
    json_t *json = NULL;
    if (other)
        snprintf(where->text, sizeof where->text, "%s", other);
    else if (!file)
        snprintf(where->text, sizeof where->text, "unable to open it: %s", strerror(errno));
    else if (!skip_mark(file))
        snprintf(where->text, sizeof where->text, "not UTF-8, but perhaps UTF-16");
    else
        json = json_load_callback(read_bytes, file, JSON_REJECT_DUPLICATES, where);
    if (file) fclose(file);
    return json;
}

/// Lets rank 0 read a JSON file and all ranks get the text, so that all work with the same. Collective.
/// \param field of the run description that names the file; NULL: it is the run description itself.
/// \param overrides [n_overrides] assignments of --set.
/// \return owned by the caller; NULL, on all ranks, where it cannot be read.
static json_t *load(const char *path, const char *field, const char *const *overrides, int n_overrides,
                    MPI_Comm world, struct error *error) {
    int bytes = 0;
    char *text = NULL;
    const int rank = comm_rank(world);
    const bool alone = comm_size(world) == 1;
    json_t *json = NULL;
    // Rank 0 reads the file and applies --set, then sends the text, so that a file that changes in between,
    // or that only this node has, cannot make ranks differ.
    if (rank == 0) {
        json_error_t where;
        json = read_file(path, &where);
        const char *named = field ? field : "", *colon = field ? ": " : "";
        if (!json && where.line < 1)
            error_set(error, "%s%s%.400s: %s; expected a %s that can be read%s", named, colon, path,
                      where.text, field ? "file" : "run description",
                      field ? ", by its path from the folder of the run description" : "");
        else if (!json)
            error_set(error, "%s%s%.400s:%d: %s; expected one JSON object", named, colon, path, where.line,
                      where.text);
        for (int i = 0; json && i < n_overrides && !error_stands(error); i++)
            description_override(json, overrides[i], error);
        if (!alone) text = json_dumps(json, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY | JSON_COMPACT);
        bytes = text ? (int)strlen(text) + 1 : 0;
    }
    const bool read = agree(world, error);
    if (read && alone) return json;
    json_decref(json);
    json_t *shared = NULL;
    // Length first, then the text.
    if (read) {
        MPI_Bcast(&bytes, 1, MPI_INT, 0, world);
        if (rank != 0) text = alloc((size_t)bytes, 1);
        MPI_Bcast(text, bytes, MPI_CHAR, 0, world);
        shared = json_loads(text, JSON_DECODE_ANY, NULL);
    }
    free(text);
    return shared;
}

/// Loads a file that `field` of the run description at path `run` names. A relative path starts from the
/// folder of the run description.
static json_t *load_beside(const char *run, const char *file, const char *field, MPI_Comm world,
                           struct error *error) {
    // The folder of the run description, with the slash.
    const char *slash = *file == '/' ? NULL : strrchr(run, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - run) : 0;
    char *path = alloc(folder + strlen(file) + 1, 1);
    memcpy(path, run, folder);
    strcpy(path + folder, file);
    json_t *json = load(path, field, NULL, 0, world, error);
    free(path);
    return json;
}

/// Finds the placement and opens it, with its file if it has one.
static bool place(struct job *job, const struct options *options, int ranks, int threads, MPI_Comm world,
                  struct error *error) {
    const struct description *description = &job->description;
    const struct placement_rule *rule;
    const int rank = comm_rank(world);
    if (!schedule_placement(description, &rule, error)) return false;
    if (rule->read_file)
        job->placement_file =
            load_beside(options->description, description->placement_file, "placement.file", world, error);
    if (error_stands(error) || !placement_open(&job->placement, rule, &description->network, ranks, threads,
                                               job->placement_file, description->placement_weights, error))
        return false;
    if (rank == 0) return true; // it will write the record
    json_decref(job->placement_file);
    job->placement_file = NULL;
    return true;
}

/// Reads the files that exchanges name: the field is one choice, or holds one for each lane.
static bool read_exchange_files(struct description *description, const char *run, MPI_Comm world,
                                struct error *error) {
    static const char *const fields[] = {"order", "table"};
    json_t *exchange = json_object_get(description->json.object, "exchange"), *files = json_object();
    description->exchange_files = files;
    void *lane = json_object_iter(exchange);
    for (json_t *choice = exchange; choice;
         choice = json_object_iter_value(lane), lane = json_object_iter_next(exchange, lane))
        for (int i = 0; i < 2 && !error_stands(error); i++) {
            const char *name = json_string_value(json_object_get(choice, fields[i]));
            char field[40];
            snprintf(field, sizeof field, "exchange.%s", fields[i]);
            if (name && !json_object_get(files, name))
                json_object_set_new(files, name, load_beside(run, name, field, world, error));
        }
    return !error_stands(error);
}

/// Does what job_plan() does; where time is simulated, on the first rank only.
static bool plan(struct job *job, const struct options *options, const struct layout *layout, MPI_Comm world,
                 struct error *error) {
    struct description *description = &job->description;
    int ranks = layout->ranks, threads = layout->threads;
    if (options->ranks) {
        // The threads for other ranks than there are: those that mpirun would leave each, if none are given.
        threads = threads * ranks > options->ranks ? threads * ranks / options->ranks : 1;
        ranks = options->ranks;
    }
    if (options->threads) threads = options->threads;
    job->is_dry = options->is_dry;
    job->dry = options->dry;
    if (job->is_dry && layout->ranks > 1)
        return error_set(error, "--as-rank: started as %d processes; expected one, without mpirun", ranks);
    if (job->is_dry) ranks = job->dry.of;
    const time_t now = time(NULL);
    strftime(job->started, sizeof job->started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    job->start_s = clock_now();
    job->ahead_s = clock_ahead();

    const struct neuron_model *model;
    double parameters[neuron_parameters_max];
    json_t *run = load(options->description, NULL, options->overrides, options->n_overrides, world, error);
    if (!run || !description_open(description, run, error)) return false;
    for (uint32_t p = 0; p < description->network.n_populations; p++)
        if (!neuron_model_read(&description->network.populations[p], &model, parameters, error)) return false;
    return description_check_ranks(description, ranks, error) &&
           read_exchange_files(description, options->description, world, error) &&
           place(job, options, ranks, threads, world, error) &&
           schedule_plan(&job->schedule, description, &job->placement, error) &&
           counters_check(description, error) &&
           (!job->is_dry || dry_hooks->check(&job->dry, description, error));
}

/// Lets the other ranks borrow what the first one has planned, since all of them are actors of one process.
/// A description of thousands of populations would not fit into its memory once for each rank.
static void borrow_plan(struct job *job, MPI_Comm world) {
    struct job *first = job;
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, world);
    if (first == job) return;
    job->borrows = true;
    job->description = first->description;
    job->placement = first->placement;
    job->schedule = first->schedule;
    memcpy(job->started, first->started, sizeof job->started);
    job->start_s = clock_now();
    job->ahead_s = clock_ahead();
}

bool job_plan(struct job *job, const struct options *options, const struct layout *layout, MPI_Comm world,
              struct error *error) {
    const int rank = comm_rank(world);
    if (!platform.one_process) return plan(job, options, layout, world, error);
    if (rank == 0) plan(job, options, layout, MPI_COMM_SELF, error);
    const bool planned = agree(world, error);
    borrow_plan(job, world); // also what has failed, so that only the first rank closes it
    return planned;
}

bool job_build(struct job *job, const struct options *options, const struct layout *layout, MPI_Comm world,
               struct error *error) {
    const struct description *description = &job->description;
    const int rank = comm_rank(world);
    if (!layout_fits(world, description, &job->placement, &job->schedule, job->is_dry ? job->dry.rank : rank,
                     error))
        return false;
    counters_open(&job->counters, description, layout->threads);
    if (!error_stands(error))
        compute_times_open(&job->times, options->compute_times, layout->ranks, rank, description->cycles,
                           error);
    if (!error_stands(error)) progress_open(&job->progress, options->progress, rank, description, error);
    if (rank == 0 && !error_stands(error)) run_directory_open(&job->directory, options->out, error);
    return agree(world, error) && build(&job->model, description, &job->placement, &job->schedule, world,
                                        job->is_dry ? &job->dry : NULL, error);
}

bool job_run(struct job *job, MPI_Comm world, struct error *error) {
    const char *sysfs = getenv("SPIKEMARK_SYSFS");
    // What the record is made of; it is filled in below.
    struct host host;
    struct nodes nodes;
    struct results results = {.description = &job->description,
                              .model = &job->model,
                              .measured = &job->measured,
                              .host = &host,
                              .counters = &job->counters,
                              .placement_file = job->placement_file,
                              .sysfs = sysfs && *sysfs ? sysfs : "/sys",
                              .started = job->started};
    // Ranks end building at different times; the time of building is that of the slowest.
    MPI_Barrier(world);
    const double build_s = clock_now() - job->start_s;
    simulate(&job->model, &job->counters, &job->times, &job->progress, &job->measured);
    job->ran = true;

    // After the cycles: what the clock costs, and what the machine is.
    results.clock_read_s = clock_cost();
    results.ahead_s = clock_ahead();
    results.step_s = results.ahead_s - job->ahead_s;
    if (job->model.process == 0 || !platform.one_process) host_read(&host);
    if (platform.one_process)
        MPI_Bcast(&host, sizeof host, MPI_BYTE, 0, world); // all ranks are actors of one process
    // All ranks send what they counted to rank 0, which writes it.
    struct rank_tally *ranks = tally(&job->model, &job->measured, build_s, world);
    results.ranks = ranks;
    results.binding = tally_processors(host.binding, world);
    results.usable_cores = tally_processors(host.usable_cores, world);
    nodes_gather(&nodes, &host, results.sysfs, world);
    results.nodes = &nodes;
    const bool written = record_write(&results, &job->directory, world, error);
    nodes_close(&nodes);
    tally_close(ranks);
    json_decref(results.binding);
    json_decref(results.usable_cores);
    return written;
}

void job_close(struct job *job, MPI_Comm world) {
    run_directory_close(&job->directory);
    counters_close(&job->counters);
    free(job->times.seconds);
    progress_close(&job->progress, job->ran);
    measured_close(&job->measured);
    build_close(&job->model);
    if (platform.one_process) MPI_Barrier(world); // now no rank needs what it borrows
    if (!job->borrows) {
        schedule_close(&job->schedule);
        placement_close(&job->placement);
        description_close(&job->description);
    }
    json_decref(job->placement_file);
    free(job);
}
