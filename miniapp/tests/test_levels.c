/// \file
/// Exchanges composed of others: groups of any size, grids of up to four levels, any ordinary exchange in
/// each of them, and what they count.

#include "exchange_trial.h"
#include "transport/exchange_check.h"
#include "transport/grid.h"

#include <limits.h>

static struct exchange_spec two_level(const struct exchange_backend *inner,
                                      const struct exchange_backend *outer, int group) {
    return (struct exchange_spec){exchange_find("two_level"),
                                  {.n = 2, .size = {group}, .part = {inner, outer}, .ragged = true}};
}

TEST(two_level_serves_groups_of_any_size) {
    const int ranks = world_ranks();
    for (int i = 0; exchange_backends[i]; i++)
        for (int o = 0; exchange_backends[o]; o++)
            for (int group = 0; group <= ranks + 1; group++) {
                int largest = group && group < ranks ? group : ranks;
                if (!ordinary(exchange_backends[i], largest) || !ordinary(exchange_backends[o], ranks))
                    continue;
                try_exchange(two_level(exchange_backends[i], exchange_backends[o], group), every_pair, 10,
                             false);
                try_exchange(two_level(exchange_backends[i], exchange_backends[o], group), random_sparse, 10,
                             false);
            }
}

TEST(two_level_survives_uneven_speed) {
    const struct exchange_backend *part = exchange_find("rma_put");
    try_exchange(two_level(part, part, 3), every_pair, 60, true);
    try_exchange(two_level(part, part, 3), random_sparse, 60, true);
}

TEST(two_level_has_few_connections) {
    const int rank = world_rank(), ranks = world_ranks();
    const struct exchange_backend *all = exchange_find("alltoallv"), *put = exchange_find("rma_put");
    for (int group = 1; group <= ranks; group++) {
        int last = ranks % group ? ranks % group : group, groups = (ranks + group - 1) / group;
        int members = rank / group == groups - 1 ? last : group, expected = members - 1;
        for (int column = rank % group; column < group; column += members) expected += groups - 1;
        assert_int_equal(try_exchange(two_level(all, all, group), every_pair, 2, false).connections,
                         expected);
        assert_true(try_exchange(two_level(put, put, group), random_sparse, 2, false).connections <=
                    expected);
        assert_int_equal(try_exchange(two_level(put, put, group), nobody, 2, false).connections, 0);
    }
    if (ranks == 9) // 2 sqrt(9) - 2
        assert_int_equal(try_exchange(two_level(all, all, 0), every_pair, 2, false).connections, 4);
}

static struct exchange_spec multi_level(struct levels levels) {
    return (struct exchange_spec){exchange_find("multi_level"), levels};
}

/// Puts one ordinary exchange after the other into the levels, from number `first` on.
static bool fill_parts(struct levels *levels, int first) {
    int n = 0;
    const struct exchange_backend *all[64] = {NULL};
    for (int x = 0; exchange_backends[x]; x++)
        if (ordinary(exchange_backends[x], 2)) all[n++] = exchange_backends[x];
    for (int l = 0; l < levels->n; l++) levels->part[l] = all[(first + l) % n];
    return first < n;
}

static void try_parts(struct levels levels) {
    for (int first = 0; fill_parts(&levels, first); first++)
        try_exchange(multi_level(levels), first % 2 ? random_sparse : every_pair, 10, false);
}

TEST(every_grid_takes_every_exchange) {
    for_each_grid(4, try_parts);
}

static void try_uneven_speed(struct levels levels) {
    fill_parts(&levels, levels.size[0]);
    try_exchange(multi_level(levels), random_sparse, 20, true);
    try_exchange(multi_level(levels), every_pair, 20, true);
}

TEST(grids_survive_uneven_speed) {
    for_each_grid(3, try_uneven_speed);
}

static int coordinate(const struct levels *levels, int rank, int level) {
    if (levels->position) rank = levels->position[rank];
    for (int l = 0; l < level; l++) rank /= levels->size[l];
    return rank % levels->size[level];
}

/// Says whether a word from one rank to another crosses a level as this rank sends it.
static bool sent_here(const struct levels *levels, int from, int to, int level) {
    if (coordinate(levels, from, level) == coordinate(levels, to, level)) return false;
    for (int l = 0; l < levels->n; l++) {
        const bool crossed = levels->receiver ? l > level : l < level;
        if (coordinate(levels, world_rank(), l) != coordinate(levels, crossed ? to : from, l)) return false;
    }
    return true;
}

