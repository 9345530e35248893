"""Energies that Simula et al. 2019 published, computed again from time and power.

The printed tables do not fit together everywhere: some energies are not the product of the printed
time and power, and the energy per synaptic event depends on what counts as an event.
`slips_of_table` and `slip_of_table4` say so in words, computed from the tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from . import papers

NEURONS = 20_480
#: The machines of Tables II and III, and the data file of each.
X86, ARM = "simula_table2", "simula_table3"
TABLE_NUMBERS = {X86: "II", ARM: "III"}


@dataclass(frozen=True)
class EnergyPoint:
    """One published run of 10 s of the network; power and energy are above the baseline."""

    cores: int
    label: str  #: of the cores, as printed
    note: str
    time_s: float
    power_w: float
    energy_j: float  #: as printed
    product_j: float  #: time x power, to as many decimals as the energy is printed
    gross_j: float | None  #: energy with that of the baseline; None if that is not known

    @property
    def consistent(self) -> bool:
        """Whether the printed energy is the product of the printed time and power."""
        return self.product_j == self.energy_j


@cache
def parameter(name: str) -> float:
    """A number of the text, such as "mean_rate". Raises KeyError where there is none.

    Example:
        >>> parameter("mean_rate")  # Hz
        3.2
    """
    for row in papers.rows("simula_parameters"):
        if row["quantity"] == name:
            return float(row["value"])
    raise KeyError(name)


def points(table: str) -> list[EnergyPoint]:
    """The rows of Table II (`X86`) or III (`ARM`).

    Example:
        >>> [point.cores for point in points(ARM)]
        [1, 2, 4, 8]
    """
    read = _server_point if table == X86 else _board_point
    return [read(row) for row in papers.rows(table)]


def _server_point(row: dict[str, str]) -> EnergyPoint:
    return _point(row, row["x86_cores"], row["network_or_note"], parameter("baseline_server"))


def _board_point(row: dict[str, str]) -> EnergyPoint:
    boards = "1 board" if row["boards"] == "1" else f"{row['boards']} boards"
    # The baseline was measured at the wall for both boards: it says nothing of one board measured
    # behind the supply.
    at_wall = row["measurement"] == "AC"
    baseline_w = parameter("baseline_embedded_2boards") if at_wall else None
    return _point(row, row["arm_cores"], f"{boards}, {row['measurement']}", baseline_w)


def _point(
    row: dict[str, str],
    label: str,
    note: str,
    baseline_w: float | None,
) -> EnergyPoint:
    time_s = float(row["time_s"])
    power_w = float(row["power_W_above_baseline"])
    energy_j = row["energy_J"]
    _, _, decimals = energy_j.partition(".")
    return EnergyPoint(
        cores=int(label.split()[0]),
        label=label,
        note=note,
        time_s=time_s,
        power_w=power_w,
        energy_j=float(energy_j),
        product_j=round(time_s * power_w, len(decimals)),
        gross_j=None if baseline_w is None else (power_w + baseline_w) * time_s,
    )


@dataclass(frozen=True)
class EventDefinition:
    """What counts as a synaptic event."""

    name: str
    events: float  #: in 10 s of the whole network


def definitions() -> list[EventDefinition]:
    """The definitions that the text allows: sections II (synapses, input) and V (events).

    Example:
        >>> [definition.name for definition in definitions()][0]
        'recurrent'
    """
    recurrent = parameter("synapses_per_neuron_recurrent")
    external = parameter("external_synapses_per_neuron")
    rate_hz = parameter("mean_rate")
    external_rate_hz = parameter("external_rate")
    neuron_seconds = NEURONS * parameter("simulated_time")
    return [
        EventDefinition("recurrent", neuron_seconds * recurrent * rate_hz),
        EventDefinition(
            "recurrent + external, both at 3.2 Hz",
            neuron_seconds * (recurrent + external) * rate_hz,
        ),
        EventDefinition(
            "recurrent at 3.2 Hz + external at 3 Hz",
            neuron_seconds * (recurrent * rate_hz + external * external_rate_hz),
        ),
    ]


def microjoule(energy_j: float, definition: EventDefinition) -> float:
    """Energy per synaptic event.

    Example:
        >>> microjoule(10.0, EventDefinition("recurrent", events=5e6))
        2.0
    """
    return 1e6 * energy_j / definition.events


@dataclass(frozen=True)
class PlatformEnergy:
    """A row of Table IV."""

    joules: float
    printed_uj: str  #: per synaptic event


def table4() -> dict[str, PlatformEnergy]:
    """The platforms of Table IV whose energy is known, by name.

    Example:
        >>> table4()["ARM (Jetson TX1)"].joules
        1110.0
    """
    platforms = {}
    for row in papers.rows("simula_table4"):
        if row["energy_J_used"]:
            energy = PlatformEnergy(float(row["energy_J_used"]), row["uJ_per_syn_event"])
            platforms[row["platform"]] = energy
    return platforms


def _reproducing() -> list[EventDefinition]:
    """The definitions that give every published figure of Table IV whose energy is known."""
    return [definition for definition in definitions() if _gives_table4(definition)]


def _gives_table4(definition: EventDefinition) -> bool:
    platforms = table4().values()
    return all(
        f"{microjoule(energy.joules, definition):.1f}" == energy.printed_uj for energy in platforms
    )


def slips_of_table(table: str) -> Iterator[str]:
    """Rows of Table II or III whose energy is not time x power.

    Example:
        >>> len(list(slips_of_table(X86)))
        0
    """
    for point in points(table):
        if not point.consistent:
            taken_w = point.energy_j / point.time_s
            yield (
                f"Table {TABLE_NUMBERS[table]}, {point.label} core: {point.energy_j:g} J is"
                f" printed, but {point.time_s:g} s at {point.power_w:g} W are"
                f" {point.product_j:g} J; the printed energy takes {taken_w:.1f} W."
            )


def slip_of_table4() -> str:
    """Which events the figures of Table IV need, and which the text defines.

    Example:
        >>> slip_of_table4().partition(":")[0]
        'Table IV'
    """
    platforms = table4()
    printed = [f"{energy.printed_uj} µJ ({name})" for name, energy in platforms.items()]
    needed = [definition.name for definition in _reproducing()]
    recurrent = definitions()[0]
    of_recurrent = [f"{microjoule(energy.joules, recurrent):.1f}" for energy in platforms.values()]
    return (
        f"Table IV: {' and '.join(printed)} need events of {' and '.join(needed)}; the text defines"
        " an event by the synapses of a neuron, and the recurrent ones alone give"
        f" {' and '.join(of_recurrent)} µJ."
    )
