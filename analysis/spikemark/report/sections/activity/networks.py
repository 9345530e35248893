"""What the networks of a sweep did, from runs that recorded their spikes: one entry per network."""

import json
from dataclasses import dataclass
from functools import cached_property

from spikemark import activity
from spikemark.activity.trains import SYNCHRONY_BIN_MS
from spikemark.core.errors import BadInput
from spikemark.network.description import Description
from spikemark.presets import published_rates
from spikemark.presets.published_rates import PublishedRates
from spikemark.quantities.words import counted
from spikemark.records.cases import network_title
from spikemark.records.gather import Measured
from spikemark.records.recording import Groups

MOST_GROUPS = 12
RATE_BIN_MS, SPECTRUM_BIN_MS = 5.0, 1.0


@dataclass(frozen=True)
class Group:
    """Populations that are treated as one. `published_hz` is None where nothing is published."""

    label: str
    neurons: int
    inhibitory: bool
    rate_hz: float
    published_hz: float | None
    irregularity: activity.Irregularity
    synchrony: float | None  # None without a spike, or in a run too short for it

    @property
    def over_published(self) -> float | None:
        return self.rate_hz / self.published_hz if self.published_hz else None


@dataclass(frozen=True)
class Alternation:
    """Up and down states, or why there are none.

    `label` names the group that has them; None means all neurons.
    """

    label: str | None
    rate: activity.Rate
    states: activity.UpDown


@dataclass(frozen=True)
class Network:
    """A network as the first of `runs` simulated it.

    The others may differ in seed, ranks, threads or schedule.
    """

    title: str
    runs: list[Measured]

    @property
    def measured(self) -> Measured:
        return self.runs[0]

    @cached_property
    def recording(self) -> activity.Recording:
        return activity.of(self.measured.run)

    @cached_property
    def published(self) -> PublishedRates | None:
        return published_rates(self.measured.preset, self.measured.options)

    @cached_property
    def _folded(self) -> tuple[Groups, str]:
        return fold(self.recording)

    @property
    def members(self) -> Groups:
        """Populations of each group, by the label of the group."""
        return self._folded[0]

    @property
    def folding(self) -> str:
        """Says which populations are merged; empty if none are."""
        return self._folded[1]

    @cached_property
    def groups(self) -> list[Group]:
        """Groups with neurons, in the order of the description."""
        recording, members = self.recording, self.members
        rates, cvs = activity.rates_hz(recording, members), activity.isi_cv(recording, members)
        try:
            synchrony = activity.fano_factors(recording, members, self.bin_ms(SYNCHRONY_BIN_MS))
        except BadInput:  # too short
            synchrony = dict.fromkeys(members)
        sizes = dict(zip(members, recording.sizes(members).tolist(), strict=True))
        return [
            Group(
                label, sizes[label], set(names) <= self.inhibitory, rates[label], self._published_hz(names),
                cvs[label], synchrony[label],
            )
            for label, names in members.items()
        ]  # fmt: skip

    @cached_property
    def everyone(self) -> Group:
        """All neurons as one group."""
        everyone = {"all": [p.name for p in self.recording.populations]}
        rate = activity.rates_hz(self.recording, everyone)["all"]
        cv = activity.isi_cv(self.recording, everyone)["all"]
        neurons = sum(p.size for p in self.recording.populations)
        hz = self.published.mean_hz if self.published else None
        hz = self._published_hz(everyone["all"]) if hz is None else hz
        return Group("all", neurons, False, rate, hz, cv, None)

    @cached_property
    def rate(self) -> activity.Rate:
        """Rate of all neurons over the recording. Raises BadInput for a recording shorter than a bin."""
        return activity.population_rate(self.recording, self.bin_ms(RATE_BIN_MS))

    @cached_property
    def spectrum(self) -> activity.Spectrum:
        """Spectrum of the rate of all neurons. Raises BadInput for a recording that is too short."""
        return activity.spectrum(activity.population_rate(self.recording, self.bin_ms(SPECTRUM_BIN_MS)))

    @cached_property
    def alternation(self) -> Alternation:
        """Up and down states of all neurons, or else of the group in which they are deepest.

        Raises BadInput as `rate`.
        """
        whole = Alternation(None, self.rate, activity.up_down_states(self.rate))
        if whole.states.reason is None:
            return whole
        parts = []
        for label, names in self.members.items():
            rate = activity.population_rate(self.recording, self.rate.bin_ms, names)
            parts.append(Alternation(label, rate, activity.up_down_states(rate)))
        found = [part for part in parts if part.states.reason is None]
        return min(found, key=lambda part: part.states.down_over_up, default=whole)

    @cached_property
    def inhibitory(self) -> set[str]:
        """Names of the populations whose spikes have a negative weight wherever they arrive."""
        return _inhibitory(self.measured.run.record.described)

    def bin_ms(self, wanted: float) -> float:
        """Returns the multiple of the resolution next to `wanted`, at least one step."""
        h = self.recording.resolution_ms
        return max(1, round(wanted / h)) * h

    def _published_hz(self, names: list[str]) -> float | None:
        """Published rate of several populations together.

        None unless it is known for all that have neurons.
        """
        size = {p.name: p.size for p in self.recording.populations}
        names = [name for name in names if size[name]]
        if self.published is None or not set(names) <= set(self.published.hz):
            return None
        return sum(self.published.hz[n] * size[n] for n in names) / sum(size[n] for n in names)


def networks(runs: list[Measured], title: str) -> list[Network]:
    """Returns one entry per network and simulated time among the runs with spikes, whatever the seed.

    Each is named after its preset and what was varied in it, or else `title`.
    """
    found: dict[str, list[Measured]] = {}
    for m in runs:
        if m.run.spikes is not None and m.run.record.totals.neurons:
            key = json.dumps([m.description["network"], m.description["time"]], sort_keys=True)
            found.setdefault(key, []).append(m)
    entries = [
        Network(
            network_title(members[0], title),
            sorted(members, key=lambda m: (m.planned.seed, m.planned.repetition, m.planned.id)),
        )
        for members in found.values()
    ]
    return sorted(
        entries, key=lambda n: (n.measured.preset or "", n.measured.run.record.totals.neurons, n.title)
    )


def fold(recording: activity.Recording) -> tuple[Groups, str]:
    """Returns at most MOST_GROUPS groups of populations, and says which populations are merged.

    The groups are the populations themselves; if these are too many, the areas; and if these are too many as
    well, the most active areas and the rest.
    """
    groups, words = activity.by_population(recording), ""
    kind = "population"
    areas = activity.by_area(recording)
    if len(groups) > MOST_GROUPS and len(areas) < len(groups):
        words = f"The populations of an area are merged ({counted(len(groups), 'population')}). "
        groups, kind = areas, "area"
    if len(groups) > MOST_GROUPS:
        rates = activity.rates_hz(recording, groups)
        most = set(sorted(rates, key=lambda label: -rates[label])[: MOST_GROUPS - 1])
        rest = [label for label in groups if label not in most]
        words += f"The {counted(len(rest), kind)} that fire least are merged."
        kept = {label: groups[label] for label in groups if label in most}
        groups = kept | {f"{len(rest)} others": [name for label in rest for name in groups[label]]}
    return groups, words.strip()


def _inhibitory(description: Description) -> set[str]:
    signs: dict[str, set[bool]] = {}
    for p in description.network.projections:
        for name in p.sources:
            signs.setdefault(name, set()).add(p.weights.mean < 0)
    return {name for name, found in signs.items() if found == {True}}
