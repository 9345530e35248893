/// \file
/// Delivers spikes: walks the lists that they name and adds each weight to the ring buffer, at the step of
/// the spike plus the delay.
///
/// Read deliver_reference.c first: it computes the same in plain lines. What is added here has one aim: lists
/// lie anywhere, and each would cost the latency of the memory, so memory is fetched ahead of its use.
///
/// 1. deliver_tuned() passes spikes through the filter of the table, if it has one (filter.h): most spikes
///    that reach a rank of many threads have no synapse on this thread.
/// 2. deliver() chooses a loop. There is one for each kind of table (starts, lines), ring (16 or 32 bits) and
///    weight (one, by class, its own). They come from the same text by inlining with constants, so that a
///    loop has no branch that is always taken alike.
/// 3. Long lists: deliver_lists() fetches the start of a list 16 spikes ahead, and its first lines 8 spikes
///    ahead. deliver_some() is then the loop over its synapses.
/// 4. Short lists: deliver_lines() finds the synapses of a spike in the line of its list, collects the cells
///    of 32 spikes, fetches them, and adds the weights while the next 32 spikes are looked up.
///
/// Cost: one access for each spike that the filter lets through and one cell of the ring for each synapse;
/// see docs/models.md for how many of them miss the caches. Nothing is allocated.

#include "synapse/filter.h"
#include "synapse/line_find.h"
#include "synapse/name_search.h"
#include "synapse/table.h"

/// Says where the weight of a synapse is.
enum weight_place { of_all, of_class, of_synapse };

/// The number of words per synapse.
#define WORDS(where) ((size_t)((where) == of_synapse ? 2 : 1))

/// Words of a cache line of 64 bytes. On processors with longer lines every second fetch is for nothing.
enum { line = 64 / sizeof(uint32_t) };

/// Lines of a list that are fetched before it is entered, and then ahead of its reading. A processor fetches
/// ahead by itself once it has seen some lines in a row; until then, six lines of 16 synapses at 2 ns each
/// cover the latency of the memory, 140 to 180 ns (EPYC, 2026-11-22). Fewer would leave a gap; more would
/// push out lines that other spikes need, since a core can wait for ten to sixteen lines at a time. Not tuned
/// further.
enum { lines_ahead = 6 };

/// Spikes by which the start of a list, and then its first lines, are fetched ahead in long lists. Both are
/// misses, and the second follows from the first. A list of five synapses, the shortest of these, takes some
/// 43 ns (33 to enter it and 2 for each synapse, docs/miniapp.md), eight of them 340 ns: twice the latency.
/// Half as far would just cover it; twice as far fetches for spikes that a short run of words does not have.
/// Chosen from these figures, not tuned.
enum { starts_ahead = 16, lists_ahead = 8 };

/// Spikes that go through delivery from lines at a time. Their cells and further words are fetched while the
/// next 32 spikes are looked up, which takes longer than the latency. Chosen, not tuned.
enum { batch = 32 };

/// Spikes by which lines are fetched ahead: a batch and a half, so that those of the next batch are on their
/// way while this one ends. Places of so many spikes are kept, in a ring whose size is the next power of two.
enum { line_spikes_ahead = 48, places_kept = 64 };

/// Batches after the last one in which further words (one later) and cells (two later) are still worked on.
enum { rounds_after = 2 };

/// Spikes that go through the filter at a time: 8 KiB, which stay in the first cache until they are
/// delivered.
enum { filter_chunk = 2048 };

/// What stays the same while spikes are delivered. Every loop has a copy of its own: stores to cells could
/// change what pointers lead to, which would then be read again for every spike.
struct delivery {
    struct synapse_table table; ///< a copy; what its pointers lead to is read only
    struct spike_format spikes; ///< of the words
    uint32_t slot;              ///< row of the ring for the first step of the window
    struct ring ring;           ///< a copy; its cells are added to
};

/// Fetches the second to sixth line of the list of words first ... end - 1. Lists begin anywhere in a line,
/// and the hardware starts to fetch ahead too late for them. The function is always inlined, because GCC
/// drops calls of a function that only fetches.
ALWAYS_INLINE void fetch_more(const uint32_t *words, size_t first, size_t end) {
    const size_t last = end - (end > first);
    __builtin_prefetch(words + (first + line < last ? first + line : last));
    if (end - first <= line) return; // the list lies in two lines at most
    for (size_t word = first + 2 * line; word < first + lines_ahead * line; word += line)
        __builtin_prefetch(words + (word < last ? word : last));
}

