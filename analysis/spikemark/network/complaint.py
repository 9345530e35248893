"""The one line that says what is wrong with a run description."""

from typing import Any

from pydantic import ValidationError

from spikemark.core.errors import shown


def complaint(error: ValidationError, description: Any) -> str:
    """Field, value and what is allowed. Where one of several kinds is allowed, the line names all of them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for problem in error.errors(include_url=False):
        at, path = description, []
        for part in problem["loc"]:  # names of kinds are no fields
            inside = part in at if isinstance(at, dict) else isinstance(at, list) and isinstance(part, int)
            if inside or (problem["type"] == "missing" and part == problem["loc"][-1]):
                path.append(str(part))
                at = at[part] if inside else None
        found.setdefault(".".join(path), []).append(problem)
    found = {field: problems for field, problems in found.items() if not _any_inside(field, found)}
    field, problems = next(iter(found.items()))
    problems = [p for p in problems if p["type"] == "value_error"] or problems  # of the kind that was meant
    said = " or ".join(dict.fromkeys(_allowed(problem) for problem in problems))
    if problems[0]["type"] in ("missing", "value_error"):
        line = ": ".join(part for part in (field, said) if part)
    else:
        line = f"{field or 'run description'}={shown(problems[0]['input'])}; allowed: {said}"
    return line if len(found) == 1 else f"{line} (and {len(found) - 1} more)"


def _any_inside(field: str, others: dict[str, Any]) -> bool:
    """True if a part of the field is complained about. Then the field is of the kind with such parts."""
    return any(other.startswith(f"{field}.") for other in others)


def _allowed(problem: dict[str, Any]) -> str:
    if problem["type"] in ("model_type", "dict_type"):
        return "a mapping of fields"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return "missing" if problem["type"] == "missing" else message
