/// \file
/// Makes up the spikes of other ranks for several windows at a time, and sorts them as these ranks would
/// send them.
///
/// prepare() goes through all sources of the rank's lists twice: count() counts their spikes in each window
/// and set of ranks, put() puts them there. Each set is then sorted by rank, cycle, thread, step and neuron,
/// which is the order of a real run, and pack() makes words of it. Sets keep sorting short: there are about
/// as many as spikes in a window. foreign_window() hands out one window after the other.
///
/// Cost: every source of the rank for each preparation, and sorting the spikes. Memory: about 12 bytes for
/// each spike made up ahead.

#include "run/foreign.h"

#include "base/alloc.h"
#include "base/fatal.h"
#include "base/rng.h"
#include "transport/source_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A spike while it is sorted.
struct made_spike {
    uint32_t owner; ///< its rank
    uint32_t order; ///< when that would send it: by cycle of the window, thread and step
    uint32_t gid, word;
};

/// The state of a lane.
struct foreign {
    const struct model *model;
    const struct lane *lane;
    struct source_table source_table;
    double spikes_per_step;        ///< expected
    uint32_t steps;                ///< of a window
    uint32_t warmup, end;          ///< steps at which the warm-up and the run end, and with them a window
    struct neuron_setup *setup;    ///< [populations]
    uint32_t first_step, end_step; ///< of what is prepared
    uint32_t windows;              ///< prepared
    uint32_t sets, set_ranks;      ///< of set_ranks ranks, whose spikes of a window are sorted together
    uint64_t *start;               ///< [windows x sets + 1] place of the spikes of a window and a set
    uint32_t *words;               ///< of all spikes
    uint64_t *first_run;           ///< [windows + 1]
    struct made_up_run *runs;      ///< the words of a window that come from one rank
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

/// Returns the spikes of a neuron: its own where its model knows them, else drawn ones.
static struct train train_of(const struct foreign *f, uint32_t population, uint32_t gid) {
    const struct neuron_model *model = f->model->neuron_models[population].model;
    return model->train ? model->train(&f->setup[population], gid) : drawn_train(f, population, gid);
}

struct foreign *foreign_open(const struct model *model, int lane, struct source_table *source_table) {
    const struct description *d = model->description;
    const struct network *network = &d->network;
    struct foreign *f = ALLOC(struct foreign, 1);
    *f = (struct foreign){.model = model, .lane = &model->lanes[lane], .source_table = *source_table};
    *source_table = (struct source_table){0};
    f->warmup = d->warmup_cycles * d->steps_per_cycle;
    f->end = f->warmup + d->cycles * d->steps_per_cycle;
    const uint64_t steps = (uint64_t)f->lane->plan->period * d->steps_per_cycle;
    f->steps = steps < f->end ? (uint32_t)steps : f->end;
    f->setup = ALLOC_ZERO(struct neuron_setup, network->n_populations);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        f->setup[p] = (struct neuron_setup){.seed = network->seed,
                                            .resolution_ms = d->given.resolution_ms,
                                            .input_unit = network->weight_unit,
                                            .population = p};
        memcpy(f->setup[p].parameters, model->neuron_models[p].parameters, sizeof f->setup[p].parameters);
    }
    struct source_cursor cursor = source_cursor_at(&f->source_table, 0);
    for (uint64_t list = 0; list < f->source_table.lists; list++) {
        int owner;
        const uint32_t gid = source_cursor_next(&cursor, &owner);
        const struct train train = train_of(f, cursor.range->population, gid);
        if (owner != f->lane->place && train.interval != train_silent)
            f->spikes_per_step += 1.0 / train.interval;
    }
    // About as many sets as spikes of a window: memory and time follow these, not the ranks of the machine.
    const double ranks = f->lane->ranks, sets = fmin(ranks, fmax(1, f->spikes_per_step * f->steps));
    f->set_ranks = (uint32_t)ceil(ranks / sets);
    f->sets = ((uint32_t)f->lane->ranks - 1) / f->set_ranks + 1;
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
    struct source_cursor cursor = source_cursor_at(&f->source_table, 0);
    for (uint64_t list = 0; list < f->source_table.lists; list++) {
        struct source source = {.name = (uint32_t)list};
        source.gid = source_cursor_next(&cursor, &source.owner);
        if (f->lane->backend->broadcast) source.name = known[source.owner]++;
        if (source.owner == f->lane->place) continue;
        source.thread = range_thread(cursor.range, f->model->threads, source.gid);
        source.train = train_of(f, cursor.range->population, source.gid);
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

/// Returns where the spikes that a rank fires at a step are counted.
static size_t cell_of(const struct foreign *f, uint64_t step, int owner) {
    return (size_t)window_of(f, (uint32_t)step) * f->sets + (uint32_t)owner / f->set_ranks;
}

/// Counts the spikes of a source.
static void count(struct foreign *f, const struct source *source, void *context) {
    (void)context;
    for (uint64_t step = first_spike(&source->train, f->first_step); step < f->end_step;
         step += source->train.interval)
        f->start[cell_of(f, step, source->owner) + 1]++;
}

/// Puts the spikes of a source where those of its set and their windows go; start[] moves on.
static void put(struct foreign *f, const struct source *source, void *context) {
    const uint32_t steps = f->model->description->steps_per_cycle, threads = (uint32_t)f->model->threads;
    struct made_spike *spikes = context;
    for (uint64_t step = first_spike(&source->train, f->first_step); step < f->end_step;
         step += source->train.interval) {
        const uint32_t within = (uint32_t)step - (f->first_step + window_of(f, (uint32_t)step) * f->steps);
        const uint64_t order =
            ((uint64_t)(within / steps) * threads + (uint32_t)source->thread) * steps + within % steps;
        spikes[f->start[cell_of(f, step, source->owner)]++] =
            (struct made_spike){(uint32_t)source->owner, order < UINT32_MAX ? (uint32_t)order : UINT32_MAX,
                                source->gid, spike_pack(f->lane->format, source->name, within)};
    }
}

/// Compares spikes by rank, order and id, for qsort().
static int by_order(const void *a, const void *b) {
    const struct made_spike *x = a, *y = b;
    if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->gid > y->gid) - (x->gid < y->gid);
}

/// Turns the sorted spikes of a window into words, and adds a run for each rank that has some.
static void pack(struct foreign *f, uint32_t window, const struct made_spike *spikes) {
    const struct wire_format *wire = f->lane->plan->wire;
    const uint32_t first = f->first_step + window * f->steps, wide = (uint32_t)wire->words;
    const uint64_t begin = f->start[(size_t)window * f->sets], end = f->start[(size_t)(window + 1) * f->sets];
    uint64_t run = f->first_run[window];
    for (uint64_t i = begin; i < end; i++) {
        wire_pack(wire, f->words + i * wide, spikes[i].word, spikes[i].gid,
                  first + spike_step(f->lane->format, spikes[i].word));
        if (i == begin || spikes[i].owner != spikes[i - 1].owner)
            f->runs[run++] = (struct made_up_run){(int)spikes[i].owner, 0};
        f->runs[run - 1].count += wide;
    }
    f->first_run[window + 1] = run;
}

/// Frees what was prepared.
static void free_prepared(struct foreign *f) {
    FREE(f->start, f->words, f->first_run, f->runs);
}

/// Makes up the spikes from step `first` on: as many windows as the limit of spikes allows, but not across
/// the end of the warm-up, where a window may be shorter.
static void prepare(struct foreign *f, uint32_t first) {
    const uint32_t last = first < f->warmup ? f->warmup : f->end;
    const double ahead = f->model->dry->spikes_ahead; // and half as many sets
    const double most = fmin(ahead / (f->spikes_per_step * f->steps), ahead / 2 / f->sets);
    f->first_step = first;
    f->end_step = window_end(f, first);
    f->windows = 1;
    while (f->windows + 1 <= most && f->end_step < last) {
        f->end_step = window_end(f, f->end_step);
        f->windows++;
    }
    const size_t cells = (size_t)f->windows * f->sets;
    free_prepared(f);
    // Count, then turn counts into places, then put; start[] has moved on by then and is moved back.
    f->start = ALLOC_ZERO(uint64_t, cells + 1);
    for_each_source(f, NULL, count);
    for (size_t i = 0; i < cells; i++) f->start[i + 1] += f->start[i];
    const uint64_t n = f->start[cells];
    struct made_spike *spikes = ALLOC(struct made_spike, n);
    for_each_source(f, spikes, put);
    memmove(f->start + 1, f->start, cells * sizeof *f->start);
    f->start[0] = 0;
    for (size_t i = 0; i < cells; i++)
        qsort(spikes + f->start[i], f->start[i + 1] - f->start[i], sizeof *spikes, by_order);
    f->words = ALLOC(uint32_t, n * (uint64_t)f->lane->plan->wire->words);
    f->runs = ALLOC(struct made_up_run, n);
    f->first_run = ALLOC_ZERO(uint64_t, (size_t)f->windows + 1);
    for (uint32_t window = 0; window < f->windows; window++) pack(f, window, spikes);
    free(spikes);
}

struct made_up_words foreign_window(struct foreign *f, uint32_t first, uint32_t end) {
    if (end != window_end(f, first)) fatal("dry run: a window that no lane has");
    if (!f->start || first < f->first_step || first >= f->end_step) prepare(f, first);
    const size_t window = window_of(f, first);
    const uint64_t run = f->first_run[window], wide = (uint64_t)f->lane->plan->wire->words;
    return (struct made_up_words){f->words + f->start[window * f->sets] * wide, f->runs + run,
                                  f->first_run[window + 1] - run};
}

void foreign_close(struct foreign *f) {
    if (!f) return;
    source_table_close(&f->source_table);
    free(f->setup);
    free_prepared(f);
    free(f);
}
