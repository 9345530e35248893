"""What takes time from a program on every core of the nodes at hand: runs `build/bench_noise` and sums it up.

Two loops run on each core, half of the time each (miniapp/bench/noise_loops.h). The first one finds
*detours*: gaps in a loop that does nothing but read the clock. The second one times *quanta*: equal pieces of
work. What the kernel counted meanwhile is listed beside them.
"""

import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spikemark.core import places, slurm
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.launch import Launch, Layout, launch, nodes_at_hand
from spikemark.core.process import watch
from spikemark.core.reading import read_json

KEPT = "noise.json"
PROGRAM = "bench_noise"
STARTING_S = 120.0  # of a step on all nodes of an allocation
MOST_COUNTS = 5  # of a core, the most frequent ones
STEAL = ("stat", "steal")


class NoiseFailed(RuntimeError):
    """The noise could not be measured; the message is the reason, in one line."""


@dataclass(frozen=True)
class Count:
    """What the kernel counted on a core, per second; ticks are turned into seconds per second."""

    source: str
    name: str
    per_second: float


@dataclass(frozen=True)
class CoreNoise:
    """The noise of a core; shares of time, and lengths of detours in s (None without detours).

    `lost`: share in detours. `switched`: share in detours in which another process had the core. `slower`:
    share that equal pieces of work took beyond the shortest one, detours included. `longest`: begin (s,
    Unix epoch), length and whether another process had the core, of the longest detours in the order of time.
    """

    core: int
    bound: bool
    lost: float
    switched: float
    slower: float | None
    detours_per_second: float
    median_s: float | None
    q99_s: float | None
    largest_s: float
    involuntary: int
    voluntary: int
    counts: tuple[Count, ...]
    longest: tuple[tuple[float, float, bool], ...] = ()


@dataclass(frozen=True)
class NodeNoise:
    """The noise of a node from `began_s` (Unix epoch) on.

    `processes`: other processes that ran meanwhile, with their processor time and the core they were last
    seen on. `blind`: what could not be seen, and why.
    """

    node: str
    began_s: float
    seconds: float
    cores: tuple[CoreNoise, ...]
    processes: tuple[dict[str, Any], ...]
    blind: tuple[str, ...]

    def content(self, longest: bool = True) -> dict[str, Any]:
        """The content for JSON; without the single detours if they are not wanted."""
        content = asdict(self)
        if not longest:
            for core in content["cores"]:
                del core["longest"]
        return content


def witness(seconds: float = 0.2, longest: int = 0) -> list[NodeNoise]:
    """Measures the noise of this node, or of every node of the allocation that this process is in.

    The measurement takes `seconds`, and the time to start a program. `longest`: how many single detours of
    each core are listed. Raises BadInput if the program is missing or refuses an argument, NoiseFailed if
    nothing was measured.
    """
    program = str(places.program(PROGRAM))
    with tempfile.TemporaryDirectory(prefix="spikemark-", dir=_shared()) as folder:
        command = [program, "--seconds", f"{seconds:g}", "--list", str(longest), "--out", folder]
        finished = watch(_start(command), seconds + STARTING_S)
        if finished.status != 0:
            if finished.refusal is not None:
                raise BadInput(finished.refusal)
            raise NoiseFailed(finished.reason.removeprefix(f"{PROGRAM}: "))
        try:
            found = [_node(read_json(file)) for file in sorted(Path(folder).glob("*.json"))]
        except (BadInput, KeyError, TypeError) as error:
            raise NoiseFailed(f"{PROGRAM}: exit status 0, but no valid JSON: {error}") from None
    if not found:
        raise NoiseFailed(f"{PROGRAM}: exit status 0, but it wrote nothing")
    return found


def keep(folder: Path, seconds: float = 0.2) -> list[NodeNoise]:
    """Measures as `witness` and adds the result to `folder`/noise.json, one entry per call, oldest first."""
    path = folder / KEPT
    before = read_json(path) if path.is_file() else []
    found = witness(seconds)
    write_json(path, [*before, {"at_s": time.time(), "nodes": [node.content(False) for node in found]}])
    return found


def _shared() -> str | None:
    """A folder for files of all nodes of an allocation; None on one node, where any will do."""
    return str(Path.cwd()) if slurm.inside() else None


def _start(command: list[str]) -> Launch:
    """One process on each node, which may run on all its cores."""
    if not slurm.inside():
        return Launch(command)
    nodes = nodes_at_hand()
    return launch("srun", command, Layout(len(nodes.cores), min(nodes.cores), 1, binding="none"))


def _node(content: dict[str, Any]) -> NodeNoise:
    missing = [content["missing"]] if content["missing"] else []
    if content["virtual_machine"]:
        stolen = any((c["source"], c["name"]) == STEAL for core in content["cores"] for c in core["counts"])
        ticks = f"except in ticks of {1e3 * content['tick_s']:g} ms" if stolen else "if it took any"
        missing.append(f"time that the hypervisor took, {ticks}")
    if not content["may_trace"]:
        missing.append(f"which interrupt took how long: no tracer ({content['tracers']})")
    if unbound := [core["core"] for core in content["cores"] if not core["bound"]]:
        missing.append(f"cores {', '.join(map(str, unbound))}: no thread could be bound there")
    missing.append("firmware interrupts, told apart from others")
    shift = content["monotonic_to_epoch_s"]
    cores = tuple(_core(core, content["seconds"], content["tick_s"], shift) for core in content["cores"])
    processes = tuple(content["processes"])
    return NodeNoise(
        content["node"], content["began_s"], content["seconds"], cores, processes, tuple(missing)
    )


def _core(core: dict[str, Any], seconds: float, tick_s: float, shift: float) -> CoreNoise:
    detour, fwq = core["detour"], core["fwq"]
    looked = max(detour["seconds"], 1e-9)
    counts = [
        Count(c["source"], c["name"], c["count"] * (tick_s if c["source"] == "stat" else 1.0) / seconds)
        for c in core["counts"]
    ]
    return CoreNoise(
        core["core"],
        core["bound"],
        detour["lost_s"] / looked,
        detour["switched_s"] / looked,
        None if fwq["mean_s"] is None else 1 - fwq["shortest_s"] / fwq["mean_s"],
        detour["detours"] / looked,
        detour["median_s"],
        detour["q99_s"],
        detour["largest_s"],
        core["involuntary"],
        core["voluntary"],
        tuple(sorted(counts, key=lambda c: -c.per_second)[:MOST_COUNTS]),
        tuple((begin + shift, length, switched) for begin, length, switched in detour["longest"]),
    )
