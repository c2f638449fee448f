// SPDX-License-Identifier: Apache-2.0
#include "measurements.h"

#include <algorithm>
#include <fstream>

#include "read_bandwidth.h"

namespace bench {
namespace {

Workload make_workload(const Settings& settings, uint32_t beam_size, uint32_t batch) {
  return {settings.source_tokens, settings.target_tokens, beam_size, batch, settings.seed};
}

// Seconds of one target position, from the times of a whole run and of encoding alone.
double position_seconds(const Timing& run, const Timing& encode, uint32_t positions) {
  return std::max(run.median_s - encode.median_s, 0.0) / positions;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The process's peak resident memory, 0 where the system does not tell. (getrusage's figure would not do: it starts
// from that of the process that started this one.)
uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

uint64_t decoder_bytes(const goldcrest_info& model) {
  constexpr uint64_t kBytesPerOutput = 12;  // float scale, float bias, int32 sum
  const auto padded = [](uint64_t n) { return (n + 15) / 16 * 16; };
  const auto linear = [&](uint64_t n, uint64_t k) { return padded(n) * (padded(k) + kBytesPerOutput); };
  const uint64_t d_model = model.decoder_d_model, d_ff = model.decoder_d_ff;
  // Self-attention's query, key, value and output; cross-attention's query and output; the feed-forward block.
  const uint64_t layer =
      linear(3 * d_model, d_model) + 3 * linear(d_model, d_model) + linear(d_ff, d_model) + linear(d_model, d_ff);
  return model.decoder_layers * layer + linear(model.target_vocab_size, d_model);
}

OpenCost measure_open(const Settings& settings) {
  const Workload workload = make_workload(settings, 1, 1);
  OpenCost cost;
  ModelRunner::Options options = {settings.model, settings.kernels, GOLDCREST_VERIFY_FULL, GOLDCREST_STEP_POSITION};
  cost.full = time_repeated(settings.patience, [&] { ModelRunner runner(options, workload); });
  cost.first_token = time_repeated(settings.patience, [&] { ModelRunner(options, workload).run_one_token(); });
  options.verify = GOLDCREST_VERIFY_STRUCTURE;
  cost.structure = time_repeated(settings.patience, [&] { ModelRunner runner(options, workload); });
  cost.peak_resident_bytes = peak_resident_bytes();
  return cost;
}

Speed measure_speed(const Settings& settings, uint32_t beam_size, uint32_t batch) {
  ModelRunner runner({settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE, GOLDCREST_STEP_POSITION},
                     make_workload(settings, beam_size, batch));
  Speed speed;
  speed.beam_size = beam_size;
  speed.batch = batch;
  speed.arena_bytes = runner.arena_bytes();
  speed.encode = time_repeated(settings.patience, [&] { runner.run_encoder(); });
  speed.run = time_repeated(settings.patience, [&] { runner.run(); });
  speed.position_s = position_seconds(speed.run, speed.encode, settings.target_tokens);
  speed.tokens_per_s = batch * settings.target_tokens / speed.run.median_s;
  speed.decode_tokens_per_s = speed.position_s > 0 ? batch / speed.position_s : 0;
  return speed;
}

LengthCost measure_length(const Settings& settings, uint32_t beam_size, uint32_t short_tokens, uint32_t long_tokens) {
  const ModelRunner::Options options = {settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE,
                                        GOLDCREST_STEP_POSITION};
  Workload workload = make_workload(settings, beam_size, 1);
  workload.target_tokens = short_tokens;
  ModelRunner short_runner(options, workload);
  workload.target_tokens = long_tokens;
  ModelRunner long_runner(options, workload);

  // In turns, so that a change of the machine's speed falls on both lengths.
  std::vector<double> short_times, long_times;
  time_repeated(settings.patience, [&] {
    const double encode_s = time_once([&] { short_runner.run_encoder(); });
    short_times.push_back((time_once([&] { short_runner.run(); }) - encode_s) / short_tokens);
    long_times.push_back((time_once([&] { long_runner.run(); }) - encode_s) / long_tokens);
  });
  return {beam_size, short_tokens, long_tokens, median(std::move(short_times)), median(std::move(long_times))};
}

Breakdown measure_breakdown(const Settings& settings) {
  ModelRunner runner({settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE, GOLDCREST_STEP_LAYER},
                     make_workload(settings, 1, 1));
  Breakdown breakdown;
  breakdown.encode_s = time_repeated(settings.patience, [&] { runner.run_encoder(); }).median_s;

  // A greedy position is n_layers steps WORKING and one step TOKEN; encoding steps, before the first position, are
  // WORKING too and are told apart by their number.
  const size_t n_layers = runner.model().decoder_layers;
  std::vector<std::vector<double>> layer_times(n_layers);
  std::vector<double> output_times;
  const auto translate = [&] {
    runner.begin(settings.target_tokens);
    std::vector<double> working;
    for (int status = GOLDCREST_WORKING; status != GOLDCREST_DONE;) {
      const double seconds = time_once([&] { status = runner.step(); });
      if (status == GOLDCREST_WORKING) working.push_back(seconds);
      // The forced end token is computed without layers.
      if (status != GOLDCREST_TOKEN || working.size() < n_layers) continue;
      const size_t first = working.size() - n_layers;
      for (size_t layer = 0; layer < n_layers; ++layer) layer_times[layer].push_back(working[first + layer]);
      output_times.push_back(seconds);
      working.clear();
    }
  };
  time_repeated(settings.patience, translate);
  for (std::vector<double>& times : layer_times) breakdown.layer_s.push_back(median(std::move(times)));
  breakdown.output_s = median(std::move(output_times));
  return breakdown;
}

Bandwidth measure_bandwidth(const Settings& settings, uint64_t streamed_bytes) {
  Bandwidth bandwidth;
  bandwidth.memory_bytes = uint64_t{256} << 20;
  bandwidth.streamed_bytes = streamed_bytes;
  bandwidth.memory_per_s = read_bandwidth(bandwidth.memory_bytes, settings.patience);
  bandwidth.streamed_per_s = read_bandwidth(streamed_bytes, settings.patience);
  return bandwidth;
}

}  // namespace bench
