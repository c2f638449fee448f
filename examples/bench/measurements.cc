// SPDX-License-Identifier: Apache-2.0
#include "measurements.h"
#include <algorithm>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace bench {
namespace {
Workload make_workload(const Settings& settings, uint32_t beam_size, uint32_t batch) {
  return {settings.source_tokens, settings.target_tokens, beam_size, batch, settings.seed};
}

// Returns the seconds of one target position, from the times of a whole run and of only encoding.
double position_seconds(const Timing& run, const Timing& encode, uint32_t positions) {
  return std::max(run.median_s - encode.median_s, 0.0) / positions;
}

ModelRunner::Options engine_options(const Settings& settings) {
  return {settings.model, settings.kernels, GOLDCREST_VERIFY_STRUCTURE, GOLDCREST_STEP_POSITION, settings.pool,
      settings.low_memory};
}

// Kernels are recorded on one thread.
ModelRunner::Options recorded_options(const Settings& settings) {
  ModelRunner::Options options = engine_options(settings);
  options.pool = nullptr;
  return options;
}

// Returns the median over the records of one of a slot's times.
double slot_seconds(const std::vector<Record>& records, size_t slot, double KernelWork::*seconds) {
  return timing_of(records, [=](const Record& record) { return record.kernels[slot].*seconds; }).median_s;
}

// Returns the record of one call of work(); its seconds are medians over the calls.
template <typename Work> Record recorded(goldcrest_engine* engine, const Patience& patience, const Work& work) {
  const auto records_of = [&](Calls calls) {
    KernelRecorder recorder(engine, calls);
    return repeat(patience, [&] { return recorder.record(work); });
  };
  const std::vector<Record> records = records_of(Calls::kOnce), again = records_of(Calls::kTwice);
  Record result = records.back();
  const auto whole_s = [](const Record& record) { return record.rest_s + total(record.kernels).seconds; };
  result.spread = timing_of(records, whole_s).spread;
  result.rest_s = timing_of(records, [](const Record& record) { return record.rest_s; }).median_s;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    result.kernels[slot].seconds = slot_seconds(records, slot, &KernelWork::seconds);
    result.kernels[slot].again_s = slot_seconds(again, slot, &KernelWork::again_s);
  }
  return result;
}

// The seconds of each step in a greedy translation of one sentence.
struct StepTimes {
  std::vector<double> encode;                      // [step]
  std::vector<std::vector<double>> decoder_layer;  // [layer][position]
  std::vector<double> output;                      // [position]
};

// The engine must step by layers. Then a position is n_layers steps WORKING and one step TOKEN. The encoder's steps,
// before the first position, return WORKING too; only their number tells them apart.
StepTimes step_times(ModelRunner& runner, uint32_t target_tokens) {
  const size_t n_layers = runner.model().decoder_layers;
  StepTimes times;
  times.decoder_layer.resize(n_layers);
  runner.begin(target_tokens);
  std::vector<double> working;
  for (int status = GOLDCREST_WORKING; status != GOLDCREST_DONE;) {
    const double seconds = time_once([&] { status = runner.step(); });
    if (status == GOLDCREST_WORKING) working.push_back(seconds);
    // The forced end token needs no layers.
    if (status != GOLDCREST_TOKEN || working.size() < n_layers) continue;
    const auto first_layer = working.end() - static_cast<ptrdiff_t>(n_layers);
    times.encode.insert(times.encode.end(), working.begin(), first_layer);
    for (size_t layer = 0; layer < n_layers; ++layer)
      times.decoder_layer[layer].push_back(first_layer[static_cast<ptrdiff_t>(layer)]);
    times.output.push_back(seconds);
    working.clear();
  }
  return times;
}

// Returns the process's peak resident memory; 0 if the system does not tell. getrusage is no use here: its figure
// includes the peak of the parent process before exec.
uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

// Seconds since before the file was opened.
struct Opening {
  double full_s, first_token_s, first_sentence_s;
};

