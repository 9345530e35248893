/// \file
/// Any distribution over 0, 1, ... n - 1, drawn with one 32-bit word and a table, without a loop that
/// redraws.
///
/// Each number is drawn by the words up to upper[number] that lie above those of the number before, so its
/// probability is right to 2^-32.

#pragma once

#include "description/fields.h"
#include <string.h>

enum { discrete_guide_size = 256 };

struct discrete {
    uint32_t *upper;                     ///< [n]: largest word that draws this number
    uint32_t guide[discrete_guide_size]; ///< by the word's top byte: where the search starts
};

/// Returns the number that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t discrete_draw(const struct discrete *discrete, uint32_t word) {
    uint32_t i = discrete->guide[word >> 24];
    while (word > discrete->upper[i]) i++;
    return i;
}

// -------------------- poisson
// Poisson numbers, each drawn with one 32-bit word.
//
// The number of events is at least k if the word is below at_least[k - 1]. That entry is the probability P(N
// >= k) in units of 2^-32, to the nearest of them. So each of these probabilities is right to 2^-33, and the
// mean to that times their number. The tail ends where P(N >= k) rounds to 0.

enum { poisson_mean_max = 100, poisson_table_max = 160 };

/// Below this mean, rounding to 2^-32 would change the mean by more than 0.1 %.
static const double poisson_mean_min = 1.2e-7;

struct poisson {
    uint32_t always;                      ///< events that every draw brings, since P(N >= always) rounds to 1
    uint32_t n;                           ///< length of the table
    uint32_t at_least[poisson_table_max]; ///< probabilities of always + 1, always + 2, ... events, in 2^-32
};

/// Returns the table for `mean`, which is 0 or lies between poisson_mean_min and poisson_mean_max.
struct poisson poisson_open(double mean);

/// Returns the most events that a draw can bring, which is at most 255.
static inline uint32_t poisson_most(const struct poisson *poisson) {
    return poisson->always + poisson->n;
}

static inline uint32_t poisson_draw(const struct poisson *poisson, uint32_t word) {
    uint32_t events = poisson->always;
    for (uint32_t k = 0; k < poisson->n; k++) events += word < poisson->at_least[k];
    return events;
}

// -------------------- normal
// Normal numbers, each drawn with one 32-bit word by the quantile of the distribution.
//
// A tail is a probability in units of 2^-32, from 1/2 to 2^31. A table approximates the quantile by straight
// pieces, 64 for each power of two, so it is as fine in the tails as in the middle (to 1e-4 standard
// deviations). A draw costs one look-up, a product and a sum, and gives the same in any order and vector
// width.

/// Returns the x at which the standard normal distribution function is p <= 1/2.
double normal_quantile(double p);

enum { normal_parts = 64, normal_pieces = 32 * normal_parts };

/// The largest deviation that a table draws, in standard deviations. Less than 2^-33 lies beyond it.
static const double normal_furthest = 6.34;

struct normal {
    struct normal_piece {
        double at_zero, slope;
    } piece[normal_pieces];
};

/// Makes a table, to be freed with free().
struct normal *normal_open(void);

/// Returns the deviation from the mean, above 0 and in standard deviations, beyond which the `tail` lies.
static inline double normal_deviation(const struct normal *normal, double tail) {
    uint64_t bits;
    memcpy(&bits, &tail, sizeof bits);
    // The exponent and the first bits of the mantissa, counted from those of 1/2, number the piece.
    const struct normal_piece *piece = &normal->piece[(bits >> 46) - ((uint64_t)1022 << 6)];
    return piece->at_zero + piece->slope * tail;
}

// -------------------- delay
// The distribution of delays on the grid of the resolution.
//
// "Normal (or exponential), redrawn until within [min, max], then rounded to the grid" gives each grid point
// a probability: the integral of the density over the part of [min, max] that rounds to it. A delay is
// therefore drawn with one 32-bit word and a table. The cost does not depend on the limits, and the result
// does not depend on how a loop is vectorised.

struct delay {
    uint32_t shortest, longest; ///< steps; only these and what lies between is drawn
    struct discrete above;      ///< what is drawn above `shortest`
};

