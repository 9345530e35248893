"""Models of where time and energy go, as pure functions of numbers and arrays.

Each function says which equation of which paper it is. The papers are cited by key:

L26: Lober, Diesmann, Kunkel 2026, arXiv 2602.23274.
"""

#: Modules that other packages may import.
__all__ = [
    "access",
    "exchange_times",
    "injected",
    "jitter",
    "loggp",
    "modes",
    "mpi_rules",
    "node_power",
    "order_statistics",
    "recursion",
    "serial",
    "statistics",
    "waiting_iid",
]
