"""Public functions refuse wrong arguments as BadInput that names the parameter."""

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from matplotlib.figure import Figure
from small_network import describe

import spikemark
from spikemark.core import arguments
from spikemark.core.errors import BadInput


class Nothing:
    """What no parameter takes."""


FUNCTIONS = {
    name: getattr(spikemark, name)
    for name in spikemark.__all__
    if inspect.isfunction(getattr(spikemark, name))
}
#: Arguments that are needed before others are looked at.
NEEDED = {
    "network": "microcircuit",
    "machine": "epyc-vm",
    "machines": ["epyc-vm"],
    "name_or_file": "microcircuit",
    "axes": Figure().add_subplot(),
}
#: Parameters that take one of some names, and the functions that have them.
NAMES = ("program", "schedule", "placement", "exchange", "method")


def parameters() -> list[tuple[str, str]]:
    """Each function with each of its parameters."""
    both = []
    for name, function in FUNCTIONS.items():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD:
                both.append((name, parameter.name))
    return both


def named() -> list[tuple[str, str]]:
    """Each function with each of its parameters that takes a name; `waiting` needs times first."""
    both = []
    for name, parameter in parameters():
        if parameter in NAMES and name != "waiting":
            both.append((name, parameter))
    return both


def arguments_of(function: Callable[..., Any], **changed: Any) -> dict[str, Any]:
    """The positional arguments of a function, with others."""
    given = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            given[parameter.name] = NEEDED.get(parameter.name, "nowhere")
    return given | changed


@pytest.mark.parametrize(("name", "parameter"), parameters())
def test_a_wrong_type_is_refused_by_its_parameter(name, parameter):
    function = FUNCTIONS[name]
    given = arguments_of(function, **{parameter: Nothing()})
    with pytest.raises(BadInput) as error:
        function(**given)
    assert error.value.field == parameter


RUN = "tests/golden/analysis/records/aware-4"
#: Arguments with which each function has an answer, where those of NEEDED give none.
ANSWERED = {
    "advise": {"schedule": "conventional", "nodes": 1},
    "compare": {"schedule": "conventional", "nodes": 1},
    "diff": {"first": RUN, "second": RUN},
    "energy": {"run": RUN, "machine": "jureca-dc"},
    "predict": {"nodes": 1},
    "waiting": {"times": RUN},
}


def takes_numbers_or_several(annotation: object) -> bool:
    """Whether a parameter takes a whole number, a sequence or a mapping of numbers."""
    if annotation is int or typing.get_origin(annotation) is Sequence:
        return True
    return any(takes_numbers_or_several(one) for one in typing.get_args(annotation))


def amounts() -> list[tuple[str, str]]:
    """Each function with each of its parameters that says how much, how many or which ones."""
    return [
        (name, parameter)
        for name, parameter in parameters()
        if takes_numbers_or_several(typing.get_type_hints(FUNCTIONS[name])[parameter])
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "parameter"), amounts())
@pytest.mark.parametrize("value", [0, -1, [], [0], "", {}])
def test_none_or_less_has_an_answer_or_is_refused_by_its_parameter(
    name, parameter, value, tmp_path
):
    given = dict(ANSWERED.get(name, {}))
    if name == "partition":
        file = tmp_path / "network.json"
        file.write_text(json.dumps(describe()))
        given = {"network": file, "ranks": 2}
    if name == "read_cycles":
        file = tmp_path / "times.npy"
        np.save(file, np.ones((100, 2)))
        given = {"paths": file, "unit": "ms"}
    try:
        FUNCTIONS[name](**arguments_of(FUNCTIONS[name], **given | {parameter: value}))
    except BadInput as error:
        assert error.field == parameter or "nowhere" in str(error)


@pytest.mark.parametrize(("name", "parameter"), amounts())
def test_a_count_of_none_is_refused_wherever_one_is_taken(name, parameter):
    hints = typing.get_type_hints(FUNCTIONS[name])
    if int not in (hints[parameter], *typing.get_args(hints[parameter])):
        return
    least = arguments.LEAST.get(parameter, 1)
    with pytest.raises(BadInput) as error:
        FUNCTIONS[name](**arguments_of(FUNCTIONS[name], **{parameter: least - 1}))
    assert (error.value.field, error.value.code) == (parameter, "range")


