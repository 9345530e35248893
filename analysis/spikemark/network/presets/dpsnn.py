"""The networks of DPSNN: homogeneous (Simula et al. 2019), or a grid (Pastorelli et al. 2019).

80 % of the neurons excite, a quarter of them foreground (F), the others background (B); I inhibits.
Each neuron receives 1125 synapses, nine tenths of a column of 1250, and 400 from outside at about 3
Hz. Numbers are those of the public configuration of Pastorelli et al. 2019 (AW2.8Hz_lambda04,
SW_lambda04); Simula et al. 2019 publish none, and call their network a down-scaling of that grid.
Differences: all neurons of a population have the same in-degree, sources are drawn with repetition,
and events act at the end of a step instead of at their own times.

In `aw`, asynchronous awake, neurons fire irregularly at 3.2 Hz. In `sw`, slow waves, foreground
cells alternate between up and down states near 0.6 Hz. With the published efficacies alone they do
so only now and then; a stronger input from outside to the foreground cells (`stimulation`, 1.08
times the published efficacy) makes them. Columns of a few hundred neurons are too noisy for clear
states.

On the grid (section 2.2, equation 1) the probability of a synapse falls with the distance d of the
columns as exp(-d / reach); inhibition stays in the column. The published numbers are whole shares:
1000 times the kernel, rounded, over a sum that leaves 0.9 synapses per pair of a neuron and one of
its pool in all. Columns at the edge of the grid receive fewer synapses. Areas are columns;
published are 24x24, 48x48, 96x96 and 192x192, which a description cannot hold. The Gaussian kernel
is exp(-d^2 / (2 reach^2)).
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from spikemark.core.errors import BadInput

from .options import ALL, PublishedRates, RunOptions, Wire, option

SUMMARY = (
    "adaptive neurons in the awake or the slow-wave state, homogeneous or a grid of columns (DPSNN)"
)

#: Published mean rate in the state `aw`, Hz, of all neurons (Simula et al. 2019, section II).
AWAKE_HZ = 3.2
RATES = PublishedRates(
    {ALL: AWAKE_HZ},
    "Simula et al. (2019), section II, asynchronous awake state",
    hold_for={"state": "aw", "columns": None},
)
NEURONS, NEURONS_PER_COLUMN = 20_480, 1250
IN_COLUMNS = {"schedule": "placement_only", "placement": "area_group", "exchange": "neighbor"}
#: A description names every pool of columns.
MAX_COLUMNS = 10_000
STIMULATION = {"aw": 1.0, "sw": 1.08}

POPULATIONS = ("F", "B", "I")
#: Of the neurons, and of the synapses that a neuron receives.
SHARES, INDEGREES = {"F": 0.2, "B": 0.6, "I": 0.2}, {"F": 225, "B": 675, "I": 225}
#: Mean efficacies, mV, by state, source ("external": from outside) and target in the order of
#: POPULATIONS.
EFFICACY_MV: dict[str, dict[str, tuple[float, float, float]]] = {
    "aw": {
        "F": (0.51511, 0.412534, 0.560233),
        "B": (0.412534, 0.429258, 0.560233),
        "I": (-1.5, -1.5, -1.5),
        "external": (0.858516, 0.858516, 1.12047),
    },
    "sw": {
        "F": (0.600961, 0.382635, 0.560233),
        "B": (0.382635, 0.429258, 0.560233),
        "I": (-1.5, -1.5, -1.5),
        "external": (0.832761, 0.858516, 1.12047),
    },
}
#: Of all efficacies.
RELATIVE_SD = 0.25
EXTERNAL_SYNAPSES = 400
#: Events/s of an external synapse ("about 3 Hz" in Simula et al. 2019). With it AW fires at its 3.2
#: Hz on a fine grid. On one of 1 ms the potential meets the threshold more rarely and AW would fire
#: at 3.0 Hz, so F and B get 2 % more.
EXTERNAL_HZ = (3.16676, 3.16676, 3.0)
EXTERNAL_HZ_COARSE = (3.235, 3.235, 3.0)
#: Longest step of the fine grid, ms.
MAX_FINE_MS = 0.5
#: Longest delay, ms, by source; delays fall exponentially to a twentieth there, on a grid of 1 ms.
DELAY_MAX_MS = {"F": 80.0, "B": 80.0, "I": 20.0}

#: Parameters of `lif_sfa`. The potential starts anywhere between rest and threshold, the fatigue at
#: 0.
POTENTIALS = {
    "E_L_mV": 0.0,
    "V_th_mV": 20.0,
    "V_reset_mV": 15.0,
    "V_init_mV": 10.0,
    "V_init_sd_mV": 5.0,
}


def _lif_sfa(tau_m_ms: float, t_ref_ms: float, fatigue_mV_per_ms: float) -> dict[str, Any]:
    """The field `neuron` of a population."""
    return {
        "model": "lif_sfa",
        "tau_m_ms": tau_m_ms,
        "t_ref_ms": t_ref_ms,
        **POTENTIALS,
        "g_c_mV_per_ms": fatigue_mV_per_ms,
        "alpha_c": 1.0,
        "tau_c_ms": 1000.0,
    }


#: Excitatory and inhibitory neurons.
NEURONS_OF = {"E": _lif_sfa(20.0, 2.0, 0.02), "I": _lif_sfa(10.0, 1.0, 0.0)}


def _exponential(distance: float, reach: float) -> float:
    return math.exp(-distance / reach)


def _gaussian(distance: float, reach: float) -> float:
    return math.exp(-(distance**2) / (2 * reach**2))


Kernel = Literal["exponential", "gaussian"]
KERNELS: dict[str, Callable[[float, float], float]] = {
    "exponential": _exponential,
    "gaussian": _gaussian,
}
#: Of shares of offsets.
RESOLUTION = 1000
#: Columns beyond which there are no shares with the longest reach, 2.
MAX_OFFSET = 16
Offset = tuple[int, int]


class DpsnnOptions(RunOptions):
    """What `describe` accepts; the defaults suit a laptop.

    `full` runs the published number of neurons, 20 480 or 1250 in each column, for the published 10
    s.
    """

    state: Literal["aw", "sw"] = option("aw", "asynchronous awake (aw) or slow waves (sw)")
    neurons: int | None = option(
        None, f"neurons of the homogeneous network; default: {NEURONS}", ge=5
    )
    columns: str | None = option(
        None, "a grid of columns, such as 24x24, instead of the homogeneous network"
    )
    neurons_per_column: int | None = option(
        None, f"neurons of a column; default: {NEURONS_PER_COLUMN}", ge=5
    )
    kernel: Kernel = option("exponential", "how connections between columns fall with distance")
    reach: float = option(
        0.4, "decay length or SD of the kernel, in columns; published: 0.4 and 0.6", gt=0, le=2
    )
    scale: float = option(
        1.0, "neurons, as a fraction; in-degrees and rates do not change", gt=0, le=1
    )
    stimulation: float | None = option(
        None,
        "efficacy of the input to foreground cells, times the published one [aw: {aw:g}, sw:"
        " {sw:g}]".format(**STIMULATION),
        ge=0,
        le=10,
    )
    weight_classes: int = option(
        16, "number of values for a normal efficacy; 0: eight-byte synapses", ge=0, le=4096
    )
    resolution_ms: float = option(
        1.0, "step h, ms, a fraction of the 1 ms between exchanges", gt=0, le=1
    )
    warmup_ms: float = option(
        3000.0,
        "simulated time before the measurement, ms",
        ge=0,
    )
    wire: Wire = option("aer12", "how a spike is written in a message")

    published: ClassVar[dict[str, Any]] = {"scale": 1.0, "simulate_ms": 10_000.0}

    @model_validator(mode="before")
    @classmethod
    def _beside_neighbours(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Neighbouring columns share a rank, so that ranks communicate only with neighbours."""
        return IN_COLUMNS | options if "columns" in options else options

    @model_validator(mode="after")
    def _possible(self) -> "DpsnnOptions":
        if self.columns is None:
            no_columns = self.neurons_per_column is None
            self.expect(no_columns, "neurons_per_column", "columns, too")
        else:
            self.expect(self.neurons is None, "neurons", "neurons_per_column, with columns")
        self.expect(self.weight_classes != 1, "weight_classes", "0, or at least 2")
        steps = 1 / self.resolution_ms
        is_whole = abs(steps - round(steps)) <= 1e-9
        self.expect(is_whole, "resolution_ms", "a whole number of steps in 1 ms")
        return self

    @property
    def size(self) -> int:
        """Neurons of the homogeneous network, or of a column."""
        neurons = self.neurons or NEURONS
        if self.columns is not None:
            neurons = self.neurons_per_column or NEURONS_PER_COLUMN
        return round(self.scale * neurons)

    @property
    def areas(self) -> dict[Offset, str]:
        """The areas by their columns (x, y); one for the homogeneous network."""
        if self.columns is None:
            return {(0, 0): "network"}
        sides = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", self.columns)
        width, height = (int(sides[1]), int(sides[2])) if sides else (0, 0)
        if not 1 <= width * height <= MAX_COLUMNS:
            expected = f"width x height, such as 24x24, of at most {MAX_COLUMNS} columns"
            raise BadInput(
                field="columns",
                value=self.columns,
                expected=expected,
            )
        areas = {}
        for y in range(height):
            for x in range(width):
                areas[x, y] = f"x{x}y{y}"
        return areas

    def description(self) -> dict[str, Any]:
        """The run description."""
        areas = self.areas
        shares = {(0, 0): RESOLUTION}
        if self.columns is not None:
            shares = stencil(self.kernel, self.reach)
        populations: list[dict[str, Any]] = []
        projections: list[dict[str, Any]] = []
        for place, area in areas.items():
            populations += _populations(area, self)
            projections += _onto(self, areas, place, shares)
        return self.run(populations, projections, self.resolution_ms, 1.0) | {"wire": self.wire}


