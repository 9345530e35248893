"""A machine as a vendor would offer it."""

import copy

from spikemark import machines
from spikemark.machines.fields import FABRIC

#: An offer in which nothing is unknown, as a vendor would make one.
OFFER = {
    "node.cores": 128, "node.clock": 2.6, "node.memory": 512, "node.sockets": 2, "node.line": 64,
    "node.l1d": 32, "node.l2": 1024, "node.l3": 32768, "node.l3_cores": 8, "node.bandwidth": 400,
    "node.bandwidth_core": 20, "jitter.cv": 0.02, FABRIC: "infiniband", "interconnect.latency": 1.5,
    "interconnect.latency_node": 0.3, "interconnect.bandwidth": 20, "interconnect.bandwidth_node": 30,
    "interconnect.gap": 0.2, "interconnect.topology": "fat_tree", "interconnect.selector": "ompi",
    "interconnect.congestion": 1.5, "power.idle": 100, "power.core": 3, "power.card": 5,
    "price.node_hour": 2,
}  # fmt: skip


def offered(**known) -> machines.Profile:
    """The offer with other values (None: left out), all of them published; `__` is a dot."""
    values = OFFER | {path.replace("__", "."): value for path, value in known.items()}
    empty = machines.checked({"format_version": 1, "name": "offer", "title": "offer"}, "a test")
    made = empty.assume_all({path: (v, "a test") for path, v in values.items() if v is not None})
    content = copy.deepcopy(made.content)
    for path, value in values.items():
        group, name = path.split(".")
        if value is not None:
            content[group][name]["kind"] = "literature"
    return machines.filled(machines.checked(content, "a test"))
