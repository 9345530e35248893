"""Commands that screens, pages and messages propose, ready to be pasted into a shell.

Every proposal is made by `command`, so that names with blanks are quoted and tests can carry out
what is proposed (tests/test_proposed_commands.py). Several short ones share a line, BETWEEN them;
words about a command stand BETWEEN it and the end of the line.
"""

import shlex

BETWEEN = "    "

Option = str | int | float | bool | object | list[object] | None


def command(*words: object, **options: Option) -> str:
    """The line of a shell that runs `spikemark` with words and options.

    `unit="ms"` becomes `--unit ms`, `details=True` becomes `--details`; a list repeats its option.
    Options that are None, False or an empty list are left out. A name may end in `_` where Python
    needs its word.

    Example:
        >>> command("waiting", "my times.npy", unit="ms", details=True)
        "spikemark waiting 'my times.npy' --unit ms --details"
    """
    line = ["spikemark", *map(str, words)]
    for name, value in options.items():
        flag = f"--{name.rstrip('_').replace('_', '-')}"
        if value is None or value is False:
            continue
        if value is True:
            line.append(flag)
            continue
        values = value if isinstance(value, list | tuple) else [value]
        for item in values:
            line += [flag, str(item)]
    return shlex.join(line)
