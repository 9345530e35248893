"""The profile of a cluster: what it says, and what it refuses."""

import pytest

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.running import slurm_profile
from spikemark.running.slurm_profile import SlurmProfile


def test_the_profile_that_is_delivered_holds_the_defaults():
    path = places.root() / "workflows" / "profiles" / "slurm" / slurm_profile.FILE
    assert slurm_profile.read(path) == SlurmProfile()


def test_every_field_is_in_the_profile_that_is_delivered():
    text = (places.root() / "workflows" / "profiles" / "slurm" / slurm_profile.FILE).read_text()
    assert [name for name in SlurmProfile.model_fields if f"{name}:" not in text] == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 5400), ("1:00", 60), ("2:00:00", 7200), ("1-00:00:00", 86400)]
)
def test_times_as_slurm_writes_them(text, seconds):
    assert slurm_profile.time_limit_s(text) == seconds


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("time_limit: 24h", "time_limit='24h'"),
        ("time_limit: '0:30'", "at least one minute"),
        ("partition: -x", "partition"),
        ("partition: 'a b'", "partition"),
        ("options: [exclusive]", "options.0"),
        ("poll_s: 0", "poll_s"),
        ("cores_per_node: 0", "cores_per_node"),
        ("modules: [gcc]", "modules"),
        ("- 1", "a mapping of fields is needed: partition"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_field(tmp_path, content, named):
    path = tmp_path / slurm_profile.FILE
    path.write_text(content + "\n")
    with pytest.raises(BadInput, match=named.replace(".", r"\.")) as refusal:
        slurm_profile.read(path)
    assert str(refusal.value).startswith(str(path)) and "\n" not in str(refusal.value)
