"""Carries out a dry run: runs the ranks that are missing, then writes what all of them took.

The processes of a group start together, and the next group starts when the last of them has ended: so every
rank has the same number of neighbours, as on a node of the machine. A rank that has left its record is not
run again.
"""

import shutil
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput, shown
from spikemark.core.files import discard, replace_folder, write_atomically, write_json
from spikemark.core.lock import locked
from spikemark.core.reading import read_json
from spikemark.network.description import read_time
from spikemark.network.named_files import PLACEMENT, located, stored, with_content
from spikemark.records import dry_rank, dry_run, run_files
from spikemark.records.dry_rank import DryRank
from spikemark.records.dry_run import ALONE, DryRun
from spikemark.records.phases import COMPUTE
from spikemark.running.carry_out import RunFailed
from spikemark.running.measure import log_text

from . import sample, start
from .plan import Plan

NULL = {"waiting": ALONE, "exchange": ALONE, "real_time_factor": "it includes waiting and exchange"}
WORKSPACE = ".dry-"  # beginning of the name of a folder in which a group of ranks runs
KINDS = {
    **dict.fromkeys((*COMPUTE, "memory"), "measured"),
    "neurons": "counted", "synapses": "counted", "synaptic_events": "counted", "work": "modelled",
}  # fmt: skip
#: Of records, what should be the same for all ranks.
ALIKE = ("host", "name"), ("host", "cpu"), ("provenance", "commit"), ("provenance", "flags")
#: Is called with the cycles that were simulated, warm-up included, those of all ranks that are to run, and a
#: line where a rank is done.
Told = Callable[[int, int, str | None], None]


def carry_out(wanted: Plan, out: Path, told: Told | None = None) -> DryRun:
    """Runs the ranks that are missing in the folder `out`, then writes the dry run there.

    Raises BadInput for a folder of something else, without the mini-app, and for what it refuses; RunFailed
    if a rank fails, with what it said in FAILED. What has run stays, so that the same call goes on.
    """
    program, out = places.program("miniapp"), Path(out).absolute()
    new = not out.exists()
    _claim(out, wanted)
    with locked(out):
        try:
            return _locked(program, out, wanted, told)
        except BadInput:
            if new and not any((out / dry_run.EACH).glob("*")):
                shutil.rmtree(out)
            raise


def _locked(program: Path, out: Path, wanted: Plan, told: Told | None) -> DryRun:
    for left in out.glob(f"{WORKSPACE}*"):  # of a call that was killed
        discard(left)
    for name in (dry_run.ABOUT, dry_run.FAILED):
        (out / name).unlink(missing_ok=True)
    ranks = _all(program, out, wanted, told)
    _check_phases(ranks)
    return dry_run.save(out, _about(out, wanted, ranks), ranks, wanted.counts)


def _all(program: Path, out: Path, wanted: Plan, told: Told | None) -> list[DryRank]:
    """The records of all ranks of the sample; those that are missing are run."""
    time, numbers = read_time(wanted.description), wanted.sample.ranks
    each = time.cycles + time.warmup_cycles
    done = {rank: found for rank in numbers if (found := _ran(out, rank, wanted))}

    def tell(cycles: int, line: str | None = None) -> None:
        if told:
            told(len(done) * each + cycles, len(numbers) * each, line)

    for wave in wanted.waves([rank for rank in numbers if rank not in done]):
        _run(program, out, wanted, wave, tell)
        for rank in wave:
            found = _ran(out, rank, wanted)
            if found is None:
                raise RunFailed(f"rank {rank}: the mini-app left no record")
            done[rank] = found
            tell(0, _line(found, len(done), wanted))
    return [done[rank] for rank in numbers]


