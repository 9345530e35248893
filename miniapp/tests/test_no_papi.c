/// \file
/// A build without PAPI: each counter that was asked for is unavailable, with the reason.

#include "support.h"

TEST(everything_is_unavailable_with_the_reason) {
    static const char *const asked[] = {"record.counters=true",
                                        "record.counters=[\"task_clock\",\"cycles\"]"};
    static const int expected[] = {papi_hardware, 2};
    assert_non_null(strstr(meters[0]->absent, "without PAPI"));
    for (int i = 0; i < 2; i++) {
        struct description description;
        struct counters counters;
        int wanted = 0;
        open_description(&description, eight_areas, (const char *const[]){asked[i], NULL});
        counters_open(&counters, &description, 1);
        for (int q = 0; q < papi_quantities; q++) {
            const struct count *count = &counters.thread[0]->count[q];
            if (!count->wanted) continue;
            wanted++;
            assert_int_equal(count->status, count_unavailable);
            assert_non_null(strstr(count->reason, meters[0]->absent));
        }
        assert_int_equal(wanted, expected[i]);
        assert_false(counters.by_phase);
        assert_int_equal(counters.thread[0]->count[quantity_usage].status, count_ok);
        counters_close(&counters);
        description_close(&description);
    }
}
