// Runs the kernels of kernels.h under Google Benchmark as KERNEL/size:N; items_per_second are the items of
// the kernel.

#include "kernels.h"

#include <benchmark/benchmark.h>
#include <string>

namespace {

constexpr int timed_runs = 100; // of a kernel of which a part is timed

void run(benchmark::State &state, const kernel &k, int64_t size) {
    void *opened = k.open(k.variant, size);
    k.run(opened); // touches the memory
    uint64_t items = 0;
    for (auto _ : state) {
        items += k.run(opened);
        if (k.seconds) state.SetIterationTime(k.seconds(opened));
    }
    state.SetItemsProcessed(static_cast<int64_t>(items));
    state.SetLabel(std::string("per ") + k.item);
    k.close(opened);
}

} // namespace

int main(int argc, char **argv) {
    static kernel kernels[32];
    const size_t n = kernels_list(kernels, sizeof kernels / sizeof *kernels);
    for (size_t i = 0; i < n; i++)
        for (const int64_t *size = kernels[i].sizes; *size; size++) {
            const std::string name = std::string(kernels[i].name) + "/size:" + std::to_string(*size);
            auto *made = benchmark::RegisterBenchmark(name.c_str(), run, kernels[i], *size);
            made->Unit(benchmark::kMicrosecond);
            if (kernels[i].seconds) made->UseManualTime()->Iterations(timed_runs);
        }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
