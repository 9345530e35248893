"""Energies that Simula et al. 2019 published (Tables II to IV), computed again from time and power."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from . import papers

NEURONS = 20_480
#: The machines of Tables II and III, and the data file of each.
X86, ARM = "simula_table2", "simula_table3"


@dataclass(frozen=True)
class Point:
    """One published run of 10 s of the network; power and energy are above the baseline.

    `product_j`: time x power, to as many decimals as the energy is printed. `gross_j`: energy with that of
    the baseline; None if that is not known.
    """

    cores: int
    label: str
    note: str
    time_s: float
    power_w: float
    energy_j: float
    product_j: float
    gross_j: float | None

    @property
    def consistent(self) -> bool:
        """Tells whether the printed energy is the product of the printed time and power."""
        return self.product_j == self.energy_j


@cache
def parameter(name: str) -> float:
    """A number of the text."""
    return next(float(r["value"]) for r in papers.rows("simula_parameters") if r["quantity"] == name)


def points(table: str) -> list[Point]:
    """The rows of Table II (`X86`) or III (`ARM`)."""
    made = []
    for row in papers.rows(table):
        if table == X86:
            label, note, baseline = row["x86_cores"], row["network_or_note"], parameter("baseline_server")
        else:
            label = row["arm_cores"]
            note = f"{row['boards']} board{'s' * (row['boards'] != '1')}, {row['measurement']}"
            # measured at the wall for both boards: it says nothing of one board measured behind the supply
            baseline = parameter("baseline_embedded_2boards") if row["measurement"] == "AC" else None
        energy, time, watts = row["energy_J"], float(row["time_s"]), float(row["power_W_above_baseline"])
        product = round(time * watts, len(energy.partition(".")[2]))
        gross = None if baseline is None else (watts + baseline) * time
        made.append(Point(int(label.split()[0]), label, note, time, watts, float(energy), product, gross))
    return made


class Definition(NamedTuple):
    """What counts as a synaptic event; `events` in 10 s of the whole network."""

    name: str
    events: float


def definitions() -> list[Definition]:
    """The definitions that the text allows: sections II (synapses, external input) and V (events)."""
    inside, outside, rate, external = map(parameter, (
        "synapses_per_neuron_recurrent", "external_synapses_per_neuron", "mean_rate", "external_rate"
    ))  # fmt: skip
    seconds = NEURONS * parameter("simulated_time")
    return [
        Definition("recurrent", seconds * inside * rate),
        Definition("recurrent + external, both at 3.2 Hz", seconds * (inside + outside) * rate),
        Definition("recurrent at 3.2 Hz + external at 3 Hz", seconds * (inside * rate + outside * external)),
    ]


def microjoule(energy_j: float, definition: Definition) -> float:
    """Per synaptic event."""
    return 1e6 * energy_j / definition.events


def table4() -> dict[str, tuple[float, str]]:
    """Energy and printed microjoule per event of the platforms of Table IV whose energy is known."""
    rows = (row for row in papers.rows("simula_table4") if row["energy_J_used"])
    return {row["platform"]: (float(row["energy_J_used"]), row["uJ_per_syn_event"]) for row in rows}


def reproducing() -> list[Definition]:
    """The definitions that give every published figure of Table IV whose energy is known."""
    known = table4().values()
    return [d for d in definitions() if all(f"{microjoule(joule, d):.1f}" == said for joule, said in known)]


def slips() -> list[str]:
    """What does not fit together in the published tables; computed from them."""
    found = [
        f"Table {number}, {p.label} core: {p.energy_j:g} J is printed, but {p.time_s:g} s at {p.power_w:g} W"
        f" are {p.product_j:g} J; the printed energy takes {p.energy_j / p.time_s:.1f} W."
        for number, table in (("II", X86), ("III", ARM)) for p in points(table) if not p.consistent
    ]  # fmt: skip
    names = " and ".join(d.name for d in reproducing())
    theirs = " and ".join(f"{said} µJ ({platform})" for platform, (_, said) in table4().items())
    others = " and ".join(f"{microjoule(joule, definitions()[0]):.1f}" for joule, _ in table4().values())
    return [
        *found,
        f"Table IV: {theirs} need events of {names}; the text defines an event by the synapses of a neuron,"
        f" and the recurrent ones alone give {others} µJ.",
    ]
