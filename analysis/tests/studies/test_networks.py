"""The study of networks: planted spikes beside published rates, and published times as printed."""

import json
import re

import numpy as np
import pytest
from html_page import Page
from planned import ABSENT, write_experiment
from small_network import describe
from studied import exchanging, table

from spikemark.models.published import papers
from spikemark.presets import microcircuit
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, carry_out, networks


def test_networks_stand_beside_published_rates_and_times(tmp_path):
    """Spikes planted for two layers; a network of the published size is the only one whose time compares."""
    description = describe(areas=2, neurons=100, indegree=10, delay_ratio=10)
    description["record"]["spikes"] = True
    text = json.dumps(description).replace("area0", "L4E").replace("area1", "L4I")
    given = {"fields": {"preset.name": "microcircuit"}, "description": json.loads(text), "cycles": 10_000}
    results = write_experiment(tmp_path, [exchanging(1, **given), exchanging(2, **given, state=ABSENT)])
    (run,) = (results / "runs").iterdir()
    number = json.loads((run / "record.json").read_text())["totals"]["spikes"]
    steps = np.sort(np.random.default_rng(1).integers(0, 10_000, number))
    gids = np.where(np.arange(number) % 4, 3, 150)  # three of four in L4E
    np.save(run / "spikes.npy", np.column_stack([gids, steps]).astype(np.uint32))
    done = carry_out.write(STUDIES["networks"], gather(results))
    one, two = table(done, "rates").rows
    assert (one["population"], two["population"]) == ("L4E", "L4I")
    assert one["rate_hz"] == pytest.approx(0.75 * number / 100, rel=0.01)
    assert one["published_hz"] == microcircuit.RATES.hz["L4E"]
    assert one["ratio"] == pytest.approx(one["rate_hz"] / one["published_hz"])
    assert "within" in done.findings.sentence and "published size" not in done.findings.sentence
    times = table(done, "real_time").rows
    assert [r["published"] for r in times if r.get("who") == "INC-3000"] == [0.25]
    own = [r["here"] for r in times if r["who"] == "mini-app"]
    assert own and all(cell is networks.OTHER_SIZE for cell in own)
    page = Page(done.page.read_text(encoding="utf-8"))
    assert any(image.startswith("Activity of microcircuit") for image in page.images)


def test_every_published_time_follows_from_what_is_printed():
    """The factor is the number that is printed, or one over it where it says how much faster."""
    for line in papers.rows("real_time"):
        factor, numbers = float(line["real_time_factor"]), re.findall(r"[\d.]+", line["printed"])
        values = [float(n) for n in numbers]
        words = {"four times larger than biological real time": 4.0, "very close to real time": 1.0}
        values = values or [words[line["printed"]]]
        candidates = [*values, *(1 / v for v in values), values[0] / values[-1]]
        assert any(factor == pytest.approx(c, rel=0.01) for c in candidates), line
        assert line["source"] and line["where"]
