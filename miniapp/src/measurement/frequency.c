#include "measurement/frequency.h"

#include "measurement/sysfs.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Writes the path of a file of one processor. \return false where that is too long.
static bool path_of(char *path, const char *sysfs, long processor, const char *name) {
    char inner[96];
    snprintf(inner, sizeof inner, "devices/system/cpu/cpu%ld/cpufreq/%s", processor, name);
    return sysfs_join(path, sysfs, inner);
}

/// Adds a name to a list with commas unless the list has it. A name that does not fit is left out.
static void add_name(char *list, size_t size, const char *name) {
    const size_t length = strlen(name), used = strlen(list);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ',')) return;
    if (used + length + 3 <= size) snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

void frequency_read(struct frequency *frequency, const char *sysfs) {
    char path[sysfs_path_max], text[64], reason[meter_reason_max];
    uint64_t khz;
    memset(frequency, 0, sizeof *frequency);
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        if (!path_of(path, sysfs, cpu, "scaling_governor")) return;
        if (sysfs_text(path, text, sizeof text, reason) == meter_ok)
            add_name(frequency->governor, sizeof frequency->governor, text);
        else if (cpu == 0)
            snprintf(frequency->reason, sizeof frequency->reason, "%s", reason);
        if (path_of(path, sysfs, cpu, "scaling_min_freq") &&
            sysfs_number(path, "", &khz, reason) == meter_ok &&
            (frequency->low_hz == 0 || 1000 * khz < frequency->low_hz))
            frequency->low_hz = 1000 * khz;
        if (path_of(path, sysfs, cpu, "scaling_max_freq") &&
            sysfs_number(path, "", &khz, reason) == meter_ok && 1000 * khz > frequency->high_hz)
            frequency->high_hz = 1000 * khz;
    }
    if (frequency->governor[0]) frequency->reason[0] = '\0';
}
