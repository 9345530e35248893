"""Did all repetitions run on the disclosed machine, with the disclosed frequencies and a true clock?"""

from __future__ import annotations

from .findings import Report
from .record import Repetition

#: Words in the environment that stand for libraries between a program and the clock of the system.
CLOCK_WORDS = ("LD_PRELOAD", "LD_AUDIT", "FAKETIME", "DYLD_INSERT_LIBRARIES")
SAME = ("cpu", "cores", "memory_bytes")
SETTINGS = ("governor", "frequency_min_hz", "frequency_max_hz")
#: What must be disclosed, as a value or as null with a reason. A node out of reach has UNREACHED instead.
OF_NODE = (
    "host", "kernel", "kernel_options", "operating_system", "processor", "virtual_machine", "microcode",
    "firmware_vendor", "firmware_version", "firmware_date", "board", "product", "processors_online",
    "processors_allowed", "processor_share", "hardware_threads", "governor", "frequency_driver",
    "frequency_min_khz", "frequency_max_khz", "frequency_hardware_min_khz", "frequency_hardware_max_khz",
    "energy_preference", "boost", "no_turbo", "power_limits_uw", "clock_source", "memory", "swap",
    "transparent_huge_pages", "huge_pages", "huge_page_size", "numa_balancing", "mitigations", "modules",
    "variables",
)  # fmt: skip
PROGRAM = ("compiler", "flags", "mpi_library", "version", "commit")  # as in `provenance` of a record
OF_PROGRAM = (
    *PROGRAM, "program_sha256", "sources", "binding", "waiting", "launcher", "command", "environment",
)  # fmt: skip
UNREACHED = "all"


def check_environment(environment: dict, report: Report) -> None:
    """Checks that what is null has a reason, and that no library stands before the clock."""
    groups = [(f"nodes[{n}]", node) for n, node in enumerate(environment["nodes"])]
    groups.append(("software", environment.get("software", {})))
    for name, group in groups:
        needed = OF_PROGRAM if name == "software" else () if UNREACHED in group else OF_NODE
        for key in needed:
            if key not in group:
                report.say("disclosure", "environment.json", f"{name}.{key} is missing")
        for key, disclosed in group.items():
            if disclosed["value"] is None and not disclosed.get("reason"):
                report.say("disclosure", "environment.json", f"{name}.{key} is null without a reason")
            if key in ("variables", "environment", "command"):
                _check_clock_words(disclosed["value"], "environment.json", f"{name}.{key}", report)
    changed = changed_sources(environment)
    if changed:
        text = f"software.sources: {changed[0]} differs from source.tar.gz"
        report.say("version", "environment.json", text)


def changed_sources(environment: dict):
    """The files of the measured program that differ from the tender's; None where it is not disclosed."""
    changed = environment.get("software", {}).get("sources", {}).get("value")
    if not isinstance(changed, list):
        return None
    return [s for s in changed if str(s).startswith("miniapp/") or s == "CMakeLists.txt"]


def _check_clock_words(value, where: str, name: str, report: Report) -> None:
    words = value if isinstance(value, (dict, list)) else [value]
    for word in words:
        if any(bad in str(word).upper() for bad in CLOCK_WORDS):
            report.say("clock library", where, f"{name}: {word}")


