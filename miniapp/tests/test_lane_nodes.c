/// \file
/// Exchanges that need shared memory, on nodes that are made up: two ranks of the world share one.

#include "support.h"

/// Stands before the function of the MPI library.
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
    int rank;
    (void)type, (void)info;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return PMPI_Comm_split(comm, rank / 2, key, made);
}

/// Connects a lane of all four ranks with such an exchange. \return the error, or "".
static const char *connecting(const char *exchange) {
    static struct error error;
    char text[300];
    snprintf(text, sizeof text, "exchange=%s", exchange);
    struct planned *p = accept(OVERRIDES("schedule=conventional", text), 4);
    struct lane lane;
    error = (struct error){""};
    const bool good = lane_connect(&lane, &p->schedule.lanes[0], MPI_COMM_WORLD, &error);
    assert_int_equal(good, !error_stands(&error));
    lane_close(&lane);
    finish(p);
    return error.text;
}

static const char *const refused =
    "exchange: \"shared\" for lane world, between ranks of several nodes; expected another exchange";

TEST(shared_memory_is_refused_between_nodes_and_in_a_level_that_spans_nodes) {
    if (exchange_find("shared")->absent) skip();
    static const char *const bad[] = {
        "shared",
        "{\"name\": \"two_level\", \"group\": 2, \"outer\": \"shared\"}",
        "{\"name\": \"multi_level\", \"dimensions\": [2, 2], \"parts\": [\"p2p\", \"shared\"]}",
        "{\"name\": \"multi_level\", \"dimensions\": [2, 2], \"parts\": \"shared\"}",
        "{\"name\": \"multi_level\", \"dimensions\": [2, 2], \"parts\": \"shared\", \"side\": \"receiver\"}",
        "{\"name\": \"two_level\", \"group\": 4, \"inner\": \"shared\"}",
        // Groups of three ranks and of one: only the first spans nodes, and all ranks say so.
        "{\"name\": \"two_level\", \"group\": 3, \"inner\": \"shared\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_string_equal(connecting(bad[i]), refused);
}

TEST(it_serves_levels_within_nodes) {
    if (exchange_find("shared")->absent) skip();
    static const char *const good[] = {
        "{\"name\": \"two_level\", \"group\": 2, \"inner\": \"shared\"}",
        "{\"name\": \"multi_level\", \"dimensions\": [2, 2], \"parts\": [\"shared\", \"p2p\"]}",
        "{\"name\": \"multi_level\", \"dimensions\": [2, 1, 2], \"parts\": [\"shared\", \"shared\", "
        "\"p2p\"]}",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_string_equal(connecting(good[i]), "");
}

TESTS_NEED_MPI
