"""A prediction for a ledger, of a run that is there."""

from spikemark.prediction.ledger import same_run


def content(run, factor: float = 1.0, **changed) -> dict:
    """An entry that predicts the real-time factor of a run within 10 %, `factor` times what it took."""
    took = factor * run.record.timing.real_time_factor
    figure = {"value": took, "low": took / 1.1, "high": 1.1 * took, "unit": "1", "kind": "modelled"}
    about = same_run.about(run.record.description, run.record.ranks, run.record.threads)
    return {
        "asked": "schedule", "method": "replay", "figures": {"real_time_factor": figure},
        "limits": "of the prediction", "run": about, "profile": None, "source": "test",
        "source_sha256": "0" * 64, "spikemark": {"version": "0", "commit": None}, **changed,
    }  # fmt: skip
