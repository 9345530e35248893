"""miniapp/layers.py finds every kind of breach it is there for."""

import importlib.util

import program
import pytest

spec = importlib.util.spec_from_file_location("layers", program.ROOT / "miniapp" / "layers.py")
layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layers)

BREACHES = {
    "upwards": ("base/a.h", '#include "neuron/model.h"\n', "above base"),
    "late": ("run/a.h", '#include "record/tally.h"\n', "above run"),
    "sideways": ("synapse/a.h", '#include "transport/routes.h"\n', "beside synapse"),
    "mpi": ("neuron/a.c", "void f(void) { MPI_Barrier(0); }\n", "MPI_Barrier belongs into"),
    "openmp": ("synapse/a.c", "#pragma omp parallel\n", "belongs into run/(build|counters|"),
    "clock": ("synapse/a.c", "double f(void) { return clock_now(); }\n", "clock_now belongs into"),
    "global": ("base/a.c", "static int counter = 0;\n", "a mutable global"),
    "array": ("base/a.c", "double table[10];\n", "a mutable global"),
    "folder": ("utils/a.c", "\n", "no layer is called utils"),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_found(breach, tmp_path):
    name, text, message = BREACHES[breach]
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(text)
    found = list(layers.breaches(tmp_path))
    assert len(found) == 1
    assert message in found[0]


def test_what_is_allowed_is_not_a_breach(tmp_path):
    (tmp_path / "run").mkdir()
    lines = [
        '#include "base/a.h"',
        "static const int a = 1;",
        'const char *const names[] = {"x"};',
        "struct x {\n  int y;\n};",
        "#pragma omp barrier",
        "int f(void) {\n  return a;\n}\n",
    ]
    (tmp_path / "run" / "simulate.c").write_text("\n".join(lines))
    assert list(layers.breaches(tmp_path)) == []
