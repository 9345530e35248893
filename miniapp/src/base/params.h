/// \file
/// The scalar fields of a run description, one line each. Their reader, their defaults and their limits all
/// come from here.
///
/// In PARAMETER(kind, member, section, field, fallback, low, high), kind is number, integer or boolean;
/// section is "" at the top level; and a fallback of PARAMETER_REQUIRED means that the field must be given.
/// description.c reads lists, names, and fields that depend on others.

#ifndef BASE_PARAMS_H
#define BASE_PARAMS_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#define PARAMETER_REQUIRED NAN

// clang-format off
#define RUN_PARAMETERS(PARAMETER)                                                                             \
    PARAMETER(integer, format_version, "",       "format_version", PARAMETER_REQUIRED, 1,     1)              \
    PARAMETER(integer, seed,           "",       "seed",           1,                  0,     9007199254740992.0) \
    PARAMETER(number,  resolution_ms,  "time",   "resolution_ms",  0.1,                1e-6,  1000)           \
    PARAMETER(number,  cycle_ms,       "time",   "cycle_ms",       0,                  0,     1000)           \
    PARAMETER(number,  warmup_ms,      "time",   "warmup_ms",      0,                  0,     1e9)            \
    PARAMETER(number,  simulate_ms,    "time",   "simulate_ms",    PARAMETER_REQUIRED, 1e-6,  1e9)            \
    PARAMETER(integer, lag,            "",       "lag",            1,                  1,     1000)           \
    PARAMETER(boolean, record_cycles,  "record", "cycles",         1,                  0,     1)              \
    PARAMETER(boolean, record_spikes,  "record", "spikes",         0,                  0,     1)              \
    PARAMETER(boolean, barrier,        "record", "barrier",        1,                  0,     1)              \
    PARAMETER(boolean, record_energy,  "record", "energy",         0,                  0,     1)              \
    PARAMETER(number,  energy_interval_s, "record", "energy_interval_s", 0.1,          0.001, 30)             \
    PARAMETER(boolean, record_kernel,  "record", "kernel",         0,                  0,     1)              \
    PARAMETER(number,  kernel_interval_s, "record", "kernel_interval_s", 0.01,         0.001, 30)             \
    PARAMETER(number,  inject_mean_us, "inject", "mean_us",        0,                  0,     1e7)            \
    PARAMETER(number,  inject_sd_us,   "inject", "sd_us",          0,                  0,     1e7)            \
    PARAMETER(number,  inject_serial,  "inject", "correlation",    0,                  0,     0.9999)         \
    PARAMETER(number,  inject_rank_us, "inject", "rank_sd_us",     0,                  0,     1e7)            \
    PARAMETER(number,  inject_share,   "inject.minor_mode", "share",  0,               0,     1)              \
    PARAMETER(number,  inject_factor,  "inject.minor_mode", "factor", 1,               0,     1e6)
// clang-format on

/// A parameter of a neuron model. It says the same as a line above, but as data, since each model brings its
/// own.
struct parameter {
    const char *name; ///< ends in the unit
    double fallback, low, high;
};

#endif
