"""Data sheets fill what a profile does not state, and remark upon what contradicts them."""

import pytest

import spikemark as sm
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import processors
from spikemark.machines.fields import COUNT, FIELD
from spikemark.machines.profile import Value, arranged
from spikemark.report import answer_page
from spikemark.report.document import html

SHEETS = processors.names()


def stated(path, number, kind="literature", interval=None):
    return {path: Value(number, FIELD[path].unit, kind, "the offer, page 1", interval)}


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_has_possible_values_each_with_its_source(name):
    values = processors.sheet(name).of_node(sockets=2)
    assert {"node.cores", "node.clock", "node.l3", "node.l3_cores"} <= values.keys()
    for path, value in values.items():
        assert value.kind == "literature" and name in value.reference
        assert (
            isinstance(value.value, int) == (FIELD[path].allowed == COUNT) or path != "node.cores"
        )
    arranged(values, name)  # nothing that cannot be true together
    cores_of_slice = values["node.l3_cores"].value
    assert values["node.cores"].value % cores_of_slice == 0


@pytest.mark.parametrize("name", SHEETS)
def test_what_an_offer_states_counts_and_the_rest_is_filled(name):
    own = stated("node.sockets", 2) | stated("node.l2", 777.0)
    offer = processors.completed(own, name, "offer-a")
    sheet = processors.sheet(name).of_node(2)
    assert offer.values["node.l2"].value == 777
    for path in sheet.keys() - own.keys():
        assert offer.values[path] == sheet[path]
    contradicted = [remark for remark in offer.remarks if "node.l2" in remark]
    assert len(contradicted) == len(offer.remarks) == ("node.l2" in sheet)


@pytest.mark.parametrize(
    ("path", "number", "remarked"),
    [
        ("node.clock", 3.0, True),  # between base and turbo
        ("node.clock", 2.25, False),
        ("node.clock", 3.4, True),
        ("node.clock", 3.5, True),  # a little above turbo, as data sheets round
        ("node.clock", 1.5, True),
        ("node.cores", 128, False),
        ("node.cores", 64, True),
        ("node.bandwidth_peak", 204.8, True),  # half of the channels may be empty
        ("node.bandwidth_peak", 409.6, False),
        ("node.memory_channels", 16, False),
        ("node.memory_channels", 8, True),
        ("node.clock_turbo", 3.4, False),
        ("node.clock_turbo", 3.0, True),
        ("node.l1d", 48.0, True),
        ("node.l3_cores", 8, True),
        ("node.bandwidth_peak", 500.0, True),
        ("power.tdp", 450.0, False),
        ("power.tdp", 560.0, True),
        ("node.l3", 32768.0, True),
    ],
)
def test_only_what_the_sheet_excludes_is_remarked_upon(path, number, remarked):
    own = stated("node.sockets", 2) | stated(path, number)
    offer = processors.completed(own, "epyc-7742", "offer-a")
    assert [path in remark for remark in offer.remarks] == [True] * remarked
    assert offer.values[path].value == number


@pytest.mark.parametrize(("clock", "remarked"), [(3.0, False), (3.4, False), (3.5, True)])
def test_a_measured_clock_may_be_any_up_to_turbo(clock, remarked):
    own = stated("node.sockets", 2) | stated("node.clock", clock, kind="measured")
    offer = processors.completed(own, "epyc-7742", "offer-a")
    assert len(offer.remarks) == remarked


def test_sockets_follow_from_the_cores_or_nothing_depends_on_them():
    offer = processors.completed(stated("node.cores", 128), "epyc-7742", "offer-a")
    assert offer.values["power.tdp"].value == 450
    offer = processors.completed(stated("node.cores", 100), "epyc-7742", "offer-a")
    assert "power.tdp" not in offer.values and "node.l2" in offer.values


@pytest.mark.parametrize(
    ("path", "number", "left_out"),
    [
        ("node.cores", 2, "node.l3_cores"),
        ("node.bandwidth", 500.0, "node.bandwidth_peak"),
        ("node.clock", 3.5, "node.clock_turbo"),
    ],
)
def test_what_cannot_be_true_beside_a_stated_value_is_left_out_with_a_remark(
    path, number, left_out
):
    own = stated("node.sockets", 2) | stated(path, number)
    offer = processors.completed(own, "epyc-7742", "offer-a")
    assert left_out not in offer.values
    assert sum(path in remark for remark in offer.remarks) == 1
    arranged(offer.values, "offer-a")


def impossible():
    """Values that a node of two sockets of each processor cannot have."""
    for name in SHEETS:
        sheet = processors.sheet(name).values
        yield name, "node.cores", int(2 * sheet["cores"]) + 1
        yield name, "node.clock", 0.09 * sheet["clock"]
        if "memory_channels" in sheet:
            yield name, "node.memory_channels", int(2 * sheet["memory_channels"]) + 1
        if "turbo" in sheet:
            yield name, "node.clock", 1.2 * sheet["turbo"]
            yield name, "node.clock_turbo", 1.2 * sheet["turbo"]