def _claim(out: Path, wanted: Plan) -> None:
    """Makes the folder for this dry run. Raises BadInput for one that holds anything else."""
    allowed = "allowed: a folder that is new, empty, or holds the same dry run"
    if out.exists() and not out.is_dir():
        raise BadInput(f"--out {out}: is not a folder; {allowed}")
    present = sorted(path.name for path in out.glob("[!.]*")) if out.is_dir() else []
    foreign = [name for name in present if name not in dry_run.FILES]
    if foreign:
        raise BadInput(f"--out {out}: contains {foreign[0]!r}; {allowed}")
    given = out / dry_run.RUN
    if given.is_file() and with_content(located(read_json(given), out)) != with_content(wanted.description):
        raise BadInput(f"--out {out}: holds a dry run of another description; {allowed}")
    if not given.is_file() and present:
        raise BadInput(f"--out {out}: contains {present[0]!r} without {dry_run.RUN}; {allowed}")
    for path in sorted((out / dry_run.EACH).glob("*")):
        _ran(out, path.name, wanted)
    out.mkdir(parents=True, exist_ok=True)
    write_json(given, _kept(out, wanted))


def _kept(out: Path, wanted: Plan) -> dict[str, Any]:
    """The description as it stands in the folder, where a copy of its placement file is."""
    copies = {PLACEMENT: out / run_files.PLACEMENT}
    return stored(wanted.description, lambda field, file: copies.get(field), out)


def folder_of(out: Path, rank: int | str) -> Path:
    """Path of the record of a rank."""
    return out / dry_run.EACH / str(rank)


def _ran(out: Path, rank: int | str, wanted: Plan) -> DryRank | None:
    """The record of a rank; None if it has not run. Raises BadInput if it ran in another way."""
    path = folder_of(out, rank)
    if not run_files.whole(path):
        return None
    found = dry_rank.load(path)
    record, here = found.record, _side_by_side(out, path)
    for name, value, asked in (
        ("of", record.dry_run.of, wanted.ranks),
        ("threads", record.threads, wanted.threads),
        ("rank", str(found.rank), str(rank)),
        ("ranks_here", wanted.side_by_side if here is None else here, wanted.side_by_side),
        ("rate", record.dry_run.rate_hz if wanted.rate_hz is not None else None, wanted.rate_hz),
    ):
        if value != asked:
            raise BadInput(
                f"{path}: {name}={shown(value)}, asked for is {shown(asked)}; allowed: a new folder for"
                " another dry run"
            )
    return found


def _side_by_side(out: Path, path: Path) -> int | None:
    """How many ranks ran side by side when that in `path` did; None where nobody wrote it down."""
    launched = path / run_files.LAUNCH
    if launched.is_file():
        content = read_json(launched)
        return content.get("ranks_here") if isinstance(content, dict) else None
    about = out / dry_run.ABOUT  # written before the ranks said it themselves
    return dry_run.load(out).about.ranks_here if about.is_file() else None


def _run(program: Path, out: Path, wanted: Plan, wave: list[int], advance: start.Advance) -> None:
    """Runs a group of ranks to its end; their records appear together, once all have ended well."""
    (out / dry_run.EACH).mkdir(exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=WORKSPACE, dir=out))
    try:
        starts = [start.command(program, out, place, wanted, rank, slot) for slot, rank in enumerate(wave)]
        finished = start.watched(starts, wave, place, advance)
        for rank, one, end in zip(wave, starts, finished, strict=True):
            if end.refusal:
                raise BadInput(end.refusal)
            if end.status != 0:
                write_atomically(out / dry_run.FAILED, log_text(one, end))
                raise RunFailed(f"rank {rank}: {end.reason}; see {out / dry_run.FAILED}")
        for rank, one in zip(wave, starts, strict=True):
            said = {"command": one.command, "environment": one.environment}
            write_json(place / str(rank) / run_files.LAUNCH, {**said, "ranks_here": wanted.side_by_side})
        for rank in wave:
            replace_folder(place / str(rank), folder_of(out, rank))
    finally:
        discard(place)


