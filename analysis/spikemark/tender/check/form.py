"""What values may look like: small functions that say what is wrong with a value, or None.

Each takes the value and the path to it, such as `timing.simulate_s`, and returns a line that names the path,
the value and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

LARGEST = 1e18
MOST_ITEMS = 10_000_000
ROUNDED = 1e-12  # relative; defaults that were computed may differ by so much


def _refused(where: str, value: object, allowed: str) -> str:
    shown = repr(value)
    return f"{where or 'top'}={shown if len(shown) < 80 else shown[:79] + '…'}: allowed is {allowed}"


def number(low: float = 0, high: float = LARGEST, null: bool = False) -> Callable:
    """A number from `low` to `high`, or null."""

    def look(value, where: str):
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high
        if good or (null and value is None):
            return None
        return _refused(where, value, f"a number from {low:g} to {high:g}" + (" or null" if null else ""))

    return look


def integer(low: int = 0, high: int = 2**63, null: bool = False) -> Callable:
    """A whole number from `low` to `high`, or null."""

    def look(value, where: str):
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        if good or (null and value is None):
            return None
        return _refused(where, value, f"a whole number from {low} to {high}" + (" or null" if null else ""))

    return look


def words(pattern: str = "", null: bool = False) -> Callable:
    """A text that matches `pattern` as a whole, if there is one, or null."""

    def look(value, where: str):
        if (value is None and null) or (
            isinstance(value, str) and (not pattern or re.fullmatch(pattern, value))
        ):
            return None
        return _refused(where, value, f"a text {pattern}".rstrip() + (" or null" if null else ""))

    return look


def truth(null: bool = False) -> Callable:
    """True or false, or null."""

    def look(value, where: str):
        if isinstance(value, bool) or (null and value is None):
            return None
        return _refused(where, value, "true or false" + (" or null" if null else ""))

    return look


def one_of(*values) -> Callable:
    """One of these values, of the same type."""

    def look(value, where: str):
        if any(value == one and isinstance(value, type(one)) for one in values):
            return None
        return _refused(where, value, " or ".join(map(repr, values)))

    return look


def listing(item: Callable, least: int = 0, most: int = MOST_ITEMS) -> Callable:
    """A list of `least` to `most` values that `item` allows."""

    def look(value, where: str):
        if not isinstance(value, list) or not least <= len(value) <= most:
            return _refused(where, value, f"a list of {least} to {most}")
        return _first(item(one, f"{where}[{i}]") for i, one in enumerate(value))

    return look


def mapping(item: Callable, least: int = 0) -> Callable:
    """An object with any keys, whose values `item` allows."""

    def look(value, where: str):
        if not isinstance(value, dict) or len(value) < least:
            return _refused(where, value, "an object" + (" that is not empty" if least else ""))
        return _first(item(one, f"{where}.{key}".lstrip(".")) for key, one in value.items())

    return look


def fields(needed: dict, optional: dict | None = None, null: bool = False, others: bool = True) -> Callable:
    """An object with the fields `needed`, perhaps with `optional` ones, and with `others` of any value."""

    def look(value, where: str):
        if value is None and null:
            return None
        if not isinstance(value, dict):
            return _refused(where, value, "an object" + (" or null" if null else ""))
        for key in needed:
            if key not in value:
                return f"{where}.{key} is missing".lstrip(".")
        known = {**needed, **(optional or {})}
        if not others:
            for key in value:
                if key not in known:
                    return f"{where}.{key}: unknown; allowed are {', '.join(known)}".lstrip(".")
        return _first(known[key](value[key], f"{where}.{key}".lstrip(".")) for key in value if key in known)

    return look


def anything(value, where: str) -> None:
    """Allows every value."""


def either(*looks: Callable) -> Callable:
    """What one of them allows; else the complaint of the last."""

    def look(value, where: str):
        said = [one(value, where) for one in looks]
        return None if None in said else said[-1]

    return look


def _first(complaints):
    return next((said for said in complaints if said is not None), None)


def differs(wanted, found, where: str = ""):
    """Where two values of JSON differ first, as a line; None if they are equal, up to rounding."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted({*wanted, *found}):
            at = f"{where}.{key}".lstrip(".")
            if key not in found:
                return f"{at} is missing"
            if key not in wanted:
                return f"{at} is not in the tender"
            said = differs(wanted[key], found[key], at)
            if said is not None:
                return said
        return None
    if isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            return f"{where} has {len(found)} entries; the tender has {len(wanted)}"
        return _first(differs(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(wanted, found)))
    same = wanted == found and isinstance(wanted, bool) == isinstance(found, bool)
    if isinstance(wanted, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        same = abs(wanted - found) <= ROUNDED * abs(wanted)
    return None if same else _refused(where, found, f"{str(wanted)[:80]}, as in the tender")
