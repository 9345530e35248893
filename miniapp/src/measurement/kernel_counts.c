#include "measurement/kernel_counts.h"

#include "base/alloc.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[kernel_files] = {"stat", "interrupts", "softirqs"};
enum { file_stat, file_interrupts, file_softirqs };

/// The columns of a line "cpuN …" of stat that tell of time taken from a process.
static const struct {
    const char *name;
    int column;
} taken[] = {{"irq", 5}, {"softirq", 6}, {"steal", 7}};

enum { n_taken = sizeof taken / sizeof *taken, stat_columns = 8, cores_max = 8192 };

/// Reads a file from its beginning into counts->text. \return whether there is anything.
static bool load(struct kernel_counts *counts, int file) {
    size_t length = 0;
    if (counts->file[file] < 0) return false;
    for (;;) {
        if (counts->capacity - length < 4096) {
            char *grown = ALLOC(char, 2 * counts->capacity);
            memcpy(grown, counts->text, length);
            free(counts->text);
            counts->text = grown;
            counts->capacity *= 2;
        }
        const ssize_t got =
            pread(counts->file[file], counts->text + length, counts->capacity - length - 1, (off_t)length);
        if (got <= 0) break;
        length += (size_t)got;
    }
    counts->text[length] = '\0';
    return length > 0;
}

static char *skip_blanks(char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/// Reads a number and moves behind it. \return false, without moving, where there is none.
static bool number(char **at, uint64_t *value) {
    char *digit = skip_blanks(*at);
    if (!isdigit((unsigned char)*digit)) return false;
    for (*value = 0; isdigit((unsigned char)*digit); digit++) *value = 10 * *value + (uint64_t)(*digit - '0');
    if (*digit != ' ' && *digit != '\t' && *digit != '\n' && *digit != '\0')
        return false; // a word like 4-edge
    *at = digit;
    return true;
}

/// Ends the line at `line` with a null. \return the next one, or NULL.
static char *cut(char *line) {
    char *end = strchr(line, '\n');
    if (!end) return NULL;
    *end = '\0';
    return end[1] ? end + 1 : NULL;
}

/// Returns the place of a hardware thread in the list, or -1. `hint`: where it probably is.
static int place_of(const struct kernel_counts *counts, int core, int hint) {
    if (hint < counts->n_cores && counts->core[hint] == core) return hint;
    for (int i = 0; i < counts->n_cores; i++)
        if (counts->core[i] == core) return i;
    return -1;
}

/// Names a row of interrupts by what follows its numbers: "IO-APIC 8-edge rtc0" is rtc0, "Local timer
/// interrupts" is itself. A numbered interrupt is named by its last words, those after the kind of its line.
static void name_row(struct kernel_cause *cause, char *rest) {
    rest = skip_blanks(rest);
    const char *name = rest;
    if (isdigit((unsigned char)*cause->label)) {
        static const char *const kinds[] = {"edge", "level", "fasteoi", "Edge", "Level"};
        const char *last = NULL, *earliest = NULL;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const char *found = strstr(rest, kinds[i]);
            if (!found || (earliest && found > earliest)) continue;
            earliest = found;
            last = found + strlen(kinds[i]);
        }
        if (!last) last = strrchr(rest, ' ');
        name = last ? last + strspn(last, " ") : rest;
    }
    snprintf(cause->name, sizeof cause->name, "%s", *name ? name : *rest ? rest : cause->label);
    for (char *c = cause->name; *c; c++)
        if (*c == ',' || *c == '"' || iscntrl((unsigned char)*c)) *c = ' ';
    for (size_t n = strlen(cause->name); n > 0 && cause->name[n - 1] == ' '; n--) cause->name[n - 1] = '\0';
}

static void more_causes(struct kernel_counts *counts) {
    const int most = counts->causes_max ? 2 * counts->causes_max : 64;
    const size_t old = (size_t)counts->n_causes, row = (size_t)counts->n_cores;
    struct kernel_cause *cause = ALLOC_ZERO(struct kernel_cause, (size_t)most);
    uint32_t *now = ALLOC_ZERO(uint32_t, (size_t)most * row),
             *before = ALLOC_ZERO(uint32_t, (size_t)most * row);
    if (old > 0) {
        memcpy(cause, counts->cause, old * sizeof *cause);
        memcpy(now, counts->now, old * row * sizeof *now);
        memcpy(before, counts->before, old * row * sizeof *before);
    }
    free(counts->cause);
    free(counts->now);
    free(counts->before);
    counts->cause = cause;
    counts->now = now;
    counts->before = before;
    counts->causes_max = most;
}