/// Compares the counts of p2p, which sends one message to every connection in every window.
static void compare_counts(struct levels levels) {
    enum { windows = 9 };
    for (int l = 0; l < levels.n; l++) levels.part[l] = exchange_find("p2p");
    const struct exchange end = try_exchange(multi_level(levels), every_pair, windows, false);
    uint64_t messages = 0, bytes = 0, connections = 0;
    for (int l = 0; l < levels.n; l++) {
        uint64_t words = 0, frames = 0;
        for (uint32_t window = 0; window < windows; window++)
            for (int from = 0; from < world_ranks(); from++)
                for (int to = 0; to < world_ranks(); to++) {
                    const uint32_t n =
                        sent_here(&levels, from, to, l) ? bursts(from, to, world_ranks(), window) : 0;
                    words += n;
                    frames += n > 0;
                }
        assert_int_equal(end.level[l].words, words);
        assert_int_equal(end.level[l].bytes, 4 * words + 8 * frames);
        assert_int_equal(end.level[l].connections, levels.size[l] - 1);
        assert_int_equal(end.level[l].messages, windows * (levels.size[l] - 1));
        messages += end.level[l].messages;
        bytes += end.level[l].bytes;
        connections += end.level[l].connections;
    }
    assert_int_equal(end.traffic.messages, messages);
    assert_int_equal(end.traffic.bytes, bytes);
    assert_int_equal(end.connections, connections);
}

TEST(levels_count_what_crosses_them) {
    for_each_grid(4, compare_counts);
}

/// Turns the ranks round and lets them begin at another one.
static void compare_counts_in_order(struct levels levels) {
    const int ranks = world_ranks();
    int position[128];
    for (int rank = 0; rank < ranks; rank++) {
        position[rank] = (2 * ranks - rank - 3) % ranks;
        position[ranks + position[rank]] = rank;
    }
    levels.position = position;
    compare_counts(levels);
}

TEST(ranks_take_the_places_of_an_order) {
    if (world_ranks() > 1) for_each_grid(3, compare_counts_in_order);
}

/// Returns the bridge between a group and a rank elsewhere.
static int bridge_of(const struct levels *levels, int group, int rank) {
    return group * levels->size[0] + levels->bridge[group * world_ranks() + rank];
}

/// Says whether a word from one rank to another crosses a level as this rank sends it, by way of a table.
static bool sent_by_table(const struct levels *levels, int from, int to, int level) {
    const int own = world_rank(), from_group = from / levels->size[0], to_group = to / levels->size[0];
    if (from == to) return false;
    if (from_group == to_group) return level == 0 && own == from;
    const int bridge =
        levels->receiver ? bridge_of(levels, to_group, from) : bridge_of(levels, from_group, to);
    if (levels->receiver) return level == 1 ? own == from : own == bridge && bridge != to;
    return level == 1 ? own == bridge : own == from && bridge != from;
}

/// Lets a table choose the bridges, at random.
static void compare_with_table(struct levels levels) {
    enum { windows = 9 };
    int bridge[64 * 64];
    const int ranks = world_ranks();
    if (levels.n != 2) return;
    for (int i = 0; i < levels.size[1] * ranks; i++)
        bridge[i] = (int)((uint32_t)i * 2654435761u >> 16) % levels.size[0];
    levels.bridge = bridge;
    levels.part[0] = levels.part[1] = exchange_find("p2p");
    const struct exchange end = try_exchange(multi_level(levels), every_pair, windows, false);
    for (int l = 0; l < 2; l++) {
        uint64_t words = 0;
        for (uint32_t window = 0; window < windows; window++)
            for (int from = 0; from < ranks; from++)
                for (int to = 0; to < ranks; to++)
                    if (sent_by_table(&levels, from, to, l)) words += bursts(from, to, world_ranks(), window);
        assert_int_equal(end.level[l].words, words);
    }
    try_exchange(multi_level(levels), random_sparse, 20, true);
}

TEST(a_table_chooses_the_bridges) {
    for_each_grid(2, compare_with_table);
}

TEST(without_dimensions_the_grid_is_nearly_square) {
    static const int ranks[] = {1, 2, 6, 7, 12, 36, 2000}, inner[] = {1, 1, 2, 1, 3, 6, 40};
    const struct exchange_spec plain = exchange_plain(exchange_find("multi_level"));
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const struct levels levels = levels_resolve(&plain.levels, ranks[i]);
        assert_int_equal(levels.size[0], inner[i]);
        assert_int_equal(grid_size(&levels), ranks[i]);
    }
}

TEST(a_huge_product_of_dimensions_fits_no_ranks) {
    for (int size = 200; size < 2000; size++) {
        struct levels levels = {.n = levels_max};
        for (int l = 0; l < levels_max; l++) levels.size[l] = size;
        assert_true(grid_size(&levels) > INT_MAX);
    }
}

TESTS_NEED_MPI
