/// \file
/// Takes counts and displacements, places blocks one after the other, and lets the receive buffer point at
/// them. Cost: one pass over the ranks that words may come from, not over all ranks.

#include "transport/exchange/rank_blocks.h"

#include "base/alloc.h"
#include "transport/communicator.h"

void rank_blocks_open(struct rank_blocks *blocks, const int *ranks, int n, int own, int all_places) {
    const int all = n + (own >= 0);
    const size_t places = (size_t)(all_places ? all_places : all);
    *blocks = (struct rank_blocks){.n = all,
                                   .rank = ALLOC(int, (size_t)all),
                                   .by_rank = all_places > 0,
                                   .places = places,
                                   .count = ALLOC_ZERO(int, places),
                                   .displacement = ALLOC_ZERO(int, places)};
    for (int i = 0; i < n; i++) blocks->rank[i] = ranks ? ranks[i] : i;
    if (own >= 0) blocks->rank[n] = own;
}

/// Returns the place of the i-th rank in `count` and `displacement`.
static int place_of(const struct rank_blocks *blocks, int i) {
    return blocks->by_rank ? blocks->rank[i] : i;
}

void rank_blocks_make_room(struct rank_blocks *blocks) {
    uint64_t total = 0;
    for (int i = 0; i < blocks->n; i++) {
        blocks->displacement[place_of(blocks, i)] = (int)total;
        total += (uint64_t)blocks->count[place_of(blocks, i)];
        mpi_count(total, "words that arrive");
    }
    word_buffer_reserve(&blocks->arrived, total);
}

void rank_blocks_deliver(const struct rank_blocks *blocks, struct receive_buffer *receive_buffer) {
    for (int i = 0; i < blocks->n; i++)
        receive_buffer_add(receive_buffer, blocks->rank[i],
                           blocks->arrived.words + blocks->displacement[place_of(blocks, i)],
                           (size_t)blocks->count[place_of(blocks, i)]);
}

size_t rank_blocks_bytes(const struct rank_blocks *blocks) {
    return ((size_t)blocks->n + 2 * blocks->places) * sizeof(int) +
           blocks->arrived.capacity * sizeof(uint32_t);
}

void rank_blocks_close(struct rank_blocks *blocks) {
    FREE(blocks->rank, blocks->count, blocks->displacement);
    word_buffer_close(&blocks->arrived);
}
