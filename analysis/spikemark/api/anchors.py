"""Runs of NEST that predictions for NEST start from: `spikemark.anchor`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.arguments import public
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.files import write_output
from spikemark.machines.profile import Profile
from spikemark.prediction import anchor_run, points
from spikemark.prediction.anchor_run import AnchorAnswer, AnchorFolderAnswer
from spikemark.prediction.production import may_not_fit, refuse_unfit
from spikemark.prediction.published_machine import machine_of
from spikemark.prediction.question import Question

from .questions import equal_nodes, question_about

FilePath = str | PathLike[str]


@public
def anchor(
    network: FilePath | Mapping[str, Any] | Question,
    machine: FilePath | Profile,
    *,
    out: FilePath | None = None,
    runs: FilePath | None = None,
    nodes: int | Sequence[int] = 1,
    ranks: int | None = None,
    threads: int | None = None,
    version: str = "3.10",
    keep: FilePath | None = None,
) -> AnchorFolderAnswer | AnchorAnswer:
    """Write the NEST runs that anchor predictions, or read them back.

    A network that takes ten minutes on one full node is enough. Its runs then serve as
    `predict(..., program="nest", anchor="RUNS.csv")`.

    Args:
        network: as `spikemark.network` takes or returns it.
        machine: of equal nodes, as `spikemark.machine` takes or returns it.
        out: the folder to write, for the machine.
        runs: the table that the runs filled, instead of `out`.
        nodes: numbers of nodes to run on, or to predict with `runs`.
        ranks: on each node, with `out`; one on each socket by default.
        threads: of a rank, with `out`; all cores by default.
        version: of NEST.
        keep: with `runs`, a file for the predictions of measured runs, to be scored.

    Returns:
        AnchorFolderAnswer: `table` has a row for each run. AnchorAnswer, of `runs`: `table` has
        each run but the smallest beside its prediction from smaller ones.

    Raises:
        BadInput: as `spikemark.predict`, for a network that NEST cannot run, a folder that has
            runs, a table without runs, with `out` for nodes that lack the memory, and unless one
            of `out` and `runs` is given.

    Example:
        >>> import pathlib, tempfile
        >>> from spikemark import network
        >>> small = network("mam-benchmark", areas=4, neurons_per_area=100, indegree=10)
        >>> folder = pathlib.Path(tempfile.mkdtemp(), "anchors")
        >>> answer = anchor(small, "jureca-dc", out=folder, nodes=[1, 2])
        >>> answer.table["ranks"].tolist(), (folder / "run.sh").is_file()
        ([2, 4], True)
    """
    if (out is None) == (runs is None):
        expected = "either out, a folder, or runs, a table"
        raise BadInput(field="out", expected=expected, code="conflict")
    asked = question_about(network)
    profile = equal_nodes(machine)
    nodes_of_machine = machine_of(profile)
    ranks_of_node = ranks or nodes_of_machine.sockets
    run_on_one_node = replace(
        asked.simulated_by("nest", version, nodes_of_machine, 1),
        ranks=ranks_of_node,
        threads=threads or max(1, nodes_of_machine.cores // ranks_of_node),
    )
    counts = [nodes] if isinstance(nodes, int) else list(nodes)
    if runs is not None:
        for name, value in (("ranks", ranks), ("threads", threads)):
            if value is not None:
                reason = "beside runs, a table that has them"
                raise BadInput(field=name, reason=reason, expected="none", code="conflict")
        return _read_back(asked, machine, Path(runs), run_on_one_node, counts, keep)
    assert out is not None
    if keep is not None:
        raise BadInput(field="keep", reason="alone", expected="with runs", code="conflict")
    runs_to_make = [run_on_one_node.with_nodes(count) for count in counts]
    remarks = list(profile.remarks)
    for run in runs_to_make:
        refuse_unfit(run, profile, asked.title)
        remarks += may_not_fit(run, profile)
    scripts = places.root() / "workflows/peers"
    files = anchor_run.write(Path(out), asked.description, runs_to_make, scripts)
    read_back = command(
        "anchor",
        **asked.options,
        machine=_name(machine),
        nodes=",".join(str(count) for count in counts),
        version=version,
        runs=Path(out) / anchor_run.RUNS,
    )
    return AnchorFolderAnswer(Path(out), files, runs_to_make, read_back, remarks)


def _read_back(
    asked: Question,
    machine: FilePath | Profile,
    file: Path,
    like: points.PublishedRun,
    nodes: Sequence[int],
    keep: FilePath | None,
) -> AnchorAnswer:
    """The runs of a table beside their predictions; `like` is what they have in common."""
    predictions = anchor_run.predictions(points.own_runs(file, like), nodes)
    next_command = command(
        "predict",
        **asked.options,
        program="nest",
        anchor=file,
        machine=_name(machine),
        nodes=max(nodes),
    )
    answer = AnchorAnswer(predictions, like, next_command)
    if keep is not None:
        write_output(Path(keep), answer.stored())
    return answer


def _name(machine: FilePath | Profile) -> FilePath:
    """How a command names a machine."""
    return machine.name if isinstance(machine, Profile) else machine
