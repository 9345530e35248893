"""Tables and numbers of docs/ from stored results of studies: a module for each study."""

from collections.abc import Callable

from . import heterogeneity, interconnect, mam, overlap, weak_scaling

#: What marks in the pages may name, by study: STUDY.PART, or STUDY.PART: ARGUMENT where it takes one.
PARTS: dict[str, dict[str, Callable[..., str]]] = {
    "heterogeneity": heterogeneity.PARTS,
    "interconnect": interconnect.PARTS,
    "mam": mam.PARTS,
    "overlap": overlap.PARTS,
    "weak-scaling": weak_scaling.PARTS,
}
