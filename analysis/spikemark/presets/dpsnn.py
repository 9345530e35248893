"""The networks of DPSNN: homogeneous (Simula et al. 2019), or a grid of columns (Pastorelli et al. 2019).

80 % of the neurons excite; each receives 1125 synapses, and 400 from outside at about 3 Hz. Differences: all
neurons of a population have the same in-degree, sources are drawn with repetition, and events act at the end
of a step instead of at their own times.

In `aw`, asynchronous awake, neurons fire irregularly at 3.2 Hz. In `sw`, slow waves, foreground cells
alternate between up and down states. With the published efficacies alone they do so only now and then, when
the fluctuations of a small column kick them, and hardly in a large homogeneous network. A stronger input from
outside to the foreground cells (`stimulation`, 1.08 times the published efficacy) makes them alternate near
0.6 Hz in homogeneous networks of any size, and in a grid of whole columns; columns of a few hundred neurons
are too noisy for clear states.
"""

import re
from typing import Annotated

from pydantic import Field, model_validator

from spikemark.core.errors import shown
from spikemark.network.description import Wire

from . import dpsnn_cells, dpsnn_columns
from .options import choose
from .published_rates import ALL, PublishedRates
from .run_options import RunOptions

SUMMARY = "adaptive neurons in the awake or the slow-wave state, homogeneous or a grid of columns (DPSNN)"

