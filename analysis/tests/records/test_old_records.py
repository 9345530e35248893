"""Records that earlier versions wrote are read, and commands answer with them."""

import json

import pytest

from spikemark.core import places
from spikemark.records.record import load_run

RECORDS = places.root() / "tests" / "golden" / "analysis" / "records"

#: A record of each earlier version: the version and its format.
OLD = {
    "aware-4": ("0.2.0", 2),
    "version-1.0": ("1.0.0", 3),
}


@pytest.mark.parametrize("name", OLD)
def test_a_record_of_an_earlier_version_is_read(name, spikemark):
    content = json.loads((RECORDS / name / "record.json").read_text())
    assert (content["provenance"]["version"], content["format_version"]) == OLD[name]
    run = load_run(RECORDS / name)
    assert len(run.ranks) == content["ranks"] == run.cycles.shape[0]
    assert run.record.totals.spikes == content["totals"]["spikes"]
    assert run.record.checksum == content["checksum"]
    status, answer, errors = spikemark("waiting", RECORDS / name, "--json")
    assert status == 0, errors
    assert json.loads(answer)["ranks"] == content["ranks"]
    status, profile, errors = spikemark("export", RECORDS / name, "--format", "caliper")
    assert status == 0, errors
    assert json.loads(profile)["data"]


def test_every_earlier_format_has_a_record():
    formats = {
        json.loads(path.read_text())["format_version"] for path in RECORDS.glob("*/record.json")
    }
    assert formats >= {2, 3}
