"""Pages: what was measured, what the models expect, and what is missing."""

from .conclude import conclude

__all__ = ["conclude"]