/// Returns the row of a label, which is probably `hint`; adds it with its name where it is new.
static int find_cause(struct kernel_counts *counts, const char *source, const char *label, char *rest,
                      int hint) {
    for (int tried = 0; tried < counts->n_causes; tried++) {
        const int i = (hint + tried) % counts->n_causes;
        if (counts->cause[i].source == source && strcmp(counts->cause[i].label, label) == 0) return i;
    }
    if (counts->n_causes == counts->causes_max) more_causes(counts);
    struct kernel_cause *cause = &counts->cause[counts->n_causes];
    cause->source = source;
    snprintf(cause->label, sizeof cause->label, "%s", label);
    name_row(cause, rest);
    return counts->n_causes++;
}

/// Reads a table with a head "CPU0 CPU1 …" and rows "label: numbers, and for interrupts words".
static void read_table(struct kernel_counts *counts, int file) {
    int column[cores_max], columns = 0, hint = 0;
    if (!load(counts, file)) return;
    char *line = counts->text, *next = cut(line);
    for (char *at = strstr(line, "CPU"); at && columns < cores_max; at = strstr(at + 3, "CPU"), columns++)
        column[columns] = place_of(counts, atoi(at + 3), columns);
    while ((line = next)) {
        next = cut(line);
        char *at = strchr(line, ':');
        if (!at) continue;
        *at++ = '\0';
        const char *label = skip_blanks(line);
        char *first = at;
        int n = 0;
        uint64_t value;
        while (n < columns && number(&at, &value)) n++;
        if (n < columns) continue; // counted for the whole machine, such as ERR
        const int row = find_cause(counts, files[file], label, at, hint);
        for (int i = 0; i < columns && number(&first, &value); i++)
            if (column[i] >= 0) counts->now[row * counts->n_cores + column[i]] = (uint32_t)value;
        hint = row + 1;
    }
}

/// Reads "cpu4 user nice system idle iowait irq softirq steal …" lines; with `list`, only which there are.
static void read_stat(struct kernel_counts *counts, bool list) {
    if (!load(counts, file_stat)) return;
    char empty[] = "";
    for (char *line = counts->text, *next; line; line = next) {
        next = cut(line);
        uint64_t core, value[stat_columns];
        if (strncmp(line, "cpu", 3) != 0) break;
        char *at = line + 3;
        if (*at == ' ' || !number(&at, &core)) continue; // the sum of all
        if (list) {
            if (counts->n_cores < cores_max) counts->core[counts->n_cores++] = (int)core;
            continue;
        }
        const int place = place_of(counts, (int)core, 0);
        int n = 0;
        while (n < stat_columns && number(&at, &value[n])) n++;
        for (int t = 0; t < n_taken && place >= 0; t++)
            if (taken[t].column < n) {
                const int row = find_cause(counts, files[file_stat], taken[t].name, empty, t);
                counts->now[row * counts->n_cores + place] = (uint32_t)value[taken[t].column];
            }
    }
}

void kernel_counts_open(struct kernel_counts *counts, const char *root) {
    *counts = (struct kernel_counts){.capacity = 1 << 16, .tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK)};
    counts->text = ALLOC(char, counts->capacity);
    counts->core = ALLOC(int, cores_max);
    size_t length = 0;
    for (int f = 0; f < kernel_files; f++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", root, files[f]);
        counts->file[f] = open(path, O_RDONLY | O_CLOEXEC);
        if (counts->file[f] >= 0 && load(counts, f)) continue;
        if (length < sizeof counts->missing)
            length +=
                (size_t)snprintf(counts->missing + length, sizeof counts->missing - length, "%s%.100s: %s",
                                 length ? "; " : "", path, counts->file[f] < 0 ? strerror(errno) : "empty");
    }
    read_stat(counts, true);
    kernel_counts_read(counts);
    kernel_counts_read(counts);
}

void kernel_counts_read(struct kernel_counts *counts) {
    const size_t n = (size_t)counts->n_causes * (size_t)counts->n_cores;
    if (n > 0) memcpy(counts->before, counts->now, n * sizeof *counts->now);
    read_stat(counts, false);
    read_table(counts, file_interrupts);
    read_table(counts, file_softirqs);
}

bool kernel_tracers(char *text, size_t size) {
    static const char *const path = "/sys/kernel/tracing/available_tracers", *const known[] = {"osnoise",
                                                                                               "timerlat"};
    char all[512] = "";
    FILE *file = fopen(path, "r");
    if (!file) return snprintf(text, size, "%s: %s", path, strerror(errno)), false;
    const bool read = fgets(all, sizeof all, file) != NULL;
    fclose(file);
    size_t length = 0;
    for (size_t i = 0; read && i < sizeof known / sizeof *known; i++)
        if (strstr(all, known[i]))
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? " " : "", known[i]);
    if (length == 0) snprintf(text, size, "%s: neither osnoise nor timerlat", path);
    return length > 0;
}

void kernel_counts_close(struct kernel_counts *counts) {
    for (int f = 0; f < kernel_files && counts->text; f++)
        if (counts->file[f] >= 0) close(counts->file[f]);
    free(counts->text);
    free(counts->core);
    free(counts->cause);
    free(counts->now);
    free(counts->before);
    *counts = (struct kernel_counts){0};
}
