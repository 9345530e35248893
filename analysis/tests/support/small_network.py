"""A run description small enough to be drawn in a test."""


def describe(
    areas: int = 2,
    neurons: int = 100,
    indegree: int = 20,
    delay_ratio: int = 10,
    rate_hz: float = 10.0,
) -> dict:
    """Equal areas, half of the synapses within them and half between them, like the
    MAM-benchmark.
    """
    names = [f"area{i}" for i in range(areas)]
    far = 0.1 * delay_ratio
    near_delay = {"distribution": "normal", "mean": 0.5, "sd": 0.25, "min": 0.1, "max": 2}
    far_delay = near_delay | {"mean": 1.5 * far, "sd": 0.75 * far, "min": far, "max": 2 * far}
    projections = []
    for name in names:
        others = [n for n in names if n != name] or [name]
        near, rest = indegree // 2, indegree - indegree // 2
        for source, number, delay in ((name, near, near_delay), (others, rest, far_delay)):
            projections.append(
                {
                    "source": source,
                    "target": name,
                    "indegree": number,
                    "weight": 1,
                    "delay": dict(delay),
                }
            )
    neuron = {"model": "ignore_and_fire", "rate_hz": rate_hz, "rate_cv": 0}
    populations = [{"name": n, "area": n, "size": neurons, "neuron": dict(neuron)} for n in names]
    return {
        "format_version": 1,
        "seed": 1,
        "time": {"resolution_ms": 0.1, "cycle_ms": 0.1, "warmup_ms": 0, "simulate_ms": 100},
        "delay_ratio": delay_ratio,
        "schedule": "conventional",
        "placement": "round_robin",
        "exchange": "alltoallv",
        "network": {"populations": populations, "projections": projections},
        "record": {"cycles": True, "spikes": False, "barrier": True},
    }
