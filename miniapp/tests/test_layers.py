"""miniapp/layers.py and includes.py find every kind of breach that they are there for;
tests/test_style.py runs them.
"""

import runpy

import program

breaches = runpy.run_path(program.ROOT / "miniapp" / "layers.py")["breaches"]
unused = runpy.run_path(program.ROOT / "miniapp" / "includes.py")["unused"]
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
    (
        "run/simulate.c",
        '#include "base/a.h"\nstatic const int a = 1;\nconst char *const names[] = {"x"};\n'
        "struct x {\n  int y;\n};\n#pragma omp barrier\nint f(void) {\n  return a;\n}\n",
        None,
    ),
]


def test_every_breach_is_found_and_nothing_else(tmp_path):
    for name, text, _ in BREACHES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = list(breaches(tmp_path))
    assert len(found) == len(BREACHES) - 1
    assert all(
        any(name in line and said in line for line in found) for name, _, said in BREACHES if said
    )


#: Of a header: what declares a name, and a file that uses this name and no other.
USES = [
    ("struct grid {\n    int size;\n};", "struct grid *g;"),
    ("enum { most = 3 };", "int n = most;"),
    ("enum kind { plain = 1, fancy };", "int n = fancy;"),
    ("#define ROWS(n) (n)", "int n = ROWS(2);"),
    ("int count(void);", "int f(void) { return count(); }"),
    ("extern const int limits[];", "int f(void) { return limits[0]; }"),
    ("static inline int twice(int i) { return 2 * i; }", "int n(void) { return twice(1); }"),
    ("typedef int callback(void);", "callback *f;"),
]


def test_an_include_is_used_by_each_kind_of_name(tmp_path):
    for i, (declaration, use) in enumerate(USES):
        (tmp_path / f"h{i}.h").write_text(f"#pragma once\n{declaration}\n")
        (tmp_path / f"used{i}.c").write_text(f'#include "h{i}.h"\n{use}\n')
        (tmp_path / f"other{i}.c").write_text(f'#include "h{i}.h"\nint zero; // {use}\n')
    (tmp_path / "memory.c").write_text("#include <stdlib.h>\nint f(void) { free(0); }\n")
    (tmp_path / "string.c").write_text('#include <stdlib.h>\nconst char *f = "free";\n')
    names = {line.split(":")[0].split("/")[1] for line in unused([tmp_path])}
    assert names == {f"other{i}.c" for i in range(len(USES))} | {"string.c"}
