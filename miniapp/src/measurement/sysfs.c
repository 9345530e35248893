#include "measurement/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum meter_status refuse(const char *path, const char *what, char *reason) {
    snprintf(reason, meter_reason_max, "%s: %s", path, what);
    return meter_unavailable;
}

/// Turns errno into the status of a path and its reason.
static enum meter_status failed(const char *path, char *reason) {
    const bool denied = errno == EACCES || errno == EPERM;
    refuse(path, errno == ENOENT ? "not there" : strerror(errno), reason);
    return denied ? meter_denied : meter_unavailable;
}

enum meter_status sysfs_text(const char *path, char *text, size_t bytes, char *reason) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return failed(path, reason);
    ssize_t n = read(file, text, bytes - 1);
    enum meter_status status = n < 0 ? failed(path, reason) : meter_ok;
    close(file);
    if (status != meter_ok) return status;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    return *text ? meter_ok : refuse(path, "empty", reason);
}

enum meter_status sysfs_number(const char *path, const char *unit, uint64_t *value, char *reason) {
    char text[64], *end;
    enum meter_status status = sysfs_text(path, text, sizeof text, reason);
    if (status != meter_ok) return status;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    while (*end == ' ') end++;
    const size_t length = strlen(unit);
    if (length > 0 && strncmp(end, unit, length) == 0 && !isalnum((unsigned char)end[length])) end = "";
    if (!isdigit((unsigned char)*text) || *end || errno) {
        snprintf(reason, meter_reason_max, "%s: holds \"%.40s\"; a whole number >= 0 is needed", path, text);
        return meter_unavailable;
    }
    *value = (uint64_t)number;
    return meter_ok;
}

static int by_version(const void *a, const void *b) {
    return strverscmp(a, b);
}

enum meter_status sysfs_list(const char *path, const char *prefix, struct sysfs_names *names, char *reason) {
    names->count = 0;
    DIR *directory = opendir(path);
    if (!directory) return failed(path, reason);
    for (struct dirent *entry; (entry = readdir(directory)) && names->count < sysfs_names_max;) {
        const char *name = entry->d_name;
        if (strncmp(name, prefix, strlen(prefix)) != 0 || *name == '.') continue;
        if (strlen(name) < sizeof names->name[0]) strcpy(names->name[names->count++], name);
    }
    closedir(directory);
    qsort(names->name, (size_t)names->count, sizeof names->name[0], by_version);
    return meter_ok;
}

bool sysfs_join(char *path, const char *a, const char *b) {
    int n = snprintf(path, sysfs_path_max, "%s/%s", a, b);
    return n > 0 && n < sysfs_path_max;
}
