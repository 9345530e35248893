"""The checker: an honest answer is valid, and every check catches a cheat."""

import dataclasses
import json
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import processors
from spikemark.prediction import draws
from spikemark.records.record import load_run
from spikemark_tender import answer as answers
from spikemark_tender import check, formats, measure, nest
from spikemark_tender.check import CHECKS, INCOMPLETE, INVALID, VALID

pytestmark = pytest.mark.slow  # its folders of answers take seconds to make


def verdict(made) -> tuple[str, set[str]]:
    report, _ = check.check(made.path, made.bundle)
    return report.verdict, {finding.check for finding in report.findings}


def test_an_honest_answer_is_valid_although_its_projection_takes_fewer_nodes_than_offered(honest):
    report, answer = check.check(honest.path, honest.bundle)
    assert report.findings == [] and report.verdict == VALID
    power, _ = answer.evidence("target", formats.POWER)
    assert power.nodes < answer.offer.nodes and power.value / power.nodes > answer.offer.node_idle_w
    assert power.value / answer.offer.nodes < 2 * answer.offer.node_idle_w


def stated(path="", file=formats.ANSWER, **fields):
    """A cheat that changes fields of answer.json, or of other files, at a path such as
    `runs.0.layout`.
    """

    def do(made):
        for found in sorted(made.path.glob(file)):
            with made.edit(found) as content:
                for step in path.split(".") if path else ():
                    content = content[int(step) if step.isdecimal() else step]
                content.update(fields)

    return do


def record(path="", runs="*", **fields):
    return stated(path, f"runs/bench-small/{runs}/record.json", **fields)


def extra(made):
    (made.run() / "better.json").write_text("{}")


def copied(made):
    shutil.copytree(made.run(1), made.run(2), dirs_exist_ok=True)
    with made.edit() as content:
        one, other = content["runs"][0]["repetitions"]
        other |= {name: one[name] for name in formats.FIGURES}
    made.state()


def copied_elsewhere(made):
    """The first repetition in place of the second one, in a folder beside those of the runs."""
    shutil.copytree(made.run(1), made.path / "more" / "2")
    shutil.rmtree(made.run(2))
    with made.edit() as content:
        one, other = content["runs"][0]["repetitions"]
        other |= {name: one[name] for name in formats.FIGURES}
        other |= {"folder": "more/2", "readings": "more/2/energy.csv"}
    made.state()


def linked(made):
    """A repetition that lies outside of the answer."""
    outside = made.path.with_name(f"{made.path.name}-outside")
    made.run(2).rename(outside)
    made.run(2).symlink_to(outside)


def linked_file(made):
    """A file of a repetition that lies outside of the answer."""
    outside = made.path.with_name(f"{made.path.name}-activity.npy")
    file = made.run(2) / "activity.npy"
    file.rename(outside)
    file.symlink_to(outside)


def slowest_left_out(made):
    timing = {k: json.loads((made.run(k) / "record.json").read_text())["timing"] for k in (1, 2)}
    slowest = max(timing, key=lambda k: timing[k]["simulate_s"])
    shutil.rmtree(made.run(slowest))
    if slowest == 1:
        made.run(2).rename(made.run(1))
    with made.edit() as content:
        run = content["runs"][0]
        kept = run["repetitions"][2 - slowest]
        kept |= {"folder": "runs/bench-small/1", "readings": "runs/bench-small/1/energy.csv"}
        run["repetitions"] = [kept]
    made.state()


def named_twice(made):
    with made.edit() as content:
        one, other = content["runs"][0]["repetitions"]
        other |= one
    made.state()


def ranks(made, k, name, change):
    """Changes a column of ranks.csv."""
    table = pd.read_csv(made.run(k) / "ranks.csv", dtype=str)
    table[name] = change(table[name])
    table.to_csv(made.run(k) / "ranks.csv", index=False, lineterminator="\n")