/// Opens a distribution within [low, high], all in ms. Its density is normal, where sd 0 stands for the
/// constant `mean`, or exponential: it falls by a factor of e every `mean`. The caller has checked 0 < low <=
/// high. Fails if nothing of the distribution lies in [low, high], or if low is shorter than half a step,
/// which would round to no delay.
bool delay_open(struct delay *delay, bool exponential, double mean, double sd, double low, double high,
                double resolution_ms);

/// Reads the field "delay" of a projection. Free with delay_close().
bool delay_read(struct delay *delay, const struct fields *projection, double resolution_ms,
                struct error *error);

void delay_close(struct delay *delay);

/// Returns the delay, in steps, that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t delay_draw(const struct delay *delay, uint32_t word) {
    return delay->shortest + discrete_draw(&delay->above, word);
}

// -------------------- indegree
// The in-degree of the neurons of a projection: how many synapses each of them receives.
//
// It is the same for all neurons, or a Poisson number that each neuron draws for itself. The latter holds
// for networks that deal a number of synapses to their neurons at random: there the in-degrees are binomial,
// which for many neurons is Poisson.

struct indegree {
    double mean;
    uint32_t least, most;   ///< only these and what lies between is drawn
    struct discrete *above; ///< what is drawn above `least`; NULL where all neurons have the same
};

/// Reads the field "indegree" of a projection: a number, or {mean, distribution}. Free with indegree_close().
bool indegree_read(struct indegree *indegree, const struct fields *projection, struct error *error);
void indegree_close(struct indegree *indegree);

/// Returns the in-degree that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t indegree_draw(const struct indegree *indegree, uint32_t word) {
    return indegree->above ? indegree->least + discrete_draw(indegree->above, word) : indegree->most;
}

// -------------------- weights
// The weights of the synapses of a projection: one weight, classes that stand for a normal distribution, or
// a normal distribution itself.
//
// With classes, a synapse holds the number of its class and not a weight. K classes cut the normal
// distribution into K slices of equal probability. Each class weighs what its slice weighs on average; the
// deviations from the mean are then scaled so that the standard deviation is that of the distribution as
// well. The mean and the variance of the input are thus exact. What the classes lack are the far tails (with
// 32 classes, beyond 2.1 sd).
//
// Without classes, every synapse has a weight of its own. It is drawn from the normal distribution within
// `furthest` of the mean, which keeps the mean and the sign.

enum { weight_classes_default = 32, weight_classes_max = 4096 };

struct weights {
    uint32_t classes; ///< 0: every synapse has a weight of its own
    double mean;      ///< in the unit of the target's model, as `sd`, `furthest`, and `weight`
    double sd;        ///< before the limit to `furthest`
    double furthest;  ///< largest deviation from the mean
    double tail;      ///< without classes: what lies further away on one side, in 2^-32
    double *weight;   ///< [classes]
    double unit;      ///< network.weight_unit
    int32_t *units;   ///< [classes] as multiples of it
};

/// Reads the field "weight" of a projection: a number, or {mean, sd, classes}. Free with weights_close().
bool weights_read(struct weights *weights, const struct fields *projection, struct error *error);
void weights_close(struct weights *weights);

void weights_set_unit(struct weights *weights, double unit);

static inline double weights_largest(const struct weights *weights) {
    return fabs(weights->mean) + weights->furthest;
}

/// Returns the class that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t weights_draw(const struct weights *weights, uint32_t word) {
    return (uint32_t)(((uint64_t)word * weights->classes) >> 32);
}

/// Returns the weight, in units, that `word` draws. `normal` is needed for weights without classes.
static inline int32_t weights_draw_units(const struct weights *weights, const struct normal *normal,
                                         uint32_t word) {
    if (weights->classes > 0) return weights->units[weights_draw(weights, word)];
    const double half = 2147483648.0; // 2^31 is the tail beyond the mean
    const double tail = weights->tail + ((word & INT32_MAX) + 0.5) * ((half - weights->tail) / half);
    double deviation = weights->sd * normal_deviation(normal, tail);
    if (deviation > weights->furthest) deviation = weights->furthest;
    const double units = (weights->mean + (word >> 31 ? deviation : -deviation)) / weights->unit;
    return (int32_t)(units + (units < 0 ? -0.5 : 0.5));
}
