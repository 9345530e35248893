/// \file
/// Reads what the process and its node use at both ends of the measured part. At its begin, fields hold the
/// readings themselves, which its end takes off. Some microseconds at each end, outside the time that is
/// measured.

#include "run/measured.h"

#include "measurement/clock.h"
#include "measurement/usage.h"
#include <stdlib.h>

void measured_open(struct measured *measured, const struct description *description, int threads) {
    const bool keep_cycles = description->given.record_cycles != 0;
    *measured = (struct measured){.trace.wanted = description->given.record_spikes != 0};
    cycle_log_open(&measured->log, description->cycles, keep_cycles);
    activity_open(&measured->activity, description->network.n_populations, threads, description->cycles,
                  keep_cycles);
}

void measured_close(struct measured *measured) {
    cycle_log_close(&measured->log);
    free(measured->trace.spikes);
    activity_close(&measured->activity);
}

void measured_begin(struct measured *measured, struct counters *counters) {
    const struct usage_node node = usage_node_seconds();
    measured->node_busy_s = node.busy_s;
    measured->node_stolen_s = node.stolen_s;
    measured->throttled_s = node.throttled_s;
    measured->process_s = usage_process_seconds();
    if (counters) counters_start(counters);
    measured->from_s = clock_now();
}

void measured_end(struct measured *measured, struct counters *counters) {
    measured->to_s = clock_now();
    measured->process_s = usage_process_seconds() - measured->process_s;
    const struct usage_node node = usage_node_seconds();
    measured->node_busy_s = node.busy_s - measured->node_busy_s;
    measured->node_stolen_s = node.stolen_s - measured->node_stolen_s;
    measured->throttled_s = node.throttled_s - measured->throttled_s;
    if (counters) counters_stop(counters);
    measured->peak_bytes = usage_peak_bytes();
}
