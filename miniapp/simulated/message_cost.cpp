/// \file
/// What a message costs its sender and its receiver in simulated time. SimGrid's options know no difference
/// between a partner on the same node and one elsewhere; its callbacks do.
///
/// The environment variable SPIKEMARK_MESSAGE_COST has a row for each part of the machine, whose nodes are
/// alike: seconds at either end between a node of this part and one of each part, in their order, then the
/// same within a node, and seconds per byte within a node, for which the sender copies. The property `part`
/// of a host is the number of its row, counted from 0. A machine of equal nodes has one row, and needs no
/// property.

#include <cstdlib>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct cost {
    size_t parts = 0;
    std::vector<double> numbers; ///< [part][parts + 2]

    cost() {
        const char *given = std::getenv("SPIKEMARK_MESSAGE_COST");
        std::istringstream words(given ? given : "");
        for (double number; words >> number;) numbers.push_back(number);
        while (parts * (parts + 2) < numbers.size()) parts++;
        if (parts == 0 || parts * (parts + 2) != numbers.size()) return;
        const auto sent = [this](size_t bytes, simgrid::s4u::Host *from, simgrid::s4u::Host *to) {
            return at_either_end(from, to) +
                   (from == to ? row(from)[parts + 1] * static_cast<double>(bytes) : 0);
        };
        smpi_register_op_cost_callback(SmpiOperation::SEND, sent);
        smpi_register_op_cost_callback(SmpiOperation::ISEND, sent);
        smpi_register_op_cost_callback(SmpiOperation::RECV,
                                       [this](size_t, simgrid::s4u::Host *from, simgrid::s4u::Host *to) {
                                           return at_either_end(from, to);
                                       });
    }

    /// SimGrid does not say where a message is from if the process of its sender has ended. No rank of the
    /// mini-app ends before all have, so this is of no consequence: it counts as one from another node of the
    /// same part. What arrived before it was asked for has its sender
    /// (analysis/tests/support/late_receives.c).
    double at_either_end(const simgrid::s4u::Host *from, const simgrid::s4u::Host *to) const {
        if (!from || !to) return row(from ? from : to)[part(from ? from : to)];
        return row(from)[from == to ? parts : part(to)];
    }

    const double *row(const simgrid::s4u::Host *host) const { return &numbers[part(host) * (parts + 2)]; }

    size_t part(const simgrid::s4u::Host *host) const {
        const char *given = parts > 1 && host ? sg_host_get_property_value(host, "part") : nullptr;
        return given ? std::strtoul(given, nullptr, 10) : 0;
    }
};

const cost of_a_message;

} // namespace
