"""Digests of what JSON can hold, in which a number has one form: 4, 4.0 and 4e0 are the same.

Whoever writes a description chooses between these forms, and a file in YAML or a setting of the
command line may choose otherwise. So digests do not depend on them. Earlier versions hashed the
text as it was written; `digest_as_written` finds what they named by that.
"""

import hashlib
import json

from .fields import as_recorded


def canonical(value: object) -> object:
    """The value with one form for each number: equal numbers become the same text of JSON.

    A whole number becomes an integer of the same value, so -0.0 becomes 0, and integers keep all
    their digits. Any other number gets the digits that a record holds.

    Args:
        value: dictionaries, lists and tuples of what JSON can hold.

    Example:
        >>> canonical({"rate_hz": [4, 4.0, 4e0, -0.0], "shared": True, "resolution_ms": 0.1})
        {'rate_hz': [4, 4, 4, 0], 'shared': True, 'resolution_ms': 0.1}
        >>> canonical([2**53 + 1, 2.0**53])
        [9007199254740993, 9007199254740992]
    """
    if isinstance(value, dict):
        return {name: canonical(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(part) for part in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return as_recorded(value)


def canonical_text(value: object) -> str:
    """The canonical value as JSON, fields by name.

    Example:
        >>> canonical_text({"size": 2e3, "name": "E"})
        '{"name": "E", "size": 2000}'
    """
    return json.dumps(canonical(value), sort_keys=True)


def digest(value: object) -> str:
    """The SHA-256 of a value that JSON can hold, in hexadecimal digits.

    Example:
        >>> digest({"rate_hz": 4}) == digest({"rate_hz": 4.0})
        True
    """
    return of_text(canonical_text(value))


def digest_as_written(value: object) -> str:
    """The same, where 4 and 4.0 differ: what earlier versions wrote into names and files.

    Example:
        >>> digest_as_written({"rate_hz": 4}) == digest_as_written({"rate_hz": 4.0})
        False
    """
    return of_text(json.dumps(value, sort_keys=True))


def of_text(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits.

    Example:
        >>> of_text("{}")[:12]
        '44136fa355b3'
    """
    return hashlib.sha256(text.encode()).hexdigest()
