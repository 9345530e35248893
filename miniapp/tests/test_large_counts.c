/// \file
/// Counts beyond what 32 bits hold are refused with one line, never wrapped around. Nothing large is
/// allocated here.

#include "support.h"
#include "transport/exchange/counted.h"
#include <sys/wait.h>
#include <unistd.h>

/// Calls a function in a process of its own, which must end with status 1 and one line that holds `message`.
static void assert_ends(void (*function)(void), const char *message) {
    char said[1000] = "";
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(ends[1]);
    for (size_t n = 0, more = 1; more; n += more) {
        const ssize_t got = read(ends[0], said + n, sizeof said - 1 - n);
        more = got > 0 ? (size_t)got : 0;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) fail_msg("ended with %d: %s", status, said);
    if (!strstr(said, message)) fail_msg("the message is '%s', expected '%s'", said, message);
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

/// Grows the room of the last of three destinations. The other two have so many words of room.
static void grow_beside(uint32_t first, uint32_t second) {
    uint32_t start[] = {0, first, first + second};
    struct outbox_room room[] = {{0, first}, {first, first + second}, {first + second, first + second}};
    struct outbox outbox = {.ranks = 3, .n_to = 3, .to = (int[]){0, 1, 2}, .room = room, .start = start};
    outbox_grow(&outbox, 2, 1);
}

static void grow_beyond_an_int(void) {
    grow_beside(1u << 30, (1u << 30) - 16);
}

TEST(an_outbox_beyond_an_int_is_refused) {
    assert_ends(grow_beyond_an_int, "2147483648 words of a window;");
}

static void arrive_too_many(void) {
    struct parts in;
    parts_open(&in, NULL, 3, -1, 0);
    for (int rank = 0; rank < 3; rank++) in.count[rank] = 1000000000;
    parts_make_room(&in);
}

static void enlarge_beyond_all(void) {
    alloc_more(NULL, SIZE_MAX / 4 + 2, 8); // 8 bytes modulo 2^64
}

TEST(a_block_does_not_grow_beyond_all_memory) {
    assert_ends(enlarge_beyond_all, "out of memory");
}

TEST(words_beyond_an_int_do_not_arrive) {
    int start[3];
    assert_true(mpi_sum((const int[]){2000000000, 2000000000, 2000000000}, 3) == 6000000000u);
    assert_true(mpi_starts((const int[]){1000000000, 0, 1000000000}, 3, start, "") == 2000000000u);
    assert_int_equal(start[2], 1000000000);
    assert_ends(arrive_too_many, "3000000000 words that arrive;");
}

static void grow_too_far(void) {
    uint32_t start = 0;
    struct outbox_room room = {0, 1u << 30};
    struct outbox outbox = {.ranks = 1, .n_to = 1, .to = (int[]){0}, .room = &room, .start = &start};
    outbox_grow(&outbox, 0, 1);
}

TEST(a_destination_does_not_grow_beyond_an_int) {
    assert_ends(grow_too_far, "2147483648 words of a window for one rank;");
}

TEST(requests_beyond_an_int_are_refused) {
    struct error error = {""};
    assert_true(routes_check((const int[]){1000000000, 1000000000}, 2, &error));
    assert_false(routes_check((const int[]){1000000000, 1000000000, 1000000000}, 3, &error));
    assert_non_null(strstr(error.text, "network: 3000000000 words of requests for the neurons of a rank at"));
}

TEST(many_requests_are_made_in_rounds) {
    assert_int_equal(routes_rounds(0), 1);
    assert_int_equal(routes_rounds(1 << 22), 5);
    assert_int_equal(routes_rounds(200000000), 16);
    for (uint64_t most = 1; most <= UINT32_MAX; most *= 3)
        assert_true(2 * most / routes_rounds(most) < INT32_MAX);
}

/// Checks what the limits say of so many lists with windows of 10 cycles of two steps.
static void check_words(uint64_t lists, const char *message) {
    const struct lane_plan plan = {.name = "far", .period = 10};
    const struct description description = {.steps_per_cycle = 2};
    struct error error = {""};
    assert_int_equal(limits_check_words(&plan, &description, lists, &error), *message == '\0');
    if (!strstr(error.text, message)) fail_msg("the message is '%s', expected '%s'", error.text, message);
}

TEST(lists_that_a_word_cannot_name_are_refused) {
    check_words(1u << 27, ""); // 20 steps take five bits
    check_words((1u << 27) + 1,
                "delay_ratio: lane far has windows of 10 cycles and 134217729 lists on a rank, "
                "of which a four-byte spike can name 134217728 beside the step; expected "
                "windows of at most 8 cycles");
    check_words((uint64_t)1 << 31, "expected windows of at most 1 cycles");
    check_words(((uint64_t)1 << 31) + 1, "network: lane far has 2147483649 lists on a rank; expected at most "
                                         "2147483648, which a four-byte spike can name");
}

/// Returns what the limits say of a share: two populations on one rank, where each neuron of b has `indegree`
/// synapses from a.
static const char *limits_of(const char *a, const char *b, const char *indegree, const char *cycle,
                             int threads) {
    static const char *const text =
        "{'format_version': 1, 'time': {'cycle_ms': 0.1, 'simulate_ms': 1000}, 'network': {'populations': ["
        "{'name': 'a', 'size': 1, 'neuron': {'model': 'ignore_and_fire'}},"
        "{'name': 'b', 'size': 1, 'neuron': {'model': 'ignore_and_fire'}}], 'projections': ["
        "{'source': 'a', 'target': 'b', 'indegree': 1, 'delay': {'mean': 1}}]}}";
    static const char *const fields[] = {"network.populations.0.size", "network.populations.1.size",
                                         "network.projections.0.indegree", "time.cycle_ms"};
    const char *const values[] = {a, b, indegree, cycle};
    static struct error error;
    const int32_t weight = 1;
    struct description d;
    struct placement placement;
    char override[4][80];
    const char *overrides[5] = {NULL};
    for (int i = 0; i < 4; i++) {
        snprintf(override[i], sizeof override[i], "%s=%s", fields[i], values[i]);
        overrides[i] = override[i];
    }
    error = (struct error){""};
    open_description(&d, text, overrides);
    assert_true(placement_open(&placement, placement_find("round_robin"), &d.network, 1, threads, NULL, NULL,
                               &error));
    struct model model = {.description = &d, .placement = &placement, .ranks = 1, .threads = threads};
    model.weights = (int32_t *)&weight;
    model.n_classes = 1;
    limits_check_share(&model, &error);
    placement_close(&placement);
    description_close(&d);
    return error.text;
}

TEST(synapses_of_a_neuron_beyond_32_bits_are_refused) {
    assert_string_equal(limits_of("1", "1000000", "3000", "0.1", 1), "");
    assert_non_null(
        strstr(limits_of("1", "1000000", "5000", "0.1", 1),
               "network: 5e+09 synapses from a neuron of population a to one thread; expected at"));
    assert_string_equal(limits_of("1", "1000000", "5000", "0.1", 2), "");
    assert_string_equal(limits_of("2", "1000000", "5000", "0.1", 1), "");
}

TEST(spikes_of_a_cycle_beyond_32_bits_are_refused) {
    assert_string_equal(limits_of("1", "4000000", "0", "100", 1), "");
    assert_non_null(
        strstr(limits_of("1", "5000000", "0", "100", 1),
               "time.cycle_ms: 100, 1000 steps; expected at most 858 steps with 5000001 neurons"));
}
