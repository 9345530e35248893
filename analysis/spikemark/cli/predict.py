"""`spikemark predict`: time, energy and memory of a run that was not made."""

from pathlib import Path
from typing import Annotated

import typer

from . import panels, params
from .options import one_form, only_with, ranks_by_part, whole_numbers
from .output import show, write_page

app = typer.Typer()
MINI_APP = "mini-app"  # as in prediction/mini_app.py, whose import takes longer than a refusal


@app.command(rich_help_panel=panels.ANSWER)
def predict(
    networks: params.Networks = None,
    *,
    run: params.Run = None,
    preset: params.Preset = None,
    full: params.Full = False,
    option: params.PresetOptions = None,
    rate: params.Rate = None,
    schedule: params.Schedule = None,
    placement: params.Placement = None,
    delay_ratio: params.DelayRatio = None,
    lag: params.Lag = None,
    exchange: params.Exchange = None,
    machine: params.NeededMachine,
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N",
            help=(
                "Numbers of nodes, such as 16,32; the mini-app needs these or --ranks [NEST: the"
                " fastest ones]."
            ),
        ),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Numbers of ranks, such as 16,32 [one on each node]."),
    ] = None,
    threads: params.Threads = None,
    ranks_per_node: params.RanksPerNode = None,
    on: params.RanksByPart = None,
    compute_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Take compute times from this dry run (`spikemark dryrun`)."
        ),
    ] = None,
    program: params.Program = MINI_APP,
    anchor: params.Anchor = None,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Predict time, energy and memory of a run on a machine, each with its 95 % interval.

    Times of the mini-app follow from the machine's kernel times; those of another program, such
    as NEST, from its own runs: published ones, or those in a table (--anchor). If NETWORK is the
    folder of a run, the command prints the run beside its prediction.

    Example: spikemark predict microcircuit --full --machine supermuc-ng --nodes 2
    """
    import spikemark

    one_form(format_, json=json)
    ways = params.ways_of(schedule, placement, delay_ratio, lag, exchange)
    folder = _folder_of_run(networks)
    if folder is not None:
        only_with("a network, not a run", None, run=run, preset=preset, full=full, option=option)
        only_with("a network, not a run", None, rate=rate, ranks=ranks, nodes=nodes, **ways)
        answer = spikemark.predict(
            folder,
            machine,
            threads=threads,
            ranks_per_node=ranks_per_node,
            on=ranks_by_part(on),
            compute_from=compute_from,
            program=program,
            anchor=anchor,
        )
        write_page(html, "a run beside its prediction", answer)
        show(answer, json, format_=format_)
        return
    params.check_given(ways, program, anchor=anchor)
    if program == MINI_APP and all(given is None for given in (nodes, ranks, on, compute_from)):
        params.check_network(networks, run, preset)
        raise params.no_layout()  # before a large network is described
    network = params.network_of(networks, run, preset, full, option, rate)
    if compute_from is None and network is None:
        raise params.no_network()
    only_with("NETWORK", network, rate=rate)
    prediction = spikemark.predict(
        network,
        machine,
        nodes=None if nodes is None else whole_numbers(nodes, "--nodes"),
        ranks=None if ranks is None else whole_numbers(ranks, "--ranks"),
        threads=threads,
        ranks_per_node=ranks_per_node,
        on=ranks_by_part(on),
        **ways,
        compute_from=compute_from,
        program=program,
        anchor=anchor,
    )
    write_page(html, "prediction", prediction)
    show(prediction, json, format_=format_)


def _folder_of_run(networks: list[str] | None) -> Path | None:
    """The folder of a run, where that is what the command line names."""
    if networks and len(networks) == 1 and Path(networks[0]).is_dir():
        return Path(networks[0])
    return None
