"""Plans: what is refused, by all who read them, and what is replaced."""

import json

import pytest
import swept
from planned import LINE

from spikemark.core.errors import BadInput
from spikemark.records.frames import load_folder
from spikemark.records.results import Results

PLAN = {
    "format_version": 1,
    "experiment": {"name": "x", "title": "x"},
    "machine": "here",
    "shuffle_seed": 1,
    "runs": [LINE],
}
RUN, X = "runs", {"name": "x", "title": "x"}
BAD_PLANS = {
    "": "not JSON",
    "[]": "holds list",
    "{}": "version=None",
    b"\xff": "not UTF-8",
    "[" * 100_000: "nested",
    '{"runs": [], "runs": []}': "'runs' is there twice",
    "1" * 5000: "5000 digits|integer string conversion",
    **{
        json.dumps({**PLAN, **change}): said
        for change, said in (
            ({"format_version": 99}, "format_version=99"),
            ({"format_version": True}, "format_version=True"),
            ({RUN: 5}, "runs=5"),
            ({RUN: [5]}, r"runs\.0=5"),
            ({RUN: [{}]}, r"runs\.0\.id: missing"),
            ({RUN: [{**LINE, "id": "../x"}]}, r"runs\.0\.id='\.\./x'"),
            ({RUN: [LINE, LINE]}, "same id"),
            ({RUN: [{**LINE, "ranks": True}]}, r"runs\.0\.ranks=True"),
            ({"experiment": 5}, "experiment=5"),
            ({"experiment": X | {"time_limit_s": 3e6}}, r"experiment\.time_limit_s=3000000\.0"),
        )
    },
}


@pytest.mark.parametrize("content", BAD_PLANS, ids=[*map(str, range(len(BAD_PLANS)))])
def test_bad_plan_is_one_line_for_all_who_read_it(tmp_path, content):
    (tmp_path / "plan.json").write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )
    for read in (Results(tmp_path).read_plan, lambda: load_folder(tmp_path)):
        with pytest.raises(BadInput, match=BAD_PLANS[content]) as refusal:
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
