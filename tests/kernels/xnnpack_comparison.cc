// SPDX-License-Identifier: Apache-2.0
// Compares our linear kernel with XNNPACK's qd8-f32-qc8w fully connected operator on the models' shapes. One thread,
// rows already quantized on both sides, weights in cache, measured in turns. Not a test: run it on a quiet machine with
// a pinned core.
//
//   taskset -c 1 xnnpack_comparison [TABLE [ROWS...]]
//   xnnpack_comparison --instructions FILE [TABLE [ROWS...]]
//
// TABLE limits XNNPACK to the same instructions (on x86); by default it is the CPU's best. --instructions compares
// instructions of one call instead of time; it needs QEMU, whose plugin instruction_counter.c counts in FILE
// (xnnpack_instructions.sh).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xnnpack.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "kernels/cpu_features.h"
#include "linear_problem.h"
#include "xnnpack_operator.h"

#if defined(__x86_64__)
#include <cpuinfo.h>
#endif

namespace goldcrest {
namespace {

using test::AlignedBuffer;
using test::LinearProblem;
using test::LinearShape;
using test::PeerOperator;
using test::require;

constexpr uint32_t kRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 32, 64, 128};
constexpr int kRounds = 25;                 // pairs of measurements for one median
constexpr double kRoundMicroseconds = 400;  // the length of a measurement, at least one call

// XNNPACK chooses its kernels by cpuinfo's findings, so this first removes the features that `table` does not use.
void limit_xnnpack([[maybe_unused]] const Kernels& table) {
#if defined(__x86_64__)
  require(cpuinfo_initialize(), "cpuinfo_initialize failed");
  const bool avx512 = (table.cpu_features & kCpuAvx512Vnni) != 0;
  const bool avxvnni = avx512 || std::strcmp(table.name, "x86_avxvnni") == 0;
  if (!avx512) cpuinfo_isa.avx512f = cpuinfo_isa.avx512vnni = cpuinfo_isa.amx_int8 = false;
  if (!avxvnni) cpuinfo_isa.avxvnni = false;
#endif
  require(xnn_initialize(nullptr) == xnn_status_success, "xnn_initialize failed");
}

// XNNPACK rounds differently because it fuses operations, but its sums are the same integers.
void require_same_work(AlignedBuffer<float>& ours, AlignedBuffer<float>& theirs) {
  float largest = 0, difference = 0;
  for (const float& y : ours) {
    largest = std::max(largest, std::fabs(y));
    difference = std::max(difference, std::fabs(y - theirs[static_cast<size_t>(&y - ours.begin())]));
  }
  require(largest > 0 && difference <= 1e-6f * largest, "the outputs differ");
}

// Returns the microseconds of one call, averaged over `calls`.
template <typename Function>
double time_calls(Function call, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / calls;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The time, or the number of instructions, of one call.
struct Comparison {
  double ours, theirs, ratio;  // theirs / ours
};

// Returns microseconds, the medians of pairs in both orders.
template <typename OurCall, typename TheirCall>
Comparison compare_times(OurCall our_call, TheirCall their_call) {
  const int calls = 1 + static_cast<int>(kRoundMicroseconds / std::max(time_calls(our_call, 3), 0.01));
  std::vector<double> ours, theirs, ratios;
  for (int round = 0; round < kRounds; ++round) {
    double ours_now = 0, theirs_now = 0;
    if (round % 2 == 0) ours_now = time_calls(our_call, calls);
    theirs_now = time_calls(their_call, calls);
    if (round % 2 == 1) ours_now = time_calls(our_call, calls);
    ours.push_back(ours_now);
    theirs.push_back(theirs_now);
    ratios.push_back(theirs_now / ours_now);
  }
  return {median(ours), median(theirs), median(ratios)};
}

// Maps the file in which the plugin keeps its count.
const volatile uint64_t* map_counter(const char* path) {
  const int file = open(path, O_RDONLY);
  void* const mapped = mmap(nullptr, sizeof(uint64_t), PROT_READ, MAP_SHARED, file, 0);
  require(file >= 0 && mapped != MAP_FAILED, "--instructions: FILE cannot be read");
  close(file);
  return static_cast<const volatile uint64_t*>(mapped);
}

template <typename Function>
double count_call(const volatile uint64_t* counter, Function call) {
  const uint64_t before = *counter;
  call();
  const uint64_t after = *counter;
  require(after > before, "--instructions: nothing counts in FILE");
  return static_cast<double>(after - before);
}

// Prints one line and returns the ratio. If `counter` is null, compares times.
double compare(const Kernels& table, LinearShape shape, uint32_t rows, const volatile uint64_t* counter) {
  LinearProblem problem(shape, rows);
  PeerOperator peer(problem, shape, rows);
  const LinearArgs<int8_t> args = problem.args();
  const auto our_call = [&] { table.int8.linear(args); };
  const auto their_call = [&] { peer.run(); };
  our_call();
  their_call();
  require_same_work(problem.y, peer.y());
  const double multiply_accumulates = static_cast<double>(shape.n) * shape.k * rows;
  std::printf("%5u x %-5u %5u ", shape.n, shape.k, rows);
  if (counter == nullptr) {
    const Comparison times = compare_times(our_call, their_call);
    std::printf("%12.2f %12.2f %7.2f %10.0f\n", times.ours, times.theirs, times.ratio,
                multiply_accumulates / times.ours / 1e3);
    return times.ratio;
  }
  const double ours = count_call(counter, our_call), theirs = count_call(counter, their_call);
  std::printf("%12.0f %12.0f %7.2f %10.1f\n", ours, theirs, theirs / ours, multiply_accumulates / ours);
  return theirs / ours;
}

}  // namespace
}  // namespace goldcrest

int main(int argc, char** argv) {
  using namespace goldcrest;
  const volatile uint64_t* counter = nullptr;
  if (argc > 2 && std::strcmp(argv[1], "--instructions") == 0) {
    counter = map_counter(argv[2]);
    argc -= 2;
    argv += 2;
  }
  const Kernels* table = select_kernels(argc > 1 ? argv[1] : nullptr);
  require(table != nullptr, "this build or CPU has no kernel table of that name");
  limit_xnnpack(*table);
  std::vector<uint32_t> wanted_rows(std::begin(kRows), std::end(kRows));
  if (argc > 2) wanted_rows.clear();
  for (int i = 2; i < argc; ++i) wanted_rows.push_back(static_cast<uint32_t>(std::atoi(argv[i])));
  const char* const unit = counter == nullptr ? "microseconds" : "instructions";
  std::printf("%s; %s of one call; ratio: XNNPACK's / ours, so more is better\n", table->name, unit);
  std::printf("    n x k      rows         ours       theirs   ratio  %s\n",
              counter == nullptr ? "GMAC/s, ours" : "MACs an instruction, ours");
  std::map<uint32_t, std::vector<double>> ratios;
  for (const uint32_t rows : wanted_rows) {
    require(rows > 0, "ROWS must be positive numbers");
    for (const LinearShape shape : test::kModelShapes) ratios[rows].push_back(compare(*table, shape, rows, counter));
  }
  std::printf(" rows  median  least\n");
  for (const auto& [rows, of_shapes] : ratios) {
    std::printf("%5u %7.2f %6.2f\n", rows, median(of_shapes), *std::min_element(of_shapes.begin(), of_shapes.end()));
  }
  return 0;
}
