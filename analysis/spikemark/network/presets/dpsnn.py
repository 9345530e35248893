"""The networks of DPSNN: homogeneous (Simula et al. 2019), or a grid of columns (Pastorelli et al. 2019).

80 % of the neurons excite, a quarter of them foreground (F), the others background (B); I inhibits. Each
neuron receives 1125 synapses, nine tenths of a column of 1250, and 400 from outside at about 3 Hz. Numbers
are those of the public configuration of Pastorelli et al. 2019 (AW2.8Hz_lambda04, SW_lambda04), which Simula
et al. 2019 run too. Differences: all neurons of a population have the same in-degree, sources are drawn with
repetition, and events act at the end of a step instead of at their own times.

In `aw`, asynchronous awake, neurons fire irregularly at 3.2 Hz. In `sw`, slow waves, foreground cells
alternate between up and down states near 0.6 Hz. With the published efficacies alone they do so only now and
then; a stronger input from outside to the foreground cells (`stimulation`, 1.08 times the published efficacy)
makes them. Columns of a few hundred neurons are too noisy for clear states.

On the grid (section 2.2, equation 1) the probability of a synapse falls with the distance d of the columns
as exp(-d / reach); inhibition stays in the column. The published numbers are whole shares: 1000 times the
kernel, rounded, over a sum that leaves 0.9 synapses per pair of a neuron and one of its pool in all.
Columns at the edge of the grid receive fewer synapses. Areas are columns; published are 24x24, 48x48, 96x96
and 192x192, which a description cannot hold. The Gaussian kernel is exp(-d^2 / (2 reach^2)).
"""

import math
import re
from collections import defaultdict
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from spikemark.network.description import Wire

from .options import ALL, PublishedRates, RunOptions, option

SUMMARY = "adaptive neurons in the awake or the slow-wave state, homogeneous or a grid of columns (DPSNN)"

#: Published mean rate in the state `aw`, Hz, of all neurons (Simula et al. 2019, section II).
AWAKE_HZ = 3.2
RATES = PublishedRates(
    {ALL: AWAKE_HZ},
    "Simula et al. (2019), section II, asynchronous awake state",
    hold_for={"state": "aw", "columns": None},
)
NEURONS, NEURONS_PER_COLUMN = 20_480, 1250
IN_COLUMNS = {"schedule": "placement_only", "placement": "area_group", "exchange": "neighbor"}
MOST_COLUMNS = 10_000  # a description names every pool of columns
STIMULATION = {"aw": 1.0, "sw": 1.08}

POPULATIONS = ("F", "B", "I")
#: Of the neurons, and of the synapses that a neuron receives.
SHARES, INDEGREES = {"F": 0.2, "B": 0.6, "I": 0.2}, {"F": 225, "B": 675, "I": 225}
#: Mean efficacies, mV, by state, source ("external": from outside) and target in the order of POPULATIONS.
EFFICACY_MV: dict[str, dict[str, tuple[float, float, float]]] = {
    "aw": {
        "F": (0.51511, 0.412534, 0.560233), "B": (0.412534, 0.429258, 0.560233), "I": (-1.5, -1.5, -1.5),
        "external": (0.858516, 0.858516, 1.12047),
    },
    "sw": {
        "F": (0.600961, 0.382635, 0.560233), "B": (0.382635, 0.429258, 0.560233), "I": (-1.5, -1.5, -1.5),
        "external": (0.832761, 0.858516, 1.12047),
    },
}  # fmt: skip
RELATIVE_SD = 0.25  # of all efficacies
EXTERNAL_SYNAPSES = 400
#: Events/s of an external synapse ("about 3 Hz" in Simula et al. 2019). With it AW fires at its 3.2 Hz on a
#: fine grid. On one of 1 ms the potential meets the threshold more rarely and AW would fire at 3.0 Hz, so F
#: and B get 2 % more.
EXTERNAL_HZ, EXTERNAL_HZ_COARSE = (3.16676, 3.16676, 3.0), (3.235, 3.235, 3.0)
#: Longest delay, ms, by source; delays fall exponentially to a twentieth there, on a grid of 1 ms.
DELAY_MAX_MS = {"F": 80.0, "B": 80.0, "I": 20.0}

