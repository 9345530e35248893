#include "run/simulate.h"

#include "measurement/clock.h"
#include <omp.h>

/// What the master thread writes at every seam. It lies apart from what the other threads read.
struct seams {
    struct measured *measured; ///< NULL in the warm-up
    uint64_t first, last;      ///< the clock as first and last read, ticks
    bool unread;               ///< an exchange has been made since the clock was read
};

/// A stretch of cycles: the warm-up or the measured part. It does not change while the threads run.
struct stretch {
    uint32_t first_step, cycles;
    struct seams *seams;
    struct inject *inject;
    struct counters *counters;         ///< NULL unless counters are read at the seams
    const struct compute_times *times; ///< NULL unless they say how long the kernels take
    const struct progress *progress;
    bool counts;    ///< kind of the clock
    double start_s; ///< the other clock at the first reading
};

/// Adds what the counters of the thread, if any are wanted, counted since their last reading to a phase.
static void mark(const struct stretch *stretch, int thread, int phase) {
    if (stretch->counters) counters_mark(stretch->counters, thread, phase);
}

/// Reads the clock and adds the time since the last reading to a phase.
static void tick(const struct stretch *stretch, uint32_t cycle, enum phase phase) {
    struct seams *seams = stretch->seams;
    if (!seams->measured) return;
    uint64_t now = clock_ticks(stretch->counts);
    cycle_log_add(&seams->measured->log, cycle, phase, now - seams->last);
    seams->measured->clock_reads++;
    seams->last = now;
}

/// Ends a phase of a thread: reads its counters, and for the master thread the clock.
static void stamp(const struct stretch *stretch, int thread, uint32_t cycle, enum phase phase) {
    if (thread == 0) tick(stretch, cycle, phase);
    mark(stretch, thread, phase);
}

static void deliver(const struct model *model, int thread) {
    REGION_BEGIN(deliver);
    struct part *part = model->parts[thread];
    for (int l = 0; l < model->n_lanes; l++) {
        struct delivered delivered = lane_deliver(&model->lanes[l], thread, &part->ring);
        part->counts.synaptic_events += delivered.synaptic_events;
        part->counts.first_accesses += delivered.first_accesses;
        part->counts.lookups += delivered.lookups;
    }
    REGION_END(deliver);
}

/// Lets MPI work on exchanges under way. The master thread does it, since MPI may allow no other.
static void progress_lanes(struct model *model) {
    for (int l = 0; l < model->n_lanes; l++)
        if (model->lanes[l].plan->lag > 0) lane_progress(&model->lanes[l]);
}

static bool any_overlaps(const struct model *model) {
    for (int l = 0; l < model->n_lanes; l++)
        if (model->lanes[l].plan->lag > 0) return true;
    return false;
}

/// Advances the thread's neurons by one cycle, which starts at step `first`.
static void update(struct model *model, int thread, uint32_t first, uint32_t steps) {
    enum { blocks_per_progress = 8 };
    REGION_BEGIN(update);
    struct part *part = model->parts[thread];
    part->n_spikes = 0;
    for (uint32_t step = first; step < first + steps; step++) {
        for (uint32_t b = 0; b < part->n_blocks; b++) {
            const struct block *block = &part->blocks[b];
            if (thread == 0 && b % blocks_per_progress == 0) progress_lanes(model);
            ring_take(&part->ring, step, block->first, block->share.count, part->input);
            if (block->external)
                part->counts.external_events += external_add(block->external, step, part->input);
            uint32_t n = block->model->update(block->state, part->input, step, part->fired);
            for (uint32_t i = 0; i < n; i++) {
                uint32_t gid = block->share.first + part->fired[i] * block->share.stride;
                part->spikes[part->n_spikes++] = (struct spike){block->first + part->fired[i], gid, step};
                part->counts.checksum += checksum_spike(gid, step);
            }
        }
    }
    part->counts.spikes += part->n_spikes;
    REGION_END(update);
}

static void collocate(struct model *model, const struct stretch *stretch) {
    REGION_BEGIN(collocate);
    for (int t = 0; t < model->threads; t++) {
        const struct part *part = model->parts[t];
        for (int l = 0; l < model->n_lanes; l++)
            if (lane_sends(&model->lanes[l]))
                lane_collocate(&model->lanes[l], part->spikes, part->n_spikes, part->first_neuron);
        if (stretch->seams->measured)
            trace_add(&stretch->seams->measured->trace, part->spikes, part->n_spikes);
    }
    REGION_END(collocate);
}

