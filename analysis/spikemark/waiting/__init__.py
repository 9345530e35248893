"""Predictors of waiting for the slowest rank, fitted on conventional runs: one file each, one line here."""

from .correlated import Correlated
from .iid import Iid
from .predictor import Prediction, Predictor
from .replay import Replay

PREDICTORS: dict[str, type[Predictor]] = {p.name: p for p in (Iid, Correlated, Replay)}

__all__ = ["PREDICTORS", "Prediction", "Predictor"]
