/// \file
/// The geometry of a grid of ranks: lines, hops and frames. Everything follows from positions by divisions;
/// nothing is stored for each rank but an order that a file gives.

#include "transport/grid.h"

#include "transport/levels.h"
#include <limits.h>

/// Returns the quotient, rounded up.
static int divide_up(int number, int by) {
    return (number + by - 1) / by;
}

long long grid_size(const struct levels *levels) {
    long long ranks = 1;
    for (int l = 0; l < levels->n && ranks <= INT_MAX; l++) ranks *= levels->size[l];
    return ranks;
}

struct grid grid_of(const struct levels *asked, int ranks, int rank) {
    struct grid grid = {.levels = levels_resolve(asked, ranks), .ranks = ranks};
    grid.own = grid_position(&grid, rank);
    grid.stride[0] = 1;
    for (int l = 1; l < grid.levels.n; l++) grid.stride[l] = grid.stride[l - 1] * grid.levels.size[l - 1];
    return grid;
}

int grid_level(const struct grid *grid, int hop) {
    return grid->levels.receiver ? grid->levels.n - 1 - hop : hop;
}

/// Returns the coordinate of a position in a level.
static int coordinate(const struct grid *grid, int position, int level) {
    return position / grid->stride[level] % grid->levels.size[level];
}

/// Returns the position with another coordinate.
static int moved(const struct grid *grid, int position, int level, int to) {
    return position + (to - coordinate(grid, position, level)) * grid->stride[level];
}

/// Returns how many ranks there are in the innermost line of a position.
static int members(const struct grid *grid, int position) {
    const int size = grid->levels.size[0], rest = grid->ranks - position / size * size;
    return grid->levels.ragged && rest < size ? rest : size;
}

int grid_rounds(const struct grid *grid, int level) {
    if (!grid->levels.ragged || level == 0) return 1;
    return divide_up(grid->levels.size[0], members(grid, grid->ranks - 1));
}

/// Returns the line of the second level in which a rank takes a seat where the last group is smaller.
static struct grid_line ragged_line(const struct grid *grid, int round) {
    // Columns are taken in rounds of as many as the smallest group has members.
    const int size = grid->levels.size[0], smallest = members(grid, grid->ranks - 1);
    const int member = grid->own % size, column = round * smallest + member % smallest;
    const bool sits = members(grid, grid->own) < size ? column < size : column == member;
    return (struct grid_line){sits ? column : -1, grid->own / size, grid->levels.size[1]};
}

/// Says whether the long way is free: a table chooses the bridges of two levels, so every rank may speak to
/// every other one in the second level, which is one line of all ranks.
static bool is_free(const struct grid *grid, int level) {
    return grid->levels.bridge && level == 1;
}

struct grid_line grid_line(const struct grid *grid, int level, int round) {
    if (is_free(grid, level)) return (struct grid_line){0, grid->own, grid->ranks};
    if (grid->levels.ragged && level > 0) return ragged_line(grid, round);
    // The line of a position has all coordinates in common but that of the level.
    const int place = coordinate(grid, grid->own, level);
    const int ranks = level == 0 ? members(grid, grid->own) : grid->levels.size[level];
    return (struct grid_line){moved(grid, grid->own, level, 0), place, ranks};
}

/// Returns the position of the bridge between a group and a position elsewhere.
static int bridge(const struct grid *grid, int group, int elsewhere) {
    return group * grid->levels.size[0] +
           grid->levels.bridge[(size_t)group * (size_t)grid->ranks + (size_t)elsewhere];
}

/// Returns the step where a table chooses the bridges: the place in the second level is a position.
static struct grid_step table_step(const struct grid *grid, int hop, int destination) {
    const int level = grid_level(grid, hop), group = coordinate(grid, destination, 1);
    const bool stays = group == coordinate(grid, grid->own, 1);
    // Towards the bridge of the other group, unless the word stays in this one.
    int to = destination;
    if (grid->levels.receiver && level == 1 && !stays) to = bridge(grid, group, grid->own);
    if (grid->levels.receiver && level == 1 && stays) to = grid->own;
    if (!grid->levels.receiver && level == 0 && !stays)
        to = bridge(grid, coordinate(grid, grid->own, 1), destination);
    return (struct grid_step){0, level == 1 ? to : coordinate(grid, to, 0)};
}

struct grid_step grid_step(const struct grid *grid, int hop, int destination) {
    if (grid->levels.bridge) return table_step(grid, hop, destination);
    const int level = grid_level(grid, hop), place = coordinate(grid, destination, level);
    if (!grid->levels.ragged) return (struct grid_step){0, place};
    const int member = coordinate(grid, destination, 0), here = members(grid, grid->own);
    return level == 0 ? (struct grid_step){0, place % here} : (struct grid_step){member / here, place};
}

struct grid_step grid_next(const struct grid *grid, int *hop, int destination) {
    struct grid_step step = grid_step(grid, *hop, destination);
    while (*hop < grid->levels.n - 1 && grid_position_at(grid, *hop, step.place) == grid->own)
        step = grid_step(grid, ++*hop, destination);
    return step;
}

int grid_position_at(const struct grid *grid, int hop, int place) {
    const int level = grid_level(grid, hop);
    return is_free(grid, level) ? place : moved(grid, grid->own, level, place);
}

/// Returns position `a` with the coordinates of `b` in the levels that are crossed in hops from `hop` on.
static int mixed(const struct grid *grid, int a, int b, int hop) {
    for (int h = hop; h < grid->levels.n; h++) {
        const int level = grid_level(grid, h);
        a = moved(grid, a, level, coordinate(grid, b, level));
    }
    return a;
}

int grid_frame(const struct grid *grid, int hop, int source, int destination) {
    if (hop == grid->levels.n - 1) return source;
    return hop == 0 ? destination : mixed(grid, source, destination, hop);
}

int grid_source(const struct grid *grid, int hop, int place, int frame) {
    const int level = grid_level(grid, hop);
    if (hop == grid->levels.n - 1) return frame;
    if (hop == 0) return grid_position_at(grid, hop, place);
    return moved(grid, mixed(grid, frame, grid->own, hop), level, place);
}

int grid_destination(const struct grid *grid, int hop, int frame) {
    if (hop == grid->levels.n - 1) return grid->own;
    return hop == 0 ? frame : mixed(grid, grid->own, frame, hop + 1);
}
