"""Cycle times: one section of the page."""

from .section import section

__all__ = ["section"]
