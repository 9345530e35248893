/// \file
/// Wire formats: the words that stand for a spike in a send buffer.
///
/// A lane needs to know one word of a spike (base/spike.h). It holds the step within the window and the
/// list that the spike names at the receiver or, for a broadcast, the number of the neuron on its rank.
/// `compact` sends just that. `aer12` sends what DPSNN's address-event representation has on the wire
/// (Simula et al. 2019), twelve bytes a spike, so that the cost of the payload can be studied.

#pragma once

#include "base/registry.h"
#include <stdint.h>

enum { wire_words_max = 3 }; ///< of the longest format

/// A wire format by name.
struct wire_format {
    const char *name;    ///< as in a run description
    const char *summary; ///< one line for --list
    int words;           ///< per spike; where they are several, the first two are neuron and step
    int at;              ///< which of them is the one that the lane needs
};

/// Writes the words of a spike of neuron `gid` at `step` to `words`, [wire->words]. `word` is what the lane
/// needs (spike_pack()).
static inline void wire_pack(const struct wire_format *wire, uint32_t *words, uint32_t word, uint32_t gid,
                             uint32_t step) {
    if (wire->words > 1) {
        words[0] = gid;
        words[1] = step;
    }
    words[wire->at] = word;
}

extern const struct wire_format *const wire_formats[]; ///< all, ended by NULL

/// Returns the format of that name; NULL where there is none.
static inline const struct wire_format *wire_find(const char *name) {
    return registry_find(wire_formats, name);
}
