"""The content of a machine profile: path, unit, allowed values and meaning of every value."""

from dataclasses import dataclass

#: Kinds of numbers: what is allowed, as the schema says it.
COUNT, POSITIVE, SHARE = "count", "positive", "share"  # 1, 2, …; > 0; 0 to 1
NOT_NEGATIVE, AT_LEAST_ONE, TEXT, TABLE = "not negative", "at least one", "text", "table"


@dataclass(frozen=True)
class Field:
    """A value at `path`. Texts have no unit; `choices` of a text, if only some are allowed.

    A table has rows of ranks, bytes (from each rank to each other one) and duration.
    """

    path: str
    unit: str | None
    allowed: str
    meaning: str
    choices: tuple[str, ...] = ()


#: Of `kernels.GROUP`, in ns: name, what is allowed, what it means.
KERNELS = (
    ("t_first", NOT_NEGATIVE, "delivery, per list entered"),
    ("t_next", POSITIVE, "delivery, per synapse"),
    ("t_spike", NOT_NEGATIVE, "delivery, per spike received"),
    ("collocate", POSITIVE, "collocation, per spike and lane"),
    ("update", POSITIVE, "update by MODEL, per neuron and step"),
    ("external", POSITIVE, "input from outside, neuron and step"),
    ("cycle", NOT_NEGATIVE, "of a rank in every cycle, beside these"),
    ("t_ring_1", NOT_NEGATIVE, "delivery, per synapse more if the thread's ring of input has 1.3 MB"),
    ("t_ring_8", NOT_NEGATIVE, "delivery, per synapse more if the thread's ring of input has 8.4 MB"),
    ("t_ring_67", NOT_NEGATIVE, "delivery, per synapse more if the thread's ring of input has 67 MB"),
    ("t_row_1", NOT_NEGATIVE, "update after a delivery, per neuron and step more with a ring of 1.3 MB"),
    ("t_row_3", NOT_NEGATIVE, "update after a delivery, per neuron and step more with a ring of 2.7 MB"),
    ("t_row_8", NOT_NEGATIVE, "update after a delivery, per neuron and step more with a ring of 8.4 MB"),
    ("t_far_16", NOT_NEGATIVE, "delivery, per list of 16 synapses more if the thread has 1 GB of synapses"),
    ("t_far_64", NOT_NEGATIVE, "delivery, per list of 64 synapses more if the thread has 1 GB of synapses"),
    ("t_far_512", NOT_NEGATIVE, "delivery, per list of 512 synapses more if the thread has 1 GB of synapses"),
    ("t_close_16", NOT_NEGATIVE, "delivery, per list of 16 synapses less if the thread has 8 MB of these"),
    ("t_close_64", NOT_NEGATIVE, "delivery, per list of 64 synapses less if the thread has 8 MB of these"),
    (
        "t_close_512",
        NOT_NEGATIVE,
        "delivery, per list of 512 synapses less if the thread has 8 MB of these",
    ),
    ("t_leave", NOT_NEGATIVE, "collocation after a delivery, per spike that leaves"),
    ("t_route", NOT_NEGATIVE, "collocation after a delivery, per rank that a spike goes to"),
)
#: Tables of collectives, by how their ranks lie on nodes.
WITHIN, BETWEEN, FULL = "tables", "tables_between", "tables_full"
LAYOUTS = {
    WITHIN: "ranks of one node, or as the reference says",
    BETWEEN: "one rank on each node",
    FULL: "a rank on every core of each node",
}
#: `OTHER` is none of the others; it may be as good or as bad as any, as may a fabric that is not known.
FABRIC, ETHERNET, OTHER = "interconnect.fabric", "ethernet", "other"
FABRICS = (ETHERNET, "infiniband", "omni-path", "slingshot", OTHER)
FIELDS = [
    Field("node.sockets", "1", COUNT, "sockets"),
    Field("node.cores", "1", COUNT, "cores, of all sockets"),
    Field("node.clock", "GHz", POSITIVE, "clock of the cores"),
    Field("node.memory", "GB", POSITIVE, "memory"),
    Field("node.line", "B", COUNT, "line of the caches"),
    Field("node.l1d", "KiB", POSITIVE, "first cache of data, per core"),
    Field("node.l2", "KiB", POSITIVE, "second cache, per core"),
    Field("node.l3", "KiB", POSITIVE, "last cache, per slice"),
    Field("node.l3_cores", "1", COUNT, "cores that share a slice of the last cache"),
    Field("node.bandwidth", "GB/s", POSITIVE, "memory bandwidth (triad), all cores"),
    Field("node.bandwidth_peak", "GB/s", POSITIVE, "memory bandwidth of the data sheet, all sockets"),
    Field("node.bandwidth_core", "GB/s", POSITIVE, "memory bandwidth (triad), one core alone"),
    *(Field(f"kernels.{group}.{name}", "ns", allowed, f"{meaning}, {where}")
      for group, where in (("one_core", "one core at work"), ("full_node", "every core at work"))
      for name, allowed, meaning in KERNELS),
    Field("jitter.cv", "1", NOT_NEGATIVE, "SD over mean of ordinary cycles' compute times"),
    Field("jitter.correlation_time", "cycles", NOT_NEGATIVE, "integrated autocorrelation time of these"),
    Field("jitter.minor_share", "1", SHARE, "share of long cycles, which the means of the kernels hold"),
    Field("jitter.minor_factor", "1", AT_LEAST_ONE, "how many times as long as ordinary ones those are"),
    Field("jitter.node_spread", "1", NOT_NEGATIVE, "SD of the nodes' mean times over their mean"),
    Field(FABRIC, None, TEXT, "kind of network between nodes (RoCE: ethernet)", FABRICS),
    Field(
        "interconnect.topology", None, TEXT, "how nodes are connected", ("fat_tree", "dragonfly", "star")
    ),
    Field("interconnect.nodes_per_leaf", "1", COUNT, "nodes on one switch"),
    Field("interconnect.latency", "us", POSITIVE, "end to end between two nodes, 0 B"),
    Field("interconnect.latency_node", "us", POSITIVE, "end to end within a node, 0 B"),
    Field("interconnect.bandwidth", "GB/s", POSITIVE, "one way between two nodes"),
    Field("interconnect.bandwidth_node", "GB/s", POSITIVE, "one way within a node"),
    Field(
        "interconnect.congestion", "1", POSITIVE,
        "bandwidth of a pair of nodes alone over that while half of the nodes send to the other half",
    ),
    Field("interconnect.gap", "us", POSITIVE, "between two messages of one sender"),
    Field("interconnect.eager", "KiB", NOT_NEGATIVE, "largest message sent without asking"),
    Field(
        "interconnect.selector", None, TEXT, "how MPI chooses collectives", ("ompi", "mpich", "impi")
    ),
    *(Field(f"interconnect.{group}.{name}", "us", TABLE, f"{meaning}, {where}")
      for group, where in LAYOUTS.items()
      for name, meaning in (("alltoall", "all-to-all"), ("allgather", "allgather"),
                            ("barrier", "barrier, 0 bytes"))),
    Field("power.tdp", "W", POSITIVE, "TDP of the data sheet, of all processors of a node"),
    Field("power.idle", "W", NOT_NEGATIVE, "idle node"),
    Field("power.core", "W", NOT_NEGATIVE, "added by every busy core"),
    Field("power.card", "W", NOT_NEGATIVE, "added by every interconnect card in use"),
    Field("accelerator.devices", "1", COUNT, "devices of a node"),
    Field("accelerator.name", None, TEXT, "what a device is called"),
    Field("accelerator.memory", "GB", POSITIVE, "memory, per device"),
    Field("accelerator.bandwidth", "GB/s", POSITIVE, "memory bandwidth of the data sheet, per device"),
    Field("accelerator.t_next", "ns", POSITIVE, "delivery, per synaptic event of a busy device"),
    Field("accelerator.t_spike", "ns", NOT_NEGATIVE, "delivery, per spike, beside its synaptic events"),
    Field(
        "accelerator.update", "ns", POSITIVE,
        "update by MODEL on a busy device, per neuron and step, its input from outside included",
    ),
    Field("accelerator.step", "us", NOT_NEGATIVE, "of a device in every step, beside its kernels"),
    Field("accelerator.transfer_latency", "us", NOT_NEGATIVE, "of an exchange between host and device, 0 B"),
    Field("accelerator.transfer_bandwidth", "GB/s", POSITIVE, "between host and device, one way"),
    Field("accelerator.tdp", "W", POSITIVE, "TDP of the data sheet, per device"),
    Field("accelerator.idle", "W", NOT_NEGATIVE, "idle device"),
    Field("accelerator.busy", "W", POSITIVE, "device that simulates"),
    Field("price.node_hour", "EUR/h", NOT_NEGATIVE, "a node for an hour"),
    Field("software.launcher", None, TEXT, "what starts the ranks"),
    Field("software.modules", None, TEXT, "environment modules"),
    Field("software.energy_source", None, TEXT, "meter that the mini-app can read"),
    Field("software.scorep", None, TEXT, "how to load Score-P"),
]  # fmt: skip

MODELS = "update"  # the part of a path below which values go by neuron model
KINDS = ("measured", "literature", "assumed")
