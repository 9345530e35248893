/// \file
/// Delivery and update on an accelerator, by OpenMP target regions: the kernel times of docs/accelerators.md.
///
/// A network of leaky integrate-and-fire neurons in single precision, with lists of equal length; sources,
/// targets, delays and weights are drawn by a hash. Every step delivers the spikes of drawn sources into a
/// ring of input and updates all neurons. The same steps run in plain loops on the host, and the rings and
/// potentials of both must agree bit by bit: weights are integers, and products are not fused.
///
/// Writes one JSON object. Times are null where the target regions ran on the host: those of a host are not
/// those of an accelerator. This file needs nothing but a C compiler with OpenMP. Exit status: 0, 1 if the
/// results differ, 2 for bad options.

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { slots = 16, checked_steps = 20, transfers = 100, most_repetitions = 1000 };
enum { transferred = 1 << 24 }; // bytes of the large transfer
static const float decay = 0.99F, threshold = 4000.0F;

/// What the command line asks for: --NAME VALUE.
struct asked {
    double neurons, indegree, spikes, steps, repetitions;
};

struct network {
    uint32_t n, length, per_step; // neurons, synapses of a list, spikes of a step
    uint32_t *target;             // [n * length]
    uint8_t *delay;               // [n * length], 1 to slots - 1 steps
    int32_t *weight;              // [n * length]
    uint32_t *spikes;             // [checked_steps * per_step], sources
    int32_t *ring;                // [slots * n]
    float *potential;             // [n]
};

/// Five times in a repetition.
struct times {
    double t_next_ns, update_ns, step_us, transfer_latency_us, transfer_bandwidth;
};

static uint32_t hash(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
}

static void *allocate(size_t bytes) {
    void *found = calloc(bytes ? bytes : 1, 1);
    if (!found) {
        fprintf(stderr, "bench_offload: out of memory\n");
        exit(1);
    }
    return found;
}

static struct network open_network(const struct asked *asked) {
    struct network net = {(uint32_t)asked->neurons,
                          (uint32_t)asked->indegree,
                          (uint32_t)asked->spikes,
                          NULL,
                          NULL,
                          NULL,
                          NULL,
                          NULL,
                          NULL};
    const size_t synapses = (size_t)net.n * net.length;
    net.target = allocate(synapses * sizeof *net.target);
    net.delay = allocate(synapses);
    net.weight = allocate(synapses * sizeof *net.weight);
    for (size_t i = 0; i < synapses; i++) {
        const uint32_t drawn = hash((uint32_t)i * 2654435761U + 1);
        net.target[i] = (uint32_t)((uint64_t)drawn * net.n >> 32);
        net.delay[i] = (uint8_t)(1 + hash(drawn) % (slots - 1));
        net.weight[i] = (int32_t)(hash(drawn + 7) % 200);
    }
    const size_t spikes = (size_t)checked_steps * net.per_step;
    net.spikes = allocate(spikes * sizeof *net.spikes);
    for (size_t i = 0; i < spikes; i++)
        net.spikes[i] = (uint32_t)((uint64_t)hash((uint32_t)i + 99) * net.n >> 32);
    net.ring = allocate((size_t)slots * net.n * sizeof *net.ring);
    net.potential = allocate(net.n * sizeof *net.potential);
    return net;
}

static void close_network(struct network *net) {
    free(net->target);
    free(net->delay);
    free(net->weight);
    free(net->spikes);
    free(net->ring);
    free(net->potential);
}

// Both versions of a loop call these, so that they cannot drift apart.
#pragma omp declare target
static size_t cell(uint32_t step, uint8_t delay, uint32_t target, uint32_t n) {
    return (size_t)((step + delay) % slots) * n + target;
}

static float advanced(float potential, int32_t input) {
    const float kept = potential * decay, next = kept + (float)input;
    return next >= threshold ? 0.0F : next;
}
#pragma omp end declare target

