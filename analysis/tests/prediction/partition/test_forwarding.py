"""Files of an exchange in levels: what they say is read, and what does not fit the grid is refused."""

import json

import numpy as np
import pytest
from exchange_nets import net

from spikemark.core.errors import BadInput
from spikemark.network.composed import Composed
from spikemark.prediction.exchange import EXCHANGES
from spikemark.prediction.partition import forwarding, routed
from spikemark.prediction.traffic import Traffic

RANKS = 6
ORDER = {"kind": "rank_order", "format_version": 1, "order": [5, 0, 4, 1, 3, 2]}
ROWS = [[0, 0, 1, 1, 0, 1], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 0]]
TABLE = {"kind": "forwarding_table", "format_version": 1, "dimensions": [2, 3], "bridge": ROWS}


def read(folder, field, content, **more):
    path = folder / "file.json"
    path.write_text(json.dumps(content))
    given = {"dimensions": [2, 3], field: str(path), **more}
    return forwarding.read(Composed.of("multi_level", given), RANKS, " for lane world")


def test_files_are_read(tmp_path):
    assert read(tmp_path, "order", ORDER).position.tolist() == ORDER["order"]
    assert read(tmp_path, "table", TABLE | {"side": "sender"}).bridge.tolist() == ROWS
    nothing = forwarding.read(Composed.of("multi_level", {}), RANKS)
    assert nothing.position is None and nothing.bridge is None


@pytest.mark.parametrize(("field", "content", "complaint"), [
    ("order", TABLE, "allowed: a file whose kind is 'rank_order', format_version 1"),
    ("order", [], "allowed: a file whose kind is 'rank_order'"),
    ("order", ORDER | {"format_version": 2}, "allowed: a file whose kind is 'rank_order', format_version 1"),
    ("order", ORDER | {"order": [0, 1, 2]}, "order=[0, 1, 2]; allowed: every integer from 0 to 5 once"),
    ("order", ORDER | {"order": [0, 1, 2, 3, 4, 4]}, "allowed: every integer from 0 to 5 once"),
    ("order", ORDER | {"order": [0, 1, 2, 3, 4, 5.0]}, "allowed: every integer from 0 to 5 once"),
    ("table", ORDER, "allowed: a file whose kind is 'forwarding_table'"),
    ("table", TABLE | {"dimensions": [3, 2]}, "dimensions=[3, 2]; allowed: two levels, and those of the"),
    ("table", TABLE | {"side": "receiver"}, "side='receiver'; allowed: 'sender'"),
    ("table", TABLE | {"bridge": ROWS[:2]}, "allowed: a list for each of 3 groups, of integers from 0 to 1"),
    ("table", TABLE | {"bridge": [[2] * 6] * 3}, "allowed: a list for each of 3 groups"),
    ("table", TABLE | {"bridge": [[0] * 5] * 3}, "bridge: lists of other lengths; allowed: 6, one for each"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(tmp_path, field, content, complaint):
    with pytest.raises(BadInput) as bad:
        read(tmp_path, field, content)
    said = str(bad.value)
    assert said.startswith(f"exchange: {field}=") and " for lane world" in said and complaint in said


def test_tables_of_three_levels_are_refused(tmp_path):
    with pytest.raises(BadInput, match="allowed: two levels"):
        read(tmp_path, "table", TABLE, dimensions=[1, 2, 3])


def test_predictions_follow_the_files(tmp_path):
    """An order that puts those who talk into one group leaves one hop; a table that has one bridge for all
    makes this bridge the slowest rank."""
    pairs = np.zeros((RANKS, RANKS))
    pairs[np.arange(RANKS), np.arange(RANKS)[::-1]] = 1e6

    def seconds(**files):
        given = {"dimensions": [2, 3], "parts": "p2p"}
        for field, content in files.items():
            path = tmp_path / f"{field}.json"
            path.write_text(json.dumps(content))
            given[field] = str(path)
        traffic = Traffic(pairs, np.sign(pairs), np.arange(RANKS))
        return routed.seconds(net(), Composed.of("multi_level", given), traffic, EXCHANGES)

    usual, grouped = seconds(), seconds(order=ORDER | {"order": [0, 2, 4, 5, 3, 1]})
    assert 1.5 * grouped < usual
    assert seconds(table=TABLE | {"bridge": [[0] * RANKS] * 3}) > 1.2 * usual