Opening open_and_translate(const ModelRunner::Options& options, const Workload& workload) {
  std::optional<ModelRunner> runner;
  Opening opening;
  opening.full_s = time_once([&] { runner.emplace(options, workload); });
  const auto run_until = [&](int status) {
    return time_once([&] {
      while (runner->step() != status) {
      }
    });
  };
  opening.first_token_s =
      opening.full_s + time_once([&] { runner->begin(workload.target_tokens); }) + run_until(GOLDCREST_TOKEN);
  opening.first_sentence_s = opening.first_token_s + run_until(GOLDCREST_DONE);
  return opening;
}
}  // namespace

OpenCost measure_open(const Settings& settings) {
  const Workload workload = make_workload(settings, 1, 1);
  ModelRunner::Options options = engine_options(settings);
  options.verify = GOLDCREST_VERIFY_FULL;
  const auto openings = repeat(settings.patience, [&] { return open_and_translate(options, workload); });
  OpenCost cost;
  cost.peak_resident_bytes = peak_resident_bytes();
  cost.full = timing_of(openings, [](const Opening& opening) { return opening.full_s; });
  cost.first_token = timing_of(openings, [](const Opening& opening) { return opening.first_token_s; });
  cost.first_sentence = timing_of(openings, [](const Opening& opening) { return opening.first_sentence_s; });
  options.verify = GOLDCREST_VERIFY_STRUCTURE;
  cost.structure = time_repeated(settings.patience, [&] { ModelRunner runner(options, workload); });
  return cost;
}