def check_machine(found: list, environment, report: Report) -> None:
    """Checks all repetitions of an answer; `environment` is its content, or None."""
    for one in found:
        for name in ("environment", "command"):
            _check_clock_words(one.launch.get(name), f"{one.folder}/launch.json", name, report)
    _check_one_program(found, environment, report)
    known = {}  # name of a node -> (folder, what it was)
    for one in found:
        if one.measured and one.record["host"].get("per_node") is None:
            where = f"{one.folder}/record.json"
            report.say("disclosure", where, "host.per_node: the record does not say on which nodes it ran")
        for node in one.record["host"].get("per_node") or []:
            about = {name: node.get(name) for name in (*SAME, *SETTINGS)}
            first, was = known.setdefault(node["name"], (one.folder, about))
            for name, value in about.items():
                if value != was[name]:
                    reason = "frequency" if name in SETTINGS else "machine"
                    text = f"{node['name']}: {name}={value}: {first} has {was[name]}"
                    report.say(reason, f"{one.folder}/record.json", text)
    kinds = {tuple(str(about[name]) for name in SAME) for _, about in known.values()}
    if len(kinds) > 1:
        report.note(f"nodes of {len(kinds)} kinds took part")
    if environment is not None:
        _check_disclosed(known, environment["nodes"], report)


def _check_one_program(found: list, environment, report: Report) -> None:
    """Checks that all repetitions measured one program, the disclosed one."""
    for name in PROGRAM:
        told = None if environment is None else _value(environment.get("software", {}), name)
        first = found[0].record["provenance"].get(name) if found else None
        for one in found:
            made, where = one.record["provenance"].get(name), f"{one.folder}/record.json"
            if made != first:
                report.say("version", where, f"provenance.{name}={made}: {found[0].folder} has {first}")
            elif told is not None and made != told:
                report.say("version", where, f"provenance.{name}={made}: environment.json has {told}")


def _value(node: dict, name: str):
    return node.get(name, {}).get("value")


def _check_disclosed(known: dict, nodes: list, report: Report) -> None:
    by_name = {}
    for node in nodes:
        by_name[str(_value(node, "host")).split(".")[0]] = node
    for name, (folder, about) in known.items():
        node = by_name.get(name.split(".")[0])
        where = f"{folder}/record.json"
        if node is None:
            report.say(
                "disclosure", "environment.json", f"nodes: {name}, on which {folder} ran, is not disclosed"
            )
            continue
        processor = _value(node, "processor")
        if (
            isinstance(processor, str)
            and about["cpu"] is not None
            and processor.strip() != about["cpu"].strip()
        ):
            report.say("machine", where, f"{name}: cpu={about['cpu']}: environment.json has {processor}")
        governor = _names(_value(node, "governor"))
        if governor and about["governor"] is not None and not governor & _words(about["governor"]):
            report.say(
                "frequency", where, f"{name}: governor={about['governor']}: disclosed is {sorted(governor)}"
            )
        for end, choose in (("min", min), ("max", max)):
            limits = [1000 * int(k) for k in _names(_value(node, f"frequency_{end}_khz")) if k.isdigit()]
            told = about[f"frequency_{end}_hz"]
            if limits and told is not None and choose(limits) != told:
                text = f"{name}: frequency_{end}_hz={told:.6g}: disclosed is {choose(limits):.6g}"
                report.say("frequency", where, text)


def _names(value) -> set:
    """The values of a disclosed field: one text, or an object that says how many processors have each."""
    return set(value) if isinstance(value, dict) else {value} if isinstance(value, str) else set()


def _words(text: str) -> set:
    return set(text.replace(",", " ").split())


def check_one_after_another(found: list, report: Report) -> None:
    """Checks that no two repetitions ran on a node at once."""
    spans = []
    for one in found:
        if one.span is None:
            continue
        host = one.record["host"]
        nodes = {node["name"] for node in host.get("per_node") or [host]}
        spans.append((_begin(one), one.span[1], nodes, one.folder))
    spans.sort(key=lambda span: span[:2])
    for i, (begin, end, nodes, folder) in enumerate(spans):
        for later in spans[i + 1 : i + 50]:
            if later[0] < end and later[2] & nodes:
                text = f"it ran from {begin:.6f} to {end:.6f}, and {later[3]} began at {later[0]:.6f}"
                report.say("at once", folder, text)


def _begin(one: Repetition) -> float:
    pause = one.record["timing"].get("idle_before_s")
    return pause[0] if pause else one.span[0]
