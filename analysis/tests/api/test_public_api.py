"""The public API: its names, their signatures and examples, and that importing it costs nothing."""

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import spikemark
from spikemark.quantities.answer import Answer

WAYS = "schedule=None placement=None delay_ratio=None lag=None exchange=None"
#: What is documented: parameters in their order; `*` stands before those that have to be named.
SIGNATURES = {
    "load": "folder",
    "load_run": "folder",
    "read_cycles": "paths * unit=None columns=None skip=0 cycles=None format=None",
    "anchor": "network machine * out=None runs=None nodes=1 ranks=None threads=None version=3.10"
    " keep=None",
    "diff": "first second * fail_above=None history=None",
    "energy": "run * power=None channel=() offset=None align=times at_wall=None keep=False"
    " machine=None nodes=None",
    "history": "folder * add=()",
    "sweep": "experiment * changes=None machine=None results=None dry_run=False again=None"
    " stream=None",
    "partition": "network ranks=None * method=None placement=None out=None weights=None"
    " weights_from=None machine=None on=None threads=None ranks_per_node=None rate=None group=None"
    " levels=None side=sender merged=False out_table=None delay_ratio=1 seed=1",
    "save_figure": "axes file caption=",
    "waiting": "times * unit=None columns=None schedule=None delay_ratio=None lag=None"
    " group_period=None ranks=None changes=()",
    "network": "name_or_file * full=False rate=None **options",
    "machine": "name_or_file",
    "predict": "network machine * nodes=None ranks=None threads=None ranks_per_node=None on=None"
    f" {WAYS} compute_from=None program=mini-app anchor=None",
    "advise": f"network machine * target_rtf=None nodes=None {WAYS} program=mini-app"
    " anchor=None times=None",
    "compare": f"network machines * target_rtf=1.0 nodes=None {WAYS} program=mini-app"
    " anchor=None years=5.0 hours_per_year=8000.0 price_kwh=None",
}
OTHERS = {"Answer", "BadInput", "__version__"}
HEAVY = ("numpy", "pandas", "scipy", "matplotlib", "pydantic", "yaml", "typer")


def words(function) -> str:
    """The parameters of a function, as SIGNATURES has them."""
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        text = parameter.name
        if parameter.kind is parameter.VAR_KEYWORD:
            text = f"**{text}"
        if parameter.default is not parameter.empty:
            text += f"={parameter.default}"
        parts.append(text)
    return " ".join(parts)


def test_all_names_are_those_that_are_documented():
    assert set(spikemark.__all__) == {*SIGNATURES, *OTHERS} == set(dir(spikemark))


@pytest.mark.parametrize("name", spikemark.__all__)
def test_every_name_exists_and_is_explained(name):
    value = getattr(spikemark, name)
    if name == "__version__":
        assert value[0].isdigit()
        return
    assert inspect.getdoc(value)
    if name != "Answer":
        assert "Example" in inspect.getdoc(value)


@pytest.mark.parametrize(("name", "signature"), SIGNATURES.items())
def test_functions_have_the_documented_signature_types_and_an_example(name, signature):
    function = getattr(spikemark, name)
    assert words(function) == signature, f"changed? then change SIGNATURES[{name!r}], too"
    annotations = inspect.get_annotations(function)
    assert set(annotations) == {*inspect.signature(function).parameters, "return"}
    text = inspect.getdoc(function)
    for section in ("Args:", "Returns:", "Example:"):
        assert section in text, f"the docstring of {name} has no section {section}"
    for parameter in inspect.signature(function).parameters:
        explained = f"    {parameter}: " in text
        assert explained, f"the docstring of {name} has no line on {parameter}"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'spikemark' has no attribute 'nothing'"):
        _ = spikemark.nothing


@pytest.mark.parametrize("name", ["network", "waiting"])
def test_functions_stay_where_a_package_of_their_name_is_imported(name):
    """Python stores a package in its parent; here, the function stays."""
    code = f"from spikemark.{name} import {{}}; import spikemark; assert callable(spikemark.{name})"
    module = {"network": "lanes", "waiting": "trace"}[name]
    subprocess.run([sys.executable, "-c", code.format(module)], check=True)
    assert not isinstance(getattr(spikemark, name), ModuleType)


def test_importing_it_loads_no_other_library():
    code = (
        "import sys, spikemark; assert spikemark.__version__; dir(spikemark);"
        f"print(sorted({HEAVY} & sys.modules.keys()))"
    ).replace(str(HEAVY), str(set(HEAVY)))
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert process.stdout.decode().strip() == "[]"


def test_an_answer_needs_its_faces():
    with pytest.raises(TypeError, match="abstract"):
        Answer()
