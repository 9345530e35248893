"""Descriptions of four small areas under several schedules, for simulated machines."""

from spikemark.network.presets import PRESETS

RANKS = 4
SCHEDULES = {
    "conventional": {"schedule": "conventional"},
    "structure-aware": {"schedule": "structure_aware", "delay_ratio": 10},
    "overlapped": {
        "schedule": "overlapped",
        "delay_ratio": 10,
        "exchange": {"near": "alltoallv", "far": "ialltoallv"},
    },
}


def describe(schedule: str = "structure-aware", cycles: int = 200) -> dict:
    options = {"areas": RANKS, "neurons_per_area": 100, "indegree": 20, "delay_ratio": 10}
    found = PRESETS["mam-benchmark"].describe(**options, seed=1)
    found["time"] |= {"warmup_ms": 1, "simulate_ms": round(0.1 * cycles, 9)}
    return found | SCHEDULES[schedule]
