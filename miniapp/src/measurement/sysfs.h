/// \file
/// Reads the small files of /sys, or of a tree that stands for it.

#ifndef MEASUREMENT_SYSFS_H
#define MEASUREMENT_SYSFS_H

#include "measurement/meter.h"
#include <stdint.h>

enum { sysfs_path_max = meter_event_max, sysfs_names_max = 256 };

/// Reads the first line of a file, without its end. What cannot be printed becomes a question mark.
/// \param reason [meter_reason_max] says what is wrong unless the status is meter_ok: meter_denied where the
/// file is there and may not be read, else meter_unavailable.
enum meter_status sysfs_text(const char *path, char *text, size_t bytes, char *reason);

/// Reads a whole number from 0 up to 2^63, which may be followed by `unit` and anything behind that.
enum meter_status sysfs_number(const char *path, const char *unit, uint64_t *value, char *reason);

/// The names in a directory that start with a prefix, sorted so that numbers in them ascend.
struct sysfs_names {
    int count;
    char name[sysfs_names_max][64];
};

/// Lists a directory. Names for which there is no room are left out. An unreadable directory has the status
/// of an unreadable file.
enum meter_status sysfs_list(const char *path, const char *prefix, struct sysfs_names *names, char *reason);

/// Writes "a/b" to `path` [sysfs_path_max]. \return false where that is too long.
bool sysfs_join(char *path, const char *a, const char *b);

#endif
