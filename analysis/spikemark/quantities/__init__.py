"""Values with interval, unit and kind; tables and other parts of a page; numbers as words."""

#: Modules that other packages may import.
__all__ = ["answer", "elements", "quantity", "table", "words"]
