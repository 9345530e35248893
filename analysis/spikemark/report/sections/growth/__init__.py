"""Growth of cost: one section of the page."""

from .section import section

__all__ = ["section"]
