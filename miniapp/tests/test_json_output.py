"""--list --json and --explain --json: the same as the text, as data, and true of what runs."""

import csv
import json
import re

import program
import pytest

pytestmark = pytest.mark.slow

SCHEDULES = program.registered()["schedule"]


def printed(*arguments, **how):
    done = program.start(*arguments, "--json", **how)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def keys(value):
    """The names of all fields, at any depth."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    return set(value).union(*map(keys, value.values())) if isinstance(value, dict) else set()


@pytest.fixture(scope="module")
def listed():
    return printed("--list")


def test_the_list_names_what_the_text_names(listed):
    sections = {title.replace(" ", "_") + "s": names for title, names in program.registered().items()}
    for section, names in sections.items():
        assert [member["name"] for member in listed[section]] == names
    assert set(listed) == {"kind", "format_version", "run_files", *sections}


def test_the_list_has_schedules_as_lanes(listed):
    schedules = {schedule["name"]: schedule for schedule in listed["schedules"]}
    assert schedules["conventional"]["placement"] == "round_robin"
    assert schedules["overlapped"]["lanes"] == [
        {"name": "near", "group": "area", "period": 1, "lag": 0},
        {"name": "far", "group": "world", "period": "D", "lag": "lag"},
    ]
    assert [lane["period"] for lane in schedules["hierarchical"]["lanes"]] == [1, "auto", "D"]
    assert [lane["group"] for lane in schedules["hierarchical"]["lanes"]] == ["area", "square", "world"]


def test_the_list_tells_what_exchanges_models_and_meters_can_do(listed):
    exchanges = {exchange["name"]: exchange for exchange in listed["exchanges"]}
    assert exchanges["self"]["ranks_max"] == 1
    assert exchanges["ialltoallv"]["overlaps"]
    assert not exchanges["alltoallv"]["overlaps"]
    assert exchanges["two_level"]["composed"]
    assert exchanges["allgather"]["broadcast"]
    models = {model["name"]: model["parameters"] for model in listed["neuron_models"]}
    assert {p["name"]: p["default"] for p in models["ignore_and_fire"]} == {"rate_hz": 2.5, "rate_cv": 0}
    meters = {meter["name"]: meter for meter in listed["meters"]}
    assert meters["memory"]["quantities"] == [{"name": "resident_peak", "unit": "byte"}]
    assert meters["hwmon"]["scope"] == "node"


def test_every_file_that_a_run_writes_is_listed(listed, tmp_path):
    sysfs = tmp_path / "sys" / "class" / "hwmon" / "hwmon0"
    sysfs.mkdir(parents=True)
    for name, text in (("name", "board"), ("power1_input", "40000000"), ("power1_label", "in")):
        (sysfs / name).write_text(f"{text}\n")
    everything = program.sets(
        record__counters="true",
        record__energy="true",
        record__kernel="true",
        record__idle_pause_s=0.1,
        record__energy_interval_s=0.01,
        placement=json.dumps({"name": "from_file", "file": str(tmp_path / "p.json")}),
        exchange=json.dumps(
            {"name": "multi_level", "dimensions": [1], "order": str(tmp_path / "order.json")}
        ),
    )
    (tmp_path / "order.json").write_text('{"kind": "rank_order", "format_version": 1, "order": [0]}')
    whole = {"kind": "placement", "format_version": 1, "ranks": 1, "first": [0], "end": [2000], "rank": [0]}
    (tmp_path / "p.json").write_text(json.dumps(whole))
    program.record_of(tmp_path / "run", *everything, SPIKEMARK_SYSFS=str(tmp_path / "sys"))
    written = {file["name"] for file in listed["run_files"] if file["writer"] == "miniapp"}
    assert {path.name for path in (tmp_path / "run").iterdir()} == written


def test_a_record_with_any_listed_file_is_replaced(listed, tmp_path):
    out = tmp_path / "run"
    short = program.sets(time__simulate_ms=1)
    program.record_of(out, *short)
    assert "simulation.json" in {file["name"] for file in listed["run_files"]}
    for file in listed["run_files"]:
        if file["writer"] != "miniapp":
            (out / file["name"]).write_text("{}")
    program.record_of(out, *short)
    assert sorted(path.name for path in out.iterdir()) == [
        "cycles.npy",
        "ranks.csv",
        "record.json",
        "spikes.npy",
    ]


WITH_OUTSIDE = program.sets(
    network__populations__0__external='{"rate_hz": 3, "synapses": 400, "weight": 0.5}',
    network__projections__0__indegree='{"mean": 40.5}',
)
FINE_WEIGHTS = program.sets(network__projections__0__weight=1.2345678, network__projections__1__weight="-0.1")


@pytest.mark.parametrize("more", [[], WITH_OUTSIDE, FINE_WEIGHTS], ids=["plain", "outside", "fine"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_is_explained_is_what_runs(schedule, more, tmp_path):
    arguments = [*program.sets(schedule=schedule, time__simulate_ms=10), *more]
    told = printed("--explain", program.EXAMPLE, "--ranks", 2, "--threads", 2, *arguments)
    record = program.record_of(tmp_path / "run", *arguments, ranks=2, threads=2)
    for lane, ran in zip(told["lanes"], record["lanes"], strict=True):
        assert lane["synapses"] == pytest.approx(ran["synapses"], rel=0.02)
        assert {key: lane[key] for key in lane if key not in ("synapses", "blocks")} == {
            key: ran[key] for key in lane if key not in ("synapses", "blocks")
        }
        assert lane["blocks"] == any(f"lane {lane['name']}: exchange" in w for w in record["warnings"])
    assert told["delay_ratio"] in (None, record["description"]["delay_ratio"])
    assert (told["ranks"], told["threads"]) == (2, 2)
    assert told["placement"] == record["description"]["placement"]
    assert told["time"]["cycles"] == record["timing"]["cycles"]

    with open(tmp_path / "run" / "ranks.csv") as file:
        ranks = list(csv.DictReader(file))
    assert [rank["neurons"] for rank in told["per_rank"]] == [int(rank["neurons"]) for rank in ranks]
    for rank, ran in zip(told["per_rank"], ranks, strict=True):
        assert rank["synapses"] == pytest.approx(int(ran["synapses"]), rel=0.02)
        assert rank["memory_bytes"] == pytest.approx(sum(rank["memory_parts"].values()))
    parts = record["memory"]["parts"]
    for part in ("neurons", "ring", "synapses"):
        explained = sum(rank["memory_parts"][part] for rank in told["per_rank"])
        assert explained == pytest.approx(parts[part], rel=0.02), part
    ring = told["input"]["ring"]
    assert parts["ring"] == told["network"]["neurons"] * ring["slots"] * ring["bits"] / 8


def test_the_ring_is_told_exactly():
    told = {
        name: printed("--explain", program.EXAMPLE, *more)["input"]
        for name, more in (("plain", []), ("outside", WITH_OUTSIDE), ("fine", FINE_WEIGHTS))
    }
    assert told["plain"]["ring"] == {"slots": 21, "bits": 16, "unit": 1}
    assert told["outside"]["ring"]["unit"] == 0.5
    assert told["outside"]["external_events_per_s"] == pytest.approx(1.2e6)
    assert told["fine"]["ring"]["bits"] == 32
    assert told["fine"]["ring"]["unit"].hex().startswith("0x1.0000000000000p-")  # a power of two


@pytest.mark.parametrize("arguments", [["--list"], ["--explain", program.EXAMPLE]], ids=["list", "explain"])
def test_every_field_is_documented(arguments):
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    section = text.split(f"output of `miniapp {arguments[0]}")[1].split("\n## ")[0]
    assert keys(printed(*arguments)) <= set(re.findall(r"\w+", section))


def test_json_is_for_lists_and_explanations():
    done = program.start(program.EXAMPLE, "--out", "run", "--json")
    assert done.returncode == 2
    assert done.stderr == "miniapp: --json: only with --explain or --list; see miniapp --help\n"
