"""Merges the warnings of many runs: warnings that differ only in numbers become one line with their range."""

import re
from collections import defaultdict

NUMBER = re.compile(r"\d+(?:\.\d+)?")


def merged(warnings: list[list[str]]) -> list[tuple[str, int]]:
    """Takes one list of warnings per run. Returns each line with the number of its runs, most runs first."""
    runs, numbers = defaultdict(set), defaultdict(list)
    for run, texts in enumerate(warnings):
        for text in texts:
            pattern = NUMBER.sub("{}", text.replace("{", "(").replace("}", ")"))
            runs[pattern].add(run)
            numbers[pattern].append(NUMBER.findall(text))
    lines = [(_filled(pattern, numbers[pattern]), len(members)) for pattern, members in runs.items()]
    return sorted(lines, key=lambda line: -line[1])


def _filled(pattern: str, numbers: list[list[str]]) -> str:
    ranges = []
    for values in zip(*numbers, strict=True):
        low, high = min(values, key=float), max(values, key=float)
        ranges.append(low if low == high else f"{low}–{high}")
    return pattern.format(*ranges)
