"""`spikemark history`: lines are appended whole or not at all; spreads and changes are found
again.
"""

import datetime
import json

import numpy as np
import pytest
from compared import run, sweep

import spikemark as sm
from spikemark.core import digests
from spikemark.core.errors import BadInput
from spikemark.diff import history as entries
from spikemark.diff.history import FEWEST_ENTRIES, MOST_ALARMS, changes, frame, known_of, spreads
from spikemark.diff.times import CYCLE
from spikemark.records.record import load_run

FILE = f"synthetic{entries.END}"
DAY = datetime.datetime(2026, 1, 1)


def entry(day: int, cycles_us, commit: str = "a" * 40, key: str = "k") -> entries.Entry:
    """An entry of a day, with a run for each time of a cycle."""
    at = (DAY + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
    runs = [{"started": at, "seed": 1, "parts": {CYCLE: 1e-6 * us}} for us in cycles_us]
    content = {"started": at, "experiment": "x", "setup": "s", "key": key, "runs": runs}
    return entries.Entry.model_validate(content | {"versions": {"commit": commit, "version": "1"}})


def drawn(
    rng, days: int, levels=None, sessions=0.01, runs=0.02, repetitions=5
) -> list[entries.Entry]:
    """Entries of so many days; `levels` says from which day on a cycle takes how many us, and the
    commit.
    """
    found = []
    for day in range(days):
        level, commit = 50.0, "a"
        for since, (us, name) in (levels or {}).items():
            level, commit = (us, name) if day >= since else (level, commit)
        session = level * (1 + sessions * rng.standard_normal())
        found.append(
            entry(day, session * (1 + runs * rng.standard_normal(repetitions)), commit * 40)
        )
    return found


@pytest.mark.parametrize(("days", "repetitions"), [(1, 1), (1, 3), (5, 1), (5, 3)])
def test_a_spread_is_spoken_of_where_it_is_known(tmp_path, days, repetitions):
    written = [
        one.model_dump_json()
        for one in drawn(np.random.default_rng(1), days, repetitions=repetitions)
    ]
    (tmp_path / FILE).write_text("\n".join([*written, ""]))
    sentence = sm.history(tmp_path).sentence
    assert ("(standard deviations)" in sentence) == ("spread by" in sentence)
    assert ("spread by" in sentence) == (days * repetitions > 1)


class TestFiles:
    def test_lines_are_appended_and_nothing_twice(self, spikemark, tmp_path):
        first, second = sweep(tmp_path / "a"), sweep(tmp_path / "b", 1.1, seed=1)
        folder = tmp_path / "history"
        assert spikemark("diff", "--history", folder, "--add", first)[0] == 0
        before = (folder / FILE).read_bytes()
        status, output, _ = spikemark("diff", "--history", folder, "--add", first, "--add", second)
        assert status == 0 and "1 entry appended" in output
        after = (folder / FILE).read_bytes()
        assert after.startswith(before) and after.count(b"\n") == 2
        assert spikemark("diff", "--history", folder, "--add", second)[0] == 0
        assert (folder / FILE).read_bytes() == after

    def test_runs_given_one_by_one_are_one_entry(self, tmp_path):
        runs = [run(tmp_path / name, mean_s=m) for name, m in (("a", 5.0e-3), ("b", 5.1e-3))]
        entries.add(tmp_path / "history", runs)
        (found,) = entries.entries(tmp_path / "history" / FILE)
        assert len(found.runs) == 2

    def test_setups_are_told_apart_and_seeds_are_not(self, tmp_path):
        one, other, apart = (
            entries.key_of(load_run(run(tmp_path / str(i), **how)))
            for i, how in enumerate(({"seed": 1}, {"seed": 2}, {"schedule": "structure_aware"}))
        )
        assert one == other != apart

    def test_a_number_in_another_form_is_the_same_setup(self, tmp_path):
        keys = set()
        for form in (10, 10.0):
            change = {"description__time__warmup_ms": form}
            keys.add(entries.key_of(load_run(run(tmp_path / str(form), **change))))
        assert len(keys) == 1

    def test_a_setup_goes_on_under_the_key_of_earlier_versions(self, tmp_path, monkeypatch):
        folder = tmp_path / "history"
        paths = [run(tmp_path / str(seed), seed=seed) for seed in (1, 2)]
        with monkeypatch.context() as earlier:
            earlier.setattr(digests, "digest", digests.digest_as_written)
            entries.add(folder, paths[:1])
        (first,) = entries.entries(folder / FILE)
        assert entries.add(folder, paths[:1])[0] == {}
        entries.add(folder, paths[1:])
        keys = [entry.key for entry in entries.entries(folder / FILE)]
        assert keys == [first.key, first.key] != [entries.key_of(load_run(paths[0]))] * 2

    def test_disturbed_runs_stay_out(self, refusal, tmp_path):
        busy = {"warnings": ["foreign load: other processes kept 0.90 cores busy"]}
        disturbed = sweep(tmp_path / "a", overrides=busy)
        assert "nothing disturbed" in refusal(
            "diff", "--history", tmp_path / "h", "--add", disturbed
        )
        assert not (tmp_path / "h").exists()

    def test_simulated_times_are_refused(self, refusal, tmp_path):
        said = refusal(
            "diff", "--history", tmp_path / "h", "--add", run(tmp_path / "a", kind="simulated")
        )
        assert "kind='simulated'" in said and not (tmp_path / "h").exists()

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("{", "entry"),
            ('{"format_version": 2}', "format_version"),
            (entry(0, [50.0]).model_dump_json().replace('"cycle":', '"cycle":-'), "runs.0.parts"),
            (entry(0, [50.0]).model_dump_json().replace('"cycle":', '"other":'), "runs.0.parts"),
        ],
    )
    def test_a_damaged_line_is_named_and_nothing_is_written(self, refusal, tmp_path, line, words):
        path = tmp_path / "h" / FILE
        path.parent.mkdir()
        path.write_text(f"{entry(0, [50.0]).model_dump_json()}\n{line}\n")
        before = path.read_bytes()
        said = refusal("diff", "--history", path.parent)
        assert words in said and "line 2" in said
        refusal("diff", "--history", path.parent, "--add", sweep(tmp_path / "a"))
        assert path.read_bytes() == before

    def test_a_folder_without_entries_has_no_history(self, refusal, tmp_path):
        for _ in range(2):
            assert "no history is there" in refusal("diff", "--history", tmp_path)
            (tmp_path / FILE).touch()