/// Adds some synapses of a list to the ring; `row` is the place of the row of the spike's step. The constants
/// `narrow`, `where` and `named` make loops of this one, each without any branch but its own. With `named`,
/// the name of the list stands above the class.
ALWAYS_INLINE void deliver_some(const uint32_t *restrict synapse, const uint32_t *end,
                                const struct synapse_format *format, uint32_t row, uint32_t size,
                                void *restrict cells, const bool narrow, const enum weight_place where,
                                const bool named) {
    const unsigned bits = format->place_bits;
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    const uint32_t used = (uint32_t)(((uint64_t)1 << format->used_bits) - 1);
    const int32_t *restrict weights = format->weights;
    const int32_t first_weight = where == of_all ? weights[0] : 0;
    for (; synapse < end; synapse += WORDS(where)) {
        // Place + row, modulo the size of the ring: if the difference wraps around, there was nothing to
        // subtract.
        const uint32_t ahead = (*synapse & mask) + row, wrapped = ahead - size;
        const uint32_t place = wrapped < ahead ? wrapped : ahead; // ahead modulo size
        const int32_t weight = where == of_all     ? first_weight
                               : where == of_class ? weights[(named ? *synapse & used : *synapse) >> bits]
                                                   : (int32_t)synapse[1];
        if (narrow)
            // The cast is safe: no sum of inputs overflows 16 bits where the ring is narrow (fixed_point.c).
            ((int16_t *)cells)[place] = (int16_t)(((int16_t *)cells)[place] + weight);
        else
            ((int32_t *)cells)[place] += weight;
    }
}

/// Adds a whole list to the ring. Its first lines have been fetched already, the others are fetched here, and
/// loops of constant length go through the lines.
ALWAYS_INLINE void deliver_list(const uint32_t *synapse, const uint32_t *end,
                                const struct synapse_format *format, uint32_t row, uint32_t size, void *cells,
                                const bool narrow, const enum weight_place where) {
    // A long list: each line is worked on while the one six lines further is fetched.
    for (; end - synapse > lines_ahead * line; synapse += line) {
        __builtin_prefetch(synapse + lines_ahead * line);
        deliver_some(synapse, synapse + line, format, row, size, cells, narrow, where, false);
    }
    for (; end - synapse >= line; synapse += line)
        deliver_some(synapse, synapse + line, format, row, size, cells, narrow, where, false);
    deliver_some(synapse, end, format, row, size, cells, narrow, where, false);
}

/// Returns the place of the row of the ring for the step of a spike.
static inline uint32_t row_of(const struct delivery *d, uint32_t word) {
    // A window is shorter than the ring, so one subtraction is enough.
    uint32_t slot = d->slot + spike_step(d->spikes, word);
    if (slot >= d->ring.slots) slot -= d->ring.slots;
    return slot * d->ring.neurons;
}

// Each loop below fetches what spikes need some spikes ahead of its use. What the first spikes need is
// fetched before the loop: few spikes arrive in a cycle of a large machine, and without it most would wait
// for it.

/// Returns the smaller number.
static inline size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/// Fetches the first lines of the list that a spike names, whose start has been fetched.
ALWAYS_INLINE void fetch_list(const struct delivery *d, uint32_t word, const enum weight_place where) {
    const uint32_t *start = &d->table.start[spike_list(d->spikes, word)];
    const size_t first = WORDS(where) * start[0];
    __builtin_prefetch(d->table.synapses + first);
    fetch_more(d->table.synapses, first, WORDS(where) * start[1]);
}

/// Delivers from a table with a start for every list, where lists are long.
ALWAYS_INLINE struct delivered deliver_lists(const struct delivery *d, const uint32_t *words, size_t n,
                                             const bool narrow, const enum weight_place where) {
    const struct synapse_table *table = &d->table;
    const uint32_t *start = table->start;
    const uint32_t size = ring_size(&d->ring);
    struct delivered delivered = {0, 0, 0};
    // What the first spikes need.
    for (size_t i = 0; i < smaller(n, starts_ahead); i++)
        __builtin_prefetch(&start[spike_list(d->spikes, words[i])]);
    for (size_t i = 0; i < smaller(n, lists_ahead); i++) fetch_list(d, words[i], where);
    for (size_t i = 0; i < n; i++) {
        if (i + starts_ahead < n) __builtin_prefetch(&start[spike_list(d->spikes, words[i + starts_ahead])]);
        if (i + lists_ahead < n) fetch_list(d, words[i + lists_ahead], where);
        // The list of this spike, whose start and lines have come by now.
        uint32_t list = spike_list(d->spikes, words[i]), first = start[list], end = start[list + 1];
        deliver_list(table->synapses + WORDS(where) * first, table->synapses + WORDS(where) * end,
                     &table->format, row_of(d, words[i]), size, d->ring.cells, narrow, where);
        delivered.synaptic_events += end - first;
        delivered.first_accesses += end > first;
    }
    return delivered;
}

