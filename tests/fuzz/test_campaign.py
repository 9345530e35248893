"""`make fuzz`: what it prints, what it leaves behind, and its exit status."""

import random

import campaign
import layouts
import pytest
import readers
from campaign import Done


@pytest.fixture
def fuzzers(monkeypatch, tmp_path):
    """Replaces the fuzzers, and the folder of their findings; returns what they were asked."""
    asked = []

    def install(**found: list[str]) -> list[tuple[float, int]]:
        def fuzzer(findings):
            def run(seconds, out, seed):
                asked.append((seconds, seed))
                return Done(1000, findings, "a note")

            return run

        chosen = {name: (fuzzer(findings), 1.0) for name, findings in found.items()}
        monkeypatch.setattr(campaign, "FUZZERS", chosen)
        monkeypatch.setattr(campaign, "ROOT", tmp_path)
        monkeypatch.setattr(campaign, "BUILD", tmp_path / "build-fuzz")
        monkeypatch.setattr(campaign, "lacking", lambda: None)
        return asked

    return install


def test_without_findings_the_status_is_0(fuzzers, capsys):
    asked = fuzzers(one=[], two=[])
    assert campaign.main(["3", "--seed", "7"]) == 0
    assert asked == [(90.0, 7), (90.0, 7)]
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "seed 7"
    assert [line.split()[:3] for line in said if "tried" in line] == [
        ["one", "1000", "tried"],
        ["two", "1000", "tried"],
    ]


def test_a_finding_is_kept_and_the_others_still_run(fuzzers, tmp_path, capsys):
    fuzzers(one=["it broke\nlike this"], two=[])
    assert campaign.main(["1", "--seed", "7"]) == 1
    assert (tmp_path / "build-fuzz/findings/one-7-0.txt").read_text() == "it broke\nlike this\n"
    said = capsys.readouterr().out
    assert "one-7-0.txt: it broke\n" in said and "two " in said


@pytest.mark.parametrize("arguments", [["0"], ["-1"], ["nan"], ["x"], [], ["1", "--only", "nothing"]])
def test_bad_arguments_have_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        campaign.main(arguments)
    assert end.value.code == 2
    assert "make fuzz: error: " in capsys.readouterr().err


def test_what_is_not_built_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(layouts, "THREADS", tmp_path / "none")
    monkeypatch.setattr(campaign, "BUILD", tmp_path)
    with pytest.raises(SystemExit) as end:
        campaign.main(["1"])
    assert end.value.code == 2
    assert f"{tmp_path}/obj/tests/fuzz/fuzz_description is not built" in capsys.readouterr().err


def test_readers_that_break_are_found(monkeypatch, tmp_path):
    """Each kind of complaint of a reader once, with the edits that lead to it."""

    def read(folder):
        return {}[(folder / "x.json").read_bytes() == b"{}"]

    reader = readers.Reader(lambda folder: (folder / "x.json").write_text("{}"), "*", read)
    monkeypatch.setattr(readers, "READERS", {"broken": reader})
    done = campaign.of_readers(0.3, tmp_path, seed=random.Random(1).randrange(9))
    assert done.executions > 1 and len(done.findings) == 1
    assert done.findings[0].startswith("broken: KeyError") and "x.json after [Edit(" in done.findings[0]
