#include "middle_half.h"

#include <stdlib.h>

static int by_time_per_item(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    const double first = x->seconds * (double)y->items, second = y->seconds * (double)x->items;
    return (first > second) - (first < second);
}

struct timed middle_half(struct timed *runs, size_t n) {
    struct timed sum = {0, 0};
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (runs[i].items > 0) runs[count++] = runs[i];
    qsort(runs, count, sizeof *runs, by_time_per_item);
    for (size_t i = count / 4; i < count - count / 4; i++) {
        sum.items += runs[i].items;
        sum.seconds += runs[i].seconds;
    }
    return sum;
}
