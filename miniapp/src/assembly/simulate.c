#include "assembly/simulate.h"

#include "base/checksum.h"
#include "measurement/clock.h"
#include "measurement/usage.h"
#include <math.h>
#include <omp.h>

/// A stretch of cycles: the warm-up or the measured part.
struct stretch {
    uint32_t first_step, cycles;
    struct measured *measured; ///< NULL in the warm-up
    bool counts;               ///< kind of the clock
    uint64_t first, last;      ///< the clock as first and last read by the master thread, ticks
    double start_s;            ///< the other clock at `first`
};

/// Reads the clock and adds the time since the last reading to a phase.
static void stamp(struct stretch *stretch, uint32_t cycle, enum phase phase) {
    if (!stretch->measured) return;
    uint64_t now = clock_ticks(stretch->counts);
    cycle_log_add(&stretch->measured->log, cycle, phase, now - stretch->last);
    stretch->measured->clock_reads++;
    stretch->last = now;
}

static void deliver(const struct model *model, int thread) {
    struct part *part = model->parts[thread];
    for (int l = 0; l < model->n_lanes; l++) {
        if (!model->lanes[l].inbox_full) continue;
        struct delivered delivered = lane_deliver(&model->lanes[l], thread, &part->ring);
        part->counts.synaptic_events += delivered.synaptic_events;
        part->counts.first_accesses += delivered.first_accesses;
    }
}

/// Advances the thread's neurons by one cycle, which starts at step `first`.
static void update(struct part *part, uint32_t first, uint32_t steps) {
    part->n_spikes = 0;
    for (uint32_t step = first; step < first + steps; step++) {
        for (uint32_t b = 0; b < part->n_blocks; b++) {
            const struct block *block = &part->blocks[b];
            ring_take(&part->ring, step, block->first, block->share.count, part->input);
            uint32_t n = block->model->update(block->state, part->input, step, part->fired);
            for (uint32_t i = 0; i < n; i++) {
                uint32_t gid = block->share.first + part->fired[i] * block->share.stride;
                part->spikes[part->n_spikes++] = (struct spike){block->first + part->fired[i], gid, step};
                part->counts.checksum += checksum_spike(gid, step);
            }
        }
    }
    part->counts.spikes += part->n_spikes;
}

static void collocate(struct model *model, struct stretch *stretch) {
    for (int t = 0; t < model->threads; t++) {
        const struct part *part = model->parts[t];
        for (uint32_t i = 0; i < part->n_spikes; i++)
            for (int l = 0; l < model->n_lanes; l++)
                lane_collocate(&model->lanes[l], part->first_neuron + part->spikes[i].neuron,
                               part->spikes[i].step);
        if (stretch->measured) trace_add(&stretch->measured->trace, part->spikes, part->n_spikes);
    }
}

/// Exchanges the lanes whose window ends with this cycle. One reading of the clock for all that need no
/// barrier.
static void exchange(struct model *model, struct stretch *stretch, uint32_t cycle, uint32_t next_step) {
    const bool last = cycle + 1 == stretch->cycles; // then every window ends, so that nothing stays behind
    bool unread = false;
    for (int l = 0; l < model->n_lanes; l++) {
        struct lane *lane = &model->lanes[l];
        lane->inbox_full = false;
        if ((cycle + 1) % lane->plan->period != 0 && !last) continue;
        if (!lane->plan->within_rank && model->description->given.barrier != 0) {
            if (unread) stamp(stretch, cycle, phase_exchange);
            lane_synchronise(lane);
            stamp(stretch, cycle, phase_synchronise);
        }
        lane_exchange(lane, next_step);
        unread = true;
    }
    if (unread) stamp(stretch, cycle, phase_exchange);
}

/// The cycle loop, run by every thread. Two barriers per cycle: spikes must be complete before the master
/// thread collocates them, and exchanged before they are delivered. Deliveries write to the thread's own
/// ring only, so a thread may update its neurons while another one still delivers.
static void run_cycles(struct model *model, struct stretch *stretch) {
    const int thread = omp_get_thread_num();
    const uint32_t steps = model->description->steps_per_cycle;
    for (uint32_t cycle = 0; cycle < stretch->cycles; cycle++) {
        const uint32_t step = stretch->first_step + cycle * steps;
        deliver(model, thread);
        if (thread == 0) stamp(stretch, cycle, phase_deliver);
        update(model->parts[thread], step, steps);
#pragma omp barrier
        if (thread == 0) {
            stamp(stretch, cycle, phase_update);
            collocate(model, stretch);
            stamp(stretch, cycle, phase_collocate);
            exchange(model, stretch, cycle, step + steps);
        }
#pragma omp barrier
    }
    deliver(model, thread); // what the last exchange brought, counted with its cycle
#pragma omp barrier
    if (thread == 0) stamp(stretch, stretch->cycles - 1, phase_deliver);
}

static void run_stretch(struct model *model, struct stretch *stretch) {
    if (stretch->cycles == 0) return;
    for (int l = 0; l < model->n_lanes; l++) {
        model->lanes[l].window = stretch->first_step;
        model->lanes[l].inbox_full = false;
    }
    stretch->counts = clock_counts();
    stretch->start_s = clock_now();
    stretch->first = stretch->last = clock_ticks(stretch->counts);
#pragma omp parallel num_threads(model->threads)
    run_cycles(model, stretch);
}

/// Forgets what the warm-up counted.
static void reset_counts(struct model *model) {
    for (int t = 0; t < model->threads; t++) model->parts[t]->counts = (struct part_counts){0};
    for (int l = 0; l < model->n_lanes; l++) lane_reset_counts(&model->lanes[l]);
}

void simulate(struct model *model, struct measured *measured) {
    const struct description *description = model->description;
    struct stretch warmup = {.first_step = 0, .cycles = description->warmup_cycles};
    struct stretch main_part = {.first_step = description->warmup_cycles * description->steps_per_cycle,
                                .cycles = description->cycles,
                                .measured = measured};
    *measured = (struct measured){0};
    cycle_log_open(&measured->log, description->cycles, description->given.record_cycles != 0);
    trace_open(&measured->trace, description->given.record_spikes != 0);

    run_stretch(model, &warmup);
    reset_counts(model);
    for (int l = 0; l < model->n_lanes; l++) lane_synchronise(&model->lanes[l]);
    struct usage_node node = usage_node_seconds();
    double process_s = usage_process_seconds();
    run_stretch(model, &main_part);
    double span_s = clock_now() - main_part.start_s;
    double tick_s = span_s / (double)(clock_ticks(main_part.counts) - main_part.first);
    measured->simulate_s = (double)(main_part.last - main_part.first) * tick_s;
    cycle_log_scale(&measured->log, tick_s);
    measured->process_s = usage_process_seconds() - process_s;
    struct usage_node after = usage_node_seconds();
    measured->node_busy_s = after.busy_s - node.busy_s;
    measured->node_stolen_s = after.stolen_s - node.stolen_s;

    bool waits_apart = description->given.barrier != 0;
    if (!waits_apart && model->ranks > 1) cycle_log_unmeasured(&measured->log, phase_synchronise);
}

void measured_close(struct measured *measured) {
    cycle_log_close(&measured->log);
    trace_close(&measured->trace);
}
