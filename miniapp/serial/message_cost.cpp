/// \file
/// What a message costs its sender and its receiver in simulated time. SimGrid's options know no difference
/// between a partner on the same node and one elsewhere; its callbacks do.
///
/// The environment variable SPIKEMARK_MESSAGE_COST has three numbers: seconds at either end between nodes,
/// the same within a node, and seconds per byte within a node, for which the sender copies.

#include <cstdio>
#include <cstdlib>
#include <smpi/smpi.h>

namespace {

struct cost {
    double between = 0, within = 0, byte = 0;

    cost() {
        const char *given = std::getenv("SPIKEMARK_MESSAGE_COST");
        if (!given || std::sscanf(given, "%lf %lf %lf", &between, &within, &byte) != 3) return;
        const auto sent = [this](size_t bytes, simgrid::s4u::Host *from, simgrid::s4u::Host *to) {
            return from == to ? within + byte * static_cast<double>(bytes) : between;
        };
        smpi_register_op_cost_callback(SmpiOperation::SEND, sent);
        smpi_register_op_cost_callback(SmpiOperation::ISEND, sent);
        smpi_register_op_cost_callback(SmpiOperation::RECV,
                                       [this](size_t, simgrid::s4u::Host *from, simgrid::s4u::Host *to) {
                                           return from == to ? within : between;
                                       });
    }
};

const cost of_a_message;

} // namespace
