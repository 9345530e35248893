/// \file
/// A dry run of each rank does what that rank does among all: every schedule, placement, exchange, wire
/// format and number of threads, on the ranks this test is started with. Each process first runs as one of
/// them, and then as the same rank alone.

#include "run/build.h"
#include "support.h"

/// A run, or what was built of it.
struct one {
    struct placement placement;
    struct schedule schedule;
    struct model model;
    struct measured measured;
};

/// Builds the run on all ranks of the world, or with `dry` that rank alone; fails the test where that fails.
/// Close it with close_one().
static void open_one(struct one *one, struct description *description, int threads, struct dry *dry) {
    struct error error = {""};
    const int ranks = dry ? dry->of : world_ranks();
    *one = (struct one){0};
    if (!open_placement(&one->placement, description, ranks, threads, NULL, &error) ||
        !schedule_plan(&one->schedule, description, &one->placement, &error) ||
        (dry && !dry_hooks->check(dry, description, &error)) ||
        !build(&one->model, description, &one->placement, &one->schedule,
               dry ? MPI_COMM_SELF : MPI_COMM_WORLD, dry, &error))
        fail_msg("%s", error.text);
}

static void simulate_one(struct one *one) {
    simulate(&one->model, NULL, NULL, &(struct progress){NULL, NULL}, &one->measured);
}

static void close_one(struct one *one) {
    measured_close(&one->measured);
    build_close(&one->model);
    schedule_close(&one->schedule);
    placement_close(&one->placement);
}

/// Returns a dry run of this rank, with few spikes prepared at a time.
static struct dry dry_of(double rate_hz, enum dry_routing routing) {
    return (struct dry){.rank = world_rank(),
                        .of = world_ranks(),
                        .rate_hz = rate_hz,
                        .routing = routing,
                        .spikes_ahead = 300};
}

static int by_rank(const void *a, const void *b) {
    return ((const struct route *)a)->rank - ((const struct route *)b)->rank;
}

/// Compares the routes of each neuron, whatever their order.
static void check_routes(const struct routes *expected, const struct routes *found, int ranks) {
    assert_int_equal(found->neurons, expected->neurons);
    assert_memory_equal(found->target, expected->target, (size_t)ranks * sizeof *found->target);
    for (uint32_t i = 0; i <= expected->neurons; i++) assert_int_equal(found->first[i], expected->first[i]);
    for (uint32_t i = 0; i < expected->neurons; i++) {
        const size_t first = expected->first[i], n = expected->first[i + 1] - first;
        qsort(expected->route + first, n, sizeof *expected->route, by_rank);
        qsort(found->route + first, n, sizeof *found->route, by_rank);
        for (size_t k = first; k < first + n; k++) {
            assert_int_equal(found->route[k].rank, expected->route[k].rank);
            assert_int_equal(found->route[k].list, expected->route[k].list);
        }
    }
}

static int by_step(const void *a, const void *b) {
    return memcmp(a, b, sizeof(uint32_t[2]));
}

static void check_spikes(const struct trace *expected, const struct trace *found) {
    assert_int_equal(found->count, expected->count);
    qsort(expected->spikes, expected->count, sizeof *expected->spikes, by_step);
    qsort(found->spikes, found->count, sizeof *found->spikes, by_step);
    if (found->count)
        assert_memory_equal(found->spikes, expected->spikes, found->count * sizeof *found->spikes);
}

/// Returns what a run of one rank has counted. Owned by the caller.
static struct rank_tally *tally_of(const struct one *one) {
    struct model alone = one->model; // only its own
    alone.process = 0, alone.processes = 1;
    return tally(&alone, &one->measured, 0, MPI_COMM_SELF);
}

