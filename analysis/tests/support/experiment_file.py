"""The content of a small experiment file, with changes."""

from spikemark.running.experiments import Experiment

SMALL = {"name": "mam-benchmark", "options": {"areas": 2, "neurons_per_area": 50, "indegree": 10}}


def content(**changes) -> dict:
    start = {
        "name": "x",
        "title": "x",
        "preset": SMALL,
        "grid": [
            {"schedule": ["conventional", "placement_only"]},
            {"schedule": "structure_aware", "delay_ratio": [1, 10]},
        ],
        "ranks": [1, 2],
        "seeds": [1, 2],
        "shuffle_seed": 7,
    }
    return {name: value for name, value in {**start, **changes}.items() if value is not None}


def experiment(**changes) -> Experiment:
    return Experiment.model_validate(content(**changes))
