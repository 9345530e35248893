"""A run description small enough to be drawn in a test."""


def describe(
    areas: int = 2, neurons: int = 100, indegree: int = 20, delay_ratio: int = 10, rate_hz: float = 10.0
) -> dict:
    """Equal areas, half of the synapses within them and half between them, like the MAM-benchmark."""
    names = [f"area{i}" for i in range(areas)]
    far = 0.1 * delay_ratio
    projections = []
    for name in names:
        near = {"distribution": "normal", "mean": 0.5, "sd": 0.25, "min": 0.1, "max": 2}
        projections.append(
            {"source": name, "target": name, "indegree": indegree // 2, "weight": 1, "delay": near}
        )
        others = [n for n in names if n != name]
        delay = {"distribution": "normal", "mean": 1.5 * far, "sd": 0.75 * far, "min": far, "max": 2 * far}
        projections.append(
            {
                "source": others or [name],
                "target": name,
                "indegree": indegree - indegree // 2,
                "weight": 1,
                "delay": delay,
            }
        )
    return {
        "format_version": 1,
        "seed": 1,
        "time": {"resolution_ms": 0.1, "cycle_ms": 0.1, "warmup_ms": 0, "simulate_ms": 100},
        "delay_ratio": delay_ratio,
        "schedule": "conventional",
        "placement": "round_robin",
        "exchange": "alltoallv",
        "network": {
            "populations": [
                {
                    "name": n,
                    "area": n,
                    "size": neurons,
                    "neuron": {"model": "ignore_and_fire", "rate_hz": rate_hz, "rate_cv": 0},
                }
                for n in names
            ],
            "projections": projections,
        },
        "record": {"cycles": True, "spikes": False, "barrier": True},
    }
