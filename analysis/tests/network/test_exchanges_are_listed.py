"""Each exchange of the mini-app stands where a reader looks for all of them."""

import re

import pytest

from spikemark.core import places
from spikemark.core.yaml_file import read_yaml
from spikemark.network.exchanges import EXCHANGES

#: Exchanges that the experiment leaves out, and why.
NOT_MEASURED = {
    "self": "a lane of one rank has it, whatever is asked for",
    "persistent": "needs MPI 4; the comment of the experiment names it",
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_the_page_of_the_mini_app_names_it(name):
    text = (places.root() / "docs" / "miniapp.md").read_text(encoding="utf-8")
    section = text.partition("\n## Exchanges\n")[2].partition("\n## ")[0]
    assert f"`{name}`" in section, "docs/miniapp.md, section Exchanges"


def test_the_experiment_measures_all_of_them():
    path = places.root() / "workflows" / "experiments" / "exchanges.yaml"
    measured = [name for entry in read_yaml(path)["grid"] for name in entry["exchange"]]
    assert sorted([*measured, *NOT_MEASURED]) == sorted(EXCHANGES)
    assert re.search(r"`persistent`", path.read_text(encoding="utf-8"))
