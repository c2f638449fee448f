// SPDX-License-Identifier: Apache-2.0
// The hash of what a model hears in a clip must be one number, whatever the kernel table, the encoder rows, the number
// of threads, the batch, the size of steps and the flushing of denormals. Also runs the file's own self-test.
// Usage: golden_speech MODEL CLIP.raw PREFIX             writes PREFIX.hash, and PREFIX.expected, the session of
//                                                        transcribe_firmware, and PREFIX.listen.expected, that of
//                                                        listen_firmware
//        golden_speech --compare MODEL CLIP.raw PREFIX   compares with PREFIX.hash, which another machine wrote
//        golden_speech --rows MODEL CLIP.raw FILE        writes the encoder's rows [rows, d_model], float32
//        golden_speech --features MODEL CLIP.raw FILE    writes the log-mel features [frames, n_mels], float32
#include <cinttypes>
#include "boards/speech_hash.h"
#include "examples/listen_firmware/voice_gate.h"
#include "flush_to_zero.h"
#include "host/thread_pool.h"
#include "support/log_mel_features.h"
#include "support/program.h"

namespace goldcrest::test { namespace {
using Clip = std::vector<int16_t>;

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
    throw std::runtime_error(path + ": cannot be written");
}

struct Paths {
  std::string model, clip, result;
};

Clip read_clip(const std::string& path) {
  const std::string samples = read_whole_file(path);
  Clip clip(samples.size() / sizeof(int16_t));
  std::copy_n(samples.data(), clip.size() * sizeof(int16_t), reinterpret_cast<char*>(clip.data()));
  return clip;
}

std::string digits(uint64_t hash) {
  char text[20];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

// Choices that must not change the hash. A batch of two has a part of the clip after the clip.
struct Way {
  uint32_t encoder_rows, threads, batch;
  goldcrest_step_size step_size;
  bool flushed;
};

constexpr Way kWays[] = {{4, 1, 1, GOLDCREST_STEP_POSITION, false}, {32, 3, 1, GOLDCREST_STEP_POSITION, true},
    {3, 2, 2, GOLDCREST_STEP_LAYER, false}};

// Returns what each clip of a batch says.
std::vector<Heard> hear(
    const GuardedBuffer<uint8_t>& model, const std::vector<Clip>& clips, const char* kernels, const Way& way) {
  ThreadPool pool;
  const std::string problem = pool.start(way.threads);
  if (!problem.empty()) throw std::runtime_error(problem);
  EngineSetup setup = {.limits = {.batch = way.batch, .encoder_rows = way.encoder_rows, .threads = pool.threads()},
      .step_size = way.step_size,
      .parallel_for = pool.parallel_for(),
      .parallel_context = pool.context(),
      .kernels = kernels};
  TestEngine engine({model.get(), model.size()}, setup);
  std::optional<FlushToZero> flush;
  if (way.flushed) flush.emplace();
  std::vector<Heard> heard(clips.size());
  int status = goldcrest_self_test(engine.get(), nullptr);
  if (status >= 0) status = begin_to_hear(engine.get(), clips[0].data(), clips[0].size());
  for (size_t i = 1; i < clips.size() && status >= 0; ++i)
    status = goldcrest_add_audio(engine.get(), clips[i].data(), clips[i].size());
  if (status >= 0) status = goldcrest_run(engine.get());
  for (size_t i = 0; i < clips.size() && status >= 0; ++i) {
    status = heard_result(engine.get(), static_cast<uint32_t>(i), heard[i]);
    if (status >= 0) status = hash_voice(engine.get(), clips[i].data(), clips[i].size(), &heard[i].hash);
    if (status == GOLDCREST_ERROR_UNSUPPORTED) status = GOLDCREST_OK;
  }
  if (status < 0)
    throw std::runtime_error(
        std::string(kernels) + ": " + goldcrest_status_string(status) + ": " + engine.detail().message);
  return heard;
}

void require_same(const Heard& found, uint64_t expected, const char* kernels) {
  if (found.hash == expected) return;
  throw std::runtime_error(
      std::string(kernels) + " has the hash " + digits(found.hash) + ", expected " + digits(expected));
}

// Returns what is heard in the clip, the same in every way.
Heard hear_in_all_ways(const Paths& paths, std::optional<uint64_t> expected) {
  const std::string bytes = read_whole_file(paths.model);
  GuardedBuffer<uint8_t> model(bytes.size());  // with the alignment of a mapped file
  std::copy(bytes.begin(), bytes.end(), model.begin());
  const Clip whole = read_clip(paths.clip);
  const Clip part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(whole.size() * 3 / 4));
  std::optional<uint64_t> expected_of_part;
  Heard first = {};
  for (uint32_t i = 0; const char* kernels = goldcrest_kernels_at(i); ++i) {
    for (const Way& way : kWays) {
      std::vector<Clip> clips = {whole};
      if (way.batch == 2) clips.push_back(part);
      const std::vector<Heard> heard = hear(model, clips, kernels, way);
      if (!expected) expected = heard[0].hash;
      require_same(heard[0], *expected, kernels);
      if (way.batch == 2) {
        if (!expected_of_part) expected_of_part = hear(model, {part}, kernels, kWays[0])[0].hash;
        require_same(heard[1], *expected_of_part, kernels);
      }
      std::printf("%-16s rows %-2" PRIu32 " threads %" PRIu32 " batch %" PRIu32 "  %" PRIu32 " ids, hash %s\n", kernels,
          way.encoder_rows, way.threads, way.batch, heard[0].n_tokens, digits(heard[0].hash).c_str());
      first = heard[0];
    }
  }
  return first;
}

void write_encoder_rows(const Paths& paths) {
  const std::string bytes = read_whole_file(paths.model);
  const Clip clip = read_clip(paths.clip);
  GuardedBuffer<uint8_t> model(bytes.size());
  std::copy(bytes.begin(), bytes.end(), model.begin());
  std::string rows;
  EngineSetup setup;
  setup.trace = [](void* context, const char* name, int32_t, uint32_t, const float* values, uint32_t n) {
    if (std::string(name) == "encoder.norm")
      static_cast<std::string*>(context)->append(reinterpret_cast<const char*>(values), n * sizeof(float));
  };
  setup.trace_context = &rows;
  TestEngine engine({model.get(), model.size()}, setup);
  int status = goldcrest_begin_audio(engine.get(), clip.data(), clip.size());
  while (status >= 0 && status != GOLDCREST_TOKEN && status != GOLDCREST_DONE)
    status = goldcrest_step(engine.get(), nullptr);
  if (status < 0) throw std::runtime_error(std::string(goldcrest_status_string(status)));
  write(paths.result, rows);
}

void write_features(const Paths& paths) {
  const std::string bytes = read_whole_file(paths.model);
  const Clip clip = read_clip(paths.clip);
  GuardedBuffer<uint8_t> model(bytes.size());
  std::copy(bytes.begin(), bytes.end(), model.begin());
  const TestEngine engine({model.get(), model.size()}, {});
  std::string features;
  if constexpr (kHasSpeech) {
    const FrontendView view = view_frontend(engine.get()->runtime.model.file);
    if (!view.has_log_mel) throw std::runtime_error(paths.model + ": no log-mel");
    const uint32_t window = engine.info().limits.max_source_tokens * view.row_stride * view.row_samples;
    const Samples samples = {clip.data(), std::min(static_cast<uint32_t>(clip.size()), window), window};
    for (const std::vector<float>& frame : log_mel_features(engine, samples, window / view.log_mel.hop))
      features.append(reinterpret_cast<const char*>(frame.data()), frame.size() * sizeof(float));
  }
  write(paths.result, features);
}

// Returns what listen_firmware prints: its microphone hears the clip twice, with 16 quiet halves before and 24 after
// it.
std::string listened(const Paths& paths) {
  const std::string bytes = read_whole_file(paths.model);
  GuardedBuffer<uint8_t> model(bytes.size());
  std::copy(bytes.begin(), bytes.end(), model.begin());
  Clip sound = read_clip(GOLDCREST_SOURCE_DIR "/tests/data/speech/ask.wav");
  sound.erase(sound.begin(), sound.begin() + 22);  // the header
  sound.resize(sound.size() / kHalfSamples * kHalfSamples);
  sound.insert(sound.begin(), 16 * kHalfSamples, int16_t{0});
  sound.resize(sound.size() + 24 * kHalfSamples);
  TestEngine engine({model.get(), model.size()}, {.limits = {.encoder_rows = 4}, .step_size = GOLDCREST_STEP_LAYER});
  voice_gate gate = {.max_halves = longest_utterance(&engine.info(), engine.info().limits.max_source_tokens)};
  gate_utterance spoken = {};
  std::string text;
  uint32_t n_utterances = 0;
  for (size_t i = 0; i < 2 * sound.size(); i += kHalfSamples) {
    if (!gate_add(&gate, &spoken, sound.data() + i % sound.size())) continue;
    Heard heard = {};
    int status = begin_to_hear(engine.get(), spoken.samples, size_t{spoken.n_halves} * kHalfSamples);
    if (status >= 0) status = goldcrest_run(engine.get());
    if (status >= 0) status = heard_result(engine.get(), 0, heard);
    if (status < 0) throw std::runtime_error(goldcrest_status_string(status));
    text += std::string(heard.text) + "\n";
    spoken.n_halves = 0;
    ++n_utterances;
  }
  return text + std::to_string(n_utterances) + " utterances, 0 lost; all rounds within N ms. The largest step is " +
         std::to_string(engine.memory().layer_step_macs) +
         " multiply-accumulates; the longest round took N ticks, N us.\n";
}

int run(int n_arguments, char** arguments) {
  const std::string what = n_arguments > 4 ? arguments[1] : "";
  const bool compares = what == "--compare", shows = what == "--rows" || what == "--features";
  if (n_arguments != (compares || shows ? 5 : 4)) {
    std::fprintf(
        stderr, "usage: golden_speech [--compare] MODEL CLIP.raw PREFIX | --rows|--features MODEL CLIP.raw FILE\n");
    return 2;
  }
  const Paths paths = {arguments[n_arguments - 3], arguments[n_arguments - 2], arguments[n_arguments - 1]};
  if (shows) {
    what == "--rows" ? write_encoder_rows(paths) : write_features(paths);
    return 0;
  }
  const std::string& prefix = paths.result;
  std::optional<uint64_t> expected;
  if (compares) expected = std::stoull(read_whole_file(prefix + ".hash"), nullptr, 16);
  const Heard heard = hear_in_all_ways(paths, expected);
  if (compares) return 0;
  write(prefix + ".hash", digits(heard.hash) + "\n");
  const std::string start = "Goldcrest " GOLDCREST_VERSION " on BOARD, kernels TABLE. Model N bytes, arena N bytes.\n";
  write(prefix + ".expected", start + heard.text + "   (N ticks, N ms)\n");
  write(prefix + ".listen.expected", start + listened(paths));
  return 0;
}
}}  // namespace goldcrest::test

int main(int n_arguments, char** arguments) {
  using namespace goldcrest::test;
  return report_errors("golden_speech", [&] { return run(n_arguments, arguments); });
}
