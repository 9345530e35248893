"""JSON Schemas of the files that people write and read: which there are, and how they are made.

They come from the classes and tables with which the files are checked, so that an editor or a
program of another language refuses what Spikemark refuses, as far as a schema can say it: how
several fields fit each other is checked when a file is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from spikemark.core.errors import unknown_name
from spikemark.machines import show
from spikemark.network.description_schema import description_schema

from .answer_schema import answer_schema, verbs_by_format
from .experiment_fields import CONFIG_FIELDS, Experiment
from .schema import DryRecord, DryRunFile, Record

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


@dataclass(frozen=True)
class FileFormat:
    """A kind of file that has a JSON Schema."""

    name: str
    #: What it is, and where it lies.
    summary: str
    #: Makes the schema.
    make: Callable[[], Schema]


def _record() -> Schema:
    record: TypeAdapter[Record | DryRecord] = TypeAdapter(Record | DryRecord)
    about = {"$schema": DIALECT, "title": "Run record"}
    return about | record.json_schema()


def _dry_run() -> Schema:
    return {"$schema": DIALECT} | DryRunFile.model_json_schema()


def _experiment() -> Schema:
    return {"$schema": DIALECT} | Experiment.model_json_schema()


def _config() -> Schema:
    """An experiment, or the name of one in the field `experiment` and what is changed of it."""
    schema = Experiment.model_json_schema()
    needed = {"required": schema.pop("required"), "oneOf": schema.pop("oneOf")}
    texts = {"type": "string", "minLength": 1}
    for name, description in CONFIG_FIELDS.items():
        schema["properties"][name] = texts | {"description": description}
    schema["anyOf"] = [{"required": ["experiment"]}, needed]
    return {"$schema": DIALECT} | schema | {"title": "Configuration of the workflow"}


#: By the name that `spikemark schema` takes.
FILE_FORMATS = {
    format_of_file.name: format_of_file
    for format_of_file in (
        FileFormat("description", "run description, RUN.json or RUN.yaml", description_schema),
        FileFormat("experiment", "experiment, workflows/experiments/NAME.yaml", _experiment),
        FileFormat("config", "config of the workflow, Snakefile", _config),
        FileFormat("machine", "machine profile, machines/NAME.yaml", show.json_schema),
        FileFormat("record", "record of a run or of a rank alone, record.json", _record),
        FileFormat("dryrun", "dry run of some ranks, dryrun.json", _dry_run),
    )
}


def json_schema(name: str) -> Schema:
    """The JSON Schema (2020-12) of a kind of file, or of what a command prints with --json.

    Args:
        name: one of FILE_FORMATS, or the format of an answer, such as predict-answer.

    Raises BadInput for another name.

    Example:
        >>> json_schema("dryrun")["required"][:3]
        ['format_version', 'kind', 'ranks']
    """
    verbs = verbs_by_format()
    if name in verbs:
        return {"$schema": DIALECT} | answer_schema(verbs[name])
    if name not in FILE_FORMATS:
        raise unknown_name("NAME", name, [*FILE_FORMATS, *verbs])
    return FILE_FORMATS[name].make()
