"""miniapp/layers.py finds every kind of breach it is there for; tests/test_style.py runs it."""

import runpy

import program

breaches = runpy.run_path(program.ROOT / "miniapp" / "layers.py")["breaches"]
#: A file that has one, and words of what is said.
BREACHES = [
    ("base/a.h", '#include "neuron/model.h"\n', "above base"),
    ("run/a.h", '#include "record/tally.h"\n', "above run"),
    ("synapse/a.h", '#include "transport/routes.h"\n', "beside synapse"),
    ("neuron/a.c", "void f(void) { MPI_Barrier(0); }\n", "MPI_Barrier belongs into"),
    ("synapse/a.c", "#pragma omp parallel\n", "belongs into run/(build|counters|"),
    ("synapse/b.c", "double f(void) { return clock_now(); }\n", "clock_now belongs into"),
    ("base/a.c", "static int counter = 0;\n", "a mutable global"),
    ("base/b.c", "double table[10];\n", "a mutable global"),
    ("utils/a.c", "\n", "no layer is called utils"),
    ("run/simulate.c", '#include "base/a.h"\nstatic const int a = 1;\nconst char *const names[] = {"x"};\n'
     "struct x {\n  int y;\n};\n#pragma omp barrier\nint f(void) {\n  return a;\n}\n", None),
]  # fmt: skip


def test_every_breach_is_found_and_nothing_else(tmp_path):
    for name, text, _ in BREACHES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = list(breaches(tmp_path))
    assert len(found) == len(BREACHES) - 1
    assert all(any(name in line and said in line for line in found) for name, _, said in BREACHES if said)
