#include "plan.h"

#include <string.h>

static struct planned *plan(const char *const *overrides, int ranks) {
    static struct planned p;
    p = (struct planned){.refused = {""}};
    open_description(&p.d, eight_areas, overrides);
    if (open_placement(&p.placement, &p.d, ranks, 1, NULL, &p.refused))
        schedule_plan(&p.schedule, &p.d, &p.placement, &p.refused);
    return &p;
}

struct planned *accept(const char *const *overrides, int ranks) {
    struct planned *p = plan(overrides, ranks);
    if (error_stands(&p->refused)) fail_msg("%s", p->refused.text);
    return p;
}

void finish(struct planned *planned) {
    schedule_close(&planned->schedule);
    placement_close(&planned->placement);
    description_close(&planned->d);
}

void assert_refused(const char *const *overrides, int ranks, const char *message) {
    struct planned *p = plan(overrides, ranks);
    assert_true(error_stands(&p->refused));
    if (!strstr(p->refused.text, message))
        fail_msg("the message is '%s', expected '%s'", p->refused.text, message);
    finish(p);
}
