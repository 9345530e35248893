#include "transport/wire.h"

static void pack_compact(uint32_t words[wire_words_max], uint32_t word, uint32_t gid, uint32_t step) {
    (void)gid, (void)step;
    words[0] = word;
}

static void pack_aer12(uint32_t words[wire_words_max], uint32_t word, uint32_t gid, uint32_t step) {
    words[0] = gid;
    words[1] = step;
    words[2] = word;
}

static uint32_t unpack_compact(const uint32_t *words) {
    return words[0];
}

static uint32_t unpack_aer12(const uint32_t *words) {
    return words[2];
}

static const struct wire_format compact = {
    .name = "compact",
    .summary = "4 bytes a spike: list at the receiver and step within the window",
    .words = 1,
    .pack = pack_compact,
    .unpack = unpack_compact,
};

static const struct wire_format aer12 = {
    .name = "aer12",
    .summary = "12 bytes a spike, as DPSNN's address events: neuron, step, and the word of compact",
    .words = 3,
    .at = 2,
    .pack = pack_aer12,
    .unpack = unpack_aer12,
};

const struct wire_format *const wire_formats[] = {&compact, &aer12, NULL};
