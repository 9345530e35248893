/// \file
/// The cycle loop: deliver, update, collocate, synchronise, exchange. Begin to read the mini-app here, at
/// run_cycles().
///
/// Every thread runs run_cycles(). In a cycle it delivers what has arrived to the ring buffer of its own
/// neurons, and advances these neurons by the steps of the cycle. Then threads meet. The master thread alone
/// collocates the spikes of all threads and exchanges the lanes whose window ends, since MPI may allow no
/// other. Threads meet again, and the next cycle begins.
///
/// Where a phase ends, the loop says so to a timer (run/phase_timer.h), which reads the clock.
///
/// Cost of a cycle beside the work: two barriers of threads and about six readings of the clock. The single
/// threaded part is proportional to spikes of the rank x target ranks, and to the partners of the lanes that
/// exchange.
///
/// Read next: lane.c for what collocate, exchange and deliver do with a lane; synapse/deliver_reference.c and
/// neuron/lif.c for what happens in deliver and update.

#include "run/simulate.h"

#include "base/checksum.h"
#include "measurement/clock.h"
#include "measurement/regions.h"
#include "run/build.h"
#include "run/inject.h"
#include "run/phase_timer.h"
#include <omp.h>
#include <stdio.h>

/// Blocks of neurons between two calls of MPI while an exchange is under way. Non-blocking exchanges advance
/// only inside MPI, so a lane with a lag needs such calls. Eight blocks are up to 32 768 neurons, which take
/// some 15 us (0.41 to 0.54 ns for each neuron, docs/miniapp.md), as long as a few messages. Fewer blocks
/// would call MPI more often than anything can have arrived; more would let an exchange of several steps wait
/// between them. Chosen, not tuned.
enum { blocks_per_progress = 8 };

/// A stretch of cycles: the warm-up or the measured part. It does not change while the threads run, but for
/// what its pointers lead to.
struct stretch {
    uint32_t first_step;             ///< of the run, at which the stretch begins
    uint32_t cycles;                 ///< that it lasts; may be 0
    struct phase_timer timer;        ///< of its phases
    struct inject *inject;           ///< waits that the description asks for
    struct measured *measured;       ///< takes spikes; in the warm-up they are forgotten
    const struct progress *progress; ///< counts cycles for another process; may have no file
    bool warms_up;                   ///< what is counted will be forgotten
};

/// Delivers, as thread `thread`, what has arrived in all lanes to the ring of the thread.
static void deliver(const struct model *model, int thread) {
    REGION_BEGIN(deliver);
    // A thread touches only its own part, so no thread waits for another here.
    struct part *part = model->parts[thread];
    for (int l = 0; l < model->n_lanes; l++) {
        struct delivered delivered = lane_deliver(&model->lanes[l], thread, &part->ring);
        part->counts.synaptic_events += delivered.synaptic_events;
        part->counts.first_accesses += delivered.first_accesses;
        part->counts.lookups += delivered.lookups;
    }
    REGION_END(deliver);
}

