"""Predictors of waiting for the slowest rank, each fitted on conventional runs. One file, one line here."""

from spikemark.waiting.correlated import Correlated
from spikemark.waiting.iid import Iid
from spikemark.waiting.predictor import Prediction, Predictor
from spikemark.waiting.replay import Replay

PREDICTORS: dict[str, type[Predictor]] = {p.name: p for p in (Iid, Correlated, Replay)}

__all__ = ["PREDICTORS", "Prediction", "Predictor"]
