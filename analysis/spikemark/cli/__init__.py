"""The command line, one file per verb."""

#: Modules that other packages may import.
__all__ = ["groups", "options", "output", "panels", "params"]
