/// \file
/// The distribution of delays on the grid of the resolution.
///
/// "Normal (or exponential), redrawn until within [min, max], then rounded to the grid" gives each grid point
/// a probability: the integral of the density over the part of [min, max] that rounds to it. A delay is
/// therefore drawn with one 32-bit word and a table. The cost does not depend on the limits, and the result
/// does not depend on how a loop is vectorised.

#ifndef DESCRIPTION_DELAY_H
#define DESCRIPTION_DELAY_H

#include "description/discrete.h"
#include "description/json_fields.h"

struct delay {
    uint32_t shortest, longest; ///< steps; only these and what lies between is drawn
    struct discrete above;      ///< what is drawn above `shortest`
};

/// Opens a normal distribution with `mean` and `sd` within [low, high], all in ms; sd 0 stands for the
/// constant `mean`. The caller has checked 0 < low <= high. Fails if nothing of the distribution lies in
/// [low, high], or if low is shorter than half a step, which would round to no delay.
bool delay_open(struct delay *delay, double mean, double sd, double low, double high, double resolution_ms);

/// Opens an exponential distribution, whose density falls by a factor of e every `mean` (the mean it would
/// have without limits). Everything else is as for delay_open().
bool delay_open_exponential(struct delay *delay, double mean, double low, double high, double resolution_ms);

/// Reads the field "delay" of a projection. Free with delay_close().
bool delay_read(struct delay *delay, const struct fields *projection, double resolution_ms,
                struct error *error);

void delay_close(struct delay *delay);

/// Returns the delay, in steps, that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t delay_draw(const struct delay *delay, uint32_t word) {
    return delay->shortest + discrete_draw(&delay->above, word);
}

#endif
