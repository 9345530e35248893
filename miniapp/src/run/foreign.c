#include "run/foreign.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A spike while it is sorted.
struct made_spike {
    uint32_t order; ///< when its rank would send it: by cycle of the window, thread and step
    uint32_t gid, word;
};

struct foreign {
    const struct model *model;
    const struct lane *lane;
    struct wanted wanted;
    double spikes_per_step;        ///< expected
    uint32_t steps;                ///< of a window
    uint32_t warmup, end;          ///< steps at which the warm-up and the run end, and with them a window
    struct neuron_setup *setup;    ///< [populations]
    uint32_t first_step, end_step; ///< of what is prepared
    uint32_t windows;              ///< prepared
    uint64_t *start;               ///< [windows x ranks + 1] place of the words of a window and rank
    uint32_t *words;
    struct inbox_run *runs; ///< [ranks] of the window asked for last
};

/// Returns the step before which the window from step `first` on ends.
static uint32_t window_end(const struct foreign *f, uint32_t first) {
    const uint32_t last = first < f->warmup ? f->warmup : f->end;
    return last - first < f->steps ? last : first + f->steps;
}

/// Returns the spikes of a neuron at the given rate. Where its interval is no whole number of steps, one of
/// the two next to it is drawn, so that the mean is right.
static struct train drawn_train(const struct foreign *f, uint32_t population, uint32_t gid) {
    const struct network *network = &f->model->description->network;
    const double steps = 1000 / (f->model->dry->rate_hz * f->model->description->given.resolution_ms);
    const struct rng_words drawn = rng_draw(network->seed, rng_dry_run, population, gid, 0);
    if (!(steps < train_silent - 1)) return (struct train){train_silent, 0};
    const uint32_t interval = (uint32_t)fmax(1, steps + rng_uniform(drawn.word[0]));
    return (struct train){interval, rng_below(drawn.word[1], drawn.word[2], interval)};
}

static struct train train_of(const struct foreign *f, uint32_t population, uint32_t gid) {
    const struct neuron_model *model = f->model->neuron_models[population].model;
    return model->train ? model->train(&f->setup[population], gid) : drawn_train(f, population, gid);
}

struct foreign *foreign_open(const struct model *model, int lane, struct wanted *wanted) {
    const struct description *d = model->description;
    const struct network *network = &d->network;
    struct foreign *f = ALLOC(struct foreign, 1);
    *f = (struct foreign){.model = model, .lane = &model->lanes[lane], .wanted = *wanted};
    *wanted = (struct wanted){0};
    f->warmup = d->warmup_cycles * d->steps_per_cycle;
    f->end = f->warmup + d->cycles * d->steps_per_cycle;
    const uint64_t steps = (uint64_t)f->lane->plan->period * d->steps_per_cycle;
    f->steps = steps < f->end ? (uint32_t)steps : f->end;
    f->runs = ALLOC_ZERO(struct inbox_run, (size_t)f->lane->ranks);
    f->setup = ALLOC_ZERO(struct neuron_setup, network->n_populations);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        f->setup[p] = (struct neuron_setup){.seed = network->seed,
                                            .resolution_ms = d->given.resolution_ms,
                                            .input_unit = network->weight_unit,
                                            .population = p};
        memcpy(f->setup[p].parameters, model->neuron_models[p].parameters, sizeof f->setup[p].parameters);
    }
    struct wanted_cursor cursor = wanted_from(&f->wanted, 0);
    for (uint64_t list = 0; list < f->wanted.lists; list++) {
        int owner;
        const uint32_t gid = wanted_next(&cursor, &owner);
        const struct train train = train_of(f, cursor.deal->population, gid);
        if (owner != f->lane->place && train.interval != train_silent)
            f->spikes_per_step += 1.0 / train.interval;
    }
    return f;
}

/// A source neuron, and where its spikes go.
struct source {
    uint32_t gid, name; ///< name: of its list here, or of a broadcast its number on its rank
    int owner, thread;
    struct train train;
};

/// Calls `take` for every source on another rank, in the order of ids.
static void for_each_source(struct foreign *f, void *context,
                            void (*take)(struct foreign *, const struct source *, void *)) {
    uint32_t *known = ALLOC_ZERO(uint32_t, (size_t)f->lane->ranks); // sources of each rank so far
    struct wanted_cursor cursor = wanted_from(&f->wanted, 0);
    for (uint64_t list = 0; list < f->wanted.lists; list++) {
        struct source source = {.name = (uint32_t)list};
        source.gid = wanted_next(&cursor, &source.owner);
        if (f->lane->backend->broadcast) source.name = known[source.owner]++;
        if (source.owner == f->lane->place) continue;
        source.thread = deal_thread(cursor.deal, f->model->threads, source.gid);
        source.train = train_of(f, cursor.deal->population, source.gid);
        if (source.train.interval != train_silent) take(f, &source, context);
    }
    free(known);
}

/// Returns the first spike of a train from step `step` on.
static uint64_t first_spike(const struct train *train, uint32_t step) {
    if (step <= train->phase) return train->phase;
    const uint64_t passed = ((uint64_t)step - train->phase + train->interval - 1) / train->interval;
    return train->phase + passed * train->interval;
}

