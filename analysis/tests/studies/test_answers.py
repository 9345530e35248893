"""Answers that need no run: numbers of the papers' equations and tables, and how frames become
quantities.
"""

import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from spikemark.prediction import anchors, effects, points
from spikemark.quantities.quantity import Quantity, missing
from spikemark_studies import (
    beyond,
    claims,
    count_messages,
    cycles,
    jitter_map,
    lober,
    nest_delivery,
    pick,
    shehzad,
    simula,
    study,
)
from spikemark_studies.study import Runs


@pytest.fixture
def nothing(tmp_path) -> Runs:
    return Runs(tmp_path, quick=True)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (lober._drawn_maxima, 95),
        (lober._drawn_waiting, 2.595),  # E of the largest of 128 standard normals
        (lober._drawn_waiting_saved, 68.38),  # 1 - 1 / sqrt(10)
        (lober._irregular_drawn_conventional, 84.11),  # eqs 13 and 14, evaluated elsewhere
        (lober._irregular_drawn_aware, 47.96),  # eqs 15 to 17
        (lober._delay_ratio, 10),
        (lober._area_neurons, 129_068),
        (lober._indegree, 5842),
        (lober._size_spread, 0.198),
        (lober._share_between, 18.5),
        (simula._products_x86, 10),
        (simula._products_arm, 3),
        (simula._less_power, 34.6),
        (simula._event_of_text_arm, 1.505),  # 1110 J / (20480 x 1125 x 3.2 Hz x 10 s)
        (simula._event_of_text_x86, 4.667),
        (simula._power_of_full_server, 181.1),  # the median of nine servers
        (simula._baseline_of_servers, 276.8),
        (lober._communication_share, 60.66),  # 8.1381 of 13.4166
        (lober._collocation_share, 3.925),
        (lober._neurons_of_both_kinds, 51.74),
        (shehzad._mean_saving, 10.1),
        (shehzad._blocks_before_reading, 50),
        (shehzad._targets_outside, 0),
    ],
)
def test_numbers_of_equations_and_tables(nothing, answer, value):
    assert answer(nothing).value.value == pytest.approx(value, rel=5e-3)


def claim_of(study_name: str, id: str) -> claims.Claim:
    (found,) = [each for each in study.load_paper(study_name).claims if each.id == id]
    return found


def test_measured_exchanges_of_ten_fold_size_could_have_taken_longer_than_ten(nothing):
    """As they do on one of the clusters for larger blocks; a linear one is no less than ten."""
    claim = claim_of("lober", "sublinear-exchange")
    answer = lober._d_fold_exchange(nothing)
    assert claims.judge(claim, answer).verdict == claims.CONSISTENT
    assert claim.unopposed() == []
    low, high = answer.value.interval
    assert low == pytest.approx(10.3, abs=0.1) and high == pytest.approx(34.4, abs=0.1)
    larger = max(lober._d_fold_percent(lober.LARGE_BLOCK_BYTES).values())
    assert larger > 200
    for percent in (100, larger):
        other = replace(answer, value=Quantity(percent, kind="literature"))
        assert claims.judge(claim, other).verdict == claims.CONTRADICTED


def test_messages_of_one_algorithm_never_fall_with_ranks(nothing, monkeypatch):
    claim = claim_of("lober", "library-switches")
    answer = lober._fewer_messages(nothing)
    assert answer.value.value == pytest.approx(6 / 31)  # 512 bytes, from 32 to 64 ranks
    judged = claims.judge(claim, answer)
    assert (judged.verdict, judged.misses) == (claims.BY_CONSTRUCTION, False)
    for of_rank in (lambda ranks: ranks - 1, np.log2):
        rows = []
        for ranks in (2, 4, 8, 16, 32, 64, 128):
            counted = {"ranks": str(ranks), "most_of_a_rank": str(int(of_rank(ranks)))}
            rows.append({"call": "alltoall", "block_bytes": "256", **counted})
        monkeypatch.setattr(lober.papers, "rows", lambda name, rows=rows: rows)
        assert claims.judge(claim, lober._fewer_messages(nothing)).misses


