"""What a thread of NEST takes to deliver spikes and to update neurons, measured on one core.

A thread of a rank looks up every spike that reaches the rank, and delivers those that have synapses
on it. How many synapses a spike finds there depends on the ranks, their threads and the placement
(eqs 13 to 17 of Lober et al. 2026), and neither on how many neurons an area has nor on the other
threads. So one thread can be measured alone: it gets the in-degree of the benchmark, and a PART of
its neurons and of all sources. A second thread receives every spike, so that the first one looks
all of them up, as on a rank whose other threads need them.

Updates are those of the neuron of the benchmark and of that of the multi-area model, without input,
in cycles of one step: of as many neurons as a thread has, which may stay in a cache, and of so many
that each comes from beyond it in each step.

Needs NEST 3.10 or newer with detailed timers (docs/other-simulators.md). Times are CPU times of the
thread, so that other programs do not count. published/data/ holds what was measured so.

    python spikemark_studies/nest_delivery.py published/data
"""

import csv
import sys
from importlib import import_module
from typing import Any

import numpy as np

#: Neurons of an area of the benchmark, synapses that each receives, and spikes a second.
AREA_NEURONS, INDEGREE, RATE_HZ = 129_068, 5842, 2.5
PART = 16  #: one of so many neurons is there
WARMUP_MS, MEASURED_MS = 5.0, 40.0
DELAYS_MS = (1.0, 2.0)  #: so that NEST exchanges once in a millisecond
SEEDS = (1, 2, 3)
CONVENTIONAL, BY_AREA = "conventional", "by_area"
#: Threads of a rank, and ranks, with an area for each.
CONFIGURATIONS = ((128, 16), (128, 32), (128, 64), (128, 128), (48, 32))
#: Neurons of the multi-area model and of the benchmark, and what lets the former fire.
INTEGRATE_AND_FIRE, IGNORE_AND_FIRE = "iaf_psc_exp", "ignore_and_fire"
CURRENT_PA = 380.0
#: Simulated ms by neurons: of a thread on a node of 128 cores, and a hundred times as many.
UPDATED_MS = {1008: 1000.0, 100_800: 50.0}
STEPS_PER_MS = 10
UPDATE_COLUMNS = ("model", "seed", "neurons", "steps", "update_ms")
COLUMNS = ("threads", "ranks", "placement", "seed", "neurons", "synapses", "spikes", "deliver_ms")


def _measured(nest: Any, threads: int, ranks: int, placement: str, seed: int) -> dict[str, object]:
    """A row of the table: the thread's time to deliver, ms of CPU time in MEASURED_MS.

    `nest`: the module; `placement`: of neurons, over all ranks or an area on each.
    """
    nest.ResetKernel()
    nest.SetKernelStatus({"local_num_threads": 2, "resolution": 0.1, "rng_seed": seed})
    of_area = round(AREA_NEURONS / PART)
    of_thread = round(AREA_NEURONS / threads / PART)
    phase = nest.random.uniform(0.001, 1.0)
    firing = {"rate": RATE_HZ, "phase": phase}
    sources = nest.Create("ignore_and_fire", of_area * ranks, params=firing)
    silent = {"rate": 1e-4, "phase": 1.0}
    receivers = nest.Create("ignore_and_fire", 2 * of_thread + 2, params=silent)
    on_threads = list(receivers.vp)
    first = on_threads.index(0)
    targets = receivers[first : first + 2 * of_thread : 2]
    of_other_thread = receivers[on_threads.index(1)]
    synapse = {"weight": 1.0, "delay": nest.random.uniform(*DELAYS_MS)}
    if placement == CONVENTIONAL:
        pools = [(sources, INDEGREE)]
    else:
        pools = [(sources[:of_area], INDEGREE // 2), (sources[of_area:], INDEGREE // 2)]
    for pool, indegree in pools:
        rule = {"rule": "fixed_indegree", "indegree": indegree}
        nest.Connect(pool, targets, rule, synapse)
    nest.Connect(sources, of_other_thread, "all_to_all", {"weight": 1.0, "delay": DELAYS_MS[0]})
    nest.Prepare()
    nest.Run(WARMUP_MS)
    before = nest.GetKernelStatus()
    nest.Run(MEASURED_MS)
    after = nest.GetKernelStatus()
    nest.Cleanup()
    timer = "time_deliver_spike_data_cpu"
    deliver_s = after[timer][0] - before[timer][0]
    return {
        "threads": threads,
        "ranks": ranks,
        "placement": placement,
        "seed": seed,
        "neurons": of_thread,
        "synapses": of_thread * INDEGREE,
        "spikes": after["local_spike_counter"] - before["local_spike_counter"],
        "deliver_ms": round(1e3 * float(deliver_s), 3),
    }


def _measured_update(nest: Any, model: str, count: int, seed: int) -> dict[str, object]:
    """A row of the table of updates: the thread's time for `count` neurons, ms of CPU time."""
    nest.ResetKernel()
    nest.SetKernelStatus({"local_num_threads": 1, "resolution": 0.1, "rng_seed": seed})
    of_model = {
        INTEGRATE_AND_FIRE: {"I_e": CURRENT_PA, "V_m": nest.random.uniform(-70.0, -55.0)},
        IGNORE_AND_FIRE: {"rate": RATE_HZ, "phase": nest.random.uniform(0.001, 1.0)},
    }
    neurons = nest.Create(model, count, params=of_model[model])
    # One synapse makes the exchange as frequent as the steps.
    nest.Connect(neurons[0], neurons[1], "all_to_all", {"weight": 0.0, "delay": 0.1})
    nest.Prepare()
    nest.Run(WARMUP_MS)
    timer = "time_update_cpu"
    before = nest.GetKernelStatus()[timer]
    nest.Run(UPDATED_MS[count])
    update_s = float(np.sum(nest.GetKernelStatus()[timer]) - np.sum(before))
    nest.Cleanup()
    return {
        "model": model,
        "seed": seed,
        "neurons": count,
        "steps": round(STEPS_PER_MS * UPDATED_MS[count]),
        "update_ms": round(1e3 * update_s, 3),
    }


def main(folder: str) -> int:
    """Measures all, and writes the tables nest_delivery.csv and nest_update.csv."""
    nest: Any = import_module("nest")  # which is needed here only
    nest.verbosity = nest.VerbosityLevel.ERROR
    with open(f"{folder}/nest_update.csv", "w", encoding="utf-8") as table:
        writer = csv.DictWriter(table, UPDATE_COLUMNS, lineterminator="\n")
        writer.writeheader()
        for seed in SEEDS:
            for count in UPDATED_MS:
                for model in (INTEGRATE_AND_FIRE, IGNORE_AND_FIRE):
                    writer.writerow(_measured_update(nest, model, count, seed))
    with open(f"{folder}/nest_delivery.csv", "w", encoding="utf-8") as table:
        writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for seed in SEEDS:
            for threads, ranks in CONFIGURATIONS:
                for placement in (CONVENTIONAL, BY_AREA):
                    writer.writerow(_measured(nest, threads, ranks, placement, seed))
                    table.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
