/// \file
/// The spikes of the other ranks of a lane, made up in a dry run, where these ranks do not exist.
///
/// Neurons whose spikes do not depend on what they receive (neuron/model.h: train) fire exactly as they
/// would. All others fire at equal intervals from a random phase on, at a rate that is given; in a window
/// that is shorter than the interval, each of them fires as likely as in a Poisson process of that rate.
///
/// Words stand in the order in which the real ranks would send them: by rank, cycle, thread, step, neuron.
/// They are prepared for several windows at a time, so that the caches are disturbed in few cycles only.

#pragma once

#include "run/model.h"
#include "transport/made_up.h"

/// Opens the spikes of lane `lane` of the model, which is built by then. Takes over `source_table`, which it
/// leaves empty. model->dry has the rate of neurons whose spikes are not known.
struct foreign *foreign_open(const struct model *model, int lane, struct source_table *source_table);

/// Returns the words of the window from step `first` up to step `end`, and a run for each other rank of the
/// lane that sends some. They are valid until the next call. Windows must follow each other.
struct made_up_words foreign_window(struct foreign *foreign, uint32_t first, uint32_t end);

/// Frees it; NULL is ignored.
void foreign_close(struct foreign *foreign);
