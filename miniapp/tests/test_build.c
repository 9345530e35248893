/// \file
/// A build that fails says why on all ranks, and can be closed however far it has come.

#include "run/build.h"
#include "support.h"

/// Checks the message with which a build fails. `backend` takes the place of the exchange between all ranks.
static void check_failure(const struct exchange_backend *backend, const char *message) {
    struct error error = {""};
    struct description description;
    struct placement placement;
    struct schedule schedule;
    struct model model;
    open_description(&description, eight_areas, NULL);
    assert_true(placement_open(&placement, placement_find("round_robin"), &description.network, world_ranks(),
                               2, NULL, NULL, &error) &&
                schedule_plan(&schedule, &description, &placement, &error));
    schedule.lanes[schedule.n_lanes - 1].exchange.backend = backend;
    assert_false(build(&model, &description, &placement, &schedule, MPI_COMM_WORLD, NULL, &error));
    if (!strstr(error.text, message)) fail_msg("the message is '%s', expected '%s'", error.text, message);
    build_close(&model);
    schedule_close(&schedule);
    placement_close(&placement);
    description_close(&description);
}

static void finish_losing(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    exchange->receive_buffer.runs = 0;
}

TEST(one_whose_exchange_loses_data_can_be_closed) {
    if (world_ranks() == 1) return; // a rank alone exchanges nothing
    struct exchange_backend losing = *exchange_find("alltoallv");
    losing.name = "losing";
    losing.finish = finish_losing;
    check_failure(&losing, "exchange: \"losing\" lost data in the self-test");
}

TEST(a_model_without_anything_can_be_closed) {
    struct model model = {0};
    build_close(&model);
    assert_int_equal(model.n_lanes, 0);
}

TESTS_NEED_MPI
