"""What tests of counters and of energy share."""

import csv

import program


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def check_meters(record):
    for meter in record["meters"]:
        assert meter["status"] in ("ok", "unavailable", "denied")
        assert (meter["value"] is None) == (meter["status"] != "ok") == (meter["reason"] is not None), meter
        assert meter["value"] is None or meter["event"], meter


def refused(tmp_path, message, *arguments, **how):
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *arguments, **how)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not (tmp_path / "run").exists()
    return done.stderr
