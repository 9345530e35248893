"""Records that tests change, and what the reader says about them."""

import numpy as np
import pytest
from synthetic import edit, phase_summary

from spikemark.core.errors import BadInput
from spikemark.records import record


def refused(directory) -> str:
    """The complaint about `directory`: one line that names a file in it."""
    with pytest.raises(BadInput) as caught:
        record.load_run(directory)
    message = str(caught.value)
    assert "\n" not in message and str(directory) in message
    return message


def set_times(directory, times) -> None:
    """Give the record in `directory` other times, in s: float [rank, cycle, phase]."""
    times = np.asarray(times, np.float32)
    np.save(directory / "cycles.npy", times)
    edit(
        directory,
        lambda content: content["timing"].update(
            phases=phase_summary(times.astype(float), content["phases"])
        ),
    )
