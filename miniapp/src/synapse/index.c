/// \file
/// Chooses the index of a table from the numbers of its lists and synapses, and says how much memory it
/// will take.
///
/// The choice depends on nothing else, so that the estimate before a run (app/estimate.c) makes the same one
/// as the run. Everything here is arithmetic, once for each table.

#include "synapse/index.h"

#include "synapse/lines.h"
#include <math.h>

/// Synapses of a list, on the mean, from which each list has a start of its own. With fewer, lists share
/// lines, which are found by arithmetic, so that a spike costs one access instead of two. With more, the
/// names in a line and its further words cost more than the second access. Measured (2026-11-24, 8 ranks with
/// 128 threads, lists of five): delivery took 3.6 ns a synapse while this was six, and 2.8 ns with five.
enum { few = 5 };

/// Bits of the filter for each synapse, at most; at least half as many, since bits stand for powers of two of
/// lists. So at most a quarter of the bits are set, and as many spikes of empty lists pass the filter for
/// nothing. It takes up to a byte for each synapse of four. Half as many bits would let twice as many spikes
/// through, each of which costs an access to memory. Chosen, not tuned.
enum { filter_bits_per_synapse = 8 };

/// Synapses of a group of lists, on the mean, and the most bits that number a list within its group. Lists of
/// a group share one number of lists to a line, so a group should be small where lists differ; but each needs
/// 16 bytes, and is sorted in a buffer that should stay in the second cache (64 KiB for 16384 words). The
/// number of a list within a group has to be below 2^16 for line_place(). Chosen, not tuned.
enum { group_synapses = 16384, most_group_bits = 14 };

/// Bits above place and class that names in a line need at least: one for links, and four for the names of 16
/// lists, as many as a line has words. With fewer, lines would stay empty because they lack names.
enum { fewest_spare = 5 };

/// Words of synapses for which a line is meant, of the 16 that it has, without and with a filter. Their
/// number is random, so what does not fit goes to further words, at a second access. Where it is a Poisson
/// number, 15 take 4.74 bytes for each synapse, and 10 % of them lie in further words; 19 take 4.42 bytes,
/// and 23 %. With 11 it would be 5.90 bytes and 2 %, with 24 4.33 bytes and 38 %. Behind a filter, spikes
/// that find nothing need no second access, so lines may be fuller. Chosen from these expectations
/// (expect_further()), not tuned by time.
enum { full = 15, full_with_filter = 19 };

/// Words of all lines have numbers of fewer bits than this, since the top bit of a link is its mark.
enum { most_bits_of_words = 31 };

/// Lists of a line from which their number is rounded up. One list more makes a line fuller by less than 3 %
/// then, and saves the last line of a group, which would hold a few lists only. Below, the nearest is taken.
enum { many = 32 };

/// Returns the smaller one.
static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

struct synapse_index synapse_index(const struct synapse_format *format, uint32_t lists, uint64_t synapses) {
    // Bits above place and class, in which a synapse can name its list within a line.
    const unsigned spare = format->used_bits < 32 ? 32 - format->used_bits : 0;
    struct synapse_index index = {.lists = lists};
    // Long lists: a start for each costs little beside its synapses.
    if (synapses == 0 || synapses >= (uint64_t)few * lists) return index;
    // Lists that are mostly empty: a filter keeps spikes from looking for them.
    if (synapses < lists) {
        // lists / 2^f, rounded down, is at most 8 synapses from f = log2(lists / (8 synapses + 1)) on.
        index.filter_bits = bits_for(lists / (synapses * filter_bits_per_synapse + 1) + 1);
        index.filter_words = ((lists - 1) >> index.filter_bits) / 64 + 1;
    }
    // Lines need names. Where there is no room for them, a start for every list has to do.
    if (spare < fewest_spare || synapses * synapse_words(format) >> most_bits_of_words > 0) return index;
    // A name tells the lists of a line from each other; the top bit marks links.
    index.most_lists = (uint32_t)1 << least(spare - 1, most_group_bits);
    index.fill = synapses < lists ? full_with_filter : full;
    // 2^b lists hold 16384 synapses on the mean from b = log2(16384 lists / synapses) on, rounded up.
    index.group_bits =
        least(bits_for(((uint64_t)group_synapses * lists + synapses - 1) / synapses), most_group_bits);
    index.groups = ((lists - 1) >> index.group_bits) + 1;
    return index;
}

// Lines of a group of lists take `fill` words each on the mean, but not more lists than there are names.
uint32_t synapse_index_share(const struct synapse_index *index, uint32_t lists, double words) {
    const double lines = fmax(1, nearbyint(words / index->fill)), share = lists / lines;
    const double whole = share > many ? ceil(share) : nearbyint(share); // no further line for a few lists
    return (uint32_t)fmax(1, fmin(index->most_lists, whole));
}

/// Returns the expectation of the words that do not fit a line where it has a Poisson number of synapses with
/// this mean.
static double expect_further(double mean, uint32_t words) {
    // The sum over all n of P(n) times what does not fit with n synapses: where they are more than there is
    // room, the link takes the place of one, and their count takes a word.
    const uint32_t room = line_words / words;
    double here = exp(-mean), most = here, sum = 0; // P(n), P(at most n), mean of n where it is at most that
    for (uint32_t n = 1; n <= room; n++) {
        here *= mean / n;
        most += here;
        sum += n * here;
    }
    return fmax(0, words * (mean - sum - (room - 1) * (1 - most)) + (1 - most));
}

double synapse_index_bytes(const struct synapse_index *index, const struct synapse_format *format,
                           uint64_t synapses) {
    const double filter = (double)index->filter_words * sizeof(uint64_t);
    if (index->most_lists == 0) return filter + ((double)index->lists + 1) * sizeof(uint32_t);
    const uint32_t words = (uint32_t)synapse_words(format);
    const double group = fmin(index->lists, ldexp(1, (int)index->group_bits)), groups = index->lists / group;
    const double all = (double)synapses * words;
    const double share = synapse_index_share(index, (uint32_t)group, all / groups);
    const double lines = groups * ceil(group / share);
    const double further = expect_further(share * (double)synapses / index->lists, words);
    return filter + index->groups * (double)sizeof(struct line_group) +
           sizeof(uint32_t) * (lines * (line_words + further) - all);
}
