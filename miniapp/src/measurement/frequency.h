/// \file
/// How the kernel sets the clock frequency of the processors of a node.

#ifndef MEASUREMENT_FREQUENCY_H
#define MEASUREMENT_FREQUENCY_H

#include "measurement/meter.h"
#include <stdint.h>

struct frequency {
    char governor[128];            ///< of all processors; several names where they differ; "" where unknown
    char reason[meter_reason_max]; ///< why it is unknown; "" otherwise
    uint64_t low_hz, high_hz;      ///< the limits that are set, lowest and highest of all; 0 where unknown
};

/// Reads what cpufreq says of every processor. \param sysfs what is read in place of /sys.
void frequency_read(struct frequency *frequency, const char *sysfs);

#endif
