#include "transport/exchange/messages.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

void messages_open(struct messages *messages, int ranks) {
    messages->from = ALLOC_ZERO(struct message, (size_t)ranks);
    messages->sends = ALLOC(MPI_Request, (size_t)ranks);
    messages->receives = ALLOC(MPI_Request, (size_t)ranks);
}

/// Makes room for `count` words from a rank, which become its run in the inbox.
static uint32_t *make_room(struct messages *messages, struct inbox *inbox, int rank, size_t count) {
    struct message *message = &messages->from[rank];
    if (message->capacity < count) {
        free(message->words);
        message->capacity = 2 * count;
        message->words = ALLOC(uint32_t, message->capacity);
    }
    inbox->run[rank] = (struct inbox_run){message->words, count};
    return message->words;
}

void messages_begin(struct messages *messages, struct exchange *exchange, const struct outbox *outbox) {
    messages->n_sends = messages->n_receives = 0;
    memset(exchange->inbox.run, 0, (size_t)exchange->ranks * sizeof *exchange->inbox.run);
    size_t own = (size_t)exchange->rank, count = outbox->count[own];
    if (count)
        memcpy(make_room(messages, &exchange->inbox, exchange->rank, count),
               outbox->words + own * outbox->capacity, count * sizeof *outbox->words);
}

void messages_send(struct messages *messages, struct exchange *exchange, const struct outbox *outbox, int to,
                   int tag, messages_send_function *send) {
    send(outbox->words + (size_t)to * outbox->capacity, (int)outbox->count[to], MPI_UINT32_T, to, tag,
         exchange->comm, &messages->sends[messages->n_sends++]);
    exchange->traffic.messages += 1;
    exchange->traffic.bytes += outbox->count[to] * sizeof *outbox->words;
}

bool messages_receive(struct messages *messages, struct exchange *exchange, int tag) {
    MPI_Status status;
    int there, count;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, exchange->comm, &there, &status); // no other thread can take it
    if (!there) return false;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    uint32_t *words = make_room(messages, &exchange->inbox, status.MPI_SOURCE, (size_t)count);
    MPI_Irecv(words, count, MPI_UINT32_T, status.MPI_SOURCE, tag, exchange->comm,
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

size_t messages_bytes(const struct messages *messages, int ranks) {
    size_t words = 0;
    for (int rank = 0; rank < ranks; rank++) words += messages->from[rank].capacity;
    return words * sizeof(uint32_t);
}

void messages_close(struct messages *messages, int ranks) {
    for (int rank = 0; rank < ranks; rank++) free(messages->from[rank].words);
    free(messages->from);
    free(messages->sends);
    free(messages->receives);
}
