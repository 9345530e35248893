"""Waiting for the slowest rank: one section of the page."""

from .section import section

__all__ = ["section"]
