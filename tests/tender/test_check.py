"""The checker as one file: what it needs, that it says the same as the package, and its bounds."""

import ast
import json
import subprocess
import sys
from array import array
from types import SimpleNamespace

import numpy as np
import program
import pytest
from tender import offered, page

from spikemark.models import recursion
from spikemark.tender import check
from spikemark.tender.check import (
    arrays,
    command,
    copies,
    defaults,
    form,
    reading,
    spikes,
    waiting,
)
from spikemark.tender.check.answer import check_answer
from spikemark.tender.check.findings import REASONS, Report
from spikemark.tender.check.record import Repetition

OLDEST = (3, 9)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    bundle, answer = offered.bundle_and_answer(tmp_path_factory.mktemp("honest"))
    return offered.Answer(answer, bundle)


def test_the_file_is_always_the_same_and_any_supported_python_reads_it():
    text = check.text()
    assert text == check.text()
    ast.parse(text, feature_version=OLDEST)
    assert max(map(len, text.splitlines())) <= check.WIDTH + len("# ")  # docstrings become comments


def test_its_parts_need_only_the_standard_library_and_those_before_them():
    for number, name in enumerate(check.MODULES):
        tree = ast.parse((offered.Path(check.__file__).parent / f"{name}.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1 and node.module in check.MODULES[:number], (name, node.module)
                assert not any(alias.asname for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.module.split(".")[0] in sys.stdlib_module_names, (name, node.module)
            elif isinstance(node, ast.Import):
                assert all(alias.name in sys.stdlib_module_names for alias in node.names), name
    files = {path.stem for path in offered.Path(check.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == set(check.MODULES)


def test_no_name_stands_for_two_things_in_the_one_file():
    names = []
    for node in ast.parse(check.text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names += [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [alias.asname or alias.name for alias in node.names]
    assert sorted(names) == sorted(set(names))


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-I", *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


@pytest.mark.slow
def test_alone_it_says_what_the_package_says(honest, tmp_path):
    answer = honest.copy(tmp_path)
    done = run(answer.bundle / "check.py", answer.path)  # the bundle is where the program lies
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == check_answer(str(answer.path), str(answer.bundle)).text() + "\n"
    (answer.run() / "ranks.csv").unlink()
    answer.seal()
    told = run(answer.bundle / "check.py", answer.path, "--json", "--bundle", answer.bundle)
    assert told.returncode == 2
    assert json.loads(told.stdout) == check_answer(str(answer.path), str(answer.bundle)).content()


def test_without_bundle_or_answer_it_is_incomplete(tmp_path, capfd):
    (tmp_path / "empty").mkdir()
    assert command.main([str(tmp_path / "empty")]) == 2
    assert command.main([str(tmp_path / "none"), "--json"]) == 2
    assert "101 bundle" in capfd.readouterr().out


def test_a_fault_of_the_checker_is_a_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "check_answer", lambda *_: 1 / 0)
    report = command.guarded(str(tmp_path), None, None)
    assert report.numbers == [REASONS["fault"].number] and report.verdict == "INVALID"


def test_numbers_of_reasons_are_unique_and_in_order():
    numbers = [reason.number for reason in REASONS.values()]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"a": 1, "a": 2}', "twice"), ('{"a": NaN}', "NaN"), ('{"a": 1e999}', "large"),
        ("[" * 99999, "deep"), ('{"a": 123456789012345678901234}', "large"), ('"\\ud800"', "half"),
        ("{", "JSON"),
    ],
)  # fmt: skip
def test_json_that_is_none_is_refused_in_one_line(tmp_path, text, word):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(reading.Unusable, match=word):
        reading.json_of(str(tmp_path / "x.json"))


def test_npy_files_are_read_as_numpy_reads_them_and_others_refused(tmp_path):
    path = tmp_path / "x.npy"
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.save(path, values)
    times = arrays.Times(str(path), 2, 3, list("abcd"))
    assert list(times.block(1, 1, 2)) == values[1, 1:].ravel().tolist()
    assert times.sums(0) == (values[0].sum(axis=0).tolist(), [True] * 4)
    for other in (values.astype("f8"), values.T, values[0], values.astype("u4")):
        np.save(path, other)
        with pytest.raises(reading.Unusable):
            arrays.Times(str(path), 2, 3, list("abcd"))
    np.save(path, values)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(reading.Unusable, match="bytes"):
        arrays.Times(str(path), 2, 3, list("abcd"))


def test_the_sum_over_spikes_is_that_of_the_generator():
    assert [f"{spikes.splitmix64(x):016x}" for x in (0, 1)] == ["e220a8397b1dcdaf", "910a2dec89025cc1"]


@pytest.mark.slow
def test_defaults_are_those_that_the_mini_app_fills_in(tmp_path):
    cells = [{"name": n, "size": 9, "neuron": {"model": n}} for n in defaults.NEURONS]
    first = cells[0]["name"]
    cells[0]["external"] = {"rate_hz": 10, "weight": 1}
    delays = [{}, {"sd": 0.2}, {"distribution": "exponential"}, {"distribution": "constant"}]
    joined = [{"source": first, "target": first, "indegree": 2, "delay": {"mean": 1, **d}} for d in delays]
    joined[1] |= {"indegree": {"mean": 2}, "weight": {"mean": 1}}
    given = {"format_version": 1, "time": {"simulate_ms": 1}}
    given["network"] = {"populations": cells, "projections": joined}
    (tmp_path / "run.json").write_text(json.dumps(given))
    found = program.record_of(tmp_path / "out", description=tmp_path / "run.json")["description"]
    made = defaults.filled(given)
    found["record"].pop("idle_pause_s")
    found.pop("placement")
    assert form.differs(made, found) is None


class Courses(Repetition):
    """A repetition of made-up times [rank, cycle, (compute, synchronise, exchange)]."""

    def __init__(self, folder, times, lag=0, period=1):
        np.save(folder / "cycles.npy", times.astype(np.float32))
        phases = ["update", "synchronise", "overlap_wait" if lag else "exchange"]
        ranks, cycles, _ = times.shape
        lane = {"name": "world", "period": period, "lag": lag, "ranks": ranks, "groups": 1}
        super().__init__("x", str(folder), {"phases": phases, "lanes": [lane], "ranks": ranks})
        self.times = arrays.Times(str(folder / "cycles.npy"), ranks, cycles, phases)
        self.sums = [self.times.sums(rank)[0] for rank in range(ranks)]


def waits(compute, period=1):
    """Times of ranks that wait for the slowest at the end of each window."""
    times = np.zeros((*compute.shape, 3))
    times[:, :, 0] = compute
    lumped = compute.reshape(len(compute), -1, period).sum(axis=2)
    times[:, period - 1 :: period, 1] = lumped.max(axis=0) - lumped
    times[:, period - 1 :: period, 2] = 1e-6
    return times


@pytest.mark.parametrize("period", [1, 10])
@pytest.mark.parametrize("ranks", [2, 5])
def test_waiting_that_follows_is_possible_and_less_of_it_is_not(tmp_path, ranks, period):
    rng = np.random.default_rng(ranks)
    times = waits(rng.gamma(20, 1e-5, (ranks, 2000)), period)
    report = Report()
    waiting.check_waiting(Courses(tmp_path, times, period=period), 0.05, report)
    assert report.findings == []
    times[:, :, 0] += rng.exponential(1e-5, times.shape[:2])  # late after a meeting is not impossible
    for change in (lambda t: t[:, :, 1] * 0.8, lambda t: t[:, ::-1, 1]):
        changed = waits(rng.gamma(20, 1e-5, (ranks, 2000)), period)
        changed[:, :, 1] = change(changed)
        waiting.check_waiting(Courses(tmp_path, changed, period=period), 0.05, report)
        assert [name for name, *_ in report.findings] == ["waiting"]
        report.findings.clear()


#: Spread of times in a cycle that repetitions of one network have in common, and that of their own.
SPREADS = {"deliver": (10, 1), "update": (3, 1), "collocate": (2, 1), "exchange": (1, 1), "inject": (50, 0)}


def test_repetitions_of_one_network_are_no_copies_and_copies_are():
    """What is drawn for all repetitions is injected; activity explains 0.99 of the spread of deliver."""
    rng = np.random.default_rng(5)
    common = rng.normal(0, 1, (1400, 1))
    names = list(SPREADS)
    shared, own = np.array([SPREADS[name] for name in names]).T

    class Drawn(copies.Course):
        def __init__(self, drawn):
            one = SimpleNamespace(folder="x", sums=[], record={"phases": names})
            block = array("d", np.ascontiguousarray(drawn).tobytes())
            width = len(names)

            def piece(_, first, number):
                return block[first * width : (first + number) * width]

            one.times = SimpleNamespace(ranks=1, cycles=len(drawn), block=piece)
            super().__init__(one, (0, 0))

    first, second = (300 + shared * common + own * rng.normal(0, 1, (1400, len(names))) for _ in range(2))
    for column in names.index("inject"), names.index("deliver"):
        assert np.corrcoef(first[:, column], second[:, column])[0, 1] > 0.98
    assert copies.same(Drawn(first), Drawn(second), 0.98) is None
    one_redrawn = np.where(np.array(names) == "exchange", second, first)
    noisy = first + own * rng.normal(0, 0.05, first.shape)
    for copy in (first * 1.1, np.roll(first, 50, 0), noisy, np.roll(noisy, 50, 0), one_redrawn,
                 np.roll(first, 700, 0)):  # fmt: skip
        assert copies.same(Drawn(copy), Drawn(first), 0.98) is not None


def test_what_it_prints_is_one_line_for_each_reason():
    report = Report()
    for n in range(20):
        report.say("counts", "x\ny", f"{n}\x00\u202e " + "z" * 9000)
    lines = report.text().splitlines()
    assert len(lines) == 10 and all(line.isprintable() and len(line) < 900 for line in lines)
    assert lines[-1].endswith("12 more of this reason")


def test_the_page_has_all_reasons_and_ways():
    """Mend it with tests/tender/page.py."""
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.rewritten(text) == text
    assert len(text.splitlines()) <= 150
    assert all(
        f"| {reason.number} | {reason.verdict} | {reason.check} |" in text for reason in REASONS.values()
    )


@pytest.mark.parametrize("lag", [1, 2])
def test_waiting_with_a_lag_follows_as_well(tmp_path, lag):
    """The courses are those of the recursion of the models."""
    compute = np.random.default_rng(lag).gamma(20, 1e-5, (3, 2000))
    compute[0] *= 1.05
    times = np.zeros((*compute.shape, 3))
    times[:, :, 0] = compute
    times[:, :, 2] = recursion.evaluate(compute, [recursion.Lane(4, lag, exchange_s=1e-6)]).waiting_s
    report = Report()
    waiting.check_waiting(Courses(tmp_path, times, lag, 4), 0.05, report)
    assert report.findings == []
    times[:, :, 2] *= 0.8
    waiting.check_waiting(Courses(tmp_path, times, lag, 4), 0.05, report)
    assert [name for name, *_ in report.findings] == ["waiting"]


def test_a_rank_that_is_held_up_by_another_lane_before_the_barrier_did_not_leave_early(tmp_path):
    """The exchange of a lane within the rank stands before the barrier, and its time in the same phase."""
    compute = np.random.default_rng(4).gamma(20, 1e-5, (2, 640))
    times = waits(compute, 10)
    held, late = 0.016, 0.008
    times[0, 349, 2] += held  # rank 0, before the barrier
    times[1, 349, 0] += late
    times[1, 349, 1] += held - late
    times[0, 349, 1] = min(times[0, 349, 1], 1e-5)
    one = Courses(tmp_path, times, period=10)
    near = one.record["lanes"][0] | {"name": "near", "period": 1, "ranks": 1, "groups": 2}
    one.record["lanes"].insert(0, near)
    report = Report()
    waiting.check_waiting(one, 0.05, report)
    assert report.findings == []
    one.record["lanes"].pop(0)
    waiting.check_waiting(one, 0.05, report)
    assert [name for name, *_ in report.findings] == ["waiting"]
