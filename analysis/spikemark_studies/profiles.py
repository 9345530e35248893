"""Machines as the studies see them: profiles in which what is unknown is assumed."""

import numpy as np

from spikemark.machines import Profile, filled, load
from spikemark.machines.values import Values
from spikemark.models.loggp import Collectives
from spikemark.models.node_power import NodePower
from spikemark.prediction.draws import Z95


def assumed_profile(machine: str) -> Profile:
    """The profile of a machine in machines/, with priors where it states nothing.

    Example:
        >>> assumed_profile("jureca-dc").name
        'jureca-dc'
    """
    profile = filled(load(machine))
    assert isinstance(profile, Profile)
    return profile


def profile_value(machine: str, path: str) -> float:
    """A number of a profile, such as node.cores, in the unit that it is stated in.

    Example:
        >>> profile_value("jureca-dc", "node.cores")
        128.0
    """
    return float(assumed_profile(machine).need(path, "a study").value)


def above_w(machine: str, cores: int) -> float:
    """Power above the baseline of so many busy cores, and of the cards of several nodes.

    Example:
        >>> above_w("jetson-tx1", cores=8) > above_w("jetson-tx1", cores=4)
        True
    """
    cores_of_node = round(profile_value(machine, "node.cores"))
    nodes = -(-cores // cores_of_node)
    power = NodePower(
        idle_w=0.0,
        socket_w=profile_value(machine, "power.socket"),
        core_w=profile_value(machine, "power.core"),
        card_w=profile_value(machine, "power.card"),
        core_alone_w=profile_value(machine, "power.core_alone"),
    )
    sockets = round(profile_value(machine, "node.sockets"))
    busy = -(-cores // nodes)
    return float(nodes * power.watts(busy, cores_of_node, sockets, cards=int(nodes > 1)))


def drawn_interconnects(machine: str, nodes: int, number: int = 64) -> list[Collectives]:
    """The cost of exchanges between so many nodes, for draws of what is uncertain.

    Example:
        >>> networks = drawn_interconnects("jureca-dc", nodes=8, number=3)
        >>> len({network.net.latency_s for network in networks})
        3
    """
    profile = assumed_profile(machine)
    return [Collectives.from_values(drawn_values(profile, seed), nodes) for seed in range(number)]


def drawn_values(profile: Profile, seed: int) -> Values:
    """Values of a machine in which one number is drawn for each that is uncertain.

    Example:
        >>> jureca = assumed_profile("jureca-dc")
        >>> first, second = drawn_values(jureca, seed=1), drawn_values(jureca, seed=2)
        >>> first.get("interconnect.latency", 0.0) != second.get("interconnect.latency", 0.0)
        True
    """
    rng = np.random.default_rng(seed)

    def drawn(name: str, median: float, low: float, high: float, value: object) -> float:
        log_sd = np.log(high / low) / (2 * Z95)
        return float(median * np.exp(log_sd * rng.standard_normal()))

    return Values(profile, drawn=drawn)


def interconnect_of(machine: str, nodes: int) -> Collectives:
    """The cost of exchanges between so many nodes of a machine, at the medians of its profile.

    Example:
        >>> round(1e6 * interconnect_of("jureca-dc", nodes=8).net.latency_s, 1)  # microseconds
        1.5
    """
    return Collectives.from_values(Values(assumed_profile(machine)), nodes)