def test_allgather_of_open_mpi_is_no_gather_and_broadcast(nothing):
    answer = shehzad._allgather_over_gather_and_broadcast(nothing)
    assert answer.value.value == pytest.approx(160 / 62)
    claim = claim_of("shehzad", "gather-and-broadcast")
    assert claims.judge(claim, answer).verdict == claims.NOT_TESTABLE  # another library may


def test_fences_of_open_mpi_are_barriers(nothing):
    answer = shehzad._meetings(nothing)
    assert answer.value.value == pytest.approx(5)
    assert answer.value.high == pytest.approx(5 * 222 / 160)
    assert answer.value.low == pytest.approx(1.56, rel=0.01)  # blocks of 1024 bytes
    claim = claim_of("shehzad", "less-synchronisation")
    assert claims.judge(claim, answer).verdict == claims.NOT_TESTABLE


def test_the_speed_up_of_the_tables_is_that_of_all_of_their_rows(nothing):
    answer = shehzad._speed_up_over_ranks(nothing)
    assert answer.value.low == pytest.approx(1.22, abs=0.01)
    assert answer.value.value == pytest.approx(1.54, abs=0.01)
    assert answer.value.high == pytest.approx(2.18, abs=0.01)
    judged = claims.judge(claim_of("shehzad", "speed-up"), answer)
    assert judged.verdict == claims.UNDECIDED


def test_events_that_the_text_leaves_open_decide_nothing(nothing):
    """With synapses from outside the printed energies come out, without them they do not."""
    for id, answer in (
        ("event-on-boards", simula._event_of_text_arm),
        ("event-on-servers", simula._event_of_text_x86),
    ):
        claim, found = claim_of("simula", id), answer(nothing)
        assert claim.rule.holds(found.value.low, claim.published)
        assert not claim.rule.holds(found.value.value, claim.published)
        assert claims.judge(claim, found).verdict == claims.UNDECIDED


@pytest.mark.slow
def test_ethernet_takes_longer_than_infiniband(nothing):
    """A prediction is of one machine, so that each network needs its own."""
    for processes in (32, 64):
        infiniband_s, ethernet_s = simula._with_either_network(processes)
        assert (ethernet_s > infiniband_s).all()


@pytest.mark.slow
def test_ratios_of_kernel_times_are_as_wide_as_what_the_profiles_leave_open():
    """Of runs with one seed, whose own scatter says nothing of the kernel times."""
    ratio = Quantity(4.76, 4.76, 4.76, kind="simulated")
    drawn = simula._drawn_s(simula.JETSON, 1) / simula._drawn_s(simula.IB, 1)
    wide = simula._over_profiles(ratio, drawn)
    assert wide.value == ratio.value and wide.low < 3 < 7 < wide.high
    judged = claims.judge(claim_of("simula", "jetson-core"), claims.StudyAnswer(wide))
    assert judged.verdict == claims.UNDECIDED


def test_targets_of_a_prediction_are_on_one_machine():
    """Otherwise all of them would be predicted for the first one's."""
    runs = [run for run in points.published() if run.program == "dpsnn" and not run.part]
    machines = {run.machine: run for run in runs}
    first, second, *_ = machines.values()
    with pytest.raises(ValueError, match="one machine"):
        anchors.predicted([first, second], runs[:2], effects.spreads())


@pytest.mark.slow
def test_claims_about_waiting_are_asked_over_the_jitter(nothing):
    """Each of the map: a number has an interval, an order is asked in each draw."""
    asked = jitter_map.questions(cycles.MINI_APP)
    for id in ("dispersion-falls", "only-part-of-maxima", "waiting-saved"):
        low, high = jitter_map.interval_over_jitter(id)
        assert low < 1 < high
    orders = [asked["order-of-waiting-jureca"](jitter) for jitter in jitter_map.drawn_jitters()]
    claim = claim_of("lober", "order-of-waiting-jureca")
    answer = claims.StudyAnswer(claim.published.order, drawn_orders=orders)
    assert 0 < orders.count(claim.published.order) < len(orders)
    assert claims.judge(claim, answer).verdict == claims.UNDECIDED