def more_spikes(made):
    """Counts that fit each other, in both repetitions, and not the network."""
    for k in (1, 2):
        ranks(made, k, "spikes", lambda of: [str(int(of[0]) + 1), *of[1:]])
        with made.edit(made.run(k) / "record.json") as content:
            content["totals"]["spikes"] += 1
        activity = np.load(made.run(k) / "activity.npy")
        activity[0, 0] += 1
        np.save(made.run(k) / "activity.npy", activity)


def retimed(made, seconds, cycles=None):
    """Other times of the ranks in the first repetition, and of the phases where cycles are
    given.
    """
    ranks(made, 1, "simulate_s", lambda of: [repr(float(s)) for s in seconds])

    with made.edit(made.run() / "record.json") as content:
        timing = content["timing"]
        timing["simulate_s"] = float(max(seconds))
        timing["real_time_factor"] = timing["simulate_s"] / timing["model_s"]
        for n, name in enumerate(content["phases"] if cycles is not None else ()):
            own = cycles[:, :, n].sum(axis=1, dtype=float)
            timing["phases"][name] |= {"mean_s": own.mean(), "max_s": own.max()}

    made.state()


def one_rank_faster(made):
    """A rank that is not the slowest takes no time, by ranks.csv alone."""
    ranks(made, 1, "simulate_s", lambda of: [s if s == max(of, key=float) else "0.001" for s in of])


def faster(made):
    """Every figure a tenth smaller, but the times of the cycles."""
    retimed(made, 0.9 * pd.read_csv(made.run() / "ranks.csv")["simulate_s"])


def short_cycles(made):
    """Cycle times and all sums half as large; the clock of the system says otherwise."""
    times = 0.5 * np.load(made.run() / "cycles.npy")
    np.save(made.run() / "cycles.npy", times.astype(np.float32))
    retimed(made, times.sum(axis=(1, 2), dtype=float), times)


LAYOUT = {"ranks": 2, "threads": 64, "nodes": 1}


def with_profile(made, **machine):
    """Adds the profile of jureca-dc, with other values, as that of the projection."""
    folder = made.path / formats.MACHINE
    folder.mkdir()
    shutil.copyfile(machines.file_of("jureca-dc"), folder / "jureca-dc.yaml")
    with made.edit() as content:
        content["profile"] = f"{formats.MACHINE}/jureca-dc.yaml"


def with_nest(made):
    """Adds a folder of runs of NEST."""
    (made.path / nest.FOLDER).mkdir()
    (made.path / nest.FOLDER / nest.RUNS).write_text("nodes\n")


