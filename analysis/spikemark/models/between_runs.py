"""How much the times of equal runs differ on a real machine, where nothing measured tells it.

Another run of the same network meets other clocks, other places in memory and other programs on the
same host. These spreads are assumed; they were seen on the machines of this project. A history
(`spikemark diff --history`), or runs made again, tell them for another machine.
"""

#: Spread (SD) of the mean time of a run, as a share of the part itself. Runs of this project on
#: shared virtual machines varied by 1 to 5 %.
RUN_SD = 0.05
#: The same of waiting and exchange, and of how much the times of a rank fluctuate.
COMMUNICATING_SD = 0.3
#: Spread (SD) of the speed of a single rank, beside what all ranks of a run have in common. On a
#: virtual machine, a neighbour on the same host may take a share of one core for a whole run: ranks
#: of 31 runs of 3 s with equal work varied by 13 % (docs/waiting.md).
RANK_SD = 0.05
RANK_SD_VIRTUAL = 0.13


def rank_sd(virtual_machine: bool | None) -> float:
    """Spread (SD) of the speed of a rank from run to run, as a share.

    Args:
        virtual_machine: whether the ranks run on one; None if nobody knows.

    Example:
        >>> rank_sd(virtual_machine=True) > rank_sd(virtual_machine=None)
        True
    """
    return RANK_SD_VIRTUAL if virtual_machine else RANK_SD