@pytest.mark.parametrize(("name", "path", "number"), list(impossible()))
def test_what_a_processor_cannot_have_is_refused(name, path, number):
    own = stated("node.sockets", 2) | stated(path, number)
    with pytest.raises(BadInput, match=name) as refused:
        processors.completed(own, name, "offer-a")
    assert refused.value.field == path and f"{path}=" in str(refused.value)


@pytest.mark.parametrize("name", SHEETS)
def test_a_virtual_machine_may_have_any_part_of_the_cores(name):
    cores = processors.sheet(name).values["cores"]
    for part in range(1, int(2 * cores) + 1):
        own = stated("node.sockets", 2) | stated("node.cores", part)
        offer = processors.completed(own, name, "offer-a")
        remarked = [remark for remark in offer.remarks if "node.cores" in remark]
        assert bool(remarked) == (part < 2 * cores)
    with pytest.raises(BadInput):
        processors.completed(stated("node.cores", 9 * int(cores)), name, "offer-a")


def test_an_offer_of_another_processor_is_refused_by_the_command(spikemark, offer):
    offer.write_text(OFFER.replace("epyc-7763", "xeon-8480") + CORES)
    status, output, errors = spikemark("machine", str(offer))
    assert (status, output, errors.count("\n")) == (2, "", 1)
    assert "node.cores" in errors and "192" in errors and "112" in errors


def test_a_name_without_a_sheet_fills_nothing_and_the_nearest_is_named():
    own = stated("node.sockets", 2)
    assert processors.completed(own, "westmere", "old").values == own
    (remark,) = processors.completed(own, "epyc-7724", "offer-a").remarks
    assert "epyc-7742" in remark


@pytest.mark.parametrize("name", ["ampere-altra-max", "power9", "a64fx", "westmere"])
def test_no_sheet_of_another_vendor_is_proposed(name):
    (remark,) = processors.completed(stated("node.sockets", 2), name, "offer-a").remarks
    assert name in remark and "nearest" not in remark


@pytest.mark.parametrize("name", SHEETS)
def test_a_mistyped_name_gets_one_of_its_family(name):
    family, _, number = name.partition("-")
    for typed in (f"{family}-{number}0", f"{family[:-1]}x-{number}"):
        (remark,) = processors.completed(stated("node.sockets", 2), typed, "offer-a").remarks
        proposed = remark.split()[-1]
        assert proposed in SHEETS and proposed.startswith(family)


VENDORS = ("{}", "AMD {}", "Intel(R) {} CPU", "{} Processor")


@pytest.mark.parametrize("name", SHEETS)
@pytest.mark.parametrize("words", VENDORS)
def test_a_processor_as_its_vendor_writes_it_is_refused_with_the_name_of_its_sheet(
    name, words, offer, spikemark
):
    family, _, number = name.partition("-")
    text = words.format(f"{family.upper()} {number.upper().replace('-', ' ')}".strip())
    assert processors.called(text) == name
    if " " not in text:
        (remark,) = processors.completed(stated("node.sockets", 2), text, "offer-a").remarks
        assert name in remark
        return
    offer.write_text(OFFER.replace("processor: epyc-7763", f"processor: {text}"))
    with pytest.raises(BadInput, match=name) as refused:
        machines.load(offer)
    assert refused.value.field == "processor"


@pytest.mark.parametrize("name", machines.names())
def test_the_projects_own_profiles_do_not_contradict_the_sheets(name):
    profile = machines.load(name)
    if profile.processor in SHEETS:
        assert processors.completed(profile.values, profile.processor, name).remarks == ()


OFFER = """
format_version: 1
name: offer-a
title: an offer
processor: epyc-7763
node:
  sockets: {value: 2, unit: "1", kind: literature, reference: "page 1"}
  l2: {value: 1024, unit: KiB, kind: literature, reference: "page 2"}
"""

CORES = '  cores: {value: 192, unit: "1", kind: literature, reference: "page 1"}\n'


@pytest.fixture
def offer(tmp_path):
    file = tmp_path / "offer-a.yaml"
    file.write_text(OFFER)
    return file


def test_an_offer_that_names_its_processor_gets_its_data_sheet(offer):
    profile = machines.load(offer)
    sheet = processors.sheet("epyc-7763").of_node(2)
    assert profile.get("node.cores") == sheet["node.cores"]
    assert profile.get("node.l2").value == 1024
    (remark,) = profile.remarks
    assert "node.l2" in remark and "512" in remark


@pytest.mark.slow
def test_every_answer_about_an_offer_shows_the_contradiction(offer):
    network = sm.network("microcircuit")
    answers = [
        sm.predict(network, machine=offer, ranks=2),
        sm.advise(network, machine=offer),
        sm.compare(network, machines=[offer, "jureca-dc"]),
    ]
    for answer in answers:
        assert sum("node.l2" in line for line in answer.screen().notes) == 1
        assert sum("node.l2" in line for line in answer.content()["remarks"]) == 1
        assert "node.l2 is stated as" in html(answer_page._page("offer", answer))