@pytest.mark.slow
def test_delivery_of_all_phases_is_less_than_that_of_computing(nothing):
    share = lober._delivery_of_propagation(nothing).value
    assert share.low < 50 < share.high
    assert share.value < lober._delivery_of_thread(nothing).value.value


@pytest.mark.slow
def test_messages_are_counted_as_the_table_has_them(tmp_path, monkeypatch):
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    source, program = tmp_path / "calls.c", tmp_path / "calls"
    source.write_text(count_messages.PROGRAM, encoding="utf-8")
    subprocess.run(["mpicc", "-o", str(program), str(source)], check=True)
    for call in ("alltoall", "allgather", "fence_rdma"):
        size = count_messages.BLOCK_BYTES[call][0]
        of_all, most = count_messages._counted(program, call, 4, size)
        rows = [row for row in shehzad.papers.rows("openmpi_messages") if row["call"] == call]
        (row,) = [row for row in rows if row["ranks"] == "4" and row["block_bytes"] == str(size)]
        assert (int(row["messages_of_all"]), int(row["most_of_a_rank"])) == (of_all, most)


def test_steps_of_allgather_depend_on_its_bytes(nothing):
    answer = shehzad._steps_over_allgather(nothing)
    assert answer.value.interval == pytest.approx((5 / 16, 1))
    claim = claim_of("shehzad", "fewer-steps")
    assert claims.judge(claim, answer).verdict == claims.UNDECIDED


@pytest.mark.slow
def test_the_busiest_area_computes_longer_and_says_what_it_fires(nothing):
    excess = lober._excess_of_most_active(nothing).value
    assert 20 < excess.low <= excess.value <= excess.high
    ratio = lober._busiest_jureca_over_supermuc(nothing).value
    assert 0.5 < ratio.low <= ratio.value <= ratio.high < 2
    assert lober._excess(cycles.MINI_APP, lober.JURECA) < lober._excess(
        cycles.MINI_APP, lober.SUPERMUC
    )


@pytest.mark.slow
def test_what_is_predicted_of_dpsnn_is_not_what_was_published(nothing):
    """Ratios of predictions: near the published ones, but from other rows, and with an interval."""
    published = {simula._slower_on_boards: 18.5 / 3.74, simula._four_cores_of_board: 63.68 / 18.5}
    for answer, ratio in published.items():
        value = answer(nothing).value
        assert value.low < ratio < value.high
        assert value.value != pytest.approx(ratio, rel=1e-3)
    assert 1 < simula._most_over_32(nothing).value.value < 23.7 / 0.915


@pytest.mark.slow
def test_intervals_of_what_others_measured_hold_their_middle_and_leave_out_idle_servers(nothing):
    assert len(simula._busy_servers()) == len(simula._similar_servers()) - 1
    for answer in (simula._power_of_full_server, simula._baseline_of_servers):
        value = answer(nothing).value
        assert value.low < value.value < value.high
    for nodes in (4, 32):
        measured = lober._measured_parts(lober.GROUND_SERIES, nodes)
        assert 0 < measured.communicate_s < measured.total_s and measured.scatter > 1
    share = lober._communication_share(nothing).value
    assert 50 < share.low < share.value < share.high
    value = lober._measured_over_bare()
    assert 1 < value.low < value.value < value.high


def test_intervals_over_fits_add_independent_differences(monkeypatch):
    """Two guesses and a source: 3, 4 and 0 below make 5."""
    costs = [
        cycles.NestCosts(without=("a",)),
        cycles.NestCosts(off="x", factor=2.0),
        cycles.NestCosts(off="x", factor=0.5),
        cycles.NestCosts(off="y", factor=2.0),
    ]
    answers = dict(zip([cycles.NestCosts(), *costs], [10.0, 12.0, 7.0, 10.5, 6.0], strict=True))
    monkeypatch.setattr(lober, "refitted", lambda: costs)
    value = lober._over_fits(lambda program: answers[program])
    assert (value.value, value.low) == (10, 5)
    assert value.high == pytest.approx(10 + np.hypot(2, 0.5))


