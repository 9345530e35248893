// Runs the kernels of kernels.h under Google Benchmark as KERNEL/size:N; items_per_second are the items of
// the kernel.

#include "kernels.h"

#include <benchmark/benchmark.h>
#include <map>
#include <string>
#include <tuple>

namespace {

void run(benchmark::State &state, const kernel &k, int64_t size) {
    static std::map<std::tuple<decltype(k.open), const void *, int64_t>, void *> kept;
    void *&opened = kept[{k.open, k.variant, size}];
    if (!opened) opened = k.open(k.variant, size);
    k.run(opened); // touches the memory
    uint64_t items = 0;
    for (auto _ : state) items += k.run(opened);
    state.SetItemsProcessed(static_cast<int64_t>(items));
    state.SetLabel(std::string("per ") + k.item);
}

} // namespace

int main(int argc, char **argv) {
    static kernel kernels[kernels_most];
    const size_t n = kernels_list(kernels);
    for (size_t i = 0; i < n; i++)
        for (const int64_t *size = kernels[i].sizes; *size; size++)
            benchmark::RegisterBenchmark(
                (std::string(kernels[i].name) + "/size:" + std::to_string(*size)).c_str(), run, kernels[i],
                *size)
                ->Unit(benchmark::kMicrosecond);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
