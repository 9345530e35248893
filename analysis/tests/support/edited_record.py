"""Records that tests change, and what the reader says about them."""

import json

import numpy as np
import pytest
from synthetic_record import RANK_COLUMNS, phase_summary

from spikemark.core.errors import BadInput
from spikemark.records import record


def refused(directory) -> str:
    """The complaint about `directory`: one line that names a file in it."""
    with pytest.raises(BadInput) as caught:
        record.load(directory)
    message = str(caught.value)
    assert "\n" not in message
    assert str(directory) in message
    return message


def edit(directory, change) -> None:
    path = directory / "record.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def set_times(directory, times) -> None:
    """Give the record in `directory` other times, in s: float [rank, cycle, phase]."""
    times = np.asarray(times, np.float32)
    np.save(directory / "cycles.npy", times)

    def change(record):
        record["timing"]["phases"] = phase_summary(times.astype(float), record["phases"])

    edit(directory, change)


def drop_column(path, column):
    place = RANK_COLUMNS.index(column)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join(row[:place] + row[place + 1 :]) for row in rows) + "\n")