@pytest.mark.slow
def test_the_fastest_exchanges_are_among_those_compared(nothing):
    table = beyond._best_exchanges(nothing).tables[0]
    assert len(table.rows) == 8
    cells = [
        cell.split()[0] for row in table.rows for key, cell in row.items() if key.endswith(" B")
    ]
    assert set(cells) <= set(beyond.COMPARED) and len(set(cells)) > 1


def frame(**columns) -> pd.DataFrame:
    size = len(next(iter(columns.values())))
    fixed = {
        "network": ["x"] * size,
        "ranks": [2] * size,
        "threads": [1] * size,
        "kind": ["simulated"] * size,
    }
    fixed |= {"repetition": [1] * size, "oversubscribed": [False] * size}
    return pd.DataFrame({**fixed, **columns})


def test_pick_and_mean():
    runs = frame(schedule=["a", "a", "b"], t=[1.0, 3.0, np.nan], **{"swept.cv": [0.1, None, 0.1]})
    assert len(pick.pick(runs, schedule="a")) == 2
    assert len(pick.pick(runs, schedule=["a", "b"], cv=0.1)) == 2
    assert len(pick.pick(runs, nowhere=1)) == 0
    assert pick.mean(pick.pick(runs, schedule="a"), "t").value == 2
    assert not pick.mean(pick.pick(runs, schedule="b"), "t")
    assert not pick.mean(pick.pick(runs, schedule="c"), "t")
    assert not pick.mean(runs.assign(oversubscribed=True), "t")


def test_reduction_pairs_networks():
    base = frame(network=["x", "y", "z"], ranks=[2] * 3, t=[1.0, 2.0, 4.0])
    other = base.assign(t=0.75 * base["t"])
    found = pick.reduction(base, other, "t")
    assert (found.value, found.low, found.high) == pytest.approx((25, 25, 25))
    assert found.unit == "%"
    assert not pick.reduction(base, other.assign(network="w"), "t")
    assert not pick.reduction(base.iloc[:0], other, "t")


def test_order_is_largest_first_and_lacks_what_one_lacks():
    assert pick.order({"a": Quantity(1), "b": Quantity(3), "c": Quantity(2)}) == ["b", "c", "a"]
    assert pick.order({"a": Quantity(1), "b": missing("no run")}).reason == "no run"


COMPUTING = ("part.deliver", "part.update", "part.thread_wait", "part.collocate")


@pytest.mark.parametrize(
    ("swept", "neurons"),
    [
        ({}, [20_480, 20_480]),
        ({"swept.compute_of": [None, None]}, [20_480, 20_480]),
        ({"swept.compute_of": ['{"preset.neurons": 327680}', None]}, [327_680, 20_480]),
        ({"swept.cv": [None, 0.1]}, [20_480]),
    ],
)
def test_neurons_of_simulated_servers_are_those_of_the_sweep(swept, neurons):
    """Where a sweep varies less, as with --quick, columns are empty or not there."""
    computing = {name: [0.25, 0.25] for name in COMPUTING}
    runs = frame(t=[1.0, 2.0], **computing, **swept)
    found = simula._sized({"interconnect": SimpleNamespace(runs=runs)})
    assert found["neurons_of"].tolist() == neurons
    assert set(found[simula.COMPUTING]) == {1.0}


@pytest.mark.slow
def test_no_published_time_of_dpsnn_decides_how_it_scales_on_a_board(monkeypatch):
    """Those of its authors three times as long leave the ratio as it is."""
    before = simula._times_as_fast("SIM-T3", 2).value
    changed = []
    for run in points.published():
        is_of_authors = run.program == "dpsnn" and run.series != simula.OWN_SERIES
        changed.append(replace(run, seconds=3 * run.seconds) if is_of_authors else run)
    monkeypatch.setattr(points, "published", lambda: tuple(changed))
    assert simula._times_as_fast("SIM-T3", 2).value == before
    assert before.interval[0] < before.value < before.interval[1]