/// Ends the window of a lane and takes in what is due.
static void exchange_lane(struct model *model, struct lane *lane, const struct stretch *stretch,
                          uint32_t cycle, uint32_t next_step, bool last) {
    const bool overlaps = lane->plan->lag > 0;
    if (!overlaps && lane->ranks > 1 && model->description->given.barrier != 0) {
        if (stretch->seams->unread) stamp(stretch, 0, cycle, phase_exchange);
        REGION_BEGIN(synchronise);
        lane_synchronise(lane);
        REGION_END(synchronise);
        stamp(stretch, 0, cycle, phase_synchronise);
    }
    REGION_BEGIN(exchange);
    lane_start(lane, next_step);
    if (!overlaps) lane_finish(lane, last);
    REGION_END(exchange);
    if (overlaps) {
        stamp(stretch, 0, cycle, phase_exchange);
        REGION_BEGIN(overlap_wait);
        lane_finish(lane, last);
        REGION_END(overlap_wait);
        stamp(stretch, 0, cycle, phase_overlap_wait);
    }
    stretch->seams->unread = !overlaps;
}

/// Exchanges lanes whose window ends. One reading of the clock serves those without barrier and overlap.
static void exchange(struct model *model, const struct stretch *stretch, uint32_t cycle, uint32_t next_step) {
    stretch->seams->unread = false;
    for (int l = 0; l < model->n_lanes; l++) {
        struct lane *lane = &model->lanes[l];
        lane_clear(lane);
        const bool last = cycle + 1 == stretch->cycles; // nothing may stay on its way then
        if ((cycle + 1) % lane->plan->period != 0 && !last) continue;
        if (model->dry)
            dry_exchange(model->dry, lane, next_step, last);
        else
            exchange_lane(model, lane, stretch, cycle, next_step, last);
    }
    if (model->dry) { // its time belongs to no phase
        mark(stretch, 0, phase_exchange);
        stretch->seams->last = clock_ticks(stretch->counts);
    }
    if (stretch->seams->unread) stamp(stretch, 0, cycle, phase_exchange);
}

/// Waits as long as the description wants for this cycle.
static void inject(struct model *model, const struct stretch *stretch, uint32_t cycle) {
    if (!stretch->inject->active) return;
    REGION_BEGIN(inject);
    progress_lanes(model);
    pause_for(inject_next(stretch->inject, build_synaptic_events(model)), model->description->inject_sleeps);
    progress_lanes(model);
    REGION_END(inject);
    stamp(stretch, 0, cycle, phase_inject);
}

/// Lets simulated time pass until the phase that began with the last reading of the clock has taken as long
/// as the file of compute times says. MPI works on exchanges under way in between.
static void pass(struct model *model, const struct stretch *stretch, uint32_t cycle,
                 enum compute_phase phase) {
    enum { parts = 4 };
    if (!stretch->times) return;
    const double seconds = (double)stretch->times->seconds[cycle][phase];
    const int n = phase == compute_update && any_overlaps(model) ? parts : 1;
    for (int i = 1; i <= n; i++) {
        double left = seconds * i / n - 1e-9 * (double)(clock_ticks(stretch->counts) - stretch->seams->last);
        if (left > 0) simulated_pass(left);
        if (n > 1) progress_lanes(model);
    }
}

/// Lets the threads meet. The time of the master thread there is its `thread_wait`; one alone meets nobody.
static void meet(const struct model *model, const struct stretch *stretch, int thread, uint32_t cycle) {
    if (model->threads == 1) return;
    REGION_BEGIN(thread_wait);
#pragma omp barrier
    REGION_END(thread_wait);
    stamp(stretch, thread, cycle, phase_thread_wait);
}

