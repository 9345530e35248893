"""Names of the values of a profile in words, for questions to a vendor."""

_KERNELS = {
    "t_first": "time per list of synapses",
    "t_next": "time per synapse",
    "t_spike": "time per spike received",
    "collocate": "time to write a spike into a buffer",
    "update": "time to update a neuron",
    "external": "time of a neuron's input from outside",
    "cycle": "fixed time of a cycle",
    "t_ring_1": "time that a synapse takes longer with a ring of input of 1.3 MB",
    "t_ring_8": "time that a synapse takes longer with a ring of input of 8.4 MB",
    "t_ring_67": "time that a synapse takes longer with a ring of input of 67 MB",
    "t_row_1": "time that a neuron takes longer after a delivery with a ring of input of 1.3 MB",
    "t_row_3": "time that a neuron takes longer after a delivery with a ring of input of 2.7 MB",
    "t_row_8": "time that a neuron takes longer after a delivery with a ring of input of 8.4 MB",
    "t_far_16": "time that a list of 16 synapses takes longer among 1 GB of synapses",
    "t_far_64": "time that a list of 64 synapses takes longer among 1 GB of synapses",
    "t_far_512": "time that a list of 512 synapses takes longer among 1 GB of synapses",
    "t_leave": "time to send a spike, besides that for its ranks",
    "t_route": "time to send a spike to one more rank",
}
_BUSY = {"one_core": "one core at work", "full_node": "all cores at work"}
_NAMES = {
    "node.sockets": "sockets of a node", "node.cores": "cores of a node", "node.clock": "clock of the cores",
    "node.memory": "memory of a node", "node.line": "line of the caches", "node.l1d": "first cache",
    "node.l2": "second cache of a core", "node.l3": "last cache",
    "node.l3_cores": "cores that share a last cache", "node.bandwidth": "memory bandwidth of a node",
    "node.bandwidth_peak": "peak memory bandwidth of a node", "power.tdp": "TDP of a node's processors",
    "node.bandwidth_core": "memory bandwidth of one core",
    "jitter.cv": "fluctuation of cycle times", "jitter.correlation_time": "how long fluctuations last",
    "jitter.minor_share": "share of long cycles", "jitter.minor_factor": "length of long cycles",
    "jitter.node_spread": "differences between nodes",
    "interconnect.fabric": "kind of network between nodes, such as Ethernet or InfiniBand",
    "interconnect.topology": "topology of the interconnect",
    "interconnect.nodes_per_leaf": "nodes on one switch", "interconnect.latency": "latency between nodes",
    "interconnect.latency_node": "latency within a node",
    "interconnect.bandwidth": "bandwidth between nodes",
    "interconnect.bandwidth_node": "bandwidth of messages within a node",
    "interconnect.congestion": "congestion of the interconnect",
    "interconnect.gap": "gap between two messages of a sender",
    "interconnect.eager": "largest message that is sent without asking",
    "interconnect.selector": "MPI library", "power.idle": "power of an idle node",
    "power.core": "power of a busy core", "power.card": "power of an interconnect card",
    "price.node_hour": "price of a node for an hour",
    "accelerator.devices": "devices of a node", "accelerator.name": "kind of the devices",
    "accelerator.memory": "memory of a device", "accelerator.bandwidth": "memory bandwidth of a device",
    "accelerator.t_next": "time of a device per synaptic event",
    "accelerator.t_spike": "time of a device per spike",
    "accelerator.update": "time of a device to update a neuron",
    "accelerator.step": "fixed time of a device in a step",
    "accelerator.transfer_latency": "latency between host and device",
    "accelerator.transfer_bandwidth": "bandwidth between host and device",
    "accelerator.tdp": "TDP of a device", "accelerator.idle": "power of an idle device",
    "accelerator.busy": "power of a device that simulates",
    "dry_run.times": "compute times of the dry run", "dry_run.sample": "which ranks the dry run sampled",
}  # fmt: skip


def plain(path: str) -> str:
    """The value at a path in words; the path itself for one that no vendor is asked for."""
    group, _, name = path.removeprefix("kernels.").partition(".")
    if path.startswith("kernels."):
        kernel, _, model = name.partition(".")
        return f"{_KERNELS[kernel]}{f' ({model})' if model else ''}, {_BUSY[group]}"
    listed, _, model = path.partition(".update.")
    if model:
        return f"{_NAMES[f'{listed}.update']} ({model})"
    return _NAMES.get(path, path)


def named(path: str) -> str:
    """The value at a path in words, with its path for those who write profiles."""
    words = plain(path)
    return f"`{path}`" if words == path else f"{words} (`{path}`)"
