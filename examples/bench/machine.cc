// SPDX-License-Identifier: Apache-2.0
#include "machine.h"
#include <sys/utsname.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string_view>
#include <vector>
#include "kernels/kernels.h"
#include "kernels/reference/reference.h"
#include "spec/format_text.h"

namespace bench {
namespace {
using goldcrest::Kernels;
using goldcrest::LinearArgs;

constexpr size_t kCacheLine = 64;

// Returns the sum of all words. It uses eight independent sums, so that it waits only for memory, not for additions.
uint64_t sum_words(const uint64_t* words, size_t n) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= n; i += 8)
    for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

// Zeros that start on a cache line, as an engine's buffers do, because vectors across two lines take twice as long.
template <typename T> class Buffer {
 public:
  explicit Buffer(size_t n) : storage_(n * sizeof(T) + kCacheLine) {}
  T* begin() {
    void* start = storage_.data();
    size_t space = storage_.size();
    return static_cast<T*>(std::align(kCacheLine, 1, start, space));
  }
 private:
  std::vector<uint8_t> storage_;
};

// A linear layer with inputs like those of a model, because a kernel's time may depend on them: quantize_rows of
// normally distributed values.
class NormalLinear {
 public:
  NormalLinear(const Kernels& kernels, uint32_t rows, uint32_t n, uint32_t k)
      : weights_(size_t{n} * k), x_(size_t{rows} * k), x_scale_(rows), of_outputs_(n), sums_(n), y_(size_t{rows} * n) {
    args_.x = x_.begin();
    args_.x_scale = x_scale_.begin();
    args_.w = weights_.begin();
    args_.w_scale = args_.bias = of_outputs_.begin();
    args_.weight_sum = sums_.begin();
    args_.y = y_.begin();
    args_.y_stride = args_.n = n;
    args_.rows = rows;
    args_.k = k;
    args_.layout = goldcrest::Layout::kN16K4;
    args_.activation = goldcrest::Activation::kNone;
    quantize_normal(kernels, rows, x_.begin(), x_scale_.begin());
    fill_outputs(kernels);
  }
  const LinearArgs<int8_t>& args() const { return args_; }
  double macs() const { return static_cast<double>(args_.rows) * args_.n * args_.k; }
 private:
  void quantize_normal(const Kernels& kernels, uint32_t rows, int8_t* q, float* scale) {
    const size_t size = size_t{rows} * args_.k;
    Buffer<float> values(size);
    std::generate_n(values.begin(), size, [&] { return normal_(random_); });
    kernels.int8.quantize_rows({values.begin(), q, scale, args_.k, args_.k, 1, rows, args_.k});
  }

  // Fills all panels of 16 outputs with the same weights, which is quick. No kernel's time depends on the weights.
  void fill_outputs(const Kernels& kernels) {
    const uint32_t k = args_.k;
    Buffer<int8_t> rows(size_t{kPanel} * k);
    quantize_normal(kernels, kPanel, rows.begin(), of_outputs_.begin());
    for (uint32_t i = 0; i < kPanel * k; ++i) {
      weights_.begin()[goldcrest::weight_offset(args_.layout, i / k, i % k, k)] = rows.begin()[i];
      sums_.begin()[i / k] += rows.begin()[i];
    }
    for (size_t output = kPanel; output < args_.n; output += kPanel) {
      std::copy_n(weights_.begin(), kPanel * k, weights_.begin() + output * k);
      std::copy_n(of_outputs_.begin(), kPanel, of_outputs_.begin() + output);
      std::copy_n(sums_.begin(), kPanel, sums_.begin() + output);
    }
  }

  static constexpr uint32_t kPanel = 16;

