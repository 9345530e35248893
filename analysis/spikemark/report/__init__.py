"""The page of an experiment: what was measured, what the models expect, and what is missing."""

from .conclude import conclude
from .headline import Headline
from .page import build

__all__ = ["Headline", "build", "conclude"]
