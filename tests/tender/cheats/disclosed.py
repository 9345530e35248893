"""Cheats with the machine and what is disclosed of it."""

from tender.offered import Answer

from .cheat import Cheat


def _nodes(answer: Answer, change, runs=slice(None)) -> None:
    for run in answer.runs[runs]:
        with answer.edit(run / "record.json") as record:
            for node in record["host"]["per_node"]:
                change(node)


def _overclocked(answer: Answer) -> None:
    _nodes(answer, lambda node: node.update(frequency_max_hz=4_400_000_000))


def _governor(answer: Answer) -> None:
    _nodes(answer, lambda node: node.update(governor="powersave"))


def _once(answer: Answer) -> None:
    _nodes(answer, lambda node: node.update(frequency_min_hz=2_600_000_000), slice(1))


def _other(answer: Answer) -> None:
    _nodes(answer, lambda node: node.update(cpu="a faster one"), slice(2))


def _memory(answer: Answer) -> None:
    _nodes(answer, lambda node: node.update(memory_bytes=2**40), slice(1))


def _hidden(answer: Answer) -> None:
    with answer.edit("environment.json") as environment:
        environment["nodes"][0]["host"]["value"] = "another"


def _silent(answer: Answer) -> None:
    with answer.edit("environment.json") as environment:
        environment["nodes"][0]["microcode"] = {"value": None}


def _sources(answer: Answer) -> None:
    with answer.edit("environment.json") as environment:
        environment["software"]["sources"] = {"value": ["miniapp/src/run/simulate.c"]}


CHEATS = (
    Cheat(
        "overclocked",
        "runs with a higher limit of the frequency than is disclosed",
        _overclocked,
        "frequency",
    ),
    Cheat("other governor", "runs with another governor than is disclosed", _governor, "frequency"),
    Cheat("pinned once", "pins the frequency in one repetition", _once, "frequency"),
    Cheat("other processor", "measures some repetitions on another processor", _other, "machine"),
    Cheat("more memory", "measures a repetition on a node with more memory", _memory, "machine"),
    Cheat("hidden node", "discloses another node than the one that ran", _hidden, "disclosure"),
    Cheat("no reason", "leaves a field of the environment empty without a reason", _silent, "disclosure"),
    Cheat(
        "patched program",
        "measures a program that was changed, and says so in small print",
        _sources,
        "version",
    ),
)
