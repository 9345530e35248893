/// \file
/// Wire formats: the words that stand for a spike in an outbox.
///
/// A lane needs to know one word of a spike (base/spike.h). It holds the step within the window and the list
/// that the spike names at the receiver or, for a broadcast, the number of the neuron on its rank. `compact`
/// sends just that. `aer12` sends what DPSNN's address-event representation has on the wire (Simula et al.
/// 2019), twelve bytes a spike, so that the cost of the payload can be studied.

#ifndef TRANSPORT_WIRE_H
#define TRANSPORT_WIRE_H

#include "base/registry.h"
#include "base/spike.h"
#include <stddef.h>

enum { wire_words_max = 3 };

struct wire_format {
    const char *name;
    const char *summary; ///< one line for --list
    int words;           ///< per spike
    int at;              ///< which of them unpack() returns
    void (*pack)(uint32_t words[wire_words_max], uint32_t word, uint32_t gid, uint32_t step);
    uint32_t (*unpack)(const uint32_t *words); ///< \return the one word
};

/// All formats, ended by NULL.
extern const struct wire_format *const wire_formats[];

/// Returns the format of that name, or NULL.
static inline const struct wire_format *wire_find(const char *name) {
    return registry_find(wire_formats, name);
}

#endif
