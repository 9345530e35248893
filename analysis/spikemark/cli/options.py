"""What the values of options mean, and which options go together.

Options of commands arrive as texts and numbers. The functions here make settings, numbers of ranks,
machine profiles and descriptions of them, or raise BadInput with the name of the option.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spikemark.core.errors import BadInput

if TYPE_CHECKING:
    from spikemark.machines.parts import MachineOfParts
    from spikemark.machines.profile import Profile

MAX_COUNTS_PER_QUESTION = 64  # numbers of ranks, nodes or threads in one option
WHOLE_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def flag_of(name: str) -> str:
    """The option that a parameter of a command stands for.

    >>> flag_of("ranks_per_node"), flag_of("format_")
    ('--ranks-per-node', '--format')
    """
    return "--" + name.rstrip("_").replace("_", "-")


def _is_given(value: Any) -> bool:
    """Whether an option has a value; a flag that is False has none."""
    return value is not None and value is not False and value != [] and value != ()


def only_with(other: str, present: Any, **options: Any) -> None:
    """Refuse options that mean something only together with another.

    Args:
        other: what they need, in words: an option, or "a preset".
        present: the value of the other; None or False where it is absent.
        options: values by the names of parameters.

    Raises BadInput for the first of `options` that is given while the other is absent.

    Example:
        >>> only_with("--machine", None, nodes=4)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: --nodes: alone; expected with --machine
    """
    if _is_given(present):
        return
    for name, value in options.items():
        if _is_given(value):
            raise BadInput(
                field=flag_of(name), reason="alone", expected=f"with {other}", code="conflict"
            )


def one_form(format_: str | None, **others: Any) -> None:
    """Refuse options that change nothing of the one table that `--format` prints.

    Args:
        format_: the value of --format.
        others: values by the names of parameters.

    Raises BadInput for the first of `others` that is given beside --format.

    Example:
        >>> one_form("csv", json=False, details=False)
        >>> one_form("csv", json=True)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: --format='csv': beside --json; expected one of them
    """
    if format_ is None:
        return
    for name, value in others.items():
        if _is_given(value):
            raise BadInput(
                field="--format",
                value=format_,
                reason=f"beside {flag_of(name)}",
                expected="one of them",
                code="conflict",
            )


def above_0(option: str, value: float | None) -> None:
    """Raises BadInput for a number that is given and not above 0, or infinite.

    Example:
        >>> above_0("--rate", 8.0)
        >>> above_0("--rate", 0.0)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: --rate=0.0; expected a number above 0
    """
    if value is not None and not 0 < value < float("inf"):
        raise BadInput(field=option, value=value, expected="a number above 0", code="range")


def machine_profile(name: str, filled: bool = True) -> "Profile":
    """The profile of a machine of equal nodes.

    Args:
        name: of a file in machines/, or its path.
        filled: whether unknown values are assumed.

    Raises BadInput as `machines.load`, and for nodes with accelerators.

    Example:
        >>> machine_profile("jureca-dc").values["node.cores"].value
        128
    """
    from spikemark import machines

    profile = machines.load(name)
    profile.refuse_accelerators()
    return machines.filled(profile) if filled else profile


def machine_of_any_kind(name: str, filled: bool = True) -> "Profile | MachineOfParts":
    """The same for machines of parts and machines with accelerators, too.

    Raises BadInput as `machines.load_any`.

    Example:
        >>> list(machine_of_any_kind("two-generations").parts)
        ['older', 'newer']
    """
    from spikemark import machines

    machine = machines.load_any(name)
    return machines.filled(machine) if filled else machine


def whole_numbers(text: str, option: str, largest: int | None = None) -> list[int]:
    """The numbers of a text such as 16,32.

    >>> whole_numbers("16, 32", "--ranks")
    [16, 32]

    Raises BadInput for more than MAX_COUNTS_PER_QUESTION, for what is no whole number above 0, and
    for a number above `largest`.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > MAX_COUNTS_PER_QUESTION or not all(map(WHOLE_NUMBER.fullmatch, parts)):
        expected = (
            f"up to {MAX_COUNTS_PER_QUESTION} whole numbers from 1 to 999999999, such as 16,32"
        )
        raise BadInput(field=option, value=text, expected=expected)
    numbers = [int(part) for part in parts]
    if largest is not None and max(numbers) > largest:
        expected = f"numbers up to {largest}"
        raise BadInput(field=option, value=text, expected=expected, code="range")
    return numbers


def ranks_by_part(text: str | None) -> dict[str, int] | None:
    """Ranks by part of a machine, of a text such as x86=4,arm=8. Raises BadInput for others.

    Example:
        >>> ranks_by_part("older=4,newer=8")
        {'older': 4, 'newer': 8}
    """
    if text is None:
        return None
    from spikemark.launch.layout import by_part

    try:
        return by_part(text)
    except BadInput as error:
        raise BadInput(
            field="--on",
            value=text,
            reason=str(error),
            code=error.code,
        ) from None


def pairs(
    texts: list[str] | None,
    option: str,
    form: str,
    repeatable: bool = False,
) -> dict[str, str]:
    """Values by name, of texts NAME=VALUE.

    Args:
        texts: what the option was given, each time.
        option: as it is named in complaints, such as --column.
        form: what a text should look like, in words.
        repeatable: whether a name may come again; the last value counts.

    >>> pairs(["compute=update"], "--column", "NAME=THEIRS")
    {'compute': 'update'}

    Raises BadInput for a text of another form, and for a name that comes twice.
    """
    expected = form if repeatable else f"{form}, each name once"
    values: dict[str, str] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if not name or not value or (name in values and not repeatable):
            raise BadInput(field=option, value=text, expected=expected)
        values[name] = value
    return values


def settings(texts: list[str] | None) -> dict[str, Any]:
    """Values by field, of texts FIELD=VALUE, where a value is JSON or else text.

    >>> settings(["time.simulate_ms=1e2", "schedule=conventional"])
    {'time.simulate_ms': 100.0, 'schedule': 'conventional'}

    Raises BadInput for texts of another form, and for a list or an object that is no JSON.
    """
    from spikemark.core.reading import parsed_json

    values: dict[str, Any] = {}
    for field, text in pairs(texts, "--set", "FIELD=VALUE", repeatable=True).items():
        try:
            values[field] = parsed_json(text, f"--set {field}")
        except BadInput:
            if text.startswith(("{", "[")):
                raise
            values[field] = text
    return values


def is_file(network: str) -> bool:
    """Whether a network is named by a file, not as a preset.

    Example:
        >>> is_file("run.json"), is_file("microcircuit")
        (True, False)
    """
    from spikemark.core.yaml_file import names_file

    return names_file(network)


def read_description(path: Path, texts: list[str] | None = None) -> dict[str, Any]:
    """The run description in a file, changed by settings such as schedule=NAME.

    Files that it names are looked for beside it. Raises BadInput for a file without an object, and
    for settings that `settings` refuses.

    Example:
        >>> network = Path("tests/golden/analysis/networks/equal-4.json")
        >>> read_description(network, ["schedule=structure_aware"])["schedule"]
        'structure_aware'
    """
    from spikemark.core.fields import assign
    from spikemark.core.yaml_file import read_json_or_yaml
    from spikemark.network.named_files import located

    description = read_json_or_yaml(path, "a run description is needed")
    if not isinstance(description, dict):
        reason = "not a run description: one object is needed"
        raise BadInput(file=path, reason=reason, code="file")
    for field, value in settings(texts).items():
        assign(description, field, value)
    located_description: dict[str, Any] = located(description, path.parent)
    return located_description
