"""A profile without a field is answered about, or refused in one line that names the field.

Offers are generated with one field left out, and with several.
"""

import random

import pytest
import yaml
from by_day import half_by_night
from published_networks import multi_area_model

import spikemark as sm
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import processors
from spikemark.machines.fields import FIELD
from spikemark.machines.profile import UnknownValue

PROCESSOR = "epyc-9654"
STATED = {
    "node.sockets": 2,
    "node.memory": 768.0,
    "interconnect.fabric": "infiniband",
    "interconnect.bandwidth": 25.0,
    "interconnect.latency": 1.5,
    "offer.nodes": 24,
    "offer.price": 21000.0,
    "offer.watts": 1100.0,
}
SHEET = {path: value.value for path, value in processors.sheet(PROCESSOR).of_node(2).items()}
ALL = STATED | SHEET
SMALL = sm.network("mam-benchmark", areas=4, neurons_per_area=100, indegree=10)
RANDOM = random.Random(7)
LEFT_OUT = [
    *((path,) for path in ALL),
    tuple(path for path in ALL if path != "node.cores"),
    tuple(ALL),
]
DRAWN = [tuple(RANDOM.sample(list(ALL), number)) for number in (2, 2, 2, 2, 2, 2, 9, 9, 9, 9)]
QUICK = ("predict nest", "anchor")  #: asked of each; the others, of much that is left out


def write(folder, name="offer-p", processor=None, values=ALL):
    """The file of an offer that states these values."""
    content = {"format_version": 1, "name": name, "title": "An offer"}
    if processor:
        content["processor"] = processor
    for path, value in values.items():
        group, field = path.split(".")
        leaf = {"value": value, "kind": "literature", "reference": "the offer"}
        if FIELD[path].unit:
            leaf["unit"] = FIELD[path].unit
        content.setdefault(group, {})[field] = leaf
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def answers(folder, file):
    """Functions that answer about an offer, by what they do."""
    nest = {"program": "nest", "nodes": 24}
    mam = multi_area_model()
    return {
        "predict nest": lambda: sm.predict(mam, file, **nest),
        "predict": lambda: sm.predict(SMALL, file, nodes=1),
        "compare nest": lambda: sm.compare(mam, [file, "jureca-dc"], **nest),
        "compare": lambda: sm.compare(SMALL, [file, "jureca-dc"], nodes=1),
        "advise nest": lambda: sm.advise(mam, file, **nest),
        "advise": lambda: sm.advise(SMALL, file, nodes=1),
        "anchor": lambda: sm.anchor(SMALL, file, out=folder / "anchor"),
    }


@pytest.mark.parametrize("left_out", [*LEFT_OUT, *half_by_night(DRAWN)], ids=" ".join)
def test_what_is_unknown_is_assumed_or_refused_by_its_name(tmp_path, left_out):
    values = {path: value for path, value in ALL.items() if path not in left_out}
    file = write(tmp_path, values=values)
    assert machines.filled(machines.load(file))
    for name, function in answers(tmp_path, file).items():
        if name not in QUICK and len(left_out) < len(ALL) - 1:
            continue
        try:
            answer = function()
        except UnknownValue as error:
            assert error.field in left_out
        except BadInput as error:
            assert error.field == "nodes" and "offer.nodes" in left_out
        else:
            assert "node.cores" not in left_out
            assert answer.screen(details=True).lines and answer.content()


@pytest.mark.parametrize(
    ("processor", "named"),
    [(PROCESSOR.replace("-", ""), PROCESSOR), ("epyc-9656", "epyc-9"), (None, "processor")],
)
def test_a_refusal_says_why_no_data_sheet_has_the_cores(tmp_path, processor, named):
    file = write(tmp_path, processor=processor, values=STATED)
    profile = machines.load(file)
    assert (processor is None) == (not profile.remarks)
    for name, function in answers(tmp_path, file).items():
        with pytest.raises(UnknownValue, match=named) as refused:
            function()
        assert refused.value.field == "node.cores", name
        assert "\n" not in str(refused.value)


def test_a_sheet_of_sockets_asks_for_their_number(tmp_path):
    values = {path: value for path, value in STATED.items() if path != "node.sockets"}
    file = write(tmp_path, processor=PROCESSOR, values=values)
    for function in answers(tmp_path, file).values():
        with pytest.raises(UnknownValue, match=r"node\.sockets"):
            function()
