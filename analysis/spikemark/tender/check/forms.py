"""The fields of the files of a tender and of run records that the checker relies on; others are kept."""

from __future__ import annotations

from .form import anything, either, fields, integer, listing, mapping, number, one_of, truth, words

HASH = words("[0-9a-f]{64}")
CHECKSUM = words("[0-9a-f]{16}")
NAME = words("[A-Za-z0-9][A-Za-z0-9._-]*")
DATE = words(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
UNKNOWN = number(null=True)
RANKS = integer(1, 10_000_000)

MANIFEST = fields({
    "kind": one_of("tender_manifest"),
    "format_version": one_of(1),
    "files": mapping(fields({"sha256": HASH, "bytes": integer()})),
}, {"bundle_sha256": HASH})  # fmt: skip

POPULATION = fields({"name": words(), "size": integer(), "neuron": mapping(anything)})
DESCRIPTION = fields(
    {
        "time": fields(
            {"simulate_ms": number()},
            {"resolution_ms": number(1e-6), "cycle_ms": number(1e-6), "warmup_ms": number()},
        ),
        "network": fields(
            {"populations": listing(POPULATION)},
            {"projections": listing(mapping(anything))},
        ),
    },
    {"seed": integer(), "record": mapping(anything), "inject": mapping(anything)},
)  # fmt: skip

TENDER = fields({
    "kind": one_of("tender"),
    "format_version": one_of(1),
    "name": words(),
    "spikemark_version": words(),
    "source_sha256": HASH,
    "figures": listing(words()),
    "runs": listing(
        fields(
            {
                "name": NAME,
                "size": words(),
                "description": words(r"runs/[A-Za-z0-9][A-Za-z0-9._-]*\.json"),
                "measured": truth(),
                "repetitions": integer(1, 1000),
                "counts": one_of("median", "best", "worst"),
                "minimum_seconds": number(),
            },
            {"warm_up_cycles": integer(), "model_ms": listing(number(), 1), "nodes": integer(1, null=True)},
        ),
        1,
    ),
    "categories": mapping(fields({"changes": listing(words()), "flags": listing(words())}), 1),
    "power": fields({"required": truth()}, {"node_limit_w": UNKNOWN, "idle_seconds": number()}),
    "plausibility": mapping(number()),
}, {"quick": truth(), "commit": words(null=True)})  # fmt: skip

COUNTED = {name: integer(null=True) for name in ("neurons", "synapses", "spikes", "synaptic_events")}
MAYBE = words("[0-9a-f]{16}", null=True)
OF_A_TIME = fields({"model_ms": number()}, {**COUNTED, "checksum": MAYBE})
EXPECTED = fields(
    {**COUNTED, "checksum": MAYBE, "tolerance": number(0, 1)}, {"times": listing(OF_A_TIME), "kind": words()}
)

FIGURE = fields({"value": UNKNOWN, "low": UNKNOWN, "high": UNKNOWN}, {"kind": words(null=True)}, null=True)
ANSWER = fields({
    "kind": one_of("tender_answer"),
    "format_version": one_of(1),
    "bundle_sha256": HASH,
    "bidder": words(),
    "category": words(),
    "created": DATE,
    "runs": listing(fields({
        "name": NAME,
        "layout": fields({"ranks": RANKS, "threads": RANKS}, {"nodes": integer(1, null=True)}),
        "set": mapping(anything),
        "repetitions": listing(
            fields(
                {"folder": words(r"runs/[A-Za-z0-9][A-Za-z0-9._-]*/[1-9]\d{0,3}"), "started": DATE,
                 "real_time_factor": UNKNOWN},
                {"joules_per_synaptic_event": UNKNOWN, "simulate_s": UNKNOWN,
                 "readings": words(r"power/[A-Za-z0-9][A-Za-z0-9._-]*", null=True)},
            )
        ),
        "figure": fields({}, {"real_time_factor": FIGURE, "joules_per_synaptic_event": FIGURE}),
    }, {"model_ms": number()})),
})  # fmt: skip

DISCLOSED = fields({"value": anything}, {"reason": words(null=True)})
ENVIRONMENT = fields(
    {"kind": one_of("tender_environment"), "nodes": listing(mapping(DISCLOSED), 1)},
    {"software": mapping(DISCLOSED)},
)
PROJECTED = fields(
    {"run": words(), "figure": words(), "value": number(null=True), "low": number(null=True),
     "high": number(null=True), "method": words(), "assumes": listing(words())}
)  # fmt: skip
PROMISED = fields(
    {"run": words(), "figure": words(), "value": UNKNOWN, "basis": one_of("measured", "projected"),
     "better_than_evidence": number(0, 1)}
)  # fmt: skip
WATTS = fields({"value": number(), "low": UNKNOWN, "high": UNKNOWN}, null=True)
COMMITMENT = fields(
    {
        "kind": one_of("tender_commitment"),
        "format_version": one_of(1),
        "bidder": words(),
        "nodes": integer(0),
        "measured": listing(fields({"run": words(), "figure": words(), "value": UNKNOWN})),
        "projected": listing(PROJECTED),
    },
    {
        "committed": listing(PROMISED),
        "power": fields(
            {}, {"node_idle_w": UNKNOWN, "node_limit_w": UNKNOWN, "projected_w": WATTS}, null=True
        ),
    },
)

NODE = fields(
    {"name": words(), "cpu": words(null=True), "ranks": integer(1), "governor": words(null=True),
     "frequency_min_hz": UNKNOWN, "frequency_max_hz": UNKNOWN},
    {"memory_bytes": UNKNOWN, "cores": UNKNOWN},
)  # fmt: skip
LANE = fields(
    {"name": words(), "period": integer(1), "lag": integer(0, 1_000_000), "ranks": RANKS, "groups": RANKS,
     "windows": integer(), "synapses": integer(), "messages": integer(), "bytes_sent": integer()}
)  # fmt: skip
COUNTS = (
    "neurons", "synapses", "spikes", "synaptic_events", "external_events", "first_accesses", "messages",
    "bytes_sent",
)  # fmt: skip
SPAN = either(listing(number(-1e12), 2, 2), one_of(None))
TIMING = fields(
    {
        "build_s": number(), "simulate_s": number(1e-9), "model_s": number(1e-9),
        "real_time_factor": number(), "cycles": integer(1, 10**12), "clock": words(),
        "timer_overhead": number(),
        "timer_read_s": number(),
        "simulate_started_s": number(null=True), "simulate_ended_s": number(null=True),
        "phases": mapping(fields({"mean_s": UNKNOWN, "max_s": UNKNOWN})),
    },
    {"idle_before_s": SPAN, "idle_after_s": SPAN, "clock_step_s": number(-1e12, 1e12, null=True)},
)  # fmt: skip
ENERGY = fields(
    {"status": words(), "gross_j": UNKNOWN, "idle_power_w": UNKNOWN, "net_j": number(-1e18, null=True),
     "duration_s": number(), "readings": integer(), "coverage": number(0, 1), "nodes": integer(1),
     "channels": listing(
         fields({"node": integer(), "name": words(), "unit": one_of("J", "W"), "gross_j": UNKNOWN})
     )},
    null=True,
)  # fmt: skip
RECORD = fields(
    {
        "format_version": one_of(2),
        "status": one_of("complete"),
        "checksum": CHECKSUM,
        "spike_checksum": CHECKSUM,
        "description": fields(
            {"record": mapping(anything), "seed": integer()}, {"network": anything, "time": anything}
        ),
        "provenance": fields(
            {"compiler": words(), "flags": words(), "version": words(), "started": DATE,
             "dirty": truth(null=True)}
        ),
        "host": fields({"name": words(), "cpu": words(null=True), "nodes": integer(1)},
                       {"per_node": either(listing(NODE, 1), one_of(None))}),
        "warnings": listing(words()),
        "ranks": RANKS,
        "threads": RANKS,
        "totals": fields({name: integer() for name in COUNTS}),
        "timing": TIMING,
        "lanes": listing(LANE, 1, 32),
        "phases": listing(words(), 1, 32),
        "energy": ENERGY,
    },
    {"kind": words()},
)  # fmt: skip
LAUNCH = fields(
    {}, {"began_s": number(null=True), "wall_s": number(null=True), "environment": mapping(anything)}
)


def of_record(value, where: str):
    """The first error in a record.json, its description included; None if there is none."""
    return RECORD(value, where) or DESCRIPTION(value["description"], f"{where}.description".lstrip("."))
