/// \file
/// The table of wire formats. To add one: a line here, with its words for each spike and which of them the
/// lane reads. Further words are sent, received and dropped, so they change the traffic of a run and not its
/// spikes.

#include "transport/wire.h"

#include "base/registry.h"
#include <stddef.h>

const struct wire_format *const wire_formats[] = {
    ENTRY(wire_format, "compact", "4 bytes a spike: list at the receiver and step within the window", 1, 0),
    ENTRY(wire_format, "aer12",
          "12 bytes a spike, as DPSNN's address events: neuron, step, and the word of compact", 3, 2),
    NULL};
