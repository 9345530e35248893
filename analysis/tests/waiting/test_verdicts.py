"""The first sentences of budgets and changes, and predictors that miss the run they are fitted on."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from spikemark.models.injected import ar1
from spikemark.quantities.quantity import Quantity, missing
from spikemark.waiting import PREDICTORS, show, verdicts
from spikemark.waiting.base_case import misses
from spikemark.waiting.budget import UNTIMED, Budget, budget
from spikemark.waiting.observed import Observed
from spikemark.waiting.show_budget import budget as shown
from spikemark.waiting.source import source
from spikemark.waiting.whatif import Situation, whatif

MEAN_S, SD_S, RANKS, CYCLES = 1e-3, 3e-5, 16, 3000
SLOW, LATER = 11, 1.5e-4


def times(later: float = LATER, correlation: float = 0.0) -> np.ndarray:
    """[rank, cycle] in s: equal ranks but one."""
    found = MEAN_S + SD_S * ar1(correlation, (RANKS, CYCLES), np.random.default_rng(4))
    found[SLOW] += later
    return found


def test_the_slow_rank_is_named_first_with_what_it_causes():
    found = budget(times())
    sentence = verdicts.cause(found)
    assert sentence.startswith(f"Rank {SLOW} causes ") and "of the waiting: it computes 1" in sentence
    assert found.slowest.longer.low < LATER / MEAN_S < found.slowest.longer.high
    assert found.slowest.share.value == pytest.approx(
        found.parts["persistent"].value / found.waiting_s, rel=0.05
    )
    assert shown(found, CYCLES).title == sentence


def test_the_node_of_the_slow_rank_is_named_with_it():
    nodes = tuple(f"n{rank}" for rank in range(RANKS))
    observed = Observed(times(), 1, times().max(axis=0) - times().mean(axis=0), np.zeros(CYCLES), nodes=nodes)
    assert f"Rank {SLOW} on n{SLOW} causes" in verdicts.cause(budget(observed))
    one = replace(observed, nodes=("n1",) * RANKS)
    assert f"Rank {SLOW} causes" in verdicts.cause(budget(one)), "one node needs no name"


def test_a_slow_node_of_several_ranks_is_named_first():
    later = MEAN_S * 0.1 * (np.arange(RANKS) // 4 == 2)
    made = times(0.0) + later[:, None]
    nodes = tuple(f"n{rank // 4}" for rank in range(RANKS))
    found = budget(Observed(made, 1, made.max(axis=0) - made.mean(axis=0), np.zeros(CYCLES), nodes=nodes))
    assert verdicts.cause(found).startswith("Node n2 takes ") and "of the waiting" in verdicts.cause(found)


def test_no_rank_is_named_where_all_are_equal():
    found = budget(times(0.0))
    assert not found.slowest.certain
    assert verdicts.cause(found).startswith("Most of the waiting") and "jitter" in verdicts.cause(found)


def with_parts(**parts: Quantity) -> Budget:
    """A budget with these parts, in shares of the waiting, and nothing that a rank or node causes."""
    found = budget(times(0.0))
    whole = {name: part.times(found.waiting_s, "s") for name, part in parts.items()}
    none = dict.fromkeys(found.parts, Quantity(0.0, 0.0, 0.0, "s", "modelled"))
    return replace(found, slowest=None, nodes=None, parts=none | whole)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (
            (0.86, 0.0, 2.65),
            "The largest part of the waiting, 86 % (0 % to 100 %), may come from the barrier",
        ),
        ((0.86, 0.7, 2.65), "Most of the waiting, 86 % (70 % to 100 %), comes from the barrier"),
        ((1.2, 0.9, 1.5), "Most of the waiting, 100 % (90 % to 100 %), comes from the barrier"),
    ],
)
def test_a_share_stays_below_all_and_most_is_said_only_of_more_than_half(ends, said):
    found = with_parts(
        jitter=Quantity(0.1, -0.1, 0.2, "", "modelled"), barrier=Quantity(*ends, "", "modelled")
    )
    assert verdicts.cause(found).replace("\u202f", " ").startswith(said)
    shares = [row["share"] for row in shown(found, CYCLES).rows if row["share"]]
    assert all(float(share.replace("\u202f", " ").removesuffix(" %")) <= 100 for share in shares)


def test_no_share_of_a_rank_or_of_nodes_passes_all():
    part = Quantity(2.0, -1.0, 5.0, "s", "modelled").share_of(2.5)
    assert (part.value, part.low, part.high, part.unit) == (0.8, 0.0, 1.0, "")
    assert missing("not timed", "s").share_of(2.0).value is None


def test_a_budget_says_which_d_and_how_to_change_it():
    assert "D = 10 cycles" in verdicts.apart(budget(times())) and "default" in verdicts.apart(budget(times()))
    assert "--delay-ratio" in verdicts.apart(budget(times()))
    assert verdicts.apart(budget(times(), 5)) == "D = 5 cycles tells jitter from drift: as given."
    of_run = Observed(times(), 1, delay_ratio=20)
    assert "D = 20 cycles" in verdicts.apart(budget(of_run)) and "that of the run" in verdicts.apart(
        budget(of_run)
    )


def test_what_was_not_timed_is_not_nothing():
    part = budget(times()).parts["barrier"]
    assert not part and part.reason == UNTIMED
    assert "not timed" in str(shown(budget(times()), CYCLES).cells)


def own(fitted) -> dict:
    """What every predictor expects for the fitted run."""
    return {name: kind.fit(fitted).predict("conventional") for name, kind in PREDICTORS.items()}


def test_a_predictor_that_misses_the_run_it_is_fitted_on_is_marked_beside_its_numbers():
    fitted = source(times())
    missed = misses(fitted, own(fitted))
    assert list(missed) == ["iid"] and "iid misses the base case" in str(missed["iid"])
    made = {name: kind.fit(fitted).predict("structure_aware", 5) for name, kind in PREDICTORS.items()}
    table = show.predicted(made, missed, fitted)
    marked = {row[0] for row in table.cells if row[1].endswith(" !")}
    assert marked == {"iid"} and str(missed["iid"]) in table.notes
    assert show.believed(made, missed) == "replay" and "Modelled by replay" in table.notes[0]
    quiet = source(times(0.0))
    assert misses(quiet, own(quiet)) == {}


@pytest.mark.parametrize(("off", "missed"), [(1.01, []), (0.96, []), (1.06, ["iid"]), (0.9, ["iid"])])
def test_a_sure_but_small_miss_is_none(off, missed):
    fitted = source(times(0.0))
    cycles, waits = fitted.compute.shape[1], off * fitted.waited_s
    known = Quantity(waits, 0.999 * waits, 1.001 * waits, "s", "modelled").times(cycles)
    assert list(misses(fitted, {"iid": SimpleNamespace(as_derived=known, cycles=cycles)})) == missed


def test_the_first_sentence_of_changes_says_what_helps_most():
    base = Situation(source(times()))
    found = {name: whatif(base, predictor=name) for name in ("replay", "iid")}
    table = show.outcomes(found, misses(base.source, own(base.source)))
    assert table.title.startswith("replace-slowest helps most: the run time falls by ")
    assert "(" in table.title and "Modelled by replay" in table.title, (
        "iid misses the base, though it came last"
    )
    assert all(row[2].endswith(" !") for row in table.cells if row[2])


def test_changes_that_help_nobody_are_not_praised():
    alike = np.full((4, 400), MEAN_S)
    found = whatif(Situation(source(alike)), names=("level-ranks", "halve-jitter"))
    assert verdicts.helps(found, "replay").startswith("No single change is sure to shorten the run.")