/// The cycle loop, which every thread runs. Threads meet twice per cycle: spikes must be complete before the
/// master thread collocates them, and exchanged before they are delivered. A thread delivers to its own ring
/// only, so it may update its neurons while another one still delivers.
static void run_cycles(struct model *model, const struct stretch *stretch) {
    const int thread = omp_get_thread_num();
    const uint32_t steps = model->description->steps_per_cycle;
    for (uint32_t cycle = 0; cycle < stretch->cycles; cycle++) {
        const uint32_t step = stretch->first_step + cycle * steps;
        deliver(model, thread);
        pass(model, stretch, cycle, compute_deliver);
        stamp(stretch, thread, cycle, phase_deliver);
        update(model, thread, step, steps);
        pass(model, stretch, cycle, compute_update);
        stamp(stretch, thread, cycle, phase_update);
        meet(model, stretch, thread, cycle);
        if (thread == 0) {
            inject(model, stretch, cycle);
            collocate(model, stretch);
            pass(model, stretch, cycle, compute_collocate);
            stamp(stretch, 0, cycle, phase_collocate);
            exchange(model, stretch, cycle, step + steps);
            progress_count(stretch->progress);
        }
        meet(model, stretch, thread, cycle);
    }
    deliver(model, thread); // what the last exchange brought, counted with its cycle
    stamp(stretch, thread, stretch->cycles - 1, phase_deliver);
    meet(model, stretch, thread, stretch->cycles - 1);
}

static void run_stretch(struct model *model, struct stretch *stretch) {
    if (stretch->cycles == 0) return;
    for (int l = 0; l < model->n_lanes; l++) lane_begin(&model->lanes[l], stretch->first_step);
    stretch->inject->synapses = 0;
    stretch->counts = clock_counts();
    stretch->start_s = clock_now();
    stretch->seams->first = stretch->seams->last = clock_ticks(stretch->counts);
#pragma omp parallel num_threads(model->threads)
    run_cycles(model, stretch);
}

void simulate(struct model *model, struct counters *counters, const struct compute_times *times,
              const struct progress *progress, struct measured *measured) {
    const struct description *description = model->description;
    struct inject waits = inject_open(description, model->rank, model->neurons, model->threads);
    struct seams *seams = ALLOC_ZERO(struct seams, 1);
    struct stretch warmup = {.first_step = 0,
                             .cycles = description->warmup_cycles,
                             .seams = seams,
                             .inject = &waits,
                             .progress = progress};
    struct stretch main_part = {.first_step = description->warmup_cycles * description->steps_per_cycle,
                                .cycles = description->cycles,
                                .seams = seams,
                                .inject = &waits,
                                .progress = progress,
                                .counters = counters && counters->by_phase ? counters : NULL,
                                .times = times && times->seconds ? times : NULL};
    *measured = (struct measured){.trace.wanted = description->given.record_spikes != 0};
    cycle_log_open(&measured->log, description->cycles, description->given.record_cycles != 0);

    REGION_BEGIN(warmup);
    run_stretch(model, &warmup);
    REGION_END(warmup);
    seams->measured = measured;
    build_reset_counts(model);
    MPI_Barrier(model->world); // no lane need connect all ranks
    struct usage_node node = usage_node_seconds();
    double process_s = usage_process_seconds();
    if (counters) counters_start(counters);
    measured->from_s = clock_now();
    REGION_BEGIN(simulate);
    run_stretch(model, &main_part);
    REGION_END(simulate);
    measured->to_s = clock_now();
    double tick_s =
        (clock_now() - main_part.start_s) / (double)(clock_ticks(main_part.counts) - seams->first);
    measured->simulate_s = (double)(seams->last - seams->first) * tick_s;
    cycle_log_scale(&measured->log, tick_s);
    measured->process_s = usage_process_seconds() - process_s;
    struct usage_node after = usage_node_seconds();
    measured->node_busy_s = after.busy_s - node.busy_s;
    measured->node_stolen_s = after.stolen_s - node.stolen_s;
    if (counters) counters_stop(counters);
    measured->peak_bytes = usage_peak_bytes();
    if (description->given.barrier == 0 && model->ranks > 1)
        cycle_log_unmeasured(&measured->log, phase_synchronise);
    free(seams);
    if (model->dry) dry_end(model->dry, &measured->log, model->lanes, model->n_lanes);
}

void measured_close(struct measured *measured) {
    cycle_log_close(&measured->log);
    free(measured->trace.spikes);
}
