/// \file
/// Two clocks: one in seconds, and one in ticks that costs less to read, for the ends of phases.
///
/// Ticks are those of the processor's time stamp counter where it runs evenly in all states (x86 with an
/// invariant counter), and nanoseconds of the monotonic clock elsewhere. How long a tick lasts follows
/// from reading both clocks at both ends of what is measured. In simulated time (simulated/clock.c, chosen
/// when linking) both show that time, from 0 on.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Returns the seconds from an arbitrary start, which never run backwards. Cost: some 20 to 50 ns, more than
/// a reading of ticks, so it is read only around the measured part and where nothing is timed.
double clock_now(void);

/// Returns by how many seconds the system clock is ahead of clock_now(), for comparison with the clocks of
/// others: added to any reading of clock_now(), it gives the seconds since the Unix epoch. So the differences
/// of such times are intervals, even if somebody sets the system clock in between. Of several readings the
/// shortest counts, since a busy host may hold the program up between the two clocks. It is NAN in simulated
/// time, which has no date.
double clock_ahead(void);

/// Says whether ticks are those of the processor's counter.
bool clock_counts(void);

/// Names, for the record, what clock_ticks() reads.
const char *clock_name(void);

/// Returns the ticks from an arbitrary start; `counts` is what clock_counts() says.
uint64_t clock_ticks(bool counts);

/// Returns the seconds that one clock_ticks() takes, as a mean over many. The record states the readings of a
/// run times this as timer_overhead.
double clock_cost(void);

/// Waits for `seconds`, spinning or asleep. When asleep, the thread asks the system for the shortest timer
/// slack, and is late by the time that waking up takes. In simulated time both are exact and cost nothing.
void pause_for(double seconds, bool asleep);

/// Lets so many seconds pass as if the calling rank computed; only where time is simulated.
void clock_pass(double seconds);
