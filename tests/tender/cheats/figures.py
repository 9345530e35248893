"""Cheats with the figures that stand above the records."""

from tender.offered import Answer

from .cheat import Cheat


def _repetition(answer: Answer) -> None:
    with answer.edit("answer.json") as content:
        content["runs"][0]["repetitions"][0]["real_time_factor"] *= 0.9


def _best(answer: Answer) -> None:
    with answer.edit("answer.json") as content:
        for run in content["runs"]:
            figure = run["figure"]["real_time_factor"]
            figure["value"] = figure["low"]


def _narrow(answer: Answer) -> None:
    with answer.edit("answer.json") as content:
        for run in content["runs"]:
            figure = run["figure"]["real_time_factor"]
            figure["low"] = figure["high"] = figure["value"]


def _entries(answer: Answer, part: str, change) -> None:
    with answer.edit("commitment.json") as commitment:
        for entry in commitment[part]:
            change(entry)


def _better(answer: Answer) -> None:
    _entries(answer, "measured", lambda entry: entry.update(value=entry["value"] and 0.9 * entry["value"]))


def _method(answer: Answer) -> None:
    _entries(answer, "projected", lambda entry: entry.update(method="experience"))


def _point(answer: Answer) -> None:
    _entries(answer, "projected", lambda entry: entry.update(low=2.0, high=2.0))


def _assumes(answer: Answer) -> None:
    _entries(answer, "projected", lambda entry: entry.update(assumes=[]))


def _mixed(answer: Answer) -> None:
    _entries(answer, "projected", lambda entry: entry.update(run="an easier one"))


def _nothing(answer: Answer) -> None:
    with answer.edit("commitment.json") as commitment:
        commitment["projected"] = []


def _cheap(answer: Answer, share) -> None:
    """Takes some off the energy of each event, but in answer.json only."""
    with answer.edit("answer.json") as content, answer.edit("commitment.json") as commitment:
        for run in content["runs"]:
            name = "joules_per_synaptic_event"
            for one in run["repetitions"]:
                one[name] = one[name] and share and share * one[name]
            figure = run["figure"][name]
            run["figure"][name] = share and {
                key: share * value if isinstance(value, float) else value for key, value in figure.items()
            }
            for entry in commitment["measured"]:
                if (entry["run"], entry["figure"]) == (run["name"], name):
                    entry["value"] = share and share * entry["value"]


def _less(answer: Answer) -> None:
    _cheap(answer, 0.96)


def _hidden(answer: Answer) -> None:
    _cheap(answer, None)


def _twice(answer: Answer) -> None:
    with answer.edit("commitment.json") as commitment:
        first = commitment["projected"][0]
        better = {name: 0.5 * first[name] for name in ("value", "low", "high")}
        commitment["projected"].append(first | better)


def _two_promises(answer: Answer) -> None:
    with answer.edit("commitment.json") as commitment:
        told = {"run": "target", "figure": "real_time_factor", "basis": "projected"}
        commitment["committed"] = [
            told | {"value": value, "better_than_evidence": better}
            for value, better in ((2.0, 0.0), (1.0, 0.5))
        ]


def _other_figure(answer: Answer) -> None:
    _entries(answer, "projected", lambda entry: entry.update(figure="joules_per_synaptic_event"))


def _frugal(answer: Answer) -> None:
    with answer.edit("commitment.json") as commitment:
        commitment["power"]["projected_w"] = {"value": 5.0, "low": 4.0, "high": 6.0}


def _promise(answer: Answer) -> None:
    with answer.edit("commitment.json") as commitment:
        first = commitment["measured"][0]
        told = {"basis": "measured", "better_than_evidence": 0.0}
        promised = {"run": first["run"], "figure": first["figure"], "value": 0.8 * first["value"]}
        commitment["committed"] = [promised | told]


def _silent(answer: Answer) -> None:
    with answer.edit("commitment.json") as commitment:
        commitment["measured"] = commitment["measured"][2:]


CHEATS = tuple(
    Cheat(name, does, do, reason, tell=False)
    for name, does, do, reason in (
        (
            "better repetition",
            "reports a repetition that is faster than its record",
            _repetition,
            "repetition figure",
        ),
        ("best instead of median", "reports the best repetition where the median counts", _best, "figure"),
        ("no spread", "reports figures without their spread", _narrow, "figure"),
        ("better commitment", "commits a measured figure that nobody measured", _better, "committed"),
        ("silent commitment", "leaves out a measured figure that is poor", _silent, "committed"),
        ("projection by experience", "projects without a method", _method, "projection"),
        ("certain projection", "projects without an interval", _point, "projection"),
        ("projection of nothing", "projects without saying what is assumed", _assumes, "projection"),
        ("projection of another run", "projects a run that is none of the tender's", _mixed, "projection"),
        (
            "silent promise",
            "promises a fifth more than was measured, and does not say so",
            _promise,
            "committed",
        ),
        ("energy of the answer", "reports 4 % less energy than the records", _less, "repetition figure"),
        ("poor energy", "leaves out an energy that is poor", _hidden, "repetition figure"),
        ("two projections", "projects a figure twice, once better", _twice, "projection"),
        ("two promises", "promises a figure twice, once better", _two_promises, "committed"),
        (
            "other figure",
            "projects the energy of the target and not its time",
            _other_figure,
            "not projected",
        ),
        ("frugal nodes", "projects less power than the nodes take when idle", _frugal, "projection"),
        ("no projection", "says nothing of the run that matters most", _nothing, "not projected"),
    )
)
