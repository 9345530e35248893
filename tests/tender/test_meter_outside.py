"""Energy by a meter outside: the checker looks at the readings that the answer holds for each repetition."""

import json

import pytest
from tender import offered

from spikemark.tender.check.answer import check_answer
from spikemark.tender.check.energy import COLUMNS, METER, meter_file

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return offered.Answer(*reversed(offered.bundle_and_answer(tmp_path_factory.mktemp("honest"))))


@pytest.fixture
def answer(honest, tmp_path):
    """An answer whose records have no energy: all readings are those of a meter outside."""
    answer = honest.copy(tmp_path)
    (answer.path / "power").mkdir()
    with answer.edit("answer.json") as content:
        for told in (told for run in content["runs"] for told in run["repetitions"]):
            folder = answer.path / told["folder"]
            told[METER] = meter_file(told["folder"])
            (folder / "energy.csv").rename(answer.path / told[METER])
            with answer.edit(folder / "record.json") as record:
                record["energy"], record["energy_reason"] = None, "no meter inside"
    answer.seal()
    return answer


def numbers(answer) -> list[int]:
    answer.seal()
    return check_answer(str(answer.path), str(answer.bundle)).numbers


def _scaled(answer, share: float) -> None:
    for path in (answer.path / "power").iterdir():
        head, *rows = (line.split(",") for line in path.read_text().splitlines())
        assert tuple(head) == COLUMNS
        rows = [[*cells[:-1], f"{share * float(cells[-1]):.9g}"] for cells in rows]
        path.write_text("\n".join(",".join(cells) for cells in [head, *rows]) + "\n")


def _of_another(answer) -> None:
    first, second, *_ = sorted((answer.path / "power").iterdir())
    first.write_bytes(second.read_bytes())


def _borrowed(answer) -> None:
    with answer.edit("answer.json") as content:
        first, second, *_ = content["runs"][0]["repetitions"]
        first[METER] = second[METER]


def _none_inside(answer) -> None:
    for path in (answer.path / "power").iterdir():
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:2], lines[-1]]) + "\n")


def _unnamed(answer) -> None:
    with answer.edit("answer.json") as content:
        for run in content["runs"]:
            for told in run["repetitions"]:
                del told[METER]


def test_an_honest_answer_is_valid(answer):
    assert numbers(answer) == []


@pytest.mark.parametrize(
    ("cheat", "number"),
    [
        (lambda answer: _scaled(answer, 0.9), 701),
        (_of_another, 702),
        (_borrowed, 702),
        (_none_inside, 702),
        (lambda answer: (answer.path / "power" / "bench-small-1.csv").unlink(), 202),
        (_unnamed, 705),
    ],
    ids=["less", "of another", "borrowed", "between", "missing", "unnamed"],
)  # fmt: skip
def test_readings_that_do_not_belong_to_the_run_are_found(answer, cheat, number):
    cheat(answer)
    assert number in numbers(answer)


def test_a_limit_of_power_holds_for_a_meter_outside(answer):
    with answer.edit("commitment.json") as sheet:
        sheet["power"]["node_limit_w"] = 1e-3
    assert 703 in numbers(answer)


def test_a_meter_outside_may_be_beside_one_inside(honest, tmp_path):
    answer = honest.copy(tmp_path)
    (answer.path / "power").mkdir()
    with answer.edit("answer.json") as content:
        for told in (told for run in content["runs"] for told in run["repetitions"]):
            told[METER] = meter_file(told["folder"])
            (answer.path / told[METER]).write_bytes(
                (answer.path / told["folder"] / "energy.csv").read_bytes()
            )
    assert numbers(answer) == []
    assert json.loads((answer.run() / "record.json").read_text())["energy"]["gross_j"] > 0
