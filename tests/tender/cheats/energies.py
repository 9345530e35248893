"""Cheats with energy and power."""

from tender.offered import Answer

from .cheat import Cheat


def _records(answer: Answer, change) -> None:
    for run in answer.runs:
        with answer.edit(run / "record.json") as record:
            change(record)


def _scale(record, share: float, idle: bool = False) -> None:
    energy = record["energy"]
    energy["gross_j"] *= share
    if idle:
        energy["idle_power_w"] *= share
    energy["net_j"] = energy["gross_j"] - energy["idle_power_w"] * energy["duration_s"]
    for channel in energy["channels"]:
        channel["gross_j"] *= share


def _csv(answer: Answer, change) -> None:
    """Changes the rows of energy.csv of all runs: `change` gets and returns lists of cells."""
    for run in answer.runs:
        path = run / "energy.csv"
        head, *rows = (line.split(",") for line in path.read_text().splitlines())
        path.write_text("\n".join(",".join(cells) for cells in [head, *change(rows, run)]) + "\n")


def _half(answer: Answer) -> None:
    _records(answer, lambda record: _scale(record, 0.9))


def _half_everywhere(answer: Answer) -> None:
    """Halves power in readings and record alike."""
    _records(answer, lambda record: _scale(record, 0.5, idle=True))
    _csv(answer, lambda rows, _: [[*cells[:-1], f"{0.5 * float(cells[-1]):.9g}"] for cells in rows])


def _between(answer: Answer) -> None:
    """Drops the readings of the run, so that a line from the pause before to that after takes their place."""
    for run in answer.runs:
        with answer.edit(run / "record.json") as record:
            begin, end = (record["timing"][f"simulate_{name}_s"] for name in ("started", "ended"))
            record["energy"]["readings"] = 0
        path = run / "energy.csv"
        head, *rows = path.read_text().splitlines()
        kept = [row for row in rows if not begin <= float(row.split(",")[3]) <= end]
        path.write_text("\n".join([head, *kept]) + "\n")


def _one_channel(answer: Answer) -> None:
    """Leaves one of the channels of a repetition out of readings and record alike."""
    run = answer.run()
    with answer.edit(run / "record.json") as record:
        energy = record["energy"]
        gone = energy["channels"].pop()
        energy["gross_j"] -= gone["gross_j"]
        energy["idle_power_w"] -= gone["gross_j"] / energy["duration_s"]
        energy["net_j"] = energy["gross_j"] - energy["idle_power_w"] * energy["duration_s"]
    path = run / "energy.csv"
    head, *rows = path.read_text().splitlines()
    kept = [row for row in rows if row.split(",")[2] != gone["name"]]
    path.write_text("\n".join([head, *kept]) + "\n")


def _below_idle(answer: Answer) -> None:
    def change(record) -> None:
        record["energy"]["idle_power_w"] *= 1.5
        _scale(record, 1.0)

    _records(answer, change)


def _gone(answer: Answer) -> None:
    """Keeps only readings before the run, when the machine was idle."""
    _csv(answer, lambda rows, _: rows[: len(rows) // 4])


def _backwards(answer: Answer) -> None:
    _csv(answer, lambda rows, _: [*rows[len(rows) // 2 :], *rows[: len(rows) // 2]])


def _no_file(answer: Answer) -> None:
    (answer.run() / "energy.csv").unlink()


def _net(answer: Answer) -> None:
    _records(answer, lambda record: record["energy"].update(net_j=record["energy"]["net_j"] - 5))


def _channel(answer: Answer) -> None:
    _records(answer, lambda record: record["energy"]["channels"].clear())


def _none(answer: Answer) -> None:
    def change(record) -> None:
        record["energy"], record["energy_reason"] = None, "the meter was asleep"

    _records(answer, change)


def _shorter(answer: Answer) -> None:
    """Energy of half of the run."""

    def change(record) -> None:
        record["energy"]["duration_s"] *= 0.5

    _records(answer, change)


CHEATS = (
    Cheat("less energy", "takes a tenth off the energy in the records", _half, "energy"),
    Cheat("half a meter", "halves power in readings and records alike", _half_everywhere, "power limits"),
    Cheat(
        "high idle power",
        "reports an idle power above that of the run, for a small net energy",
        _below_idle,
        "power limits",
    ),
    Cheat("readings of the pause", "hands in readings from before the run", _gone, "readings"),
    Cheat("spliced readings", "puts readings of different times together", _backwards, "readings"),
    Cheat("no readings inside", "keeps only readings before and after the run", _between, "readings"),
    Cheat("lost channel", "leaves out the power of a part of the node, once", _one_channel, "energy sums"),
    Cheat("no readings", "leaves out the readings", _no_file, "part missing"),
    Cheat("less net energy", "takes some off the net energy", _net, "energy sums"),
    Cheat("no channels", "leaves out the parts of the energy", _channel, "energy sums"),
    Cheat("half the duration", "divides the energy by half of the duration", _shorter, "energy sums"),
    Cheat("no energy", "leaves out the energy, which the tender requires", _none, "no power"),
)
