/// \file
/// The way of a word through an exchange of several levels. Nothing here communicates.
///
/// Ranks have positions in the grid. A word crosses one level after the other, each in a hop: in the hop of
/// level l it moves along a line to the rank whose coordinate l is that of its destination. So after the last
/// hop it is there. A word whose coordinate is right already stays where it is.
///
/// A run of words has a frame that names one position. Before the last hop this is the destination, in the
/// last hop the source. In between, the coordinates of levels that have been crossed are those of the source,
/// and the others those of the destination: what is missing is where the word has been and where it is.
///
/// Where the last of two levels' groups is smaller than the others (levels.ragged), its member i takes the
/// places of members i, i + s, i + 2s, … of other groups: it has several seats, each in another line of the
/// second level.

#pragma once

#include "transport/levels.h"

/// A grid, as one of its ranks sees it.
struct grid {
    struct levels levels;   ///< resolved
    int ranks;              ///< of the lane
    int own;                ///< position of this rank
    int stride[levels_max]; ///< by how much the position changes with a coordinate
};

/// A line, or a step of a word along one.
struct grid_line {
    int name;  ///< the same on all its ranks; -1: there is none
    int place; ///< of this rank in it
    int ranks; ///< of the line
};

/// Where a word goes in a hop.
struct grid_step {
    int seat;  ///< in which of this rank's lines of the level
    int place; ///< to which rank of that line
};

/// Returns the product of the dimensions; of one beyond INT_MAX, some number beyond it.
long long grid_size(const struct levels *levels);

/// Returns the grid of so many ranks, as `rank` sees it. Nothing needs to be closed.
struct grid grid_of(const struct levels *asked, int ranks, int rank);

/// These turn a rank into its position in the grid, and back.
static inline int grid_position(const struct grid *grid, int rank) {
    return grid->levels.position ? grid->levels.position[rank] : rank;
}

static inline int grid_rank(const struct grid *grid, int position) {
    return grid->levels.position ? grid->levels.position[grid->ranks + position] : position;
}

/// Returns the level that is crossed in a hop.
int grid_level(const struct grid *grid, int hop);

/// Returns in how many rounds the lines of a level are made; a rank takes a seat in a round or in none.
int grid_rounds(const struct grid *grid, int level);
/// Returns the line of this rank in a level and round.
struct grid_line grid_line(const struct grid *grid, int level, int round);

/// grid_step() returns the step in a hop towards a position. grid_next() sets `hop` to the first hop, from
/// the given one on, in which a word to that position leaves this rank, or to the last hop, and returns the
/// step there. It is only for grids in which every rank has one seat in each level (not levels.ragged).
struct grid_step grid_step(const struct grid *grid, int hop, int destination);
struct grid_step grid_next(const struct grid *grid, int *hop, int destination);

/// Returns the position of the rank at a place of this rank's line in a hop.
int grid_position_at(const struct grid *grid, int hop, int place);

/// Returns what the frame of a run of words names in a hop, and what it says to the rank that receives it
/// from the rank at a place of its line.
int grid_frame(const struct grid *grid, int hop, int source, int destination);
int grid_source(const struct grid *grid, int hop, int place, int frame);
int grid_destination(const struct grid *grid, int hop, int frame);