#: Parameters of `lif_sfa`. The potential starts anywhere between rest and threshold, the fatigue at 0.
POTENTIALS = {"E_L_mV": 0.0, "V_th_mV": 20.0, "V_reset_mV": 15.0, "V_init_mV": 10.0, "V_init_sd_mV": 5.0}
NEURONS_OF = {
    kind: {"model": "lif_sfa", "tau_m_ms": tau, "t_ref_ms": refractory, **POTENTIALS,
           "g_c_mV_per_ms": fatigue, "alpha_c": 1.0, "tau_c_ms": 1000.0}
    for kind, tau, refractory, fatigue in (("E", 20.0, 2.0, 0.02), ("I", 10.0, 1.0, 0.0))
}  # fmt: skip

Kernel = Literal["exponential", "gaussian"]
KERNELS = {
    "exponential": lambda distance, reach: math.exp(-distance / reach),
    "gaussian": lambda distance, reach: math.exp(-(distance**2) / (2 * reach**2)),
}
RESOLUTION, FAR = 1000, 16  # of shares; columns beyond which there are none with the longest reach, 2
Offset = tuple[int, int]


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop.

    `full` runs the published number of neurons, 20 480 or 1250 in each column, for the published 10 s.
    """

    state: Literal["aw", "sw"] = option("aw", "asynchronous awake (aw) or slow waves (sw)")
    neurons: int | None = option(None, f"neurons of the homogeneous network; default: {NEURONS}", ge=5)
    columns: str | None = option(None, "a grid of columns, such as 24x24, instead of the homogeneous network")
    neurons_per_column: int | None = option(None, f"neurons of a column; default: {NEURONS_PER_COLUMN}", ge=5)
    kernel: Kernel = option("exponential", "how connections between columns fall with distance")
    reach: float = option(
        0.4, "decay length or SD of the kernel, in columns; published: 0.4 and 0.6", gt=0, le=2
    )
    scale: float = option(1.0, "neurons, as a fraction; in-degrees and rates do not change", gt=0, le=1)
    stimulation: float | None = option(
        None, "efficacy of the input to foreground cells, times the published one [aw: {aw:g}, sw: {sw:g}]"
        .format(**STIMULATION), ge=0, le=10,
    )  # fmt: skip
    weight_classes: int = option(
        16, "number of values for a normal efficacy; 0: eight-byte synapses", ge=0, le=4096
    )
    resolution_ms: float = option(1.0, "step h, ms, a fraction of the 1 ms between exchanges", gt=0, le=1)
    warmup_ms: float = option(3000.0, "simulated time before the measurement, ms", ge=0)
    wire: Wire = option("aer12", "how a spike is written in a message")

    published: ClassVar = {"scale": 1.0, "simulate_ms": 10_000.0}

    @model_validator(mode="before")
    @classmethod
    def _beside_neighbours(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Neighbouring columns share a rank, so that ranks communicate only with neighbours."""
        return (IN_COLUMNS if "columns" in given else {}) | given

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        in_columns, steps = self.columns is not None, 1 / self.resolution_ms
        self.expect(
            (in_columns or self.neurons_per_column is None, "neurons_per_column", "columns, too"),
            (not in_columns or self.neurons is None, "neurons", "neurons_per_column, with columns"),
            (self.weight_classes != 1, "weight_classes", "0, or at least 2"),
            (abs(steps - round(steps)) <= 1e-9, "resolution_ms", "a whole number of steps in 1 ms"),
        )
        return self

    @property
    def size(self) -> int:
        """Neurons of the homogeneous network, or of a column."""
        each = self.neurons_per_column or NEURONS_PER_COLUMN
        return round(self.scale * ((self.neurons or NEURONS) if self.columns is None else each))

    @property
    def areas(self) -> dict[Offset, str]:
        """The areas by their columns (x, y); one for the homogeneous network."""
        if self.columns is None:
            return {(0, 0): "network"}
        found = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", self.columns)
        expected = f"width x height, such as 24x24, of at most {MOST_COLUMNS} columns"
        self.expect((found and int(found[1]) * int(found[2]) <= MOST_COLUMNS, "columns", expected))
        return {(x, y): f"x{x}y{y}" for y in range(int(found[2])) for x in range(int(found[1]))}

    def description(self) -> dict:
        areas = self.areas
        shares = {(0, 0): RESOLUTION} if self.columns is None else stencil(self.kernel, self.reach)
        populations = [population for area in areas.values() for population in _populations(area, self)]
        projections = [projection for place in areas for projection in _onto(self, areas, place, shares)]
        return self.run(populations, projections, self.resolution_ms, 1.0) | {"wire": self.wire}


