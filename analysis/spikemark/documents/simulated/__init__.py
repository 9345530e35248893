"""Tables and numbers of docs/ from stored results of studies: a module for each study."""

from collections.abc import Callable

from . import heterogeneity, interconnect, mam, overlap, weak_scaling

#: Tables that the pages show, by study; no others are stored.
TABLES: dict[str, tuple[str, ...]] = {
    "heterogeneity": ("size_cv", "area_rate_cv", "delay_ratio"),
    "interconnect": ("interconnect", "table1"),
    "mam": ("mam", "groups", "imbalance"),
    "overlap": ("waiting", "held_out"),
    "weak-scaling": ("weak_scaling", "reductions", "slopes", "cycle_times"),
}
#: What marks in the pages may name, by study: STUDY.PART, or STUDY.PART: ARGUMENT where it takes one.
PARTS: dict[str, dict[str, Callable[..., str]]] = {
    "heterogeneity": heterogeneity.PARTS,
    "interconnect": interconnect.PARTS,
    "mam": mam.PARTS,
    "overlap": overlap.PARTS,
    "weak-scaling": weak_scaling.PARTS,
}
