"""Unequal nodes in one run: a slow node in many, and x86 and ARM nodes in one bath (Simula et al. 2019)."""

from spikemark.quantities.elements import KeyFigure, Section
from spikemark.quantities.words import change
from spikemark.records.gather import Sweep
from spikemark.studies.study import Findings, Study

from . import by_schedule, injected, kept, mix_figure, mix_tables, mixes, schedule_tables, settings, simulated
from .schedule_tables import Found
from .settings import LAGGED, Setting, Way

EXPLAINED = (
    "Every rank waits for the slowest one. But a node that is a little slower hides behind the fluctuations"
    " of all others, as long as ranks meet often: somebody is late anyway. Schedules that wait less have less"
    " to hide it behind. So what does one slow node cost each of them?"
)
SOURCE = (
    "The full benchmark of the multi-area model, an area on each rank and a rank on each node. The kernels of"
    " slow nodes take longer; their network does not."
)
AGES = (
    "The newer nodes have more cores; a rank uses as many of them as the older ones have. Areas are equal, so"
    " the newer nodes wait for the older ones."
)
BATH = (
    "Simula et al. published the energy of x86 servers and of ARM boards, each alone. What would both do in"
    " one run? DPSNN's times are fitted to the published ones. The mini-app's are those of the profiles,"
    " which are assumed for both kinds of nodes. Power is the published one of as many cores."
)
ASKED = "1.2"  # times as long as the others: what sentences and tiles are about


def read(sweep: Sweep) -> Findings:
    """What has been computed and run so far."""
    found = by_schedule.load(sweep.path)
    one, few, ages = settings.SETTINGS
    slow = found[one.key]
    costs = {
        s.key: schedule_tables.costs(s, found[s.key], _kind(found[s.key]), s.name, s.title)
        for s in (one, few, ages)
    }
    bath = mixes.load(sweep.path)
    both = mix_tables.all_mixes(bath, mixes.DPSNN)
    drawn = mix_figure.figures(bath, mixes.DPSNN, mix_tables.NET, both)
    parts = [
        Section("slow-node", "One slow node", [EXPLAINED, SOURCE], tables=[costs[one.key]]),
        Section("whatif", "What equal nodes tell", tables=[_beside(s, found[s.key]) for s in (one, few)]),
        Section("simulated", "On SimGrid", tables=[simulated.table(simulated.load(sweep.path))]),
        Section("injected", "Real ranks", tables=[injected.table(sweep)]),
        Section("slow-nodes", "Some slow nodes", tables=[costs[few.key]]),
        Section("generations", "Two generations", [AGES], tables=[costs[ages.key]]),
        Section("published", "Joules per synaptic event", [BATH], tables=[mix_tables.published(bath)]),
        Section("mixes", "Which nodes are best", figures=drawn, tables=[mix_tables.verdicts(bath), both]),
        Section("mini-app", "The mini-app", tables=[mix_tables.all_mixes(bath, mixes.MINI_APP)]),
    ]
    said = [schedule_tables.sentence(one, slow, ASKED), mix_tables.sentence(bath)]
    nothing = "Nothing to compare yet: no machine of unequal nodes was computed."
    return Findings(" ".join(filter(None, said)) or nothing, _key_figures(slow, _kind(slow)), parts)


def _kind(found: Found) -> str:
    return "extrapolated" if any(result["outside"] for result in found.values()) else "modelled"


def _beside(setting: Setting, found: Found):
    title = f"From equal nodes by whatif, beside predict: {setting.key}"
    return schedule_tables.beside(setting, found, _kind(found), f"whatif_{setting.name}", title)


def _key_figures(slow: Found, kind: str) -> list[KeyFigure]:
    made = []
    for way in Way("conventional"), Way("structure_aware", 10), Way(LAGGED, 10, 1):
        head = f"A node that takes {ASKED} times as long, {way.words}"
        if way.words not in slow:
            made.append(KeyFigure.lacking(head, "not computed yet"))
            continue
        cost = kept.quantity(slow[way.words]["predict"], f"cost {ASKED}")
        made.append(KeyFigure(head, cost, kind, "of the run time", words=lambda x: change(1 + x)))
    return made


def prepare(sweep: Sweep) -> list[str]:
    """Compute what is missing, and say what cannot be."""
    found = [*by_schedule.compute(sweep.path), *mixes.compute(sweep.path)]
    return [*found, *simulated.compute(sweep.path)]


STUDY = Study(
    "bath",
    "unequal nodes in one run: what slow nodes cost each schedule, and mixes of x86 and ARM nodes",
    "bath",
    read,
    prepare,
    "about five minutes of a core",
)
