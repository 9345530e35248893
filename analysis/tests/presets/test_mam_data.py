"""The multi-area model from a user's own data: a made-up copy in the format of the original."""

import json
from pathlib import Path

import mam_copy
import numpy as np
import pytest
from mam_copy import EVERY

from spikemark.core.errors import BadInput
from spikemark.presets import mam


@pytest.fixture
def copy(tmp_path) -> Path:
    """A folder laid out as a clone of the original."""
    mam_copy.write(tmp_path)
    return tmp_path


def network(**options) -> tuple[dict, dict]:
    described = mam.describe(**options)["network"]
    projections = {(p["target"], *p["source"]): p for p in described["projections"]}
    return {p["name"]: p for p in described["populations"]}, projections


def test_a_copy_is_read_as_it_is(copy):
    populations, projections = network(full=True, from_=str(copy))
    assert list(populations) == [f"{area}-L{kind}" for area, kind in EVERY]  # TH has no layer 4
    assert populations["TH-L5E"]["size"] == 5000
    assert populations["TH-L5E"]["external"] == {"rate_hz": 10, "synapses": 1500, "weight": 88}
    within = projections["V1-L23E", "V1-L4I"]
    assert within["indegree"]["mean"] == pytest.approx(100)
    assert within["weight"]["mean"] == -966
    assert within["delay"] == {"distribution": "normal", "mean": 0.75, "sd": 0.375}
    assert projections["TH-L6I", "V1-L23E"]["indegree"]["mean"] == pytest.approx(7)
    between = projections["TH-L6I", "V1-L5E", "V1-L6E"]  # equal in synapses per neuron: one pool
    assert between["indegree"]["mean"] == pytest.approx(12)
    assert between["delay"] == {"distribution": "normal", "mean": 10, "sd": 5, "min": 1}
    assert not any(target.startswith("V1") and source.startswith("TH") for target, source, *_ in projections)


def test_a_copy_is_scaled_as_the_drawn_network(copy):
    populations, projections = network(scale=0.1, indegree_scale=0.25, from_=str(copy))
    assert populations["V1-L4I"]["size"] == 400
    assert projections["V1-L23E", "V1-L4I"]["indegree"]["mean"] == pytest.approx(25)
    assert projections["V1-L23E", "V1-L4I"]["weight"]["mean"] == -966 * 2
    # 4 x 100 synapses of 88 and -966 pA at 2 /s, 1500 of 88 pA at 10 /s; half of the current is lost
    lost = 0.5e-3 * (400 * 2 * (88 - 966) + 1500 * 10 * 88) * (1 - 0.5)
    assert populations["V1-L23E"]["neuron"]["I_e_pA"] == pytest.approx(lost)


def test_stabilised_indegrees_take_the_place_of_the_others(copy):
    stable = np.full((14, 14), 3.0)
    np.save(copy / "K_prime_original.npy", stable)
    _, projections = network(full=True, from_=str(copy))
    assert projections["V1-L23E", "V1-L4I"]["indegree"]["mean"] == 3


def spoil(copy: Path, *keys: str, value: object = None) -> None:
    path = copy / "config_files" / "custom_Data_Model_0a1b.json"
    content = json.loads(path.read_text())
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner.pop(keys[-1]) if value is None else inner.update({keys[-1]: value})
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["structure"], None, r"0a1b\.json: structure: missing"),
        (["synapses", "TH", "5E", "V1"], None, r"synapses\.TH\.5E\.V1: missing"),
        (["neuron_numbers", "V1", "4E"], "many", r"neuron_numbers\.V1\.4E='many': a finite number"),
        (["neuron_numbers", "V1", "4E"], -2, r"neuron_numbers\.V1\.4E=-2: at least 0"),
        (["synapses", "V1", "4E", "external", "external"], float("nan"), "external=nan: a finite number"),
        (["synapses", "V1", "4E", "V1"], [1], r"synapses\.V1\.4E\.V1\.23E: missing"),
        (["area_list"], [], r"area_list=\[\]: a list of names"),
        (["area_list"], ["V1", "V1"], "names occur twice"),
        (["structure", "V1"], ["23E", "7E"], "7E"),
        (["distances", "V1"], {}, r"distances\.V1\.TH: missing"),
        (["distances", "V1", "TH"], 0, r"distances\.V1\.TH=0: above 0"),
        (["structure", "TH"], None, r"structure\.TH: missing"),
    ],
)
def test_wrong_data_are_refused_in_one_line(copy, keys, value, message):
    spoil(copy, *keys, value=value)
    with pytest.raises(BadInput, match=message) as caught:
        mam.describe(from_=str(copy))
    assert "\n" not in str(caught.value)


def test_wrong_files_are_refused_in_one_line(copy, tmp_path_factory):
    def refusal(folder: object = copy) -> str:
        with pytest.raises(BadInput) as caught:
            mam.describe(from_=str(folder))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "not a folder" in refusal(copy / "nowhere")
    assert "no file *_Data_Model_*.json in ., config_files," in refusal(tmp_path_factory.mktemp("empty"))
    (copy / "K_prime_original.npy").write_bytes(b"something else")
    assert "K_prime_original.npy: truncated or not a .npy file" in refusal()
    np.save(copy / "K_prime_original.npy", np.ones((3, 3)))
    assert "float64 (3, 3): numbers of shape (14, 14)" in refusal()
    np.save(copy / "K_prime_original.npy", -np.ones((14, 14)))
    assert "finite and at least 0" in refusal()
    (copy / "K_prime_original.npy").unlink()
    (copy / "tests" / "fullscale_rates.json").write_text("{")
    assert "fullscale_rates.json: cannot be read as JSON" in refusal()
    (copy / "tests" / "fullscale_rates.json").unlink()
    assert "no file fullscale_rates.json in ., tests" in refusal()
    (copy / "config_files" / "custom_Data_Model_2.json").write_text("{}")
    assert "several files *_Data_Model_*.json" in refusal()