Speed measure_speed(const Settings& settings, uint32_t beam_size, uint32_t batch) {
  ModelRunner runner(engine_options(settings), make_workload(settings, beam_size, batch));
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

Comparison compare_kernels(const Settings& settings, uint32_t beam_size, uint32_t batch) {
  const Workload workload = make_workload(settings, beam_size, batch);
  ModelRunner::Options options = engine_options(settings);
  ModelRunner ours(options, workload);
  options.kernels = settings.against;
  ModelRunner theirs(options, workload);

  struct Pair {
    double ours_s, theirs_s;
  };
  bool ours_first = false;
  const auto pairs = repeat(settings.patience, [&] {
    Pair pair = {};
    ours_first = !ours_first;
    if (ours_first) pair.ours_s = time_once([&] { ours.run(); });
    pair.theirs_s = time_once([&] { theirs.run(); });
    if (!ours_first) pair.ours_s = time_once([&] { ours.run(); });
    return pair;
  });
  const Timing ratio = timing_of(pairs, [](const Pair& pair) { return pair.theirs_s / pair.ours_s; });
  return {
      theirs.kernels(), timing_of(pairs, [](const Pair& pair) { return pair.theirs_s; }), ratio.median_s, ratio.spread};
}

LengthCost measure_length(const Settings& settings, uint32_t beam_size, uint32_t short_tokens, uint32_t long_tokens) {
  const ModelRunner::Options options = engine_options(settings);
  Workload workload = make_workload(settings, beam_size, 1);
  workload.target_tokens = short_tokens;
  ModelRunner short_runner(options, workload);
  workload.target_tokens = long_tokens;
  ModelRunner long_runner(options, workload);

  // Both lengths alternate, so that a change of the machine's speed affects both.
  struct Turn {
    double short_position_s, long_position_s;
  };
  const auto turns = repeat(settings.patience, [&] {
    const double encode_s = time_once([&] { short_runner.run_encoder(); });
    const double short_s = time_once([&] { short_runner.run(); }), long_s = time_once([&] { long_runner.run(); });
    return Turn{(short_s - encode_s) / short_tokens, (long_s - encode_s) / long_tokens};
  });
  return {beam_size, short_tokens, long_tokens,
      timing_of(turns, [](const Turn& turn) { return turn.short_position_s; }),
      timing_of(turns, [](const Turn& turn) { return turn.long_position_s; })};
}

CaseWork measure_work(const Settings& settings, uint32_t beam_size, uint32_t batch) {
  ModelRunner runner(recorded_options(settings), make_workload(settings, beam_size, batch));
  const Record encode = recorded(runner.engine(), settings.patience, [&] { runner.run_encoder(); });
  const Record run = recorded(runner.engine(), settings.patience, [&] { runner.run(); });
  return {encode, difference(run, encode)};
}

uint64_t position_bytes(const Settings& settings) {
  ModelRunner runner(recorded_options(settings), {1, 1, 1, 1, settings.seed});
  KernelRecorder recorder(runner.engine(), Calls::kOnce);
  const Record encode = recorder.record([&] { runner.run_encoder(); });
  const Record position = difference(recorder.record([&] { runner.run_one_token(); }), encode);
  return position.kernels[kLinear].bytes + position.kernels[kOutputBlock].bytes;
}

Bound bound_of(const Settings& settings, const Speed& speed, const CaseWork& work, Machine& machine) {
  Bound bound;
  bound.encode = roofline(work.encode.kernels, 1, machine);
  bound.decode = roofline(work.decode.kernels, settings.target_tokens, machine);
  const double n_tokens = speed.batch * settings.target_tokens;
  bound.tokens_per_s = n_tokens / (bound.encode.seconds() + bound.decode.seconds());
  if (settings.pool->threads() > 1) return bound;
  bound.encode_parts = parts_of(work.encode, 1, machine);
  bound.decode_parts = parts_of(work.decode, settings.target_tokens, machine);
  bound.parts_tokens_per_s = n_tokens / (bound.encode_parts.seconds() + bound.decode_parts.seconds());
  return bound;
}

MachineSpeeds measure_machine(Machine& machine, uint64_t position_bytes) {
  MachineSpeeds speeds;
  std::vector<uint64_t> sizes = {position_bytes};
  for (const uint64_t kibibytes : {32u, 256u, 1024u, 4096u, 16384u, 65536u, 262144u}) sizes.push_back(kibibytes << 10);
  std::sort(sizes.begin(), sizes.end());
  for (const uint64_t bytes : sizes)
    speeds.readings.push_back({bytes, machine.bytes_per_s(static_cast<size_t>(bytes))});
  speeds.macs = machine.macs_per_s();
  speeds.exponentials = machine.exponentials_per_s();
  speeds.attention = machine.attention_over_linear(false);
  speeds.integer_attention = machine.attention_over_linear(true);
  return speeds;
}

Breakdown measure_breakdown(const Settings& settings) {
  ModelRunner::Options options = engine_options(settings);
  options.step_size = GOLDCREST_STEP_LAYER;
  ModelRunner runner(options, make_workload(settings, 1, 1));
  const auto translations = repeat(settings.patience, [&] { return step_times(runner, settings.target_tokens); });

  // Encoding works stage by stage, and each stage block by block: the embeddings, two passes a layer, the keys and
  // values of each decoder layer. A shortlist's candidates are one step more.
  const size_t n_encoder_layers = runner.model().encoder_layers, n_decoder_layers = runner.model().decoder_layers;
  const size_t blocks = (settings.source_tokens + runner.encoder_rows() - 1) / runner.encoder_rows();
  const size_t n_steps = translations[0].encode.size();
  const size_t n_layer_steps = blocks * (1 + 2 * n_encoder_layers + n_decoder_layers);
  if (n_steps != n_layer_steps && n_steps != n_layer_steps + 1)
    throw std::runtime_error("goldcrest_step encodes in other steps than this program knows");
  const auto stages = [&](size_t first, size_t n) {
    return timing_of(translations, [&](const StepTimes& times) {
      const auto begin = times.encode.begin() + static_cast<ptrdiff_t>(first * blocks);
      return std::accumulate(begin, begin + static_cast<ptrdiff_t>(n * blocks), 0.0);
    });
  };
  Breakdown breakdown;
  breakdown.embed = stages(0, 1);
  for (size_t layer = 0; layer < n_encoder_layers; ++layer) breakdown.encoder_layer.push_back(stages(1 + 2 * layer, 2));
  breakdown.memory = stages(1 + 2 * n_encoder_layers, n_decoder_layers);
  if (n_steps > n_layer_steps)
    breakdown.candidates = timing_of(translations, [](const StepTimes& times) { return times.encode.back(); });
  // Later positions cost more, so the middle one represents a translation.
  for (size_t layer = 0; layer < n_decoder_layers; ++layer) {
    breakdown.decoder_layer.push_back(
        timing_of(translations, [=](const StepTimes& times) { return median(times.decoder_layer[layer]); }));
  }
  breakdown.output = timing_of(translations, [](const StepTimes& times) { return median(times.output); });
  return breakdown;
}
}  // namespace bench
