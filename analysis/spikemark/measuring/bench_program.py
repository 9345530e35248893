"""Starts one of the programs build/bench_… and reads the JSON that it prints or writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from spikemark import launch
from spikemark.core import places
from spikemark.core.reading import read_text
from spikemark.launch import LaunchLayout
from spikemark.launch.process import ProgramFailed, output

T = TypeVar("T")
#: Longest time that a bench may take, s.
BENCH_LIMIT_S = 3600


def read_program_json(program: str, source: str | Path, read: Callable[[Any], T]) -> T:
    """What `read` makes of the JSON that a program printed (a text) or wrote (a path).

    Raises ProgramFailed if it cannot.

    Example:
        >>> def first_time(content: Any) -> float:
        ...     return content["times"][0]
        >>> read_program_json("bench_kernels", '{"times": [1.5, 2.5]}', first_time)
        1.5
        >>> read_program_json("bench_kernels", "no JSON", first_time)
        Traceback (most recent call last):
            ...
        spikemark.launch.process.ProgramFailed: bench_kernels: exit status 0, but no valid ...
    """
    try:
        text = source if isinstance(source, str) else read_text(source)
        return read(json.loads(text))
    except (KeyError, TypeError, ValueError) as error:  # BadInput, too
        reason = f"{type(error).__name__}: {error}"
        raise ProgramFailed(f"{program}: exit status 0, but no valid JSON: {reason}") from None


def run_bench(
    name: str,
    options: list[str],
    layout: LaunchLayout,
    read: Callable[[Any], T],
    launcher: str | None = None,
    limit_s: float = BENCH_LIMIT_S,
) -> T:
    """What `read` makes of the JSON that build/NAME prints.

    Raises as `process.output` and `read_program_json`.

    Example:
        >>> run_bench("bench_nothing", [], LaunchLayout(1), read=dict)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: bench_nothing: ...
    """
    program = str(places.program(name))
    start = launch.launch(launcher, [program, *options], layout)
    return read_program_json(program, output(start, limit_s), read)