#: A cheat, the check that catches it, and no other.
CHEATS = {
    "a file that nobody asked for": (extra, "manifest"),
    "one repetition handed in twice": (copied, "manifest"),
    "one repetition handed in twice, in another folder": (copied_elsewhere, "manifest"),
    "a repetition behind a link": (linked, "manifest"),
    "a file behind a link": (linked_file, "manifest"),
    "answers another bundle": (stated(bundle_sha256="0" * 64), "manifest"),
    "says that the bundle is a quick one": (stated(quick=True), "manifest"),
    "leaves out the slowest repetition": (slowest_left_out, "complete"),
    "cuts the times": (lambda made: os.truncate(made.run() / "cycles.npy", 5000), "form"),
    "runs with another seed": (record("description", seed=2), "description"),
    "runs without the barrier": (record("description.record", barrier=False), "description"),
    "injects other delays": (record("description.inject", mean_us=1.0), "description"),
    "runs half of the neurons": (
        record("description.network.populations.0", size=50),
        "description",
    ),
    "runs another schedule in silence": (
        record("description", schedule="structure_aware", placement="area"),
        "description",
    ),
    "sets a field in the category base": (stated("runs.0", set={"delay_ratio": 5}), "set"),
    "compiles one repetition in another way": (record("provenance", "1", flags="-O3"), "program"),
    "counts spikes that the network has not": (more_spikes, "spikes"),
    "finds other spikes in one repetition": (record(runs="2", spike_checksum="1" * 16), "spikes"),
    "makes up a checksum": (record(checksum="0" * 16), "sums"),
    "understates the time of one rank": (one_rank_faster, "times"),
    "states a shorter time than that of the phases": (faster, "times"),
    "halves all times of a repetition": (short_cycles, "times"),
    "lets the best repetition count": (
        stated("runs.0.figures.real_time_factor", value=1e-9),
        "statistic",
    ),
    "states less energy than was read": (lambda made: made.state(joules=0.5), "energy"),
    "states a limit that the readings exceed": (stated("offer", node_limit_w=100.0), "power"),
    "projects by a profile that its own runs refute": (with_profile, "profile"),
    "keeps the profile of its projection": (stated("projected.0", layout=LAYOUT), "profile"),
    "hands in runs of NEST that nobody asked for": (with_nest, "nest"),
    "projects more power than its nodes take": (
        stated("projected.1", value=1500.0, high=1600.0),
        "power",
    ),
    "claims another layout": (stated("runs.0.layout", threads=4), "nodes"),
    "projects on more nodes than it offers": (stated("projected.0", nodes=9), "statistic"),
    "names the best repetition twice": (named_twice, "complete"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_are_caught_by_the_check_that_is_for_them(copy, name):
    do, wanted = CHEATS[name]
    do(copy)
    if do is not extra:
        copy.seal()
    assert verdict(copy) == (INCOMPLETE if wanted == "complete" else INVALID, {wanted})


def test_another_description_is_named_by_its_field_and_both_values(copy):
    """The rate of the bundle has 17 digits, that of the records 15, which is no difference."""
    rule = copy.bundle.tender.run("bench-small")
    told = copy.bundle.description(rule)["network"]["populations"][0]["neuron"]["rate_hz"]
    place = "description.network.populations.0"
    recorded = json.loads((copy.run() / "record.json").read_text())
    network = recorded["description"]["network"]["populations"][0]
    assert network["neuron"]["rate_hz"] != told
    record(f"{place}", size=50)(copy)
    copy.seal()
    report, _ = check.check(copy.path, copy.bundle)
    assert len(report.findings) == rule.repetitions
    for finding in report.findings:
        assert f"{place}.size=50; expected {network['size']}" in finding.text


@pytest.fixture
def projected(copy, monkeypatch):
    """An answer whose target is projected by a profile that predicts its measured runs."""

    def predicted(bundle, rule, machine, layout, settings):
        measured = copy_of.answer.run(rule.name).figures[formats.RTF].value
        return SimpleNamespace(rtf=measured * draws.log_normal("a test", 1.0, 0.5, 2.0)), None

    machine = machines.filled(machines.load("jureca-dc"))
    rule = copy.bundle.tender.target_rule
    by_profile = answers.project(copy.bundle, rule, machine, (2, 64, 2), {}, "base")
    with_profile(copy)
    with copy.edit() as content:
        content["projected"] = by_profile
        content["offer"] |= {"node_limit_w": 1000.0}
    copy.state()
    copy.seal()
    copy_of = SimpleNamespace(answer=formats.read_answer(copy.path))
    monkeypatch.setattr(check, "predicted", predicted)
    return copy


def test_an_honest_projection_by_a_profile_is_valid(projected):
    assert verdict(projected) == (VALID, set())


@pytest.mark.parametrize("name", ["value", "low", "high"])
def test_a_projection_that_the_profile_does_not_give_is_caught(projected, name):
    with projected.edit() as content:
        figure = content["projected"][0]
        figure[name] *= 0.9
        figure["low"] = min(figure["low"], figure["value"])
        figure["high"] = max(figure["high"], figure["value"])
    projected.state()
    projected.seal()
    assert verdict(projected) == (INVALID, {"profile"})


def test_in_a_trial_a_profile_of_another_machine_is_a_remark(copy):
    with_profile(copy)
    submission = check.Submission(copy.path, copy.bundle)
    refuted = list(check._refuted(submission))
    assert len(refuted) == len(submission.answer.runs)
    tender = copy.bundle.tender.model_copy(update={"quick": True})
    with copy.edit() as content:
        content["quick"] = True
    copy.seal()
    report, _ = check.check(copy.path, dataclasses.replace(copy.bundle, tender=tender))
    assert report.verdict == VALID, report.findings
    remarks = []
    for remarked in check.REMARKS.values():
        remarks += remarked(submission)
    assert list(report.remarks) == [*remarks, *refuted]


def test_disturbed_repetitions_and_such_that_differ_are_remarks(copy):
    """Of planted loads and times, those beyond the limits are remarked upon."""
    run = load_run(copy.run(1))

    def changed(load, factor):
        host = run.record.host.model_copy(update={"foreign_load": load})
        timing = run.record.timing
        times = timing.model_copy(update={"real_time_factor": factor * timing.real_time_factor})
        changes = {"host": host, "timing": times, "warnings": []}
        content = run.record.model_copy(update=changes)
        return dataclasses.replace(run, record=content)

    assert check.doubts([changed(0.0, 1.0), changed(0.05, 1.04)]) == []
    load, spread = check.doubts([changed(0.0, 1.0), changed(1.6, 1.45)])
    assert "repetition 2" in load and "1.6" in load and "45" in spread
    (spread,) = check.doubts([changed(0.0, 1.0), changed(0.0, 1.45)])
    assert "45" in spread


PROCESSORS = {
    "epyc-7742": ("AMD EPYC 7742 64-Core Processor", "Intel(R) Xeon(R) Processor"),
    "xeon-8480": ("Intel(R) Xeon(R) Platinum 8480+", "AMD EPYC-Genoa Processor"),
    "grace": ("Neoverse-V2", "AMD EPYC 9654 96-Core Processor"),
}


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_profile_of_another_vendor_than_the_nodes_is_a_remark(copy, processor):
    same_vendor, other = PROCESSORS[processor]
    with_profile(copy)
    profile = copy.path / formats.MACHINE / "jureca-dc.yaml"
    content = yaml.safe_load(profile.read_text())
    del content["measured_as"]
    content["processor"] = processor
    content["node"]["cores"]["value"] = 16  # each of the processors has as many
    profile.write_text(yaml.safe_dump(content))
    for cpu, remarks in ((same_vendor, 0), (None, 0), ("QEMU Virtual CPU", 0), (other, 1)):
        with copy.edit(formats.ENVIRONMENT) as content:
            for node in content["nodes"]:
                node["processor"] = cpu
        copy.seal()
        found = list(check._other_vendor(check.Submission(copy.path, copy.bundle)))
        assert len(found) == remarks
        assert all(processor in text and cpu in text for text in found)


def test_all_processors_with_a_data_sheet_have_a_vendor():
    assert all(check._vendor(processor) for processor in processors.names())


def by_profile(made):
    """A projection of the target by a profile, of 1.0."""
    with made.edit() as content:
        first = content["projected"][0]
        layout = {"ranks": 2, "threads": 64, "nodes": 1}
        ends = {"value": 1.0, "low": 0.9, "high": 1.1, "layout": layout}
        content["projected"].append(first | ends)


@pytest.mark.parametrize("factor", [0.05, 0.5, 2.0, 20.0])
def test_promises_and_projections_far_from_the_profile_are_remarks(copy, factor):
    """The honest projection is of 0.8 by hand, which is promised; the profile's is of 1.0."""
    by_profile(copy)
    with copy.edit() as content:
        content["committed"] = [
            promise | {"value": factor}
            for promise in content["committed"]
            if promise["run"] == "target" and promise["figure"] == formats.RTF
        ]
    found = list(check._far(check.Submission(copy.path, copy.bundle)))
    assert len(found) == (not 0.1 < factor < 10)
    assert all(f"{factor:.3g}" in text and " 1 " in text for text in found)
    with copy.edit() as content:
        ends = {"value": factor, "low": 0.9 * factor, "high": 1.1 * factor}
        content["projected"][0] |= ends
        content["committed"] = []
    found = list(check._far(check.Submission(copy.path, copy.bundle)))
    assert len(found) == (not 0.1 < factor < 10)
    assert all(f"{factor:.3g}" in text and " 1 " in text for text in found)


def test_a_projection_of_far_faster_nodes_than_the_measured_ones_is_a_remark(copy):
    """Synaptic events per second of a node, from what the rules expect of a run."""
    answer, tender = formats.read_answer(copy.path), copy.bundle.tender
    speeds = []
    for run in answer.runs:
        expected = tender.run(run.name).expected
        speeds.append(expected.events_per_s / run.figures[formats.RTF].value / run.layout.nodes)
    of_target = tender.target_rule.expected.events_per_s / 2  # of two nodes
    for factor, remarks in ((0.5, 0), (8.0, 0), (12.0, 1)):
        value = of_target / (factor * max(speeds))
        with copy.edit() as content:
            ends = {"value": value, "low": 0.9 * value, "high": 1.1 * value}
            content["projected"][0] |= ends
            content["committed"] = []
        found = list(check._far(check.Submission(copy.path, copy.bundle)))
        assert len(found) == remarks
        assert all(f"{value:.3g}" in text and f"{max(speeds):.3g}" in text for text in found)


def test_every_check_has_a_cheat():
    assert {wanted for _, wanted in CHEATS.values()} == set(CHECKS)


@pytest.mark.parametrize(
    "name",
    [formats.ANSWER, formats.ENVIRONMENT, formats.MANIFEST, "runs/bench-small/1/record.json"],
)
@pytest.mark.parametrize(
    "content", [None, "", "[]", '{"kind": "tender_answer", "format_version": 2}']
)
def test_files_that_are_no_such_files_never_pass(copy, name, content):
    path = copy.path / name
    path.unlink() if content is None else path.write_text(content)
    assert verdict(copy)[0] != VALID


def test_the_command_says_so_by_its_exit_status(spikemark, copy):
    given = ("tender", "check", copy.path, "--bundle", copy.folder / "bundle", "--json")
    status, output, _ = spikemark(*given)
    answer = json.loads(output)
    assert status == 0, answer
    assert answer.pop("format") == "tender-check-answer" and answer.pop("version")
    report, _ = check.check(copy.path, copy.bundle)
    disturbed = [*check._disturbed(check.Submission(copy.path, copy.bundle))]
    assert set(disturbed) <= set(report.remarks)
    assert answer == {"verdict": VALID, "findings": [], "remarks": [*report.remarks]}
    extra(copy)
    status, output, _ = spikemark(*given)
    assert status == 1 and [one["check"] for one in json.loads(output)["findings"]] == ["manifest"]
    (copy.folder / "bundle" / formats.RULES).write_text("Easier rules.")
    with pytest.raises(BadInput):
        formats.read_bundle(copy.folder / "bundle")


def test_only_who_measures_needs_the_sources(copy):
    """A buyer may keep a bundle without them; changed ones are refused everywhere."""
    bundle = copy.folder / "bundle"
    sources = bundle / formats.SOURCE
    sources.write_bytes(b"other")
    with pytest.raises(BadInput):
        formats.read_bundle(bundle)
    sources.unlink()
    read = formats.read_bundle(bundle)
    with pytest.raises(BadInput) as refused:
        options = measure.TenderRunOptions()
        measure.measure(read, "base", None, options, copy.folder / "work", print)
    assert refused.value.file == sources


@pytest.mark.parametrize("cumulative", [True, False])
def test_readings_are_integrated_over_the_measured_part(tmp_path, cumulative):
    """Power t W from 0 to 10 s: 1 to 3 s take 4 J. A second channel of another node adds its
    own.
    """
    rows = ["node,source,channel,time_s,energy_j,power_w"]
    for node in (0, 1):
        for t in np.linspace(0, 10, 101):
            rows.append(
                f"{node},x,a,{t},{t * t / 2 if cumulative else ''},{'' if cumulative else t}"
            )
    path = tmp_path / "power.csv"
    path.write_text("\n".join(rows))
    assert check._integral(path, (1.0, 3.0)) == pytest.approx(8.0, rel=1e-3)
    for span in ((-1.0, 3.0), (5.0, 11.0), (1.0, 1.1)):
        with pytest.raises(BadInput):
            check._integral(path, span)