/// A step on the host, in plain loops.
static void step_on_host(struct network *net, uint32_t step) {
    const uint32_t *spikes = net->spikes + (size_t)(step % checked_steps) * net->per_step;
    for (uint32_t s = 0; s < net->per_step; s++)
        for (uint32_t k = 0; k < net->length; k++) {
            const size_t i = (size_t)spikes[s] * net->length + k;
            net->ring[cell(step, net->delay[i], net->target[i], net->n)] += net->weight[i];
        }
    int32_t *now = net->ring + (size_t)(step % slots) * net->n;
    for (uint32_t i = 0; i < net->n; i++) {
        net->potential[i] = advanced(net->potential[i], now[i]);
        now[i] = 0;
    }
}

/// Delivery of a step by a target region; the arrays are there already.
static void deliver(struct network *net, uint32_t step) {
    const uint32_t n = net->n, length = net->length, first = (step % checked_steps) * net->per_step;
    const uint32_t *target = net->target, *spikes = net->spikes;
    const uint8_t *delay = net->delay;
    const int32_t *weight = net->weight;
    int32_t *ring = net->ring;
    const uint64_t events = (uint64_t)net->per_step * length;
#pragma omp target teams distribute parallel for
    for (uint64_t e = 0; e < events; e++) {
        const size_t i = (size_t)spikes[first + e / length] * length + e % length;
        const int32_t added = weight[i];
#pragma omp atomic
        ring[cell(step, delay[i], target[i], n)] += added;
    }
}

/// Update of a step by a target region.
static void update(struct network *net, uint32_t step) {
    const uint32_t n = net->n;
    const size_t first = (size_t)(step % slots) * n;
    int32_t *ring = net->ring;
    float *potential = net->potential;
#pragma omp target teams distribute parallel for
    for (uint32_t i = 0; i < n; i++) {
        potential[i] = advanced(potential[i], ring[first + i]);
        ring[first + i] = 0;
    }
}

/// A target region that does next to nothing: what it takes to start one, in microseconds.
static double start_us(void) {
    int done = 0;
    const double from = omp_get_wtime();
    for (int i = 0; i < transfers; i++) {
#pragma omp target map(tofrom : done)
        done++;
    }
    return done == transfers ? (omp_get_wtime() - from) * 1e6 / transfers : NAN;
}

static double transfer_s(uint8_t *buffer, size_t bytes, int times) {
    (void)buffer; // for compilers that do not offload
    const double from = omp_get_wtime();
    for (int i = 0; i < times; i++) {
#pragma omp target update to(buffer [0:bytes])
    }
    return (omp_get_wtime() - from) / times;
}

static struct times measure(struct network *net, uint32_t steps, uint8_t *buffer) {
    struct times found;
    double from = omp_get_wtime();
    for (uint32_t step = 0; step < steps; step++) deliver(net, step);
    found.t_next_ns = (omp_get_wtime() - from) * 1e9 / ((double)steps * net->per_step * net->length);
    from = omp_get_wtime();
    for (uint32_t step = 0; step < steps; step++) update(net, step);
    found.update_ns = (omp_get_wtime() - from) * 1e9 / ((double)steps * net->n);
    found.step_us = 2 * start_us();
    found.transfer_latency_us = transfer_s(buffer, 1, transfers) * 1e6;
    found.transfer_bandwidth = transferred / transfer_s(buffer, transferred, 3) * 1e-9;
    return found;
}

/// Runs the checked steps in both ways. \return whether rings and potentials are the same.
static bool agrees(struct network *net) {
    const size_t cells = (size_t)slots * net->n;
    for (uint32_t step = 0; step < checked_steps; step++) {
        deliver(net, step);
        update(net, step);
    }
    int32_t *from_ring = net->ring;
    float *from_potential = net->potential;
#pragma omp target update from(from_ring [0:cells], from_potential [0:net->n])
    int32_t *ring = allocate(cells * sizeof *ring);
    float *potential = allocate(net->n * sizeof *potential);
    memcpy(ring, from_ring, cells * sizeof *ring);
    memcpy(potential, from_potential, net->n * sizeof *potential);
    memset(net->ring, 0, cells * sizeof *ring);
    memset(net->potential, 0, net->n * sizeof *potential);
    for (uint32_t step = 0; step < checked_steps; step++) step_on_host(net, step);
    const bool same = !memcmp(ring, net->ring, cells * sizeof *ring) &&
                      !memcmp(potential, net->potential, net->n * sizeof *potential);
    free(ring);
    free(potential);
    return same;
}

