/// \file
/// Meters: sources of values other than clocks. (counters.h keeps what meters of threads count.)
///
/// A meter is one file under meter/ that exports one `const struct meter`, and one line in meter.c. Opening a
/// meter finds out what there is, and says of each channel whether it can be read and, if not, why. A value
/// that could not be read is NAN, never 0.
///
/// A meter of a thread counts what the thread does that has opened it; the same thread reads and closes it. A
/// meter of a node reads energy. Its channels in J count up from the first reading, with wrap-around undone;
/// its channels in W tell the power at the moment of reading.

#ifndef MEASUREMENT_METER_H
#define MEASUREMENT_METER_H

#include "base/registry.h"
#include <stdbool.h>
#include <stddef.h>

enum { meter_channels_max = 64, meter_name_max = 48, meter_event_max = 256, meter_reason_max = 400 };

#define METER_NO_PMU "no PMU here" ///< how reasons begin where no device counts what the processor does

enum meter_status { meter_ok, meter_unavailable, meter_denied };
enum meter_scope { meter_of_thread, meter_of_process, meter_of_node };

/// A quantity that a meter can tell.
struct meter_quantity {
    const char *name, *unit;
};

struct meter_channel {
    char name[meter_name_max], unit[8];
    char event[meter_event_max];   ///< what is read: an event, a field, a file; "" if nothing
    enum meter_status status;      ///< set by open; a meter of a node may lose a channel later
    char reason[meter_reason_max]; ///< why not, or why the last failed reading did; else ""
    unsigned failed, in_a_row;     ///< of a meter of a node: readings that failed, and the last ones of them
};

/// An open meter.
struct meter_handle {
    const struct meter *meter;
    enum meter_status status;      ///< of the whole: a meter of a node is only good with all of its channels
    char reason[meter_reason_max]; ///< "" while the status is meter_ok
    int n_channels;                ///< of a meter of a node 0 unless the status is meter_ok
    struct meter_channel channel[meter_channels_max];
    void *own; ///< the meter's state, [meter->size] bytes set to zero
};

/// A request to a meter.
struct meter_request {
    const char *root;         ///< in place of /sys
    const char *const *names; ///< [n_names] quantities, of a meter of a node sensors, or NULL for its choice
    int n_names;
};

struct meter {
    const char *name;
    const char *summary; ///< one line for --list
    const char *absent;  ///< why this program is built without it, one line for --list; NULL otherwise
    enum meter_scope scope;
    bool chooses;                            ///< of a node: takes names of sensors
    const struct meter_quantity *quantities; ///< ended by a name of NULL
    size_t size;                             ///< of the meter's own state
    void (*open)(struct meter_handle *handle, const struct meter_request *request);
    void (*read)(struct meter_handle *handle, double *value); ///< [handle->n_channels]
    void (*close)(struct meter_handle *handle); ///< what open() took beyond handle->own; may be NULL
};

/// All meters, ended by NULL. Those of a node stand in the order in which they are tried.
extern const struct meter *const meters[];

/// Returns "ok", "unavailable" or "denied".
const char *meter_status_name(enum meter_status status);

/// Returns the meter of that name, or NULL.
static inline const struct meter *meter_find(const char *name) {
    return registry_find(meters, name);
}

/// Opens a meter. Close the handle in any case. Two threads may not open meters of a thread at once.
void meter_open(struct meter_handle *handle, const struct meter *meter, const struct meter_request *request);
void meter_read(struct meter_handle *handle, double *value);
void meter_close(struct meter_handle *handle);

/// For meters: returns the next channel, with the status meter_ok. Where there is no room, it returns the
/// last one again.
struct meter_channel *meter_add(struct meter_handle *handle, const char *name, const char *unit);

/// For meters of a node: counts a reading that failed. A later one that succeeds goes on. \return NAN.
double meter_missed(struct meter_channel *channel, const char *reason);

/// For meters of a node: gives up the channel, with a reason (printf style). \return NAN.
double meter_lose(struct meter_channel *channel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// For meters of a node: ends the opening with a status, a reason (printf style), and no channels.
void meter_fail(struct meter_handle *handle, enum meter_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
