"""Optional libraries: what they are asked, and what is said where one is absent."""

import importlib
from types import ModuleType

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput

from .problem import Problem

MOST_WEIGHT = 10_000  # of an edge or a vertex, as libraries take whole numbers of 32 bits


class Absent(BadInput):
    """An optional library is not installed; the message has the command that installs it."""


def load(name: str, method: str) -> ModuleType:
    """The library. Raises Absent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Absent(f"method={method!r}: needs the Python package {name}: pip install {name}") from None


def symmetric(problem: Problem) -> tuple[sparse.csr_array, np.ndarray]:
    """Whole weights of edges [Q, Q] (traffic of both directions) and of vertices [Q] (load), at least 1."""
    both = (problem.flow + problem.flow.T).tocsr()
    most = both.data.max() if both.nnz else 1.0
    both.data = np.maximum(1, np.rint(both.data / most * MOST_WEIGHT)).astype(np.int32)
    both.sort_indices()
    loads = problem.loads.max(axis=1)
    return both, np.maximum(1, np.rint(loads / loads.max() * MOST_WEIGHT)).astype(np.int32)


def ints(values: np.ndarray) -> list[int]:
    """A list of Python's whole numbers, which bindings of libraries take."""
    return values.tolist()
