"""Plans: what is refused, by all who read them, and what is replaced."""

import json

import pytest
import swept
from planned import LINE

from spikemark.core.errors import BadInput
from spikemark.records.gather import gather
from spikemark.records.results import Results
from spikemark.running.measure import measure

PLAN = {
    "format_version": 1,
    "experiment": {"name": "x", "title": "x"},
    "machine": "here",
    "shuffle_seed": 1,
    "runs": [LINE],
}
BAD_PLANS = {
    "empty file": ("", "not JSON"),
    "list": ("[]", "not a plan"),
    "nothing": ({}, "not a plan"),
    "other version": ({**PLAN, "format_version": 99}, "format_version 99"),
    "version true": ({**PLAN, "format_version": True}, "format_version True"),
    "no runs": ({k: v for k, v in PLAN.items() if k != "runs"}, "runs: missing"),
    "runs a number": ({**PLAN, "runs": 5}, "runs=5"),
    "run a number": ({**PLAN, "runs": [5]}, r"runs\.0=5"),
    "run without fields": ({**PLAN, "runs": [{}]}, r"runs\.0\.id: missing"),
    "run leads elsewhere": ({**PLAN, "runs": [{**LINE, "id": "../x"}]}, r"runs\.0\.id='\.\./x'"),
    "ranks true": ({**PLAN, "runs": [{**LINE, "ranks": True}]}, r"runs\.0\.ranks=True"),
    "run twice": ({**PLAN, "runs": [LINE, LINE]}, "same id"),
    "experiment a number": ({**PLAN, "experiment": 5}, "experiment=5"),
    "endless time limit": (
        {**PLAN, "experiment": {"name": "x", "title": "x", "time_limit_s": 3e6}},
        r"experiment\.time_limit_s=3000000\.0",
    ),
    "deep": ("[" * 100_000, "nested"),
    "deep, but not too deep for Python": ('{"a":' * 150 + "1" + "}" * 150, "nested more than 100"),
    "long number": ("1" * 5000, "5000 digits|integer string conversion"),
    "key twice": ('{"runs": [], "runs": []}', "'runs' stands twice"),
    "not UTF-8": (b"\xff", "not UTF-8"),
}


@pytest.mark.parametrize("case", BAD_PLANS)
def test_bad_plan_is_one_line_for_all_who_read_it(tmp_path, case):
    content, reason = BAD_PLANS[case]
    content = json.dumps(content) if isinstance(content, dict) else content
    (tmp_path / "plan.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    for read in (
        lambda: Results(tmp_path).read_plan(),
        lambda: measure(Results(tmp_path), "ab"),
        lambda: gather(tmp_path),
    ):
        with pytest.raises(BadInput, match=reason) as refusal:
            read()
        assert "\n" not in str(refusal.value)
        assert str(tmp_path / "plan.json") in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_good_plan(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps({**PLAN, "added_later": 1}))
    plan = Results(tmp_path).read_plan()
    absent = dict.fromkeys(("machine", "guess_s", "ranks_per_node", "distribution", "binding"))
    assert plan.runs[0].model_dump() == {**LINE, **absent}  # measured here
    assert plan.run("ab") is plan.runs[0]
    assert plan.run("ac") is None


def test_plan_replaces_what_is_no_plan(tmp_path):
    (tmp_path / "plan.json").write_bytes(b"\xff")
    results, (run,) = swept.planned(tmp_path)
    assert results.read_plan().run(run.id).ranks == 2