/// Compares what two runs of one rank have counted; `what` stands in the message of a failure.
static void check_counts(const struct one *expected, const struct one *found, const char *what) {
    struct rank_tally *a = tally_of(expected), *b = tally_of(found);
    if (a->counts.checksum + a->state_checksum != b->counts.checksum + b->state_checksum)
        fail_msg("%s: rank %d, checksum %llx, alone %llx; %llu and %llu synaptic events", what,
                 expected->model.rank, (unsigned long long)(a->counts.checksum + a->state_checksum),
                 (unsigned long long)(b->counts.checksum + b->state_checksum),
                 (unsigned long long)a->counts.synaptic_events,
                 (unsigned long long)b->counts.synaptic_events);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts); // spikes, events, accesses, look-ups
    assert_int_equal(a->neurons, b->neurons);
    assert_int_equal(a->synapses, b->synapses);
    assert_memory_equal(a->memory_bytes, b->memory_bytes,
                        (memory_kinds - 1) * sizeof *a->memory_bytes); // no buffers
    for (int l = 0; l < expected->model.n_lanes; l++) {
        assert_int_equal(a->lanes[l].spikes, b->lanes[l].spikes);
        assert_int_equal(a->lanes[l].windows, b->lanes[l].windows);
    }
    tally_close(a);
    tally_close(b);
}

/// Runs every rank among all and alone.
static void check(const char *const *overrides, int threads) {
    struct description description;
    struct one real, alone;
    struct dry dry = dry_of(NAN, routing_by_size);
    open_description(&description, eight_areas, overrides);
    description.given.record_spikes = 1;
    open_one(&real, &description, threads, NULL);
    open_one(&alone, &description, threads, &dry);
    assert_true(dry.exact_spikes && dry.exact_routes);
    for (int l = 0; l < real.model.n_lanes; l++)
        check_routes(&real.model.lanes[l].routes, &alone.model.lanes[l].routes, real.model.lanes[l].ranks);
    simulate_one(&real);
    simulate_one(&alone);
    char what[400];
    snprintf(what, sizeof what, "%s, %s, %s, %s, %d threads", overrides[0], overrides[1], overrides[2],
             overrides[3], threads);
    check_counts(&real, &alone, what);
    check_spikes(&real.measured.trace, &alone.measured.trace);
    close_one(&real);
    close_one(&alone);
    description_close(&description);
}

static bool serves(const struct exchange_backend *backend) {
    const int ranks = world_ranks();
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks);
}

static const char *const weight = "network.projections.0.weight=2";

TEST(each_rank_alone_does_what_it_does_among_all) {
    int threads = 1, w = 0;
    for (int s = 0; schedule_rules[s]; s++)
        for (int p = 0; placement_rules[p]; p++)
            for (int x = 0; exchange_backends[x]; x++) {
                char schedule[80], placement[placement_override_bytes], exchange[80], wire[80];
                if (!serves(exchange_backends[x])) continue;
                if (!wire_formats[w]) w = 0;
                snprintf(schedule, sizeof schedule, "schedule=%s", schedule_rules[s]->name);
                placement_override(placement, placement_rules[p]);
                snprintf(exchange, sizeof exchange, "exchange=%s", exchange_backends[x]->name);
                snprintf(wire, sizeof wire, "wire=%s", wire_formats[w++]->name);
                check((const char *const[]){schedule, placement, exchange, wire, "delay_ratio=auto", weight,
                                            NULL},
                      threads);
                threads = threads % 3 + 1;
            }
}

/// Lanes with lags, between given areas, and of blocks of ranks, some of them with a single rank.
TEST(each_rank_alone_has_the_same_lanes) {
    static const char *const lanes[] = {
        "schedule=[{\"name\": \"near\", \"group\": \"area\"}, {\"name\": \"all\", \"lag\": 2}]",
        "schedule=[{\"name\": \"near\", \"group\": \"area\"},"
        " {\"name\": \"some\", \"from\": [\"g\", \"e\"], \"to\": [\"f\", \"h\"], \"period\": \"D\"},"
        " {\"name\": \"to-a\", \"to\": \"a\", \"lag\": 1}, {\"name\": \"rest\", \"period\": \"auto\"}]",
        "schedule=[{\"name\": \"from-g\", \"from\": \"g\"}, {\"name\": \"block\", \"group\": 1},"
        " {\"name\": \"b-to-a\", \"from\": \"b\", \"to\": \"a\"}, {\"name\": \"rest\"}]",
    };
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        for (int p = 0; placement_rules[p]; p++) {
            char placement[placement_override_bytes];
            placement_override(placement, placement_rules[p]);
            check((const char *const[]){lanes[i], placement, weight, "delay_ratio=3", NULL}, p % 3 + 1);
        }
}