class TestChanges:
    def test_a_planted_change_is_found_with_its_date_and_versions(self):
        found = drawn(np.random.default_rng(2), 20, {12: (55.0, "b")})
        (step,) = changes(frame(found))
        assert step.since.startswith("2026-01-13") and step.differs == ["commit"]
        assert step.entry == 13
        assert step.change.low < 0.1 < step.change.high

    @pytest.mark.parametrize("days", [FEWEST_ENTRIES - 1, FEWEST_ENTRIES, 12])
    def test_unchanged_histories_raise_alarms_in_at_most_five_per_cent(self, days):
        rng = np.random.default_rng(days)
        trials = [frame(drawn(rng, days))["level"].any() for _ in range(200)]
        assert np.mean(trials) <= MOST_ALARMS

    def test_ten_per_cent_are_found_in_nine_of_ten_histories(self):
        rng = np.random.default_rng(1)
        found = [frame(drawn(rng, 12, {6: (55.0, "b")})) for _ in range(100)]
        right = [each["level"].tolist() == [0] * 6 + [1] * 6 for each in found]
        assert np.mean(right) >= 0.9

    def test_one_disturbed_session_is_no_change(self):
        found = drawn(np.random.default_rng(5), 20)
        found[9] = entry(9, [80.0] * 5)
        assert not frame(found)["level"].any()


class TestSpreads:
    def test_planted_spreads_are_found_again(self):
        made = spreads(frame(drawn(np.random.default_rng(1), 300, sessions=0.03, runs=0.02)))[CYCLE]
        assert made.runs**0.5 == pytest.approx(0.02, rel=0.1) and made.runs_degrees == 1200
        assert made.sessions**0.5 == pytest.approx(0.03, rel=0.15)

    def test_sessions_that_are_alike_have_no_spread_of_their_own(self):
        rng = np.random.default_rng(1)
        made = [
            spreads(frame(drawn(rng, 20, sessions=0.0)))[CYCLE].sessions ** 0.5 for _ in range(20)
        ]
        assert np.median(made) < 0.005

    def test_diff_takes_the_spread_of_its_machine(self, spikemark, tmp_path):
        first, second = run(tmp_path / "a"), run(tmp_path / "b", mean_s=5.2e-3)
        folder = tmp_path / "h"
        entries.add(folder, [sweep(tmp_path / "s", spread=0.003)])
        found = [
            json.loads(spikemark("diff", first, second, "--json", *more)[1])
            for more in ((), ("--history", folder))
        ]
        widths = [np.diff(one["setups"][0]["change"]["interval"])[0] for one in found]
        assert [one["setups"][0]["parts"][CYCLE]["spread"] for one in found] == [
            "assumed",
            "history",
        ]
        assert widths[1] < 0.3 * widths[0]

    def test_another_machine_has_none(self, tmp_path):
        entries.add(tmp_path / "h", [run(tmp_path / "a")])
        with pytest.raises(BadInput, match=r"no other\.jsonl"):
            known_of(tmp_path / "h")(load_run(run(tmp_path / "b", host__name="other")))
