"""Says in words of ours what pydantic finds wrong.

pydantic reports a list of problems, each with a type (`greater_than_equal`), the limits in
question (`ctx`, here `{"ge": 1}`), the path of the field (`loc`) and the value (`input`). `invalid`
makes one BadInput of them: PROBLEM_TYPES has the words and the code for each type.

Problems of one field are alternatives where the field may be of several kinds (`int | str`):
pydantic tried them all. They become one complaint, joined by 'or'.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .errors import BadInput, proposal, short_repr

#: Finds the line of a file that holds a field, given by its path; None where it cannot tell.
LineOfField = Callable[[str], int | None]


@dataclass(frozen=True)
class ProblemType:
    """How to say one of pydantic's types of errors."""

    code: str  #: one of errors.CODES
    expected: str  #: what the value should be; `{ge}` and the like stand for members of `ctx`


#: By pydantic's names (https://docs.pydantic.dev/latest/errors/validation_errors). Others are said
#: in pydantic's words, see `_in_pydantics_words`.
PROBLEM_TYPES = {
    "greater_than": ProblemType("range", "above {gt}"),
    "greater_than_equal": ProblemType("range", "at least {ge}"),
    "less_than": ProblemType("range", "below {lt}"),
    "less_than_equal": ProblemType("range", "at most {le}"),
    "finite_number": ProblemType("range", "a finite number"),
    "string_too_short": ProblemType("range", "text of at least {min_length} characters"),
    "string_too_long": ProblemType("range", "text of at most {max_length} characters"),
    "too_short": ProblemType("range", "a list of at least {min_length} items"),
    "too_long": ProblemType("range", "a list of at most {max_length} items"),
    "string_pattern_mismatch": ProblemType("value", "text that matches pattern '{pattern}'"),
    "literal_error": ProblemType("unknown", "{expected}"),
    "enum": ProblemType("unknown", "{expected}"),
    "bool_parsing": ProblemType("type", "true or false"),
    "bool_type": ProblemType("type", "true or false"),
    "dict_type": ProblemType("type", "a mapping of fields"),
    "model_type": ProblemType("type", "a mapping of fields"),
    "model_attributes_type": ProblemType("type", "a mapping of fields"),
    "float_parsing": ProblemType("type", "a valid number"),
    "float_type": ProblemType("type", "a valid number"),
    "int_from_float": ProblemType("type", "a valid integer"),
    "int_parsing": ProblemType("type", "a valid integer"),
    "int_type": ProblemType("type", "a valid integer"),
    "list_type": ProblemType("type", "a valid list"),
    "string_type": ProblemType("type", "a valid string"),
    "tuple_type": ProblemType("type", "a valid list"),
}
#: What pydantic's sentences may begin with, where PROBLEM_TYPES has none of ours.
SENTENCE_BEGINNINGS = ("Input should be an instance of ", "Input should be ", "Value should be ")


