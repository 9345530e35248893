/// \file
/// The distribution of delays on the grid of the resolution.
///
/// "Normal (or exponential), redrawn until within [min, max], then rounded to the grid" gives each grid point
/// a probability: the integral of the density over the part of [min, max] that rounds to it. A delay is
/// therefore drawn with one 32-bit word and a table. The cost does not depend on the limits, and the result
/// does not depend on how a loop is vectorised.
///
/// The shortest delay that can occur is known before anything is drawn. Schedules need it: a lane is exact
/// only if none of its synapses has a shorter delay than its windows allow (schedule/schedule.h).
///
/// Memory of a distribution: 4 bytes for each step from the shortest to the longest delay, and 1 KiB.

#pragma once

#include "description/discrete.h"
#include "description/field_table.h"
#include "description/fields.h"

/// The distribution of the delays of a projection.
struct delay {
    uint32_t shortest;     ///< steps, at least 1: the shortest that is drawn
    uint32_t longest;      ///< steps: the longest that is drawn
    struct discrete above; ///< steps above `shortest`; owned, freed by delay_close()
};

/// Opens a distribution within [low, high], all in ms. Its density is normal, where sd 0 stands for the
/// constant `mean`, or exponential: it falls by a factor of e every `mean`. The caller has checked 0 < low <=
/// high. Fails if nothing of the distribution lies in [low, high], or if low is shorter than half a step,
/// which would round to no delay.
bool delay_open(struct delay *delay, bool exponential, double mean, double sd, double low, double high,
                double resolution_ms);

extern const struct field_table table_of_delay; ///< the fields of network.projections.*.delay

/// Reads the field "delay" of a projection, in ms, and expresses it in steps of `resolution_ms`. Fails,
/// naming the field, for limits that exclude each other or all of the distribution. Free with delay_close(),
/// also after a failure.
bool delay_read(struct delay *delay, const struct fields *projection, double resolution_ms,
                struct error *error);

/// Frees the table. One set to zero may be closed, too.
void delay_close(struct delay *delay);

/// Returns the delay, in steps, that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t delay_draw(const struct delay *delay, uint32_t word) {
    return delay->shortest + discrete_draw(&delay->above, word);
}