@pytest.mark.slow
def test_what_no_cost_of_nest_can_change_is_not_reproduced(nothing):
    """The audit of these claims: each cost of NEST up to a thousand times less or more."""
    gains = lober._gain_growth_by_costs()
    low, high = gains.reach
    assert 1.1 < low < gains.value.value < high < 1.4  # never 1
    growth = lober._delivery_growth_by_costs()
    assert growth.reach[0] > 1 and growth.reach[1] < 2.6
    gains_more = claim_of("lober", "delivery-gains-more")
    limit = claims.Limit(at=[1], says="above 1, the gain grows")
    could_be_reproduced = {"earns": claims.REPRODUCED, "limit": limit}
    strict = gains_more.model_copy(update=could_be_reproduced)
    judged = claims.judge(strict, gains)
    assert judged.verdict == claims.CONSISTENT and "no cost" in judged.why
    measured = lober._delivery_gain_growth(nothing)
    assert claims.judge(gains_more, measured).verdict == claims.UNDECIDED
    open_to_both = lober._others_over_own_area(nothing)
    assert open_to_both.reach[0] < 1.1 < open_to_both.value.value


@pytest.mark.slow
def test_what_was_measured_of_a_thread_of_nest_could_have_been_another(nothing, monkeypatch):
    """Updates that wait for memory, and updates that take more than delivery, contradict."""
    longer = claim_of("lober", "model-updates-longer")
    assert longer.unopposed() == []
    found = lober._mam_update_over_benchmark(nothing)
    assert found.value.kind == "measured" and found.reach is None
    assert claims.judge(longer, found).verdict == claims.CONSISTENT  # noticeably is no number
    assert lober._delivery_of_thread(nothing).value.low > 50
    measured = {name: lober.papers.rows(name) for name in ("nest_delivery", "nest_update")}
    alike = [{**row, "update_ms": row["steps"]} for row in measured["nest_update"]]
    slow = [{**row, "update_ms": f"{40 * float(row['update_ms'])}"} for row in alike]
    rows = {**measured, "nest_update": alike}
    monkeypatch.setattr(lober.papers, "rows", rows.__getitem__)
    other = lober._mam_update_over_benchmark(nothing)
    assert claims.judge(longer, other).verdict == claims.CONTRADICTED
    rows["nest_update"] = slow
    assert lober._delivery_of_thread(nothing).value.high < 50


def test_a_thread_of_nest_was_measured_in_all_configurations():
    rows = lober.papers.rows("nest_delivery")
    assert tuple(rows[0]) == nest_delivery.COLUMNS
    seen = {(int(row["threads"]), int(row["ranks"]), row["placement"]) for row in rows}
    placements = (nest_delivery.CONVENTIONAL, nest_delivery.BY_AREA)
    asked = {(*of, placement) for of in nest_delivery.CONFIGURATIONS for placement in placements}
    assert seen == asked and len(rows) == len(asked) * len(nest_delivery.SEEDS)
    for row in rows:
        assert int(row["synapses"]) == int(row["neurons"]) * nest_delivery.INDEGREE
        sources = int(row["ranks"]) * nest_delivery.AREA_NEURONS / nest_delivery.PART
        expected = sources * nest_delivery.RATE_HZ * nest_delivery.MEASURED_MS / 1e3
        assert int(row["spikes"]) == pytest.approx(expected, rel=0.15)
    updates = lober.papers.rows("nest_update")
    assert tuple(updates[0]) == nest_delivery.UPDATE_COLUMNS
    assert {int(row["neurons"]) for row in updates} == set(nest_delivery.UPDATED_MS)


def test_no_cost_of_dpsnn_lets_more_processes_pay(nothing):
    low, high = simula._most_over_32(nothing).reach
    assert 1 < low < high


def test_uniform_areas_with_fewer_synapses_between_them_save_more(nothing):
    """Why the irregular accesses of the multi-area model had to be more than in the benchmark."""
    of_benchmark = lober._irregular_of_equal_areas(0.5)
    assert of_benchmark == pytest.approx(29.5, abs=0.1)
    assert lober._irregular_of_equal_areas(1 / 3) == pytest.approx(46.4, abs=0.1)
    assert lober._irregular_of_equal_areas(0.185) > 60


def test_algorithm_1_pairs_ranks_if_its_power_of_two_is_that_of_the_step():
    for ranks in shehzad.LITERAL_RANKS:
        for (rank, step), target in shehzad.literal_targets(ranks).items():
            assert target == rank ^ 2 ** (step - 1)