TEST(random_in_degrees_and_own_weights_are_those_of_the_run) {
    check((const char *const[]){"schedule=structure_aware",
                                "network.projections.0.weight={\"mean\": 2, \"sd\": 0.5, \"classes\": 0}",
                                "network.projections.2.indegree={\"mean\": 11.5}",
                                "network.projections.3.indegree={\"mean\": 4}", NULL},
          2);
}

/// A neuron of which another rank cannot know when it fires.
static const char *const unknown = "network.populations.0.neuron={\"model\": \"lif_exp\"}";

/// Every population becomes one of neurons whose spikes are unknown. They receive too little to fire.
TEST(unknown_spikes_are_drawn_at_the_given_rate) {
    enum { populations = 9 };
    static char text[populations][80];
    const char *overrides[populations + 3] = {weight, "placement=round_robin"};
    for (int p = 0; p < populations; p++) {
        snprintf(text[p], sizeof *text, "network.populations.%d.neuron={\"model\": \"lif_exp\"}", p);
        overrides[p + 2] = text[p];
    }
    struct description description;
    struct one alone;
    struct dry dry = dry_of(130, routing_exact); // an interval of 76.9 steps
    open_description(&description, eight_areas, overrides);
    open_one(&alone, &description, 1, &dry);
    assert_false(dry.exact_spikes);
    simulate_one(&alone);
    // Every route to another rank is a list there, so their number is that of all lists of foreign sources.
    double sum[3] = {0}, all[3];
    const struct lane *lane = &alone.model.lanes[0];
    for (size_t k = 0; k < lane->routes.first[alone.model.neurons]; k++)
        sum[0] += lane->routes.route[k].rank != lane->place;
    sum[1] = (double)dry.words;
    sum[2] = (double)alone.model.parts[0]->counts.spikes;
    MPI_Allreduce(sum, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double expected = all[0] * 130 * 1e-3 * description.given.cycle_ms * description.cycles;
    assert_true(all[2] == 0);
    assert_true((expected > 100) == (dry.of > 1));
    assert_true(fabs(all[1] - expected) <= 4 * sqrt(expected));
    close_one(&alone);
    description_close(&description);
}

/// Of all routes between different ranks, as many as exist are drawn, within four standard deviations.
TEST(drawn_routes_are_as_many_as_there_are) {
    struct description description;
    struct one exact, drawn;
    struct dry how[2] = {dry_of(NAN, routing_exact), dry_of(NAN, routing_drawn)};
    open_description(&description, eight_areas,
                     (const char *const[]){"schedule=structure_aware", "placement=round_robin",
                                           "network.projections.3.indegree={\"mean\": 4}", weight, NULL});
    open_one(&exact, &description, 2, &how[0]);
    open_one(&drawn, &description, 2, &how[1]);
    assert_true(how[0].exact_routes && !how[1].exact_routes);
    double sum[2] = {0}, all[2];
    for (int l = 0; l < exact.model.n_lanes; l++) {
        sum[0] += (double)exact.model.lanes[l].routes.first[exact.model.neurons];
        sum[1] += (double)drawn.model.lanes[l].routes.first[drawn.model.neurons];
    }
    MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (how[0].of == 1) assert_int_equal(all[1], all[0]); // all of them are its own
    assert_true(fabs(all[1] - all[0]) <= 4 * sqrt(all[0]) / 2);
    simulate_one(&exact);
    simulate_one(&drawn); // what comes in does not depend on it
    struct rank_tally *a = tally_of(&exact), *b = tally_of(&drawn);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    tally_close(a);
    tally_close(b);
    close_one(&exact);
    close_one(&drawn);
    description_close(&description);
}

static uint64_t checksum_of(const struct one *one) {
    struct rank_tally *own = tally_of(one);
    const uint64_t sum = own->counts.checksum + own->state_checksum;
    tally_close(own);
    return sum;
}

/// Of many ranks, few send something in a window, and words of several ranks are sorted together.
TEST(ranks_of_a_large_machine_add_up_to_the_run) {
    static const int many[] = {3, 17, 90};
    static const char *const exchanges[] = {"exchange=alltoallv", "exchange=allgather"};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        for (int x = 0; x < 2; x++) {
            struct description description;
            struct one real;
            open_description(&description, eight_areas,
                             (const char *const[]){"placement=round_robin", "schedule=structure_aware",
                                                   "delay_ratio=auto", exchanges[x], weight, NULL});
            open_one(&real, &description, 1, NULL);
            simulate_one(&real);
            uint64_t own[2] = {checksum_of(&real), 0}, sum[2];
            for (int rank = world_rank(); rank < many[i]; rank += real.model.ranks) {
                struct dry dry = dry_of(NAN, routing_by_size);
                struct one alone;
                dry.rank = rank, dry.of = many[i];
                open_one(&alone, &description, 1 + rank % 2, &dry);
                simulate_one(&alone);
                own[1] += checksum_of(&alone);
                const struct lane *lane = &alone.model.lanes[alone.model.n_lanes - 1];
                const struct receive_buffer *receive_buffer = &lane->transfers[0].exchange->receive_buffer;
                for (int k = 0; k < receive_buffer->runs; k++) assert_true(receive_buffer->run[k].count > 0);
                close_one(&alone);
            }
            MPI_Allreduce(own, sum, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            assert_true(sum[0] == sum[1]);
            close_one(&real);
            description_close(&description);
        }
}

TEST(routes_are_exact_where_that_takes_few_draws) {
    static const struct {
        const char *indegree;
        int of;
        bool exact;
    } cases[] = {{"30", 100000, true}, {"3000000", 1000, true}, {"3000000", 1001, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct description description;
        struct error error = {""};
        struct dry dry = dry_of(NAN, routing_by_size);
        char indegree[80];
        dry.of = cases[i].of;
        snprintf(indegree, sizeof indegree, "network.projections.0.indegree=%s", cases[i].indegree);
        open_description(&description, eight_areas, (const char *const[]){weight, indegree, NULL});
        assert_true(dry_hooks->check(&dry, &description, &error));
        assert_int_equal(dry.exact_routes, cases[i].exact);
        description_close(&description);
    }
}

TEST(phases_of_other_ranks_are_unmeasured) {
    struct description description;
    struct one alone;
    struct dry dry = dry_of(NAN, routing_by_size);
    open_description(&description, eight_areas, (const char *const[]){weight, NULL});
    open_one(&alone, &description, 1, &dry);
    simulate_one(&alone);
    for (int p = 0; p < n_phases; p++) {
        const bool of_others = p == phase_synchronise || p == phase_exchange || p == phase_overlap_wait;
        assert_int_equal(isnan(alone.measured.log.total[p]), of_others);
        assert_int_equal(isnan(alone.measured.log.time[0][p]), of_others);
    }
    assert_true(dry.receive_buffer_s > 0 && dry.prepare_s > 0);
    assert_non_null(
        alone.model.lanes[0].transfers[0].exchange->receive_buffer.together); // few spikes from every rank
    close_one(&alone);
    description_close(&description);
}

TEST(rates_are_asked_for_only_where_they_are_unknown) {
    struct description known, not_known;
    struct error error = {""};
    open_description(&known, eight_areas, NULL);
    open_description(&not_known, eight_areas, (const char *const[]){unknown, NULL});
    struct dry with = dry_of(3, routing_by_size), without = dry_of(NAN, routing_by_size);
    assert_false(dry_hooks->check(&with, &known, &error));
    assert_string_equal(error.text, "--rate: 3; expected none, since the spikes of all neurons are known");
    error = (struct error){""};
    assert_false(dry_hooks->check(&without, &not_known, &error));
    assert_non_null(
        strstr(error.text, "--rate: missing, and the rate of population a-exc (lif_exp) is unknown"));
    error = (struct error){""};
    assert_true(dry_hooks->check(&without, &known, &error) && dry_hooks->check(&with, &not_known, &error));
    description_close(&known);
    description_close(&not_known);
}

TESTS_NEED_MPI