def invalid(
    error: ValidationError,
    subject: str = "",
    *,
    model: type[BaseModel] | None = None,
    content: object = None,
    line_of: LineOfField | None = None,
) -> BadInput:
    """What pydantic found: the first wrong field, its value and what was expected.

    The other wrong fields are `others` of the complaint.

    Args:
        error: what pydantic raised.
        subject: what to call the content where a problem is about all its fields together.
        model: the class that was filled, to list its fields where one is unknown.
        content: what was checked. Without it, the path of a field that may be of several kinds
            holds the names of the kinds.
        line_of: finds the line of a field in its file.

    Example:
        >>> from pydantic import Field
        >>> class Grid(BaseModel):
        ...     ranks: int = Field(ge=1)
        >>> try:
        ...     Grid.model_validate({"ranks": 0})
        ... except ValidationError as error:
        ...     print(invalid(error))
        ranks=0; expected at least 1
    """
    fields: dict[str, list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        fields.setdefault(_path(problem, content), []).append(problem)
    complaints = []
    for field, problems in fields.items():
        # A field with a wrong part is of the kind that has such parts.
        if any(other.startswith(f"{field}.") for other in fields):
            continue
        complaint = _complaint(field, problems, subject, model)
        line = line_of(field) if line_of is not None else None
        complaints.append(complaint.within(line=line))
    # What is wrong comes before what is missing, which may be there under a misspelt name.
    complaints.sort(key=lambda complaint: complaint.code == "missing")
    first, *others = complaints
    return BadInput(
        first.sentence, field=first.field, line=first.line, code=first.code, others=others
    )


def _path(problem: ErrorDetails, content: Any) -> str:
    """The path of the field of a problem, without names of kinds among which pydantic chose."""
    location = problem["loc"]
    path = []
    part = content
    for number, step in enumerate(location):
        inside = _holds(part, step)
        is_last = number == len(location) - 1
        if content is None or inside or (problem["type"] == "missing" and is_last):
            path.append(str(step))
            part = part[step] if inside else None
    return ".".join(path)


def _holds(part: object, step: int | str) -> bool:
    """Says whether a list or a mapping has an item of this number or name."""
    if isinstance(part, list):
        return isinstance(step, int) and 0 <= step < len(part)
    return isinstance(part, dict) and step in part


def _complaint(
    field: str,
    problems: list[ErrorDetails],
    subject: str,
    model: type[BaseModel] | None,
) -> BadInput:
    """The complaint about one field. `problems`: what each kind that it may be of expects."""
    raised = [problem for problem in problems if problem["type"] == "value_error"]
    if raised:  # by a validator of the kind that was meant
        return _raised_complaint(field, raised, subject)
    first = problems[0]
    name = field or subject
    if first["type"] == "missing":
        return _about(name, field, "missing", code="missing")
    if first["type"] == "extra_forbidden":
        return _unknown_field(name, field, first, model)
    expected = " or ".join(dict.fromkeys(_expected(problem) for problem in problems))
    code = _code(first["type"])
    if code == "unknown":
        expected += proposal(first["input"], _literals(problems))
    return _about(
        name,
        field,
        f"expected {expected}",
        value=first["input"],
        code=code,
    )


def _about(
    name: str,
    field: str,
    text: str,
    *,
    value: object = None,
    code: str,
) -> BadInput:
    """`NAME=VALUE; TEXT`, or `NAME: TEXT` where the value is a mapping or a list of something."""
    if code == "missing" or not name:
        message = f"{name}: {text}" if name else text
    elif value and isinstance(value, dict | list):
        message = f"{name}: {text}"
    else:
        message = f"{name}={short_repr(value)}; {text}"
    return BadInput(message, field=field or None, code=code)


def _raised_complaint(field: str, problems: list[ErrorDetails], subject: str) -> BadInput:
    """The complaint of validators of ours, which raised ValueError or BadInput."""
    texts = dict.fromkeys(str(problem["ctx"]["error"]) for problem in problems)
    text = " or ".join(texts).replace(" or expected ", " or ")
    value = problems[0]["input"]
    error = problems[0]["ctx"]["error"]
    code = "value"
    if isinstance(error, BadInput):
        code = error.code
        if not field and error.field is not None:  # of the whole content, naming a field itself
            return BadInput(text, field=error.field, code=code)
        parent, _, last = field.rpartition(".")
        if error.field == last and len(texts) == 1:  # which names the field itself
            return error.within(field=parent or None)
    name = field or subject
    if not name:
        message = text
    elif (value and isinstance(value, dict | list)) or short_repr(value) in text:
        message = f"{name}: {text}"
    elif text.startswith("expected"):
        message = f"{name}={short_repr(value)}; {text}"
    else:
        message = f"{name}={short_repr(value)}: {text}"
    return BadInput(message, field=field or None, code=code)


def _unknown_field(
    name: str,
    field: str,
    problem: ErrorDetails,
    model: type[BaseModel] | None,
) -> BadInput:
    """The complaint about a field that is not one of those of a model."""
    names = _field_names(model, problem["loc"][:-1])
    message = f"{name}={short_repr(problem['input'])}: unknown"
    if isinstance(problem["input"], dict | list) and problem["input"]:
        message = f"{name}: unknown"
    if names:
        message += f"; expected {', '.join(names)}"
        message += proposal(str(problem["loc"][-1]), names)
    return BadInput(message, field=field or None, code="unknown")


def _expected(problem: ErrorDetails) -> str:
    """What a value should be, in words that follow 'expected'."""
    kind = PROBLEM_TYPES.get(problem["type"])
    if kind is None:
        return _in_pydantics_words(problem["msg"])
    limits = {name: _written(limit) for name, limit in problem.get("ctx", {}).items()}
    text = kind.expected.format(**limits)
    if text.endswith((" 1 characters", " 1 items")):
        return text.removesuffix("s")
    return text


def _written(limit: object) -> str:
    """A limit as people write it: 1 for 1.0."""
    if isinstance(limit, float) and limit.is_integer() and abs(limit) < 1e15:
        return str(int(limit))
    return str(limit)


def _in_pydantics_words(sentence: str) -> str:
    """The part of a sentence of pydantic that may follow 'expected'."""
    for end in (", unable to", ", got"):
        sentence = sentence.partition(end)[0]
    for beginning in SENTENCE_BEGINNINGS:
        if sentence.startswith(beginning):
            return sentence.removeprefix(beginning)
    return sentence.removesuffix(".")


def _code(kind: str) -> str:
    """The code of a type of problems, for BadInput."""
    if kind in PROBLEM_TYPES:
        return PROBLEM_TYPES[kind].code
    return "type" if kind.endswith(("_type", "_parsing")) else "value"


def _literals(problems: list[ErrorDetails]) -> list[str]:
    """The texts among which a field may choose; pydantic has them as "'a', 'b' or 'c'"."""
    choices = [problem.get("ctx", {}).get("expected", "") for problem in problems]
    return "".join(choices).split("'")[1::2]


def _field_names(model: type[BaseModel] | None, path: tuple[int | str, ...]) -> list[str]:
    """The fields of the part of a model at `path`; none where it may be of several kinds."""
    for step in path:
        if model is None:
            break
        field = model.model_fields.get(str(step))
        if field is None:
            continue  # the number of an item, or the name of one of several kinds
        models = _models_in(field.annotation)
        model = models[0] if len(models) == 1 else None
    if model is None:
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: object) -> list[type[BaseModel]]:
    """The models that an annotation such as `list[Grid] | None` is made of."""
    models = []
    pending = [annotation]
    while pending:
        part = pending.pop()
        if isinstance(part, type) and issubclass(part, BaseModel):
            models.append(part)
        pending += getattr(part, "__args__", ())
    return models