  std::mt19937 random_;
  std::normal_distribution<float> normal_;
  Buffer<int8_t> weights_, x_;
  Buffer<float> x_scale_, of_outputs_;
  Buffer<int32_t> sums_;
  Buffer<float> y_;
  LinearArgs<int8_t> args_ = {};
};

// Calls work(thread) once for every thread of the pool, at the same time.
template <typename Work> void on_all_threads(const ThreadPool& pool, const Work& work) {
  if (pool.threads() == 1) return work(0);
  const auto task = [](void* context, size_t thread) { (*static_cast<const Work*>(context))(thread); };
  pool.parallel_for()(pool.context(), task, const_cast<Work*>(&work), pool.threads());
}

Rate faster(const Rate& a, const Rate& b) { return b.per_s > a.per_s ? b : a; }

// Returns the rate at which `rounds` calls of work(thread) on every thread do `amount`.
template <typename Work>
Rate rounds_rate(double amount, const ThreadPool& pool, size_t rounds, const Patience& patience, const Work& work) {
  const Timing timing = time_repeated(patience, [&] {
    on_all_threads(pool, [&](size_t thread) {
      for (size_t round = 0; round < rounds; ++round) work(thread);
    });
  });
  return {amount / timing.median_s, timing.spread};
}

// Returns the faster of two loops: the C library's search uses the widest loads of this CPU, the plain loop only those
// of the compiler's baseline.
Rate plain_bytes_per_s(const ThreadPool& pool, size_t bytes, size_t rounds, const Patience& patience) {
  const size_t n_words = bytes / pool.threads() / sizeof(uint64_t) + 1;  // for one thread
  const size_t part_bytes = n_words * sizeof(uint64_t);
  const std::vector<std::vector<uint64_t>> parts(pool.threads(), std::vector<uint64_t>(n_words, 0));
  // Volatile, so that the compiler can neither leave out a round nor reuse its result.
  const auto sum = [&](size_t thread) {
    const uint64_t* volatile start = parts[thread].data();
    volatile uint64_t found = sum_words(start, n_words);
    (void)found;
  };
  const auto search = [&](size_t thread) {
    const uint64_t* volatile start = parts[thread].data();
    volatile bool found = std::memchr(start, 1, part_bytes) != nullptr;
    (void)found;
  };
  const auto amount = static_cast<double>(rounds * part_bytes * pool.threads());
  return faster(rounds_rate(amount, pool, rounds, patience, sum), rounds_rate(amount, pool, rounds, patience, search));
}

struct LinearShape {
  uint32_t rows, n, k;
};

// Returns the multiply-accumulates per second of one linear layer on each thread. With one row these are also the bytes
// per second.
Rate linear_macs_per_s(
    const Kernels& kernels, const ThreadPool& pool, LinearShape shape, size_t rounds, const Patience& patience) {
  std::vector<std::unique_ptr<NormalLinear>> layers;
  for (uint32_t thread = 0; thread < pool.threads(); ++thread)
    layers.push_back(std::make_unique<NormalLinear>(kernels, shape.rows, shape.n, shape.k));
  const double macs = static_cast<double>(rounds) * layers[0]->macs() * pool.threads();
  return rounds_rate(macs, pool, rounds, patience, [&](size_t i) { kernels.int8.linear(layers[i]->args()); });
}
}  // namespace

Rate Machine::bytes_per_s(size_t bytes) {
  constexpr size_t kTimedBytes = size_t{16} << 20;  // small buffers are read several times in one timing
  constexpr uint32_t kInputs = 512, kOutputs = 16;  // one group of outputs takes 8 KiB
  Rate& speed = bytes_per_s_[bytes];
  if (speed.per_s > 0) return speed;
  const size_t rounds = bytes >= kTimedBytes ? 1 : kTimedBytes / bytes + 1;
  speed = plain_bytes_per_s(pool_, bytes, rounds, patience_);
  const auto n = static_cast<uint32_t>(bytes / pool_.threads() / (size_t{kInputs} * kOutputs)) * kOutputs;
  if (n > 0) speed = faster(speed, linear_macs_per_s(kernels(), pool_, {1, n, kInputs}, rounds, patience_));
  return speed;
}

Rate Machine::macs_per_s() {
  constexpr uint64_t kTimedMacs = 10000000;
  if (macs_per_s_.per_s > 0) return macs_per_s_;
  for (const uint32_t rows : {24u, 32u, 48u, 128u}) {
    for (const uint32_t n : {32u, 64u, 256u}) {
      for (const uint32_t k : {256u, 512u, 2048u}) {
        const auto rounds = static_cast<size_t>(kTimedMacs / (uint64_t{rows} * n * k) + 1);
        macs_per_s_ = faster(macs_per_s_, linear_macs_per_s(kernels(), pool_, {rows, n, k}, rounds, patience_));
      }
    }
  }
  return macs_per_s_;
}

// Measures the time that sums of exponentials add to blocks of the output layer.
Rate Machine::exponentials_per_s() {
  constexpr uint32_t kRows = 16, kOutputs = 256;
  constexpr size_t kRounds = 500;
  if (exponentials_per_s_.per_s > 0) return exponentials_per_s_;
  const NormalLinear layer(kernels(), kRows, kOutputs, 16);
  std::vector<float> largest(kRows), sums(kRows);
  goldcrest::OutputBlockArgs<int8_t> args = {};
  args.linear = layer.args();
  args.count = kOutputs;
  args.stride = 1;
  const auto seconds = [&] {
    return time_repeated(patience_, [&] {
      for (size_t round = 0; round < kRounds; ++round) kernels().int8.output_block(args);
    });
  };
  const Timing logits_alone = seconds();
  args.block_max = largest.data();
  args.block_sum = sums.data();
  const Timing with_sums = seconds();
  exponentials_per_s_ = {kRounds * kRows * kOutputs / (with_sums.fastest_s - logits_alone.fastest_s), with_sums.spread};
  return exponentials_per_s_;
}

