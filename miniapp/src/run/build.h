/// \file
/// Builds the share of the network that one rank has, and closes it; says how much memory it takes.
///
/// Each thread draws the incoming synapses of its own neurons twice (run/lists.h). Its buckets of
/// sources become wider where the network is large and the rank's synapses are few, so that memory follows
/// the synapses, as long as words have bits to spare (synapse/buckets.h). What building takes is part of the
/// estimate that refuses a run (app/layout.c).

#pragma once

#include "run/model.h"

/// Returns how many threads a parallel region gets when it asks for `number` of them.
int build_threads(int number);

/// Numbers the distinct weights of the projections of model->description, unless each synapse has its own.
void build_weights(struct model *model);
/// Frees what build_weights() made.
void build_close_weights(struct model *model);

/// Builds the share of the calling rank, or with `dry`, which may be NULL, of the rank that it names; then
/// `world` has one process. Collective over `world`; all ranks agree on an error. Close the model also after
/// a failure. A model set to zero may be closed, too.
bool build(struct model *model, const struct description *description, const struct placement *placement,
           const struct schedule *schedule, MPI_Comm world, struct dry *dry, struct error *error);

/// Frees the model. Collective, since lanes free their communicators.
void build_close(struct model *model);

/// Forgets what the warm-up counted.
void build_reset_counts(struct model *model);
/// Returns how many synapses the threads of this rank have delivered to since then.
uint64_t build_synaptic_events(const struct model *model);

/// The bytes that each kind of structure holds on this rank, in the order of memory_kind_names.
enum { memory_kinds = 6 };
extern const char *const memory_kind_names[memory_kinds];
void build_bytes(const struct model *model, uint64_t bytes[memory_kinds]);