@pytest.mark.parametrize(
    ("given", "field"), [({"nodes": 100000}, "nodes"), ({"ranks": 10**5}, "ranks")]
)
def test_more_ranks_than_a_network_is_placed_on_are_refused_by_what_was_asked(given, field):
    with pytest.raises(BadInput) as error:
        spikemark.predict("microcircuit", "jureca-dc", **given)
    assert error.value.field == field


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_parameter_is_refused_by_its_name(name):
    function = FUNCTIONS[name]
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    with pytest.raises(BadInput) as error:
        function(**arguments_of(function, simulator="nest"))
    expected = {"simulator"}
    if inspect.Parameter.VAR_KEYWORD in kinds:  # the options of a preset
        expected = {"simulator", "option"}
    assert error.value.field in expected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_missing_argument_is_refused_by_its_name(name):
    signature = inspect.signature(FUNCTIONS[name])
    first = next(iter(signature.parameters.values()))
    with pytest.raises(BadInput) as error:
        FUNCTIONS[name]()
    assert error.value.field == first.name


@pytest.mark.parametrize(("name", "parameter"), named())
def test_an_unknown_name_is_refused_by_its_parameter(name, parameter, tmp_path):
    function = FUNCTIONS[name]
    given = arguments_of(function, **{parameter: "nothing like it"})
    if name == "partition":
        given["network"] = tmp_path / "network.json"
        given["network"].write_text(json.dumps(describe()))
    if "nodes" in inspect.signature(function).parameters:
        given["nodes"] = 1
    elif "ranks" in inspect.signature(function).parameters:
        given["ranks"] = 2
    with pytest.raises(BadInput) as error:
        function(**given)
    assert error.value.field == parameter


@pytest.mark.parametrize(
    ("value", "annotation", "fits"),
    [
        (3, int, True),
        (np.int64(3), int, True),
        (True, int, False),
        ("3", int, False),
        (3, float, True),
        (np.float32(3), float, True),
        (float("nan"), float, True),
        (Path("a"), str | PathLike[str], True),
        (None, int | None, True),
        (None, int, False),
        ([1, 2], Sequence[int], True),
        (np.array([1, 2]), Sequence[int], True),
        ((1, "a"), Sequence[int], False),
        ("12", Sequence[str], False),
        ({"a": 1}, Mapping[str, int], True),
        ({"a": "1"}, Mapping[str, int], False),
        ("b", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        (print, Callable[[str], None], True),
        (Nothing(), Any, True),
    ],
)
def test_what_fits_an_annotation(value, annotation, fits):
    assert arguments.matches(value, annotation) is fits
    assert arguments.words_of(annotation)


def test_hints_of_all_public_functions_can_be_read():
    for function in FUNCTIONS.values():
        assert typing.get_type_hints(function)


GRAPH = "tests/golden/analysis/networks/equal-4.json"
#: Calls that are refused, the words of a command that is refused alike, and the option it names.
REFUSED = {
    "levels": (
        lambda: spikemark.partition(GRAPH, 4, levels="foo"),
        ["partition", GRAPH, "--ranks", "4", "--levels", "foo"],
    ),
    "group": (
        lambda: spikemark.partition(GRAPH, 4, group=3),
        ["partition", GRAPH, "--ranks", "4", "--group", "3"],
    ),
    "method": (
        lambda: spikemark.partition(GRAPH, 4, method="foo"),
        ["partition", GRAPH, "--ranks", "4", "--method", "foo"],
    ),
    "lag": (
        lambda: spikemark.waiting(np.full((4, 1000), 1e-3), lag=1),
        ["waiting", "times.npy", "--unit", "s", "--lag", "1"],
    ),
    "program": (
        lambda: spikemark.predict("mam-benchmark", "jureca-dc", program="foo", nodes=2),
        ["predict", "mam-benchmark", "--machine", "jureca-dc", "--program", "foo", "--nodes", "2"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_python_names_arguments_and_the_command_line_options(name, refusal, tmp_path):
    call, words = REFUSED[name]
    times = tmp_path / "times.npy"
    np.save(times, np.full((4, 1000), 1e-3))
    with pytest.raises(spikemark.BadInput) as error:
        call()
    assert error.value.field == name
    assert str(error.value).startswith(name) and "--" not in str(error.value)
    message = refusal(*(str(times) if word == times.name else word for word in words))
    assert message.startswith(f"--{name}")


def code_of(file: Path) -> str:
    """The lines of a module that are no examples."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if ">>>" not in line)


@pytest.mark.parametrize("folder", ["api", "core", "diff", "network", "prediction", "waiting"])
def test_no_complaint_of_the_library_is_about_an_option(folder):
    """Its arguments are named; the command line makes options of them."""
    root = Path(spikemark.__file__).parent / folder
    for file in sorted(root.rglob("*.py")):
        assert not re.search(r" field=f?[\"']--", code_of(file)), file.name