/// Returns the window, counted from the first that is prepared, in which a step lies.
static uint32_t window_of(const struct foreign *f, uint32_t step) {
    return (step - f->first_step) / f->steps; // they all lie on one side of the end of the warm-up
}

static void count(struct foreign *f, const struct source *source, void *context) {
    (void)context;
    const uint32_t ranks = (uint32_t)f->lane->ranks;
    for (uint64_t step = first_spike(&source->train, f->first_step); step < f->end_step;
         step += source->train.interval)
        f->start[(size_t)window_of(f, (uint32_t)step) * ranks + (uint32_t)source->owner + 1]++;
}

/// Puts the spikes of a source where those of its window and rank go; start[] moves on.
static void put(struct foreign *f, const struct source *source, void *spikes) {
    const uint32_t steps = f->model->description->steps_per_cycle, threads = (uint32_t)f->model->threads;
    for (uint64_t step = first_spike(&source->train, f->first_step); step < f->end_step;
         step += source->train.interval) {
        const uint32_t window = window_of(f, (uint32_t)step);
        const uint32_t within = (uint32_t)step - (f->first_step + window * f->steps);
        const uint64_t order =
            ((uint64_t)(within / steps) * threads + (uint32_t)source->thread) * steps + within % steps;
        ((struct made_spike *)
             spikes)[f->start[(size_t)window * (uint32_t)f->lane->ranks + (uint32_t)source->owner]++] =
            (struct made_spike){order < UINT32_MAX ? (uint32_t)order : UINT32_MAX, source->gid,
                                spike_pack(f->lane->format, source->name, within)};
    }
}

static int by_order(const void *a, const void *b) {
    const struct made_spike *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->gid > y->gid) - (x->gid < y->gid);
}

/// Sorts the spikes of a window and rank and turns them into words.
static void pack(struct foreign *f, struct made_spike *spikes, uint64_t n, uint32_t first, uint32_t *words) {
    const struct wire_format *wire = f->lane->plan->wire;
    qsort(spikes, n, sizeof *spikes, by_order);
    for (uint64_t i = 0; i < n; i++)
        wire->pack(words + i * (uint64_t)wire->words, spikes[i].word, spikes[i].gid,
                   first + spike_step(f->lane->format, spikes[i].word));
}

/// Prepares windows from step `first` on.
static void prepare(struct foreign *f, uint32_t first) {
    const uint32_t ranks = (uint32_t)f->lane->ranks, last = first < f->warmup ? f->warmup : f->end;
    const double ahead = f->model->dry->spikes_ahead; // and half as many runs of words
    const double most = fmin(ahead / (f->spikes_per_step * f->steps), ahead / 2 / ranks);
    f->first_step = first;
    f->end_step = window_end(f, first);
    f->windows = 1;
    while (f->windows + 1 <= most && f->end_step < last) {
        f->end_step = window_end(f, f->end_step);
        f->windows++;
    }
    const size_t cells = (size_t)f->windows * ranks;
    free(f->start);
    free(f->words);
    f->start = ALLOC_ZERO(uint64_t, cells + 1);
    for_each_source(f, NULL, count);
    for (size_t i = 0; i < cells; i++) f->start[i + 1] += f->start[i];
    struct made_spike *spikes = ALLOC(struct made_spike, f->start[cells]);
    for_each_source(f, spikes, put);
    memmove(f->start + 1, f->start, cells * sizeof *f->start);
    f->start[0] = 0;
    const uint64_t wide = (uint64_t)f->lane->plan->wire->words;
    f->words = ALLOC(uint32_t, f->start[cells] * wide);
    for (size_t i = 0; i < cells; i++)
        pack(f, spikes + f->start[i], f->start[i + 1] - f->start[i],
             f->first_step + (uint32_t)(i / ranks) * f->steps, f->words + f->start[i] * wide);
    free(spikes);
}

const struct inbox_run *foreign_window(struct foreign *f, uint32_t first, uint32_t end) {
    const size_t ranks = (size_t)f->lane->ranks, wide = (size_t)f->lane->plan->wire->words;
    if (end != window_end(f, first)) abort(); // the schedule of the lane is known
    if (!f->start || first < f->first_step || first >= f->end_step) prepare(f, first);
    const uint64_t *start = f->start + window_of(f, first) * ranks;
    for (size_t rank = 0; rank < ranks; rank++)
        f->runs[rank] =
            (struct inbox_run){f->words + start[rank] * wide, (start[rank + 1] - start[rank]) * wide};
    return f->runs;
}

double foreign_bytes(double lists, int wire_words) {
    return 2 * lists + (sizeof(struct made_spike) + 4.0 * wire_words + 8.0 / 2) * dry_spikes_ahead;
}

void foreign_close(struct foreign *f) {
    if (!f) return;
    wanted_close(&f->wanted);
    free(f->setup);
    free(f->start);
    free(f->words);
    free(f->runs);
    free(f);
}
