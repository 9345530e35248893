"""Every name that a page uses without a word is explained in its glossary."""

import pytest
from planned import view_of

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.quantity import KINDS
from spikemark.records.phases import PARTS
from spikemark.report.sections import glossary
from spikemark.report.sections.budget import EFFICIENCIES
from spikemark.waiting import PREDICTORS
from spikemark.waiting.budget import PARTS as CAUSES

PHASES = [phase for part in PARTS.values() for phase in part]
NAMES = [
    *(schedule.label for schedule in SCHEDULES.values()),
    *(f"{kind} (kind of number)" for kind in KINDS),
    *(f"{name} (predictor)" for name in PREDICTORS),
    *PHASES,
    *PARTS,
    *CAUSES,
    *(name for name in EFFICIENCIES.values() if "product" not in name),
    *("lane", "window", "cycle", "lag", "jitter", "POP", "synaptic event", "real-time factor", "mini-app"),
    *("D, delay ratio", "rank, thread", "placement", "wire", "interval", "pair of runs", "checksum", "CV"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_explained(tmp_path, name):
    terms = dict(glossary.section(view_of(tmp_path, [])).terms)
    assert len(terms[name]) > 15 and terms[name].endswith(".")
