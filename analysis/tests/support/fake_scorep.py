"""Writes what Score-P would have written of a run: a profile (a tar, Cube 4) and a trace (OTF2).

Both show a warm-up and the measured cycles as the cycle log of the run has them. Each rank has a
second thread, whose regions take half as long.
"""

import io
import struct
import tarfile
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import otf2

from spikemark.records.record import Run

WARMUP = 3  # cycles
IN_BARRIER = 0.9  # of the phase synchronise
MORE_VISITS = 1  # to deliver, of what arrived last; by the profile


def write(run: Run, folder: Path, slower: float = 1.0) -> Path:
    """Both files of `run`; returns the folder.

    `slower`: by what factor rank 0 delivers longer than in the log. Phases that took no time are
    left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    times = np.array(run.cycles, dtype=np.float64)
    times[0, :, run.record.phases.index("deliver")] *= slower
    entered = [i for i in range(len(run.record.phases)) if times[:, :, i].any()]
    phases, times = [run.record.phases[i] for i in entered], times[:, :, entered]
    write_profile(folder / "profile.cubex", phases, times)
    write_trace(folder, phases, times)
    return folder


def write_profile(path: Path, phases: list[str], times: np.ndarray):
    """Call tree: program, in it warmup and simulate, in each of them the phases; MPI_Barrier."""
    ranks = len(times)
    names = ["miniapp", "warmup", "simulate", *phases, "MPI_Barrier"]
    cube = Element("cube", version="4.4")
    metrics, program, system = (SubElement(cube, part) for part in ("metrics", "program", "system"))
    kinds = {"visits": "UINT64", "time": "DOUBLE"}
    for number, (name, kind) in enumerate(kinds.items()):
        sums = "INCLUSIVE" if name == "time" else "EXCLUSIVE"
        metric = SubElement(metrics, "metric", id=str(number), type=sums)
        _texts(metric, disp_name=name, uniq_name=name, dtype=kind, uom="", url="", descr="")
    for number, name in enumerate(names):
        region = SubElement(program, "region", id=str(number), mod="", begin="1", end="1")
        _texts(
            region, name=name, mangled_name=name, paradigm="user", role="function", url="", descr=""
        )
    rows = {name: [] for name in kinds}  # of each call path, the values of all threads

    def call(parent: Element, name: str, seconds: np.ndarray, visits: int) -> Element:
        node = SubElement(
            parent, "cnode", id=str(len(rows["time"])), calleeId=str(names.index(name))
        )
        rows["time"].append(np.stack([seconds, seconds / 2], axis=1).ravel())
        rows["visits"].append(np.full(2 * ranks, visits))
        return node

    root = call(program, "miniapp", times.sum(axis=(1, 2)), 1)
    for part, cycles in {"warmup": WARMUP, "simulate": times.shape[1]}.items():
        totals = times[:, :cycles].sum(axis=1)
        stretch = call(root, part, totals.sum(axis=1), 1)
        for phase, seconds in zip(phases, totals.T, strict=True):
            node = call(stretch, phase, seconds, cycles + MORE_VISITS * (phase == "deliver"))
            if phase == "synchronise":
                call(node, "MPI_Barrier", IN_BARRIER * seconds, cycles)
    # Processes in any order; the `rank` of a location is the number of its thread.
    machine = SubElement(system, "systemtreenode", Id="0")
    for rank in reversed(range(ranks)):
        process = SubElement(machine, "locationgroup", Id=str(rank))
        _texts(process, name=f"MPI Rank {rank}", rank=str(rank), type="process")
        for thread in range(2):
            location = SubElement(process, "location", Id=str(2 * rank + thread))
            _texts(location, name=f"thread {thread}", rank=str(thread), type="thread")
    with tarfile.open(path, "w") as archive:
        _add(archive, "anchor.xml", b"<?xml version='1.0'?>" + tostring(cube))
        for number, (name, values) in enumerate(rows.items()):
            paths = len(values)
            ids = struct.pack(f"<ihbi{paths}i", 1, 0, 1, paths, *range(paths))
            _add(archive, f"{number}.index", b"CUBEX.INDEX" + ids)
            data = (
                np.array(values, "<f8")[_wide(root)] if name == "time" else np.array(values, "<u8")
            )
            _add(archive, f"{number}.data", b"CUBEX.DATA" + data.tobytes())


def _wide(root: Element) -> list[int]:
    """Call paths as inclusive metrics have them, children together; their ids run depth first."""
    order, stack = [root], [root]
    while stack:
        children = stack.pop().findall("cnode")
        order += children
        stack += reversed(children)
    return [int(node.get("id")) for node in order]


def _texts(parent: Element, **texts: str) -> None:
    for tag, text in texts.items():
        SubElement(parent, tag).text = text


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def write_trace(folder: Path, phases: list[str], times: np.ndarray) -> None:
    """Nanoseconds. The ranks leave a barrier together, so that they enter it apart by what they
    wait.
    """
    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as trace:
        define = trace.definitions
        node = define.system_tree_node("node")
        ranks = range(len(times))
        groups = [
            define.location_group(f"MPI Rank {rank}", system_tree_parent=node) for rank in ranks
        ]
        locations = [define.location("Master thread", group=group) for group in groups]
        firsts = [trace.event_writer_from_location(location) for location in locations]
        mpi = otf2.Paradigm.MPI
        define.group("", otf2.GroupType.COMM_LOCATIONS, mpi, members=locations)
        everyone = define.group("", otf2.GroupType.COMM_GROUP, mpi, members=locations)
        world = define.comm("world", everyone)
        region = {
            name: define.region(name) for name in ("warmup", "simulate", "MPI_Barrier", *phases)
        }
        for rank, first in enumerate(firsts):
            now = 1000.0
            for part, cycles in {"warmup": WARMUP, "simulate": times.shape[1]}.items():
                first.enter(int(now), region[part])
                for cycle in range(cycles):
                    for phase, lasts in zip(phases, times[rank, cycle] * 1e9, strict=True):
                        first.enter(int(now), region[phase])
                        if phase == "synchronise":
                            end = int(now + lasts)
                            first.enter(end - int(IN_BARRIER * lasts), region["MPI_Barrier"])
                            first.mpi_collective_end(end, otf2.CollectiveOp.BARRIER, world, 0, 0, 0)
                            first.leave(end, region["MPI_Barrier"])
                        now += lasts
                        first.leave(int(now), region[phase])
                if "deliver" in phases:  # what arrived last
                    first.enter(int(now), region["deliver"])
                    first.leave(int(now), region["deliver"])
                first.leave(int(now), region[part])
                now += 1000