describe = DpsnnOptions.describe


def _populations(area: str, options: DpsnnOptions) -> list[dict[str, Any]]:
    """Populations of the network or of a column; the background takes what rounding leaves.

    Published efficacies from outside are spread over the 400 synapses with a relative SD c; one
    efficacy of (1 + c^2) times the mean at 1 / (1 + c^2) of the rate has the same mean and variance
    of the input.
    """
    sizes = {name: round(SHARES[name] * options.size) for name in POPULATIONS}
    sizes["B"] = options.size - sizes["F"] - sizes["I"]
    stimulation = options.stimulation
    if stimulation is None:
        stimulation = STIMULATION[options.state]
    spread = 1 + RELATIVE_SD**2
    rates = EXTERNAL_HZ_COARSE if options.resolution_ms > MAX_FINE_MS else EXTERNAL_HZ
    efficacies = EFFICACY_MV[options.state]["external"]
    populations = []
    for (name, size), rate, efficacy in zip(sizes.items(), rates, efficacies, strict=True):
        factor = stimulation if name == "F" else 1
        external = {
            "rate_hz": rate / spread,
            "synapses": EXTERNAL_SYNAPSES,
            "weight": efficacy * factor * spread,
        }
        population = {
            "name": f"{area}-{name}",
            "area": area,
            "size": size,
            "neuron": dict(NEURONS_OF["I" if name == "I" else "E"]),
            "external": external,
        }
        populations.append(population)
    return populations