describe = Options.describe


def _populations(area: str, options: Options) -> list[dict]:
    """Populations of the network or of a column; the background takes what rounding leaves.

    Published efficacies from outside are spread over the 400 synapses with a relative SD c; one efficacy of
    (1 + c^2) times the mean at 1 / (1 + c^2) of the rate has the same mean and variance of the input.
    """
    sizes = {name: round(SHARES[name] * options.size) for name in POPULATIONS}
    sizes["B"] = options.size - sizes["F"] - sizes["I"]
    stimulation = STIMULATION[options.state] if options.stimulation is None else options.stimulation
    spread, found = 1 + RELATIVE_SD**2, []
    rates = EXTERNAL_HZ_COARSE if options.resolution_ms > 0.5 else EXTERNAL_HZ
    efficacies = EFFICACY_MV[options.state]["external"]
    for (name, size), rate, efficacy in zip(sizes.items(), rates, efficacies, strict=True):
        weight = efficacy * (stimulation if name == "F" else 1) * spread
        outside = {"rate_hz": rate / spread, "synapses": EXTERNAL_SYNAPSES, "weight": weight}
        neuron = NEURONS_OF["I" if name == "I" else "E"]
        about = {"name": f"{area}-{name}", "area": area, "size": size}
        found.append(about | {"neuron": neuron, "external": outside})
    return found


def _projection(options: Options, pool: list[str], kind: str, target: str, indegree: int) -> dict:
    """`indegree` synapses on each neuron of `target` from the pool of sources, all of a `kind`.

    Efficacies take `weight_classes` values that keep mean and SD, so the input keeps both; what they lack is
    the far tails. With 0 classes every synapse has a weight of its own, in eight bytes.
    """
    mean = EFFICACY_MV[options.state][kind][POPULATIONS.index(target[-1])]
    longest = DELAY_MAX_MS[kind]
    delay = {"distribution": "exponential", "mean": longest / math.log(20), "min": 1.0, "max": longest}
    weight = {"mean": mean, "sd": RELATIVE_SD * abs(mean), "classes": options.weight_classes}
    return {"source": pool, "target": target, "indegree": indegree, "weight": weight, "delay": delay}


def stencil(kernel: Kernel, reach: float) -> dict[Offset, int]:
    """Share of each offset (dx, dy), in columns, in the excitatory synapses of a column; 1000 at its own."""
    fall, around = KERNELS[kernel], range(-FAR, FAR + 1)
    shares = {(x, y): round(RESOLUTION * fall(math.hypot(x, y), reach)) for y in around for x in around}
    return {offset: share for offset, share in shares.items() if share > 0}


def _onto(options: Options, areas: dict[Offset, str], target: Offset, shares: dict[Offset, int]) -> list:
    """Projections onto an area. Columns at offsets of equal share are one pool."""
    pools, found, (x, y) = defaultdict(list), [], target
    for (dx, dy), share in shares.items():
        if (x + dx, y + dy) in areas:
            pools[share].append(areas[x + dx, y + dy])
    whole, ordered, together = sum(shares.values()), sorted(pools, reverse=True), options.columns is not None
    for to in POPULATIONS:
        name = f"{areas[target]}-{to}"
        for kinds in ("FB",) if to == "I" and together else ("F", "B"):  # F and B weigh the same on I
            wanted = sum(INDEGREES[kind] for kind in kinds)
            indegrees = _split(wanted, [share * len(pools[share]) / whole for share in ordered])
            for share, indegree in zip(ordered, indegrees, strict=True):
                pool = [f"{area}-{kind}" for area in pools[share] for kind in kinds]
                if indegree:
                    found.append(_projection(options, pool, kinds[0], name, indegree))
        found.append(_projection(options, [f"{areas[target]}-I"], "I", name, INDEGREES["I"]))
    return found


def _split(whole: int, parts: list[float]) -> list[int]:
    """Whole numbers nearest to `whole` times each of the parts that keep the sum (largest remainders)."""
    exact = [whole * part for part in parts]
    split = [math.floor(number) for number in exact]
    left = round(sum(exact)) - sum(split)
    for i in sorted(range(len(exact)), key=lambda i: split[i] - exact[i])[:left]:
        split[i] += 1
    return split
