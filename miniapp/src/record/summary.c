#include "record/summary.h"

#include "record/warnings.h"
#include <math.h>

/// Prints what reading energy meters found and cost.
static void energy_summary(const struct results *results) {
    if (results->description->given.record_energy == 0) return;
    const struct energy_record *energy = results->energy;
    double cost = 0;
    for (int n = 0; n < energy->nodes; n++) cost = fmax(cost, energy->node[n].cost);
    if (energy_record_any(energy))
        printf("energy: %zu readings in all; reading them took %.2g %% of a processor\n", energy->count,
               100 * cost);
    else
        printf("energy: no meter could be read; energy_reason in record.json says why\n");
}

void summary_print(const struct results *results, const struct run_directory *directory) {
    const struct model *model = results->model;
    double simulate_s = RESULTS_LARGEST(results, simulate_s);
    double model_s = 1e-3 * results->description->given.cycle_ms * results->description->cycles;
    printf("%s%s: ", directory->path, directory->replaces ? " (replaced an earlier record)" : "");
    if (model->dry)
        printf("dry run of rank %d of %d x %d, ", model->rank, model->ranks, model->threads);
    else
        printf("%d x %d, real-time factor %.3g (%.3g s for %.3g s), ", model->ranks, model->threads,
               simulate_s / model_s, simulate_s, model_s);
    printf(
        "%llu spikes, %llu synaptic events, checksum %016llx\n",
        (unsigned long long)RESULTS_SUM(results, counts.spikes),
        (unsigned long long)RESULTS_SUM(results, counts.synaptic_events),
        (unsigned long long)(RESULTS_SUM(results, counts.checksum) + RESULTS_SUM(results, state_checksum)));
    if (results->counters->by_phase)
        printf("counters: reading them took %.2g %% of the time (%.2g us each)\n",
               100 * results_counter_overhead(results, simulate_s), 1e6 * results->counters->read_s);
    energy_summary(results);
    warnings_print(results);
}
