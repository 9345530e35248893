/// \file
/// Counts beyond what 32 bits hold are refused with one line, never wrapped around. Nothing large is
/// allocated here.

#include "run/lists.h"
#include "support.h"
#include "transport/exchange/rank_blocks.h"
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
    struct send_buffer_room room[] = {{0, first}, {first, first + second}, {first + second, first + second}};
    struct send_buffer send_buffer = {
        .destinations = 3, .n_reachable = 3, .reachable = (int[]){0, 1, 2}, .room = room, .start = start};
    send_buffer_grow(&send_buffer, 2, 1);
}

static void grow_beyond_an_int(void) {
    grow_beside(1u << 30, (1u << 30) - 16);
}

TEST(an_send_buffer_beyond_an_int_is_refused) {
    assert_ends(grow_beyond_an_int, "2147483648 words of a window;");
}

static void arrive_too_many(void) {
    struct rank_blocks in;
    rank_blocks_open(&in, NULL, 3, -1, 0);
    for (int rank = 0; rank < 3; rank++) in.count[rank] = 1000000000;
    rank_blocks_make_room(&in);
}

static void enlarge_beyond_all(void) {
    alloc_more(NULL, SIZE_MAX / 4 + 2, 8); // 8 bytes modulo 2^64
}

TEST(a_block_does_not_grow_beyond_all_memory) {
    assert_ends(enlarge_beyond_all, "out of memory: 3689348814741910");
}

/// Without MPI, and in threads that may not call it, the launcher says which rank this is.
static void enlarge_as_rank_7(void) {
    setenv("OMPI_COMM_WORLD_RANK", "7", 1);
    enlarge_beyond_all();
}

TEST(the_rank_that_has_no_memory_is_named) {
    assert_ends(enlarge_as_rank_7, "miniapp: rank 7: out of memory: ");
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
    struct send_buffer_room room = {0, 1u << 30};
    struct send_buffer send_buffer = {
        .destinations = 1, .n_reachable = 1, .reachable = (int[]){0}, .room = &room, .start = &start};
    send_buffer_grow(&send_buffer, 0, 1);
}

TEST(a_destination_does_not_grow_beyond_an_int) {
    assert_ends(grow_too_far, "2147483648 words of a window for one rank;");
}

TEST(many_requests_are_made_in_rounds) {
    assert_int_equal(routes_rounds(0), 1);
    assert_int_equal(routes_rounds(1 << 22), 5);
    assert_int_equal(routes_rounds(200000000), 16);
    for (uint64_t most = 1; most <= UINT32_MAX; most *= 3)
        assert_true(2 * most / routes_rounds(most) < INT32_MAX);
}

TEST(lists_that_a_word_cannot_name_are_refused) {
    const struct lane_plan plan = {.name = "far", .period = 10};
    const struct description description = {.steps_per_cycle = 2};
    struct error error = {""};
    assert_true(lists_check_words(&plan, &description, 1u << 27, &error)); // 20 steps take five bits
    assert_false(lists_check_words(&plan, &description, (1u << 27) + 1, &error));
    assert_non_null(strstr(error.text, "network: lane far has to name 134217729 lists or neurons of a rank; "
                                       "expected at most 134217728"));
}
