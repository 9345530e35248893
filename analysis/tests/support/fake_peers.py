"""Stand-ins for the programs of a comparison: they print what the test wants and simulate
nothing.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from small_network import describe

from spikemark.launch import Launch
from spikemark.launch.process import ProgramFailed
from spikemark.measuring.peer_programs import Figures
from spikemark.running import quiet
from spikemark.running.experiments import Experiment

#: Conditions under which waiting does not slow the tests down.
QUICK = quiet.Conditions(window_s=0.01, patience_s=0.02)

#: Far above the limit, so that a test that is itself held up still sees it.
BUSY = 10


def quiet_machine() -> float:
    """CPU time of a machine nobody uses, this test included: then no hold-up of the test looks
    foreign.
    """
    return 0.0


def busy_machine() -> float:
    """CPU time of a machine on which others keep BUSY cores busy."""
    return quiet.own_s() + BUSY * time.monotonic()


def figures(**changes) -> dict:
    """What a run of `experiment()` might say; `speed` and `bytes_per_synapse` set what they follow
    from.
    """
    speed, memory = changes.pop("speed", 2.0), changes.pop("bytes_per_synapse", 10)
    plain = {
        "version": "1.2",
        "model": "ignore_and_fire",
        "threads": 1,
        "ranks": 1,
        "neurons": 200,
        "synapses": 4000,
        "spikes": 200,
        "synaptic_events": 4000,
        "build_s": 0.5,
        "simulate_s": 0.1 / speed,
        "model_s": 0.1,
        "peak_bytes": 4000 * memory,
        "foreign_load": None,
    }
    return {**plain, **changes}


@dataclass
class Fake:
    """Says `says(threads, call)`; a string instead of figures is an error message, exit status
    3.
    """

    name: str
    says: Callable[[int, int], dict | str] = lambda threads, call: figures(threads=threads)
    calls: list[int] = field(default_factory=list)

    def start(self, description: Path, out: Path, threads: int) -> Launch:
        assert json.loads(description.read_text())["network"]["populations"]
        assert not out.exists()
        self.calls.append(threads)
        said = self.says(threads, len(self.calls))
        if isinstance(said, str):
            return Launch(["sh", "-c", f"echo {said!r} >&2; exit 3"])
        return Launch(["echo", json.dumps(said)])

    def read(self, output: str, out: Path) -> Figures:
        try:
            return Figures.model_validate(json.loads(output))
        except ValueError as error:
            raise ProgramFailed(f"no valid result: {error}") from None


def experiment(folder: Path, **changes) -> Experiment:
    """One small network on one rank."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "network.json"
    path.write_text(json.dumps(describe()))
    plain = {"name": "x", "title": "x", "description": path, "grid": [{"schedule": "conventional"}]}
    numbers = {
        "ranks": 1,
        "threads": [1, 2],
        "repetitions": 5,
        "shuffle_seed": 1,
        "time_limit_s": 20,
    }
    return Experiment(**{**plain, **numbers, **changes})
