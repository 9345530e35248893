"""Lines that neighbouring short lists of a thread share, and what does not fit them.

These are the rules of the mini-app (miniapp/src/synapse/table.h). Numbers of synapses of lists are
taken to be Poisson.
"""

import math
from functools import lru_cache

#: Bytes of a word, and words of a line.
WORD, LINE = 4, 16
#: Synapses of a list on the mean below which lists share lines.
MAX_MEAN_SYNAPSES = 5
#: Words of the lists of a line on the mean, without a filter and with one.
FILL, FILTERED_FILL = 15, 19
#: Bits of a word in which the place and the weight of a synapse are.
WORD_BITS = 32
#: Bits that the place and the weight of a synapse have to leave, since its list needs them.
MIN_SPARE_BITS = 5
#: Bits of the number of lists that share a line.
MAX_GROUP_BITS = 14
#: Lists of a line from which their number is rounded up.
ROUND_UP_FROM = 32
#: Words of the synapses of a thread up to which lists share lines.
MAX_WORDS = 2**31
#: Lines in which 17 words lie that begin anywhere: the number of further words, and they.
LINES_BEYOND = 2
#: Standard deviations beyond which no Poisson number is taken to lie.
MAX_POISSON_SD = 12


def shares_lines(lists: float, synapses: float, words: int, spare: float) -> bool:
    """Tell whether the lists of a thread share lines.

    Args:
        lists: number of lists of the thread.
        synapses: number of synapses of the thread.
        words: words of a synapse.
        spare: bits that a synapse leaves, from `spare_bits`.

    Example:
        >>> shares_lines(lists=1000, synapses=2000, words=1, spare=10)
        True
    """
    short_lists = 0 < synapses < MAX_MEAN_SYNAPSES * lists
    return short_lists and spare >= MIN_SPARE_BITS and synapses * words < MAX_WORDS


def spare_bits(neurons: float, slots: int, classes: int) -> int:
    """Bits that the place and the weight of a synapse leave in a word.

    Args:
        neurons: number of neurons of the thread.
        slots: steps for which a neuron's input is kept.
        classes: different weights.

    Example:
        >>> spare_bits(neurons=1024, slots=16, classes=2)  # 10 + 4 bits, and 1
        17
    """
    bits_of_place = max(1, math.ceil(math.log2(max(1, neurons) * slots)))
    bits_of_weight = math.ceil(math.log2(max(1, classes)))
    return WORD_BITS - bits_of_place - bits_of_weight


def share(alike: float, spare: float) -> int:
    """Number of lists that share a line.

    Args:
        alike: lists that would fill the line on the mean.
        spare: bits that a synapse leaves, from `spare_bits`.

    Example:
        >>> share(alike=7.4, spare=10)
        7
    """
    most = 1 << min(int(spare) - 1, MAX_GROUP_BITS)
    rounded = math.ceil(alike) if alike > ROUND_UP_FROM else round(alike)
    return max(1, min(most, rounded))


@lru_cache(maxsize=256)
def beyond(mean: float, words: int, spare: int, filtered: bool) -> float:
    """Share of the spikes that go on from their line to further words.

    They do so where the lists of the line have more synapses than fit, and theirs reaches the last
    of those that are there. All spikes count, or with a filter those whose list holds a synapse.

    Args:
        mean: synapses of a list on the mean.
        words: words of a synapse.
        spare: bits that a synapse leaves, from `spare_bits`.
        filtered: True where spikes pass a filter first.

    Example:
        >>> 0 < beyond(mean=2.0, words=1, spare=17, filtered=False) < 1
        True
    """
    fill = FILTERED_FILL if filtered else FILL
    lists = share(fill / (words * mean), spare)
    room = LINE // words  # synapses that a line holds
    shortest = 1 if filtered else 0
    spikes = 0.0
    going_on = 0.0
    for lists_before in range(lists):
        before = _poisson(lists_before * mean)
        at_least = _at_least(_poisson((lists - 1 - lists_before) * mean), room + 1)
        for synapses, probability in enumerate(_poisson(mean)):
            if synapses < shortest:
                continue
            spikes += probability
            overflow = 0.0  # probability that the lists after it overflow the line, and it its end
            for synapses_before, probability_before in enumerate(before):
                end = synapses_before + synapses
                if end >= room - 1:
                    overflow += probability_before * at_least[max(0, room + 1 - end)]
            going_on += probability * overflow
    return going_on / spikes


def _poisson(mean: float) -> list[float]:
    """Probabilities of 0, 1, 2, ... up to where almost nothing is left."""
    probabilities = [math.exp(-mean)]
    largest = math.ceil(mean + MAX_POISSON_SD * math.sqrt(mean + 1))
    for n in range(1, largest + 1):
        probabilities.append(probabilities[-1] * mean / n)
    return probabilities


def _at_least(probabilities: list[float], most: int) -> list[float]:
    """Probabilities of at least 0, 1, ..., `most`."""
    return [sum(probabilities[n:]) for n in range(most + 1)]
