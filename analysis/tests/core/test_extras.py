"""Libraries that only some commands need: without one, a command says what to install."""

import sys
import tomllib
from pathlib import Path

import pytest
import swept

from spikemark.core import extras
from spikemark.core.errors import BadInput
from spikemark.running import sweeps

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("library", extras.EXTRAS)
def test_a_library_belongs_to_the_extra_that_is_named(library):
    requirements = PROJECT["optional-dependencies"][extras.EXTRAS[library]]
    assert any(requirement.startswith(library) for requirement in requirements)
    assert not any(requirement.startswith(library) for requirement in PROJECT["dependencies"])


@pytest.mark.parametrize("library", extras.EXTRAS)
def test_a_missing_library_is_named_with_what_installs_it(library, monkeypatch):
    extras.require(library)
    assert extras.optional(library).__name__ == library
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadInput) as refused:
        extras.require(library)
    stand_in = extras.optional(library)
    with pytest.raises(BadInput) as used:
        print(stand_in.reader)
    for complaint in (refused.value, used.value):
        assert complaint.field == library and complaint.code == "missing"
        assert f"spikemark[{extras.EXTRAS[library]}]" in str(complaint)


def test_a_sweep_without_snakemake_ends_before_it_writes_anything(monkeypatch, tmp_path):

    results, runs = swept.Results(tmp_path / "x" / "here"), []
    monkeypatch.setitem(sys.modules, "snakemake", None)
    chosen = swept.Experiment.model_validate(swept.PLAIN)
    with pytest.raises(BadInput) as refused:
        sweeps.sweep(chosen, runs, results, lambda outcome: None)
    assert refused.value.field == "snakemake" and not results.path.exists()
