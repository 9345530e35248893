/// \file
/// Calls a fuzz target without libFuzzer: with every file of a folder, and with so many changes of them.
///
/// TARGET FOLDER CHANGES [SEED]. Change number i of a seed is always the same. Where the target ends the
/// program, the input is written to the file `broken-input`.

#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>

enum { most_files = 4096, most_bytes = 1 << 14 };

void __sanitizer_set_death_callback(void (*callback)(void));

static struct input {
    size_t size;
    uint8_t bytes[most_bytes];
} file[2], tried;

static struct dirent **names;
static const char *folder;

static void keep(void) {
    FILE *out = fopen("broken-input", "wb");
    if (!out) return;
    fwrite(tried.bytes, 1, tried.size, out);
    fclose(out);
    fprintf(stderr, "broken-input: %zu bytes\n", tried.size);
}

static void aborted(int number) {
    (void)number;
    keep();
    signal(SIGABRT, SIG_DFL);
    abort();
}

static uint64_t state;

/// Returns a number below n (splitmix64).
static size_t draw(size_t n) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return n > 0 ? (size_t)((z ^ z >> 31) % n) : 0;
}

static bool read_input(struct input *input, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    if (!in) return false;
    input->size = fread(input->bytes, 1, sizeof input->bytes, in);
    fclose(in);
    return true;
}

/// Puts `n` bytes in the place of `old` bytes at `at`, as far as there is room.
static void put(size_t at, size_t old, const uint8_t *bytes, size_t n) {
    if (at + old > tried.size || tried.size - old + n > sizeof tried.bytes) return;
    memmove(tried.bytes + at + n, tried.bytes + at + old, tried.size - at - old);
    memmove(tried.bytes + at, bytes, n);
    tried.size += n - old;
}

static void change(void) {
    static uint8_t copy[most_bytes];
    static const char *const odd[] = {
        "-1", "0", "1e308", "1e-320", "9007199254740993", "4e9", "null", "[]", "{}", "\"", "true", "\n",
        "=",  ".", "ü",     "-0.0"};
    const size_t at = draw(tried.size + 1), left = tried.size - at, n = draw(left < 40 ? left + 1 : 40);
    const uint8_t byte = (uint8_t)draw(256);
    const char *word = odd[draw(sizeof odd / sizeof *odd)];
    switch (draw(6)) {
    case 0:
        put(at, at < tried.size, &byte, 1);
        break;
    case 1:
        put(at, 0, &byte, 1);
        break;
    case 2:
        put(at, n, &byte, 0);
        break;
    case 3:
        put(at, n, (const uint8_t *)word, strlen(word));
        break;
    case 4: // a part of the same input
        memcpy(copy, tried.bytes + at, n);
        put(draw(tried.size + 1), 0, copy, n);
        break;
    default: // a part of another one
        if (file[1].size > 0) {
            const size_t from = draw(file[1].size), some = draw(file[1].size - from + 1);
            put(at, n, file[1].bytes + from, some < 200 ? some : 200);
        }
    }
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_input(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv) {
    const size_t changes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    state = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    folder = argc > 1 ? argv[1] : ".";
    __sanitizer_set_death_callback(keep);
    signal(SIGABRT, aborted);
    const int n = scandir(folder, &names, is_input, by_name);
    if (n < 1) {
        fprintf(stderr, "%s: no inputs\n", folder);
        return 2;
    }
    for (int i = 0; i < n; i++)
        if (read_input(&tried, names[i]->d_name)) LLVMFuzzerTestOneInput(tried.bytes, tried.size);
    for (size_t i = 0; i < changes; i++) {
        if (i % 64 == 0) { // reading files takes longer than trying them
            read_input(&file[0], names[draw((size_t)n)]->d_name);
            read_input(&file[1], names[draw((size_t)n)]->d_name);
        }
        tried = file[0];
        for (size_t k = draw(5) + 1; k > 0; k--) change();
        LLVMFuzzerTestOneInput(tried.bytes, tried.size);
    }
    printf("%d inputs, %zu changes\n", n, changes);
    return 0;
}
