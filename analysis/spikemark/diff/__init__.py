"""Two results side by side: what differs, and whether the second one is slower.

And the history of a machine, which tells how much its times vary.
"""

#: Modules that other packages may import.
__all__ = ["history", "sides"]
