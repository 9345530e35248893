// Runs the kernels of kernels.h under Google Benchmark as KERNEL/size:N; items_per_second are the items of
// the kernel.
// Of a kernel of which a part is timed, the middle half of its runs counts (middle_half.h).

#include "kernels.h"
#include "middle_half.h"

#include <benchmark/benchmark.h>
#include <string>
#include <vector>

namespace {

constexpr int timed_runs = 400; // of a kernel of which a part is timed

void finish(benchmark::State &state, const kernel &k, uint64_t items) {
    state.SetItemsProcessed(static_cast<int64_t>(items));
    state.SetLabel(std::string("per ") + k.item);
}

void run(benchmark::State &state, const kernel &k, int64_t size) {
    void *opened = k.open(k.variant, size);
    k.run(opened); // touches the memory
    uint64_t items = 0;
    for (auto _ : state) items += k.run(opened);
    finish(state, k, items);
    k.close(opened);
}

void run_part(benchmark::State &state, const kernel &k, int64_t size) {
    std::vector<timed> runs;
    void *opened = k.open(k.variant, size);
    k.run(opened); // touches the memory
    for (int i = 0; i < timed_runs; i++) {
        const uint64_t items = k.run(opened);
        runs.push_back({items, k.seconds(opened)});
    }
    k.close(opened);
    const timed middle = middle_half(runs.data(), runs.size());
    for (auto _ : state) state.SetIterationTime(middle.seconds);
    finish(state, k, middle.items);
}

} // namespace

int main(int argc, char **argv) {
    static kernel kernels[32];
    const size_t n = kernels_list(kernels, sizeof kernels / sizeof *kernels);
    for (size_t i = 0; i < n; i++)
        for (const int64_t *size = kernels[i].sizes; *size; size++) {
            const std::string name = std::string(kernels[i].name) + "/size:" + std::to_string(*size);
            auto *made = benchmark::RegisterBenchmark(name.c_str(), kernels[i].seconds ? run_part : run,
                                                      kernels[i], *size);
            made->Unit(benchmark::kMicrosecond);
            if (kernels[i].seconds) made->UseManualTime()->Iterations(1);
        }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