def _check_phases(ranks: list[DryRank]) -> None:
    """Raises BadInput for ranks whose records differ in their phases, as those of other formats do."""
    first = ranks[0]
    for rank in ranks:
        if rank.record.phases != first.record.phases:
            raise BadInput(
                f"{rank.path}: phases={', '.join(rank.record.phases)}; {first.path} has"
                f" {', '.join(first.record.phases)}; allowed: a new folder for records of another format"
            )


def _line(rank: DryRank, done: int, wanted: Plan) -> str:
    record, ranks = rank.record, wanted.sample.ranks
    words = f"rank {rank.rank} of {wanted.ranks}, {wanted.sample.why[rank.rank]}"
    took = f"built in {record.timing.build_s:.3g} s, computed for {record.dry_run.compute_s:.3g} s"
    return f"[{done}/{len(ranks)}] {words}: {took}"


def beside(ranks: list[DryRank], side_by_side: int) -> list[float | None]:
    """Share of each rank's measured part in which at least n - 1 others were measured, too, [rank].

    None where it ran by itself, or the records do not say when.
    """
    spans = [rank.span for rank in ranks]
    if side_by_side == 1 or None in spans:
        return [None] * len(ranks)
    found: list[float | None] = []
    for i, (begin, end) in enumerate(spans):
        others = [span for j, span in enumerate(spans) if j != i]
        edges = sorted({begin, end, *(x for span in others for x in span if begin < x < end)})
        pieces = pairwise(edges)
        full = sum(b - a for a, b in pieces if _covering(others, (a + b) / 2) >= side_by_side - 1)
        found.append(min(1.0, full / (end - begin)) if end > begin else 0.0)
    return found


def _covering(spans: list[tuple[float, float]], at: float) -> int:
    return sum(begin <= at <= end for begin, end in spans)


def mixed(ranks: list[DryRank]) -> list[str]:
    """Warns of ranks that ran on other machines or with other programs, since a folder was gone on with."""
    found = []
    for part, name in ALIKE:
        values = dict.fromkeys(str(getattr(getattr(rank.record, part), name)) for rank in ranks)
        if len(values) > 1:
            found.append(f"not all ranks have the same {part}.{name}: {', '.join(values)}")
    return found


def _about(out: Path, wanted: Plan, ranks: list[DryRank]) -> dict[str, Any]:
    first = ranks[0].record
    shares = beside(ranks, wanted.side_by_side)
    sampled = [
        {"rank": rank.rank, "why": wanted.sample.why[rank.rank], "beside": share}
        for rank, share in zip(ranks, shares, strict=True)
    ]
    warnings = dict.fromkeys(
        [*wanted.warnings, *mixed(ranks), *(line for rank in ranks for line in rank.record.warnings)]
    )
    return {
        "ranks": wanted.ranks, "threads": wanted.threads, "ranks_here": wanted.side_by_side,
        "cores": wanted.cores, "bound": wanted.bound, "sampled": sampled, "seed": wanted.seed,
        "alike": sample.alike(wanted.counts), "spikes": first.dry_run.spikes, "routes": first.dry_run.routes,
        "rates": wanted.rates.source, "rate_hz": wanted.rate_hz, "cycles": first.timing.cycles,
        "phases": first.phases, "description": _kept(out, wanted),
        "host": {name: getattr(first.host, name) for name in ("name", "cpu", "cores", "virtual_machine")},
        "provenance": first.provenance.model_dump(), "kinds": KINDS, "null": NULL, "warnings": [*warnings],
        "foreign_load": _foreign_load(ranks, (wanted.side_by_side - 1) * wanted.threads),
    }  # fmt: skip


def _foreign_load(ranks: list[DryRank], beside: int) -> float | None:
    """Cores that others than the ranks kept busy, the most of all ranks; None where one does not know.

    `beside`: threads of its neighbours, which a rank takes for others.
    """
    loads = [rank.record.host.foreign_load for rank in ranks]
    return None if None in loads else max(0.0, max(loads) - beside)