Ratio Machine::attention_over_linear(bool integer_weights) const {
  constexpr uint32_t kRows = 32, kHeads = 6, kHead = 64, kWidth = kHeads * kHead, kAll = kHeads * kAttentionKeys;
  constexpr size_t kRounds = 2 * kAttentionKeys / kWidth;  // the linear layer runs this often in one timing
  std::mt19937 random;
  std::normal_distribution<float> normal;
  Buffer<float> normals(size_t{kAll} * kHead), query(kRows * kWidth), out(kRows * kWidth), scales(kAll),
      weights(kAttentionKeys + kRows);
  Buffer<int8_t> keys(size_t{kAll} * kHead), query_row(kHead);
  std::generate_n(normals.begin(), size_t{kAll} * kHead, [&] { return normal(random); });
  std::generate_n(query.begin(), kRows * kWidth, [&] { return normal(random); });
  kernels().int8.quantize_rows({normals.begin(), keys.begin(), scales.begin(), kHead, kHead, 1, kAll, kHead});
  goldcrest::AttentionArgs<int8_t> args = {};
  args.q = query.begin();
  args.keys = args.values = keys.begin();
  args.key_scales = args.value_scales = scales.begin();
  args.out = out.begin();
  args.weights = weights.begin();
  args.q_row = query_row.begin();
  args.q_stride = args.out_stride = kWidth;
  args.head_stride = args.n_keys = kAttentionKeys;
  args.position_stride = 1;
  args.rows = kRows;
  args.n_heads = kHeads;
  args.d_head = kHead;
  args.scale = 0.125f;
  args.integer = integer_weights;
  const NormalLinear layer(kernels(), kRows, kWidth, kWidth);
  const double work_ratio = 2.0 * kAll * kHead * kRows / (kRounds * layer.macs());
  const Timing ratios = timing_of(repeat(patience_, [&] {
    const double attention_s = time_once([&] { kernels().int8.attention(args); });
    const double linear_s = time_once([&] {
      for (size_t round = 0; round < kRounds; ++round) kernels().int8.linear(layer.args());
    });
    return attention_s / linear_s / work_ratio;
  }));
  return {ratios.median_s, ratios.spread};
}

const Kernels& Machine::kernels() const { return *goldcrest::select_kernels(kernels_.c_str()); }

namespace {
using goldcrest::converter::format_text;

// Part numbers of MIDR_EL1 in cores that Arm designed (Linux, arch/arm64/include/asm/cputype.h).
struct Part {
  uint32_t number;
  const char* name;
};
constexpr Part kArmParts[] = {{0xc07, "Cortex-A7"}, {0xd03, "Cortex-A53"}, {0xd04, "Cortex-A35"}, {0xd05, "Cortex-A55"},
    {0xd07, "Cortex-A57"}, {0xd08, "Cortex-A72"}, {0xd09, "Cortex-A73"}, {0xd0a, "Cortex-A75"}, {0xd0b, "Cortex-A76"},
    {0xd0c, "Neoverse-N1"}, {0xd40, "Neoverse-V1"}, {0xd49, "Neoverse-N2"}};
constexpr uint32_t kArm = 0x41;

std::string name_of_part(uint32_t implementer, uint32_t part) {
  const auto* const found =
      std::find_if(std::begin(kArmParts), std::end(kArmParts), [=](const Part& known) { return known.number == part; });
  if (implementer == kArm && found != std::end(kArmParts)) return found->name;
  return format_text("implementer {:#x}, part {:#x}", implementer, part);
}

bool starts_with(const std::string& line, std::string_view key) { return line.compare(0, key.size(), key) == 0; }

// Returns the text after the colon.
std::string value_of(const std::string& line) {
  const size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : line.substr(colon + 2);
}

uint32_t number_of(const std::string& line) {
  return static_cast<uint32_t>(std::strtoul(value_of(line).c_str(), nullptr, 0));
}

void read_cpus(const std::string& path, Host& host) {
  std::ifstream file(path);
  std::set<std::string> names;
  uint32_t implementer = 0;
  for (std::string line; std::getline(file, line);) {
    if (starts_with(line, "processor")) ++host.cpus;
    if (starts_with(line, "model name")) names.insert(value_of(line));
    if (starts_with(line, "CPU implementer")) implementer = number_of(line);
    if (!starts_with(line, "CPU part")) continue;
    names.insert(name_of_part(implementer, number_of(line)));
  }
  // 32-bit Arm has both fields, but its model name only names the architecture.
  if (names.size() > 1 && implementer != 0)
    for (auto name = names.begin(); name != names.end();)
      name = starts_with(*name, "ARMv") ? names.erase(name) : std::next(name);
  for (const std::string& name : names) host.cpu += (host.cpu.empty() ? "" : " + ") + name;
}

uint64_t highest_clock_hz(const std::string& root, uint32_t cpus) {
  uint64_t highest = 0;
  for (uint32_t i = 0; i < cpus; ++i) {
    std::ifstream file(format_text("{}/sys/devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq", root, i));
    uint64_t kilohertz = 0;
    if (file >> kilohertz) highest = std::max(highest, kilohertz * 1000);
  }
  return highest;
}
}  // namespace

Host host_of(const std::string& root) {
  Host host;
  std::ifstream board(root + "/proc/device-tree/model");
  std::getline(board, host.board, '\0');
  utsname system = {};
  if (uname(&system) == 0) host.architecture = system.machine;
  read_cpus(root + "/proc/cpuinfo", host);
  host.clock_hz = highest_clock_hz(root, host.cpus);
  return host;
}

std::string compiler_name() {
#ifdef __clang__
  return format_text("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return format_text("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}
}  // namespace bench
