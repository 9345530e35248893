"""What runs leave behind: plans, results folders, run records, and the tables made from them."""

#: Modules that other packages may import.
__all__ = [
    "answer_rows",
    "answer_schema",
    "experiment_fields",
    "frames",
    "imported",
    "ratios",
    "record",
    "results",
    "run_files",
    "runs_table",
]