/// Advances the thread's neurons by one cycle, which starts at step `first`. Adds the spikes of each
/// population to `counts` [populations].
static void update(struct model *model, int thread, uint32_t first, uint32_t steps, uint32_t *counts) {
    REGION_BEGIN(update);
    struct part *part = model->parts[thread];
    // Spikes of the last cycle have been collocated by now.
    part->n_spikes = 0;
    for (uint32_t step = first; step < first + steps; step++) {
        for (uint32_t b = 0; b < part->n_blocks; b++) {
            const struct block *block = &part->blocks[b];
            if (thread == 0 && b % blocks_per_progress == 0) lanes_progress(model->lanes, model->n_lanes);
            // Input of this step: synaptic input from the ring, and input from outside the network.
            ring_take(&part->ring, step, block->first, block->share.count, part->input);
            if (block->external)
                part->counts.external_events += external_add(block->external, step, part->input);
            // The model advances all neurons of the block by one step and says which of them fire.
            uint32_t n = block->model->update(block->state, part->input, step, part->fired);
            counts[block->population] += n;
            // Each spike is kept for collocation; its hash goes into the checksum in any order.
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

/// Puts the spikes of all threads into the send buffers of all lanes. A spike is looked at once for each
/// lane in which any neuron of this rank has targets.
static void collocate(struct model *model, const struct stretch *stretch) {
    REGION_BEGIN(collocate);
    // The order of threads is that of neurons on the rank, so send buffers do not depend on timing.
    for (int t = 0; t < model->threads; t++) {
        const struct part *part = model->parts[t];
        for (int l = 0; l < model->n_lanes; l++)
            if (lane_sends(&model->lanes[l]))
                lane_collocate(&model->lanes[l], part->spikes, part->n_spikes, part->first_neuron);
        if (!stretch->warms_up) trace_add(&stretch->measured->trace, part->spikes, part->n_spikes);
    }
    REGION_END(collocate);
}

/// Ends the window of a lane and takes in what is due.
static void exchange_lane(struct model *model, struct lane *lane, const struct phase_timer *timer,
                          uint32_t cycle, uint32_t next_step, bool last) {
    const bool overlaps = lane->plan->lag > 0;
    // The barrier separates waiting for the slowest rank from exchanging.
    if (!overlaps && lane->ranks > 1 && model->description->given.barrier != 0) {
        phase_end_exchanges(timer, cycle);
        REGION_BEGIN(synchronise);
        lane_synchronise(lane);
        REGION_END(synchronise);
        phase_end(timer, 0, cycle, phase_synchronise);
    }
    REGION_BEGIN(exchange);
    // Without a lag, what was sent is received at once. With one, what was sent L windows ago is due.
    lane_start(lane, next_step);
    if (!overlaps) lane_finish(lane, last);
    REGION_END(exchange);
    if (!overlaps) {
        phase_exchange_pending(timer);
        return;
    }
    phase_end(timer, 0, cycle, phase_exchange);
    REGION_BEGIN(overlap_wait);
    lane_finish(lane, last);
    REGION_END(overlap_wait);
    phase_end(timer, 0, cycle, phase_overlap_wait);
}

/// Exchanges lanes whose window ends.
static void exchange(struct model *model, const struct stretch *stretch, uint32_t cycle, uint32_t next_step) {
    for (int l = 0; l < model->n_lanes; l++) {
        struct lane *lane = &model->lanes[l];
        // What arrived before has been delivered at the beginning of this cycle.
        lane_clear(lane);
        const bool last = cycle + 1 == stretch->cycles; // nothing may stay on its way then
        // A lane whose window goes on has nothing to do in this cycle.
        if ((cycle + 1) % lane->plan->period != 0 && !last) continue;
        if (model->dry)
            dry_hooks->exchange(model->dry, lane, next_step, last);
        else
            exchange_lane(model, lane, &stretch->timer, cycle, next_step, last);
    }
    if (model->dry) phase_drop(&stretch->timer, phase_exchange);
    phase_end_exchanges(&stretch->timer, cycle);
}

/// Waits as long as the description wants for this cycle.
static void inject(struct model *model, const struct stretch *stretch, uint32_t cycle) {
    if (!stretch->inject->active) return;
    REGION_BEGIN(inject);
    lanes_progress(model->lanes, model->n_lanes);
    pause_for(inject_next(stretch->inject, build_synaptic_events(model)), model->description->inject_sleeps);
    lanes_progress(model->lanes, model->n_lanes);
    REGION_END(inject);
    phase_end(&stretch->timer, 0, cycle, phase_inject);
}

/// Lets the threads meet. The time of the master thread there is its `thread_wait`; one alone meets nobody.
static void meet(const struct model *model, const struct stretch *stretch, int thread, uint32_t cycle) {
    if (model->threads == 1) return;
    REGION_BEGIN(thread_wait);
#pragma omp barrier
    REGION_END(thread_wait);
    phase_end(&stretch->timer, thread, cycle, phase_thread_wait);
}

/// Returns the counts of spikes that a cycle adds to.
static uint32_t *row_of(const struct stretch *stretch, int thread, uint32_t cycle) {
    const struct activity *activity = &stretch->measured->activity;
    return stretch->warms_up ? activity_unkept(activity, thread) : activity_row(activity, thread, cycle);
}

/// The cycle loop, which every thread runs. Threads meet twice per cycle: spikes must be complete before the
/// master thread collocates them, and exchanged before they are delivered. A thread delivers to its own ring
/// only, so it may update its neurons while another one still delivers.
static void run_cycles(struct model *model, const struct stretch *stretch) {
    const int thread = omp_get_thread_num();
    const uint32_t steps = model->description->steps_per_cycle;
    const struct phase_timer *timer = &stretch->timer;
    for (uint32_t cycle = 0; cycle < stretch->cycles; cycle++) {
        // Input for this cycle must be complete before neurons are updated.
        const uint32_t step = stretch->first_step + cycle * steps;
        deliver(model, thread);
        phase_end(timer, thread, cycle, phase_deliver);
        update(model, thread, step, steps, row_of(stretch, thread, cycle));
        phase_end(timer, thread, cycle, phase_update);
        // Spikes of all threads must be complete before they are collocated.
        meet(model, stretch, thread, cycle);
        if (thread == 0) {
            inject(model, stretch, cycle);
            collocate(model, stretch);
            phase_end(timer, 0, cycle, phase_collocate);
            exchange(model, stretch, cycle, step + steps);
            progress_count(stretch->progress);
        }
        // And exchanged before any thread delivers them.
        meet(model, stretch, thread, cycle);
    }
    deliver(model, thread); // what the last exchange brought, counted with its cycle
    phase_add(timer, thread, stretch->cycles - 1, phase_deliver);
    meet(model, stretch, thread, stretch->cycles - 1);
}

/// Runs the cycles of a stretch.
static void run_stretch(struct model *model, struct stretch *stretch) {
    if (stretch->cycles == 0) return;
    for (int l = 0; l < model->n_lanes; l++) lane_begin(&model->lanes[l], stretch->first_step);
    stretch->inject->synapses = 0;
    phase_timer_begin(&stretch->timer);
#pragma omp parallel num_threads(model->threads)
    run_cycles(model, stretch);
}

/// Says once that ranks wait less than the description asks for.
static void remark_on_waits(const struct model *model) {
    const int cut = model->process == 0 ? inject_cut(model->description, model->ranks) : 0;
    if (cut > 0)
        fprintf(stderr,
                "miniapp: inject.rank_sd_us: %d of %d ranks have drawn a mean wait below 0 and wait less; "
                "expected a larger inject.mean_us\n",
                cut, model->ranks);
}

void simulate(struct model *model, struct counters *counters, const struct compute_times *times,
              const struct progress *progress, struct measured *measured) {
    const struct description *description = model->description;
    struct inject waits = inject_open(description, model->rank, model->neurons, model->threads);
    remark_on_waits(model);
    // Memory of what is measured is taken before the cycles.
    measured_open(measured, description, model->threads);
    struct stretch warmup = {.first_step = 0,
                             .cycles = description->warmup_cycles,
                             .timer = phase_timer_open(model, NULL, NULL, NULL),
                             .inject = &waits,
                             .measured = measured,
                             .progress = progress,
                             .warms_up = true};
    struct stretch main_part = {.first_step = description->warmup_cycles * description->steps_per_cycle,
                                .cycles = description->cycles,
                                .timer = phase_timer_open(model, &measured->log, counters, times),
                                .inject = &waits,
                                .measured = measured,
                                .progress = progress};

    REGION_BEGIN(warmup);
    run_stretch(model, &warmup);
    REGION_END(warmup);
    phase_timer_close(&warmup.timer, NULL);
    // From here on counts are kept, and those of the warm-up are forgotten.
    build_reset_counts(model);
    // All ranks begin the measured part together; no lane need connect all of them.
    MPI_Barrier(model->world);
    measured_begin(measured, counters);
    REGION_BEGIN(simulate);
    run_stretch(model, &main_part);
    REGION_END(simulate);
    measured_end(measured, counters);
    measured->simulate_s = phase_timer_close(&main_part.timer, &measured->clock_reads);
    // Without a barrier, waiting cannot be told from exchanging.
    if (description->given.barrier == 0 && model->ranks > 1)
        cycle_log_unmeasured(&measured->log, phase_synchronise);
    if (model->dry) dry_hooks->end(model->dry, &measured->log, model->lanes, model->n_lanes);
}
