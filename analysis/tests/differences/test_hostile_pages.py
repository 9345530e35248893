"""Names in records and histories are words on the pages of `diff` and `history`."""

import json

import compared
import pytest
from html_page import Page

HOSTILE = "</style></svg><script>alert(1)</script><img src=x onerror='alert(1)'>\"&lt;$x^2$"


def _records(folder, name):
    """Two runs whose hosts, compilers and versions have this name."""
    about = {"host__cpu": name, "host__name": name, "provenance__compiler": name, "provenance__commit": name}
    return [
        compared.run(folder / side, mean_s=mean_s, **(about | {"provenance__version": name + side}))
        for side, mean_s in (("a", 1e-4), ("b", 2e-4))
    ]


def _diff(folder, name, spikemark):
    records = _records(folder, name)
    spikemark("diff", *records, "--html", folder / "page.html")
    return (folder / "page.html").read_text()


def _history(folder, name, spikemark):
    for record in _records(folder, name):
        status, _, errors = spikemark("history", "add", folder / "history", record)
        assert status == 0, errors
    for file in (folder / "history").iterdir():
        entries = [json.loads(line) for line in file.read_text().splitlines()]
        named = dict.fromkeys(("machine", "experiment", "setup"), name)
        file.write_text("".join(json.dumps(entry | named) + "\n" for entry in entries))
    status, _, errors = spikemark("history", folder / "history", "--html", folder / "page.html")
    assert status == 0, errors
    return (folder / "page.html").read_text()


@pytest.mark.parametrize("written", [_diff, _history])
def test_names_are_words_on_the_page(written, tmp_path, spikemark):
    (tmp_path / "plain").mkdir()
    (tmp_path / "hostile").mkdir()
    allowed, found = (
        Page(written(tmp_path / kind, name, spikemark))
        for kind, name in (("plain", "x"), ("hostile", HOSTILE))
    )
    assert found.loads == [] and set(found.tags) <= set(allowed.tags)
    assert found.tags.count("script") == allowed.tags.count("script") <= 1
    assert "alert(1)" in found.text
