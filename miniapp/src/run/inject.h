/// \file
/// Injected waits: additional computing time of known statistics, so that waiting for the slowest rank
/// can be studied on any machine with known truth.
///
/// The wait of a rank in a cycle is mean + rank effect + sd z + work, times `factor` with probability
/// `share`, and not below 0. Work makes a rank slow in proportion to what it does, as on a slower node: a
/// time for each of its neurons, and one for each synapse that it delivered to in the cycle, both divided
/// by its threads, which share the work. Here z is a standard normal autoregressive process of first
/// order with the given correlation from cycle to cycle, and the rank effect is normal with rank_sd. All
/// draws come from the counter-based generator, by seed, rank and cycle. Nothing here reads a clock or
/// waits: simulate.c does.

#pragma once

#include "description/description.h"
#include <stdbool.h>
#include <stdint.h>

/// The waits of a rank: what does not change, and the state from which the next wait follows.
struct inject {
    const struct description *description; ///< borrowed
    uint32_t rank, cycle;                  ///< the next cycle, from the start of the warm-up
    double rank_s;                         ///< mean + rank effect + neurons
    double synapse_s;                      ///< for each synapse delivered to
    double z;                              ///< of the last cycle, standard normal
    uint64_t synapses;                     ///< delivered to before the last wait; 0 where counts begin anew
    bool active;                           ///< whether the rank ever waits
};

/// Opens the waits of a rank with so many neurons and threads, from the first cycle of the warm-up on.
/// Nothing needs to be closed. `active` is false where the rank never waits.
struct inject inject_open(const struct description *description, int rank, uint32_t neurons, int threads);

/// Returns how many ranks have drawn a mean wait below 0, so that most of their waits are cut to 0.
int inject_cut(const struct description *description, int ranks);

/// Returns the seconds to wait in the next cycle. `synapses` is how many the rank has delivered to so far.
double inject_next(struct inject *inject, uint64_t synapses);