def _projection(
    options: DpsnnOptions,
    pool: list[str],
    kind: str,
    target: str,
    indegree: int,
) -> dict[str, Any]:
    """`indegree` synapses on each neuron of `target` from the pool of sources, all of a `kind`.

    Efficacies take `weight_classes` values that keep mean and SD, so the input keeps both; what
    they lack is the far tails. With 0 classes every synapse has a weight of its own, in eight
    bytes.
    """
    mean = EFFICACY_MV[options.state][kind][POPULATIONS.index(target[-1])]
    longest = DELAY_MAX_MS[kind]
    delay = {
        "distribution": "exponential",
        "mean": longest / math.log(20),
        "min": 1.0,
        "max": longest,
    }
    weight = {"mean": mean, "sd": RELATIVE_SD * abs(mean), "classes": options.weight_classes}
    return {
        "source": pool,
        "target": target,
        "indegree": indegree,
        "weight": weight,
        "delay": delay,
    }


def stencil(kernel: Kernel, reach: float) -> dict[Offset, int]:
    """Share of each offset (dx, dy), in columns, in the excitatory synapses of a column.

    The share is 1000 at a column's own place (Pastorelli et al. 2019, eq 1). Shares of 0 are left
    out.

    Example:
        >>> stencil("exponential", reach=0.4)[0, 1]  # 1000 exp(-2.5)
        82
    """
    shares = {}
    for dy in range(-MAX_OFFSET, MAX_OFFSET + 1):
        for dx in range(-MAX_OFFSET, MAX_OFFSET + 1):
            share = round(RESOLUTION * KERNELS[kernel](math.hypot(dx, dy), reach))
            if share > 0:
                shares[dx, dy] = share
    return shares


def _onto(
    options: DpsnnOptions,
    areas: Mapping[Offset, str],
    target: Offset,
    shares: Mapping[Offset, int],
) -> list[dict[str, Any]]:
    """Projections onto an area. Columns at offsets of equal share are one pool."""
    x, y = target
    pools: dict[int, list[str]] = defaultdict(list)
    for (dx, dy), share in shares.items():
        if (x + dx, y + dy) in areas:
            pools[share].append(areas[x + dx, y + dy])
    all_shares = sum(shares.values())
    pool_shares = sorted(pools, reverse=True)
    parts = [share * len(pools[share]) / all_shares for share in pool_shares]
    projections = []
    for population in POPULATIONS:
        name = f"{areas[target]}-{population}"
        kinds_of_pools: tuple[str, ...] = ("F", "B")
        if population == "I" and options.columns is not None:
            kinds_of_pools = ("FB",)  # they weigh the same on I
        for kinds in kinds_of_pools:
            indegrees = _split(sum(INDEGREES[kind] for kind in kinds), parts)
            for share, indegree in zip(pool_shares, indegrees, strict=True):
                if indegree:
                    pool = _sources(pools[share], kinds)
                    projections.append(_projection(options, pool, kinds[0], name, indegree))
        inhibitory = [f"{areas[target]}-I"]
        projections.append(_projection(options, inhibitory, "I", name, INDEGREES["I"]))
    return projections


def _sources(areas: list[str], kinds: str) -> list[str]:
    """Names of the populations of these kinds in some areas."""
    names = []
    for area in areas:
        names += [f"{area}-{kind}" for kind in kinds]
    return names


def _split(number: int, parts: list[float]) -> list[int]:
    """Whole numbers nearest to `number` times each of the parts that keep the sum.

    By largest remainders.
    """
    exact = [number * part for part in parts]
    split = [math.floor(value) for value in exact]
    missing = round(sum(exact)) - sum(split)
    by_remainder = sorted(range(len(exact)), key=lambda i: split[i] - exact[i])
    for i in by_remainder[:missing]:
        split[i] += 1
    return split
