"""What a thread of NEST takes to deliver its spikes, measured in NEST on one core.

A thread of a rank looks up every spike that reaches the rank, and delivers those that have synapses
on it. How many synapses a spike finds there depends on the ranks, their threads and the placement
(eqs 13 to 17 of Lober et al. 2026), and neither on how many neurons an area has nor on the other
threads. So one thread can be measured alone: it gets the in-degree of the benchmark, and a PART of
its neurons and of all sources. A second thread receives every spike, so that the first one looks
all of them up, as on a rank whose other threads need them.

Needs NEST 3.10 or newer with detailed timers (docs/other-simulators.md). Times are CPU times of the
thread, so that other programs do not count. published/data/nest_delivery.csv holds what was
measured so.

    python spikemark_studies/nest_delivery.py > nest_delivery.csv
"""

import csv
import sys
from typing import Any

#: Neurons of an area of the benchmark, synapses that each receives, and spikes a second.
AREA_NEURONS, INDEGREE, RATE_HZ = 129_068, 5842, 2.5
PART = 8  #: one of so many neurons is there
WARMUP_MS, MEASURED_MS = 5.0, 40.0
DELAYS_MS = (1.0, 2.0)  #: so that NEST exchanges once in a millisecond
SEEDS = (1, 2, 3, 4, 5)
CONVENTIONAL, BY_AREA = "conventional", "by_area"
#: Threads of a rank, and ranks, with an area for each.
CONFIGURATIONS = ((128, 16), (128, 32), (128, 64), (128, 128), (48, 32), (48, 128))
COLUMNS = ("threads", "ranks", "placement", "seed", "neurons", "synapses", "spikes", "deliver_ms")


def measured(nest: Any, threads: int, ranks: int, placement: str, seed: int) -> dict[str, object]:
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
        "deliver_ms": round(1e3 * deliver_s, 3),
    }


def main() -> int:
    """Measures all configurations, and prints a table with COLUMNS."""
    import nest  # which announces itself, and is needed here only

    nest.set_verbosity("M_ERROR")
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for seed in SEEDS:
        for threads, ranks in CONFIGURATIONS:
            for placement in (CONVENTIONAL, BY_AREA):
                writer.writerow(measured(nest, threads, ranks, placement, seed))
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
