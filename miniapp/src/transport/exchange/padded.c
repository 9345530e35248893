#include "transport/exchange/padded.h"

#include "base/alloc.h"
#include "transport/mpi_count.h"
#include <stdlib.h>
#include <string.h>

enum { header = 2, first_room = 14 }; // words

static void allocate(struct padded *padded, uint32_t room) {
    padded->room = room;
    padded->words = mpi_count((uint64_t)header + room, "words of a padded buffer");
    padded->sent = ALLOC_ZERO(uint32_t, (size_t)padded->ranks * (size_t)padded->words);
    padded->received = ALLOC_ZERO(uint32_t, (size_t)padded->ranks * (size_t)padded->words);
}

void padded_open(struct padded *padded, int ranks) {
    padded->ranks = ranks;
    allocate(padded, first_room);
}

void padded_make_room(struct padded *padded, uint32_t need) {
    uint32_t words = header + padded->room;
    while (words < header + need) words *= 2;
    padded_close(padded);
    allocate(padded, words - header);
}

void padded_fill(struct padded *padded, const struct outbox *outbox, struct exchange *exchange) {
    uint32_t need = 0;
    for (int rank = 0; rank < padded->ranks; rank++) {
        const uint32_t count = outbox_count(outbox, rank);
        need = need < count ? count : need;
    }
    for (int rank = 0; rank < padded->ranks; rank++) {
        uint32_t *buffer = padded->sent + (size_t)rank * (size_t)padded->words,
                 count = outbox_count(outbox, rank);
        buffer[0] = count;
        buffer[1] = need;
        if (count <= padded->room)
            memcpy(buffer + header, outbox_words(outbox, rank), count * sizeof *buffer);
    }
    uint64_t others = (uint64_t)padded->ranks - 1;
    exchange->traffic.messages += others;
    exchange->traffic.bytes += others * (size_t)padded->words * sizeof *padded->sent;
}

uint32_t padded_need(const struct padded *padded) {
    uint32_t need = 0;
    for (int rank = 0; rank < padded->ranks; rank++) {
        uint32_t other = padded->received[(size_t)rank * (size_t)padded->words + 1];
        need = need < other ? other : need;
    }
    return need;
}

void padded_deliver(const struct padded *padded, struct inbox *inbox) {
    for (int rank = 0; rank < padded->ranks; rank++) {
        const uint32_t *buffer = padded->received + (size_t)rank * (size_t)padded->words;
        inbox->run[rank] = (struct inbox_run){buffer + header, buffer[0]};
    }
}

size_t padded_bytes(const struct padded *padded) {
    return 2 * (size_t)padded->ranks * (size_t)padded->words * sizeof(uint32_t);
}

void padded_close(struct padded *padded) {
    free(padded->sent);
    free(padded->received);
}
