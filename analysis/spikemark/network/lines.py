"""Lines that neighbouring short lists of a thread share, and what does not fit them.

These are the rules of the mini-app (miniapp/src/synapse/table.h). Numbers of synapses of lists are
taken to be Poisson.
"""

import math
from functools import lru_cache

WORD = 4  # bytes
LINE = 16  # words
FEW = 5  # synapses of a list on the mean, below which lists share lines
FILL, FILTERED_FILL = 15, 19  # words of the lists of a line on the mean, without a filter and with one
FEWEST_SPARE = 5  # bits that the place and the weight of a synapse leave, and its list needs
MOST_GROUP_BITS = 14
MANY = 32  # lists of a line
MOST_WORDS = 2**31  # of the synapses of a thread, where lists share lines
LINES_BEYOND = 2  # lines in which 17 words lie that begin anywhere: the number of further words, and they
ALMOST_ALL = 12  # standard deviations beyond which no Poisson number is taken to lie


def used(lists: float, synapses: float, words: int, spare: float) -> bool:
    """Do the lists of a thread share lines? `words` is that of a synapse, `spare` the bits that it leaves."""
    return 0 < synapses < FEW * lists and spare >= FEWEST_SPARE and synapses * words < MOST_WORDS


def spare_bits(neurons: float, slots: int, classes: int) -> int:
    """Bits that the place and the weight of a synapse leave on a thread of `neurons` neurons."""
    return 32 - max(1, math.ceil(math.log2(max(1, neurons) * slots))) - math.ceil(math.log2(max(1, classes)))


def share(alike: float, spare: float) -> int:
    """Lists of a line where `alike` would fill it on the mean."""
    most = 1 << min(int(spare) - 1, MOST_GROUP_BITS)
    return max(1, min(most, math.ceil(alike) if alike > MANY else round(alike)))


@lru_cache(maxsize=256)
def beyond(mean: float, words: int, spare: int, filtered: bool) -> float:
    """Share of the spikes that go on from their line to further words, where lists hold `mean` synapses.

    They do so where the lists of the line have more synapses than fit, and theirs reaches the last of those
    that are there. All spikes count, or with a filter those whose list holds a synapse.
    """
    each, room = share((FILTERED_FILL if filtered else FILL) / (words * mean), spare), LINE // words
    entered = going = 0.0
    own = list(enumerate(_poisson(mean)))[1 if filtered else 0 :]
    for before in range(each):  # lists of the line that come first
        ahead, after = _poisson(before * mean), _poisson((each - 1 - before) * mean)
        more = [sum(after[n:]) for n in range(room + 2)]  # P(n or more)
        for n, p in own:
            entered += p
            reach = ((m + n, q) for m, q in enumerate(ahead) if m + n >= room - 1)
            going += p * sum(q * more[max(0, room + 1 - end)] for end, q in reach)
    return going / entered


def _poisson(mean: float) -> list[float]:
    """Probabilities of 0, 1, 2, ... up to where almost nothing is left."""
    found = [math.exp(-mean)]
    for n in range(1, math.ceil(mean + ALMOST_ALL * math.sqrt(mean + 1)) + 1):
        found.append(found[-1] * mean / n)
    return found
