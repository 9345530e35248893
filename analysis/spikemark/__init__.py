"""Where the time between two spike exchanges goes, and what another schedule would make of it.

A first session, from the checkout:

    >>> import spikemark as sm
    >>> mam = sm.network("mam", full=True)
    >>> answer = sm.predict(mam, "jureca-dc", nodes=32, program="nest")
    >>> print(answer.sentence)  # doctest: +ELLIPSIS
    NEST... would take ... times real time for mam full size on 32 nodes of jureca-dc.
    >>> list(answer.table["nodes"]), answer.table.attrs["units"]["power_w"]
    ([32], 'W')
    >>> sm.advise("microcircuit", "epyc-vm", nodes=1).sentence  # doctest: +ELLIPSIS
    'Run microcircuit ...

With runs of your own:

    results = sm.load("results/demo/here")    # frames: results.runs, .phases, .ranks
    run = sm.load_run("out/conventional")     # run.record, run.cycles, run.network
    times = sm.read_cycles("times.npy", unit="ms")     # of any program with ranks
    sm.waiting(run, schedule="structure_aware", delay_ratio=10)
    results.plot()                            # Matplotlib axes; runs and answers have them, too

Functions that answer a question return an `Answer`: `sentence` in words, `table` as a pandas frame,
`to_json()` as the command prints it with --json; notebooks show all of it. Wrong input raises
`BadInput`, which names the field. Times are in seconds unless a name ends in another unit.

Importing spikemark takes a few milliseconds: what a name needs is loaded when it is used first.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .core.version import __version__

if TYPE_CHECKING:
    from .api.anchors import anchor
    from .api.differences import diff, history
    from .api.energies import energy
    from .api.figures import save_figure
    from .api.placements import partition
    from .api.questions import advise, compare, machine, network, predict
    from .api.results import load, load_run, read_cycles
    from .api.sweeps import sweep
    from .api.waiting import waiting
    from .core.errors import BadInput
    from .quantities.answer import Answer

__all__ = [
    "Answer",
    "BadInput",
    "__version__",
    "advise",
    "anchor",
    "compare",
    "diff",
    "energy",
    "history",
    "load",
    "load_run",
    "machine",
    "network",
    "partition",
    "predict",
    "read_cycles",
    "save_figure",
    "sweep",
    "waiting",
]

#: The module that has each public name.
_HOMES = {
    "Answer": "quantities.answer",
    "BadInput": "core.errors",
    "advise": "api.questions",
    "anchor": "api.anchors",
    "compare": "api.questions",
    "diff": "api.differences",
    "energy": "api.energies",
    "history": "api.differences",
    "load": "api.results",
    "load_run": "api.results",
    "machine": "api.questions",
    "network": "api.questions",
    "partition": "api.placements",
    "predict": "api.questions",
    "read_cycles": "api.results",
    "save_figure": "api.figures",
    "sweep": "api.sweeps",
    "waiting": "api.waiting",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is used first (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _PublicModule(ModuleType):
    """This module, in which `network` and `waiting` are functions.

    There are packages of these names, too, and Python stores a package in its parent when it is
    imported. Here the functions stay; `from spikemark.waiting.trace import trace` works as ever,
    `import spikemark.waiting.trace as name` does not.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name in _HOMES and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _PublicModule