/// Finds an option by its name. \return where its value belongs; NULL for an unknown name.
static double *option(struct asked *asked, const char *name, double *most) {
    const struct {
        const char *name;
        double *value, most;
    } all[] = {{"--neurons", &asked->neurons, 1e8},
               {"--indegree", &asked->indegree, 1e5},
               {"--spikes", &asked->spikes, 1e6},
               {"--steps", &asked->steps, 1e6},
               {"--repetitions", &asked->repetitions, most_repetitions}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!strcmp(name, all[k].name)) {
            *most = all[k].most;
            return all[k].value;
        }
    return NULL;
}

static bool read_asked(struct asked *asked, int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        double most = 0, *value = option(asked, argv[i], &most);
        const char *text = argv[i + 1] ? argv[i + 1] : "";
        char *end = NULL;
        const double given = value ? strtod(text, &end) : 0;
        if (given < 1 || given > most || given != floor(given) || *end) {
            fprintf(stderr,
                    "bench_offload: %s %s; allowed: --neurons, --indegree, --spikes (of a step), --steps, "
                    "--repetitions, each with a whole number above 0\n",
                    argv[i], text);
            return false;
        }
        *value = given;
    }
    return true;
}

/// Writes a list of one of the times in all repetitions; null on the host.
static void write_times(const char *name, const struct times *found, int n, size_t offset, bool on_device) {
    printf(", \"%s\": %s", name, on_device ? "[" : "null");
    for (int r = 0; on_device && r < n; r++)
        printf("%s%.6g", r ? ", " : "", *(const double *)((const char *)(found + r) + offset));
    if (on_device) printf("]");
}

int main(int argc, char **argv) {
    struct asked asked = {77169, 3870, 24, 1000, 5}; // the cortical microcircuit, at 3.1 Hz and 0.1 ms
    if (!read_asked(&asked, argc, argv)) return 2;
    struct network net = open_network(&asked);
    const size_t synapses = (size_t)net.n * net.length, cells = (size_t)slots * net.n;
    const size_t spikes = (size_t)checked_steps * net.per_step;
    uint8_t *buffer = allocate(transferred);
    struct times *found = allocate((size_t)asked.repetitions * sizeof *found);
    int host = 1;
#pragma omp target map(from : host)
    host = omp_is_initial_device();
    const uint32_t *target = net.target, *drawn = net.spikes;
    const uint8_t *delay = net.delay;
    const int32_t *weight = net.weight, *ring = net.ring;
    const float *potential = net.potential;
#pragma omp target enter data map(to : target [0:synapses], delay [0:synapses], weight [0:synapses])
#pragma omp target enter data map(to : drawn [0:spikes], ring [0:cells], potential [0:net.n])
#pragma omp target enter data map(to : buffer [0:transferred])
    const bool same = agrees(&net);
    for (int r = 0; r < (int)asked.repetitions && !host; r++)
        found[r] = measure(&net, (uint32_t)asked.steps, buffer);
    printf("{\"kind\": \"offload\", \"format_version\": 1, \"on\": \"%s\", \"devices\": %d, \"equal\": %s",
           host ? "host" : "device", omp_get_num_devices(), same ? "true" : "false");
    printf(", \"neurons\": %u, \"indegree\": %u, \"spikes\": %u, \"precision\": \"single\"", net.n,
           net.length, net.per_step);
    const int n = (int)asked.repetitions;
    write_times("t_next_ns", found, n, offsetof(struct times, t_next_ns), !host);
    write_times("update_ns", found, n, offsetof(struct times, update_ns), !host);
    write_times("step_us", found, n, offsetof(struct times, step_us), !host);
    write_times("transfer_latency_us", found, n, offsetof(struct times, transfer_latency_us), !host);
    write_times("transfer_bandwidth_gb_s", found, n, offsetof(struct times, transfer_bandwidth), !host);
    printf("%s}\n", host ? ", \"reason\": \"the target regions ran on the host\"" : "");
    close_network(&net);
    free(buffer);
    free(found);
    return same ? 0 : 1;
}
