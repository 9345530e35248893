#include "measurement/processes.h"

#include "base/alloc.h"
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Reads "pid (name) state ppid …" of /proc/PID/stat, as proc(5) numbers its fields.
static bool read_one(struct process *process, const char *root, const char *pid) {
    enum { utime = 14, stime = 15, starttime = 22, processor = 39 };
    char path[512], text[1024];
    snprintf(path, sizeof path, "%s/%.20s/stat", root, pid);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *name = strchr(text, '('), *end = strrchr(text, ')'); // a name may hold anything
    if (!name || !end) return false;
    *end = '\0';
    process->pid = atoi(pid);
    snprintf(process->name, sizeof process->name, "%.16s", name + 1);
    int field = 3;
    unsigned long ticks = 0;
    char *rest, *word = strtok_r(end + 1, " ", &rest);
    for (; word && field <= processor; word = strtok_r(NULL, " ", &rest), field++) {
        if (field == utime || field == stime) ticks += strtoul(word, NULL, 10);
        if (field == starttime) process->age = strtoul(word, NULL, 10);
        if (field == processor) process->core = atoi(word);
    }
    process->used_s = (double)ticks / (double)sysconf(_SC_CLK_TCK);
    return field > processor;
}

void processes_read(struct processes *processes, const char *root) {
    size_t capacity = 256;
    *processes = (struct processes){.process = ALLOC(struct process, capacity)};
    DIR *folder = opendir(root);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)*entry->d_name)) continue;
        if (processes->count == capacity) {
            struct process *grown = ALLOC(struct process, 2 * capacity);
            memcpy(grown, processes->process, capacity * sizeof *grown);
            free(processes->process);
            processes->process = grown;
            capacity *= 2;
        }
        if (read_one(&processes->process[processes->count], root, entry->d_name)) processes->count++;
    }
    if (folder) closedir(folder);
}

static int busiest(const void *a, const void *b) {
    const struct process *x = a, *y = b;
    return (x->used_s < y->used_s) - (x->used_s > y->used_s);
}

void processes_since(struct processes *later, const struct processes *earlier) {
    size_t kept = 0;
    for (size_t i = 0; i < later->count; i++) {
        struct process now = later->process[i];
        for (size_t j = 0; j < earlier->count; j++)
            if (earlier->process[j].pid == now.pid && earlier->process[j].age == now.age)
                now.used_s -= earlier->process[j].used_s;
        if (now.used_s > 0) later->process[kept++] = now;
    }
    later->count = kept;
    qsort(later->process, kept, sizeof *later->process, busiest);
}

void processes_close(struct processes *processes) {
    free(processes->process);
    *processes = (struct processes){0};
}