#: Published mean rate in the state `aw`, Hz, of all neurons (Simula et al. 2019, section II).
AWAKE_HZ = 3.2
RATES = PublishedRates(
    {ALL: AWAKE_HZ},
    "Simula et al. (2019), section II, asynchronous awake state",
    hold_for={"state": "aw", "columns": None},
)
NEURONS, NEURONS_PER_COLUMN = 20_480, 1250
FULL = {"scale": 1.0, "simulate_ms": 10_000.0}
IN_COLUMNS = {"schedule": "placement_only", "placement": "area_group", "exchange": "neighbor"}
MOST_NEURONS, MOST_COLUMNS = 1_000_000_000, 10_000  # a description names every pool of columns
STIMULATION = {"aw": 1.0, "sw": 1.08}


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    state: Annotated[dpsnn_cells.State, Field(description="asynchronous awake (aw) or slow waves (sw)")] = (
        "aw"
    )
    neurons: Annotated[
        int | None,
        Field(ge=5, le=MOST_NEURONS, description=f"neurons of the homogeneous network; default: {NEURONS}"),
    ] = None
    columns: Annotated[
        str | None, Field(description="a grid of columns, such as 24x24, instead of the homogeneous network")
    ] = None
    neurons_per_column: Annotated[
        int | None,
        Field(ge=5, le=MOST_NEURONS, description=f"neurons of a column; default: {NEURONS_PER_COLUMN}"),
    ] = None
    kernel: Annotated[
        dpsnn_columns.Kernel, Field(description="how connections between columns fall with distance")
    ] = "exponential"
    reach: Annotated[
        float,
        Field(gt=0, le=2, description="decay length or SD of the kernel, in columns; published: 0.4 and 0.6"),
    ] = 0.4
    scale: Annotated[
        float, Field(gt=0, le=1, description="neurons, as a fraction; in-degrees and rates do not change")
    ] = 1.0
    stimulation: Annotated[
        float | None,
        Field(
            ge=0,
            le=10,
            description="efficacy of the input to foreground cells, times the published one"
            f" [aw: {STIMULATION['aw']:g}, sw: {STIMULATION['sw']:g}]",
        ),
    ] = None
    weight_classes: Annotated[
        int,
        Field(ge=0, le=4096, description="number of values for a normal efficacy; 0: eight-byte synapses"),
    ] = 16
    resolution_ms: Annotated[
        float, Field(gt=0, le=1, description="step h, ms, a fraction of the 1 ms between exchanges")
    ] = 1.0
    warmup_ms: Annotated[float, Field(ge=0, description="simulated time before the measurement, ms")] = 3000.0
    wire: Annotated[Wire, Field(description="how a spike is written in a message")] = "aer12"

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        if self.columns is None and self.neurons_per_column is not None:
            raise ValueError(f"neurons_per_column={self.neurons_per_column}: only with columns")
        if self.columns is not None and self.neurons is not None:
            raise ValueError(f"neurons={self.neurons}: with columns, neurons_per_column says how many")
        if self.weight_classes == 1:
            raise ValueError("weight_classes=1: 0, or at least 2")
        if abs(1 / self.resolution_ms - round(1 / self.resolution_ms)) > 1e-9:
            raise ValueError(f"resolution_ms={self.resolution_ms}: a whole number of steps in 1 ms is needed")
        if self.size < 5:
            raise ValueError(f"scale={self.scale}: at least 5 neurons in the network or a column are needed")
        width, height = self.grid
        if width * height * self.size > MOST_NEURONS:
            raise ValueError(
                f"neurons_per_column={self.neurons_per_column}: {width * height * self.size} neurons in all;"
                f" allowed are {MOST_NEURONS}"
            )
        return self

    @property
    def size(self) -> int:
        """Neurons of the homogeneous network, or of a column."""
        given, published = self.neurons, NEURONS
        if self.columns is not None:
            given, published = self.neurons_per_column, NEURONS_PER_COLUMN
        return round(self.scale * (published if given is None else given))

    @property
    def grid(self) -> tuple[int, int]:
        """Width and height in columns; 1 x 1 for the homogeneous network."""
        found = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", self.columns or "1x1")
        if not found or int(found[1]) * int(found[2]) > MOST_COLUMNS:
            raise ValueError(
                f"columns={shown(self.columns)}: width x height, such as 24x24, of at most {MOST_COLUMNS} "
                "columns"
            )
        return int(found[1]), int(found[2])


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    `full` runs the published number of neurons for the published 10 s: 20 480, or, with `columns`, 1250 in
    each (published: 24x24, 48x48, 96x96; a description cannot hold 192x192). Areas are columns. Neighbouring
    columns share a rank, so that ranks communicate only with neighbours. Raises BadInput naming the option,
    its value and what is allowed.
    """
    if options.get("columns") is not None:
        options = IN_COLUMNS | {name: value for name, value in options.items() if value is not None}
    chosen = choose(Options, options, full, FULL)
    width, height = chosen.grid
    columns = dpsnn_columns.grid(width, height)
    areas = ["network"] if chosen.columns is None else [dpsnn_columns.area(column) for column in columns]
    populations = [population for area in areas for population in _populations(area, chosen)]
    if chosen.columns is None:
        projections = _homogeneous(chosen)
    else:
        projections = dpsnn_columns.projections(
            width, height, chosen.kernel, chosen.reach, chosen.state, chosen.weight_classes
        )
    described = chosen.described(populations, projections, resolution_ms=chosen.resolution_ms, cycle_ms=1.0)
    return {**described, "wire": chosen.wire}


def _populations(area: str, options: Options) -> list[dict]:
    """Populations of the network or of a column; the background takes what rounding leaves."""
    sizes = {name: round(dpsnn_cells.SHARES[name] * options.size) for name in dpsnn_cells.POPULATIONS}
    sizes["B"] = options.size - sizes["F"] - sizes["I"]
    stimulation = STIMULATION[options.state] if options.stimulation is None else options.stimulation
    return [
        {
            "name": f"{area}-{name}",
            "area": area,
            "size": size,
            "neuron": dpsnn_cells.neuron(name),
            "external": dpsnn_cells.external(name, options.state, stimulation, options.resolution_ms),
        }
        for name, size in sizes.items()
    ]


def _homogeneous(options: Options) -> list[dict]:
    return [
        dpsnn_cells.projection(
            [f"network-{source}"], source, f"network-{target}", target, dpsnn_cells.INDEGREES[source],
            options.state, options.weight_classes,
        )
        for target in dpsnn_cells.POPULATIONS
        for source in dpsnn_cells.POPULATIONS
    ]  # fmt: skip
