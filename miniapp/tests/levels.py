"""Grids of ranks, descriptions with them, and what tests read of their runs."""

import json

import program

RANKS = 4
SHORT_MS = {"warmup_ms": 5, "simulate_ms": 60}  # of the example: ranks that share cores take long for a cycle
SHORT = program.sets(**{f"time__{name}": value for name, value in SHORT_MS.items()})


GRIDS = {
    "two_level": {"name": "two_level", "inner": "p2p", "group": 3},
    "one": {"name": "multi_level", "dimensions": [4]},
    "two": {"name": "multi_level", "dimensions": [2, 2], "parts": "p2p"},
    "receivers": {"name": "multi_level", "dimensions": [2, 2], "parts": "direct", "side": "receiver"},
    "three": {"name": "multi_level", "dimensions": [2, 1, 2], "parts": ["p2p", "alltoallv", "rma_put"]},
}


COUNTS = {"messages": "messages", "words": "words", "bytes": "bytes_sent"}


def arguments(name, schedule="conventional"):
    chosen = program.sets(schedule=schedule, exchange=json.dumps(GRIDS[name]), placement="round_robin")
    return [*SHORT, *chosen]


def example():
    """The content of the example, but for a shorter time."""
    content = json.loads(program.EXAMPLE.read_text())
    return content | {"time": content["time"] | SHORT_MS}


def beside(folder, order, /, **exchange):
    """A description in `folder` whose exchange names a file with that order."""
    kind = {"kind": "rank_order", "format_version": 1, "order": order}
    (folder / "near").mkdir(exist_ok=True)
    (folder / "near" / "order.json").write_text(json.dumps(kind if isinstance(order, list) else order))
    content = example() | {"schedule": "conventional", "placement": "round_robin"}
    content["exchange"] = {"name": "multi_level", "dimensions": [2, 2], "order": "near/order.json"} | exchange
    (folder / "run.json").write_text(json.dumps(content))
    return folder / "run.json"


def network(sources, size, indegree):
    """A population for each rank, and a projection to each from its `sources`."""
    neuron = {"model": "ignore_and_fire", "rate_hz": 50}
    delay = {"mean": 1, "min": 0.5, "max": 2}
    return {
        "populations": [{"name": name, "size": size, "neuron": neuron} for name in sources],
        "projections": [
            {"source": source, "target": target, "indegree": indegree, "delay": delay}
            for target, source in sources.items()
        ],
    }


def ring(ranks):
    """Neurons of each rank project to the next one only."""
    return network({f"p{i}": f"p{(i - 1) % ranks}" for i in range(ranks)}, 50, 30)
