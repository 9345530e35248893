#include "transport/exchange/messages.h"

#include "base/alloc.h"
#include "transport/exchange/counts.h"
#include <stdlib.h>
#include <string.h>

void messages_open(struct messages *messages, const struct exchange *exchange) {
    const struct partners *partners = &exchange->partners;
    *messages = (struct messages){.n_targets = partners->n_targets, .n_sources = partners->n_sources};
    messages->targets = ranks_copy(partners->targets, partners->n_targets);
    messages->sends = ALLOC(MPI_Request, (size_t)messages->n_targets);
    messages->receives = ALLOC(MPI_Request, (size_t)messages->n_sources);
}

static void keep_own(struct messages *messages, struct exchange *exchange, const struct outbox *outbox) {
    const size_t count = outbox_count(outbox, exchange->rank);
    if (count == 0) return;
    uint32_t *words = arena_take(&messages->arrived, count);
    memcpy(words, outbox_words(outbox, exchange->rank), count * sizeof *words);
    exchange->inbox.run[exchange->rank] = (struct inbox_run){words, count};
}

void messages_begin(struct messages *messages, struct exchange *exchange, const struct outbox *outbox) {
    messages->n_sends = messages->n_receives = 0;
    arena_clear(&messages->arrived);
    memset(exchange->inbox.run, 0, (size_t)exchange->ranks * sizeof *exchange->inbox.run);
    keep_own(messages, exchange, outbox);
}

void messages_send(struct messages *messages, struct exchange *exchange, const struct outbox *outbox, int to,
                   int tag, messages_send_function *send) {
    const uint32_t count = outbox_count(outbox, to);
    send(outbox_words(outbox, to), (int)count, MPI_UINT32_T, to, tag, exchange->comm,
         &messages->sends[messages->n_sends++]);
    exchange->traffic.messages += 1;
    exchange->traffic.bytes += count * sizeof(uint32_t);
}

bool messages_receive(struct messages *messages, struct exchange *exchange, int tag) {
    MPI_Status status;
    int there, count;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, exchange->comm, &there, &status); // no other thread can take it
    if (!there) return false;
    const int from = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    uint32_t *words = arena_take(&messages->arrived, (size_t)count);
    exchange->inbox.run[from] = (struct inbox_run){words, (size_t)count};
    MPI_Irecv(words, count, MPI_UINT32_T, from, tag, exchange->comm,
              &messages->receives[messages->n_receives++]);
    return true;
}

bool messages_sent(struct messages *messages) {
    int all;
    MPI_Testall(messages->n_sends, messages->sends, &all, MPI_STATUSES_IGNORE);
    return all;
}

void messages_end(struct messages *messages) {
    MPI_Waitall(messages->n_sends, messages->sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(messages->n_receives, messages->receives, MPI_STATUSES_IGNORE);
}

size_t messages_bytes(const struct messages *messages) {
    const size_t targets = (size_t)messages->n_targets, sources = (size_t)messages->n_sources;
    return arena_bytes(&messages->arrived) + targets * sizeof *messages->targets +
           (targets + sources) * sizeof *messages->sends;
}

void messages_close(struct messages *messages) {
    arena_close(&messages->arrived);
    free(messages->sends);
    free(messages->receives);
    free(messages->targets);
}
