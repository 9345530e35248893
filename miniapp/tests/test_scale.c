/// \file
/// What a run of many ranks must not do: leave ranks waiting for one that ended, connect all ranks before it
/// begins, gather what nobody needs, or store into memory that others may put into. Calls of MPI are watched
/// by functions of the same names.

#include "exchange_trial.h"
#include "transport/exchange_check.h"

static struct watched {
    jmp_buf aborted;
    bool may_abort, reached[64], holds_back;
    size_t sent;
    MPI_Win win;           ///< with memory that is being watched
    unsigned char *memory; ///< [bytes] a copy of what it held after the last fence
    MPI_Aint bytes;
    int fences, stores, n_own;
    struct own_put {
        const void *origin;
        int count;
        MPI_Aint place;
    } own[16];
} watched;

int MPI_Abort(MPI_Comm comm, int code) {
    if (watched.may_abort && comm == MPI_COMM_WORLD) longjmp(watched.aborted, code);
    return PMPI_Abort(comm, code);
}

int MPI_Isend(const void *words, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    watched.reached[to] = true;
    return PMPI_Isend(words, count, type, to, tag, comm, request);
}

int MPI_Send(const void *words, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    int size;
    MPI_Type_size(type, &size);
    watched.sent += (size_t)count * (size_t)size;
    return PMPI_Send(words, count, type, to, tag, comm);
}

/// Holds what a rank puts into its own memory back until the fence, as MPI may do.
int MPI_Put(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win win) {
    if (!watched.holds_back || rank != world_rank())
        return PMPI_Put(origin, count, type, rank, place, target_count, target_type, win);
    watched.own[watched.n_own++] = (struct own_put){origin, count, place};
    return MPI_SUCCESS;
}

/// Compares the memory with what it held after the last fence, on rank 0 before others begin.
int MPI_Win_fence(int assertion, MPI_Win win) {
    if (!watched.holds_back) return PMPI_Win_fence(assertion, win);
    unsigned char *base;
    int there;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &there);
    if (watched.win == win && world_rank() == 0 && watched.fences++ == 0)
        watched.stores += memcmp(base, watched.memory, (size_t)watched.bytes) != 0;
    if (watched.fences == 1 && world_rank() == 0)
        for (int to = 1; to < world_ranks(); to++) PMPI_Send(NULL, 0, MPI_BYTE, to, 99, MPI_COMM_WORLD);
    for (int i = 0; i < watched.n_own; i++)
        PMPI_Put(watched.own[i].origin, watched.own[i].count, MPI_UINT32_T, world_rank(),
                 watched.own[i].place, watched.own[i].count, MPI_UINT32_T, win);
    watched.n_own = 0;
    return PMPI_Win_fence(assertion, win);
}

int MPI_Win_free(MPI_Win *win) {
    if (*win == watched.win) watched.win = MPI_WIN_NULL;
    return PMPI_Win_free(win);
}

int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                            MPI_Win *win) {
    const int result = PMPI_Win_allocate_shared(bytes, unit, info, comm, base, win);
    watched.win = *win;
    watched.bytes = bytes;
    return result;
}

/// Ends this rank in the way of `end`. \return whether that ends all ranks.
static bool ends_all(void (*end)(void)) {
    watched.may_abort = true;
    const int code = setjmp(watched.aborted);
    if (code == 0) end();
    watched.may_abort = false;
    return code == 1;
}

static void run_out_of_memory(void) {
    alloc(SIZE_MAX / 4, 8);
}

static void count_too_far(void) {
    struct send_buffer send_buffer = {.destinations = 1, .n_reachable = 1, .reachable = (int[]){0}};
    send_buffer.room = &(struct send_buffer_room){0, 1u << 30};
    send_buffer.start = &(uint32_t){0};
    send_buffer_grow(&send_buffer, 0, 1);
}

TEST(a_rank_that_ends_ends_all) {
    assert_true(ends_all(run_out_of_memory));
    assert_true(ends_all(count_too_far));
}

TEST(the_self_test_connects_few_ranks) {
    struct error error = {""};
    const struct exchange_spec spec = exchange_plain(exchange_find("p2p"));
    int reached = 0, few = 0;
    memset(watched.reached, 0, sizeof watched.reached);
    assert_true(exchange_check(&spec, MPI_COMM_WORLD, &error));
    for (int rank = 0; rank < world_ranks(); rank++) reached += watched.reached[rank];
    for (int shift = 1; shift < world_ranks(); shift *= 2) few++;
    assert_int_equal(reached, few);
}

TEST(a_rank_of_one_lane_sends_a_small_tally) {
    struct description description;
    open_description(&description, eight_areas, (const char *const[]){"schedule=conventional", NULL});
    watched.sent = 0;
    run_network(&description, 1, MPI_COMM_WORLD, NULL);
    if (world_rank() > 0) assert_in_range(watched.sent, 1, 1000);
    description_close(&description);
}

/// Rank 0 begins a window while the others wait, so that only its own stores can change its memory.
TEST_OF_VARIANTS(nobody_stores_where_others_put) {
    static const char *const names[] = {"rma_doubling", "rma_bruck", "rma_put"};
    for (size_t x = 0; x < sizeof names / sizeof *names; x++) {
        const struct exchange_backend *backend = exchange_find(names[x]);
        int all[64], n = 0;
        for (int rank = 0; rank < world_ranks(); rank++)
            if (rank != world_rank()) all[n++] = rank;
        const struct exchange_spec spec = {.backend = backend};
        struct exchange *exchange =
            exchange_open(&spec, MPI_COMM_WORLD, &(struct partners){n, n, all, all, NULL});
        struct send_buffer send_buffer;
        send_buffer_open(&send_buffer, exchange_destinations(backend, world_ranks()));
        for (int to = 0; to < send_buffer.destinations; to++) send_buffer_add(&send_buffer, to, 7);
        unsigned char *base;
        int there;
        MPI_Win_get_attr(watched.win, MPI_WIN_BASE, &base, &there);
        watched.memory = malloc((size_t)watched.bytes);
        memcpy(watched.memory, base, (size_t)watched.bytes);
        watched.fences = watched.stores = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank() > 0) PMPI_Recv(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        watched.holds_back = true;
        exchange_start(exchange, &send_buffer);
        exchange_finish(exchange, &send_buffer);
        watched.holds_back = false;
        assert_int_equal(watched.stores, 0);
        assert_int_equal(exchange->receive_buffer.runs, world_ranks());
        free(watched.memory);
        send_buffer_close(&send_buffer);
        exchange_close(exchange);
    }
}

TESTS_NEED_MPI