/// Further words of a line, which hold synapses of a list.
struct further {
    const uint32_t *words; ///< their number, and then they
    uint32_t name;         ///< of the list, in its line
    uint32_t row;          ///< cell of the ring at which the row of the spike's step begins
    bool entered;          ///< other synapses of the list were in the line
};

/// What spikes of a batch have found: words that name cells, which are being fetched, and further words.
struct found {
    uint32_t n;                    ///< words
    uint32_t n_further;            ///< at most one for each spike
    struct further further[batch]; ///< [n_further]
    uint32_t
        words[2 * batch * line_words]; ///< [n] each spike has at most a line, and a line of further words
};

/// Finds the line and the name of the list of a spike, and fetches the line.
ALWAYS_INLINE struct line_place fetch_line(const struct delivery *d, uint32_t word) {
    const uint32_t list = spike_list(d->spikes, word);
    const unsigned bits = d->table.index.group_bits;
    const struct line_place place =
        line_place(&d->table.group[list >> bits], list & (((uint32_t)1 << bits) - 1));
    __builtin_prefetch(d->table.synapses + (size_t)line_words * place.line);
    return place;
}

/// Returns what turns the synapses of a spike into cells, where `row` is the place of its row.
static inline struct line_shift shift_of(const struct delivery *d, uint32_t row,
                                         const enum weight_place where) {
    const uint32_t places = ((uint32_t)1 << d->table.format.place_bits) - 1;
    const uint32_t classes = (((uint32_t)1 << d->table.format.used_bits) - 1) & ~places;
    return (struct line_shift){places, where == of_class ? classes : 0, row, ring_size(&d->ring)};
}

/// Finds the synapses of a spike in its line, which has been fetched, and begins to fetch further ones.
ALWAYS_INLINE void find_in_line(const struct delivery *d, uint32_t word, struct line_place place,
                                struct found *found, struct delivered *sum, const enum weight_place where) {
    enum { last = line_words };
    const uint32_t *words = d->table.synapses + (size_t)line_words * place.line;
    const unsigned used_bits = d->table.format.used_bits;
    const uint32_t row = row_of(d, word), link = words[last - WORDS(where)];
    // Copy those of the list, as cells, behind what other spikes of the batch have found.
    const struct line_span span = line_find(words, place.name, used_bits, last, WORDS(where));
    line_put(found->words + found->n, words, span, shift_of(d, row, where), WORDS(where));
    found->n += span.count;
    sum->first_accesses += span.count > 0;
    // Done, unless the line ends in a link and the last name before it is not beyond this list.
    if (link < line_link || link == line_free || words[last - 2 * WORDS(where)] >> used_bits > place.name)
        return;
    const uint32_t *further = d->table.further + (link & ~line_link);
    __builtin_prefetch(further);
    __builtin_prefetch(further + line_words / 2);
    found->further[found->n_further++] = (struct further){further, place.name, row, span.count > 0};
}

/// Finds the synapses of a list among further words, which have been fetched. Those of long lists are added
/// at once.
ALWAYS_INLINE void find_further(const struct delivery *d, const struct further *further, struct found *found,
                                struct delivered *sum, const bool narrow, const enum weight_place where) {
    const uint32_t n = *further->words, *words = further->words + 1;
    const unsigned used_bits = d->table.format.used_bits;
    bool any;
    if (n <= line_words) {
        const struct line_span span = line_find(words, further->name, used_bits, n, WORDS(where));
        line_put(found->words + found->n, words, span, shift_of(d, further->row, where), WORDS(where));
        found->n += span.count;
        any = span.count > 0;
    } else {
        const struct span_of_words all = {words, words + n};
        const struct span_of_words list = find_list(all, further->name, used_bits, WORDS(where));
        deliver_some(list.first, list.end, &d->table.format, further->row, ring_size(&d->ring), d->ring.cells,
                     narrow, where, true);
        sum->synaptic_events += (size_t)(list.end - list.first) / WORDS(where);
        any = list.end > list.first;
    }
    sum->first_accesses += any && !further->entered;
}

/// Fetches the cells of the ring that a batch is about to change, for writing.
ALWAYS_INLINE void fetch_cells(const struct delivery *d, const struct found *found, const bool narrow,
                               const enum weight_place where) {
    const size_t bytes = narrow ? sizeof(int16_t) : sizeof(int32_t);
    const uint32_t mask = ((uint32_t)1 << d->table.format.place_bits) - 1;
    for (uint32_t k = 0; k < found->n; k += (uint32_t)WORDS(where))
        __builtin_prefetch((char *)d->ring.cells + bytes * (found->words[k] & mask), 1);
}

/// Delivers from lines. The misses of a spike follow from each other: its line, perhaps further words, and
/// the cells of the ring. Each is fetched well ahead of the next: lines some spikes before, the others while
/// another batch of spikes is worked on. What a batch has found is added in one loop, whose length does not
/// depend on that of lists.
ALWAYS_INLINE struct delivered deliver_lines(const struct delivery *d, const uint32_t *words, size_t n,
                                             const bool narrow, const enum weight_place where) {
    struct line_place places[places_kept];
    struct found founds[2];
    struct delivered delivered = {0, 0, 0};
    founds[0].n = founds[1].n = founds[0].n_further = founds[1].n_further = 0;
    for (size_t i = 0; i < n && i < line_spikes_ahead; i++) places[i] = fetch_line(d, words[i]);
    for (size_t first = 0; first < n + rounds_after * batch; first += batch) {
        struct found *now = &founds[first / batch % 2], *before = &founds[1 - first / batch % 2];
        // Look up this batch, with lines fetched some spikes ahead.
        now->n = now->n_further = 0;
        for (size_t i = first; i < n && i < first + batch; i++) {
            if (i + line_spikes_ahead < n)
                places[(i + line_spikes_ahead) % places_kept] = fetch_line(d, words[i + line_spikes_ahead]);
            find_in_line(d, words[i], places[i % places_kept], now, &delivered, where);
        }
        // Further words of the batch before have come by now; what they hold joins this batch.
        for (uint32_t k = 0; k < before->n_further; k++)
            find_further(d, &before->further[k], now, &delivered, narrow, where);
        // The cells of this batch are fetched while those of the batch before are added.
        fetch_cells(d, now, narrow, where);
        // The words name cells already, so that their row is 0.
        deliver_some(before->words, before->words + before->n, &d->table.format, 0, ring_size(&d->ring),
                     d->ring.cells, narrow, where, false);
        delivered.synaptic_events += before->n / WORDS(where);
    }
    return delivered;
}

/// Delivers from either form of table. The copy tells the compiler that stores do not change it.
ALWAYS_INLINE struct delivered deliver_as(const struct delivery *d, const uint32_t *words, size_t n,
                                          const bool narrow, const enum weight_place where) {
    const struct delivery own = *d;
    if (own.table.start) return deliver_lists(&own, words, n, narrow, where);
    return deliver_lines(&own, words, n, narrow, where);
}

/// Chooses the loop: each call below makes one of its own. Without classes the ring is never narrow.
static struct delivered deliver(const struct delivery *d, const uint32_t *words, size_t n) {
    const uint32_t classes = d->table.format.classes;
    if (classes == 0) return deliver_as(d, words, n, false, of_synapse);
    if (d->ring.narrow && classes == 1) return deliver_as(d, words, n, true, of_all);
    if (d->ring.narrow) return deliver_as(d, words, n, true, of_class);
    if (classes == 1) return deliver_as(d, words, n, false, of_all);
    return deliver_as(d, words, n, false, of_class);
}

struct delivered deliver_tuned(const struct synapse_table *table, const uint32_t *words, size_t n,
                               struct spike_format spikes, uint32_t first_step, struct ring *ring) {
    // Everything that a loop needs, in one place.
    const struct delivery d = {*table, spikes, first_step % ring->slots, *ring};
    struct delivered sum = {0, 0, 0};
    if (n == 0 || table->size == 0) return sum;
    if (!table->filter) {
        sum = deliver(&d, words, n);
    } else {
        // Spikes of which the thread has no synapse are left out, some thousand at a time.
        uint32_t passed[filter_chunk];
        for (size_t i = 0; i < n; i += filter_chunk) {
            const size_t m = filter_pass(table, spikes, words + i, smaller(n - i, filter_chunk), passed);
            const struct delivered some = deliver(&d, passed, m);
            sum.synaptic_events += some.synaptic_events;
            sum.first_accesses += some.first_accesses;
        }
    }
    sum.lookups = n;
    return sum;
}
