// SPDX-License-Identifier: Apache-2.0
// transformers/models/whisper/{modeling,generation}_whisper.py and tokenization_whisper.py at v5.23.
#include <algorithm>
#include <utility>
#include <vector>
#include "dialects/speech/parts.h"
#include "dialects/tensor_reader.h"
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "math/deterministic_math.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"
#include "tokenizers/pack_tokenizer.h"

namespace goldcrest::converter {
namespace {
constexpr const char* kStart = "<|startoftranscript|>";

uint32_t id_of(const Vocabulary& vocabulary, const char* text) {
  return require_id(vocabulary, text, "Whisper's entry");
}

// Cuts the encoder's window to the seconds that the user asks for.
void set_window(const OpenChoices& options, ModelSpec& spec) {
  StackSpec& encoder = spec.encoder;
  const uint32_t all = encoder.positions.rows;
  if (options.ids_a_second > 0)
    throw Error("--ids-per-second {}: Whisper hears every clip as one of its window's length; see --max-seconds",
        options.ids_a_second);
  if (options.max_seconds > 0) {
    const size_t rows = std::max<size_t>(1, rows_of_seconds(*encoder.frontend, options.max_seconds));
    if (rows > all) {
      throw Error(
          "--max-seconds {}: needs a window of {} rows; the model has {} positions", options.max_seconds, rows, all);
    }
    const Matrix whole = std::move(encoder.positions);
    encoder.positions = *slice_rows(std::make_shared<const Matrix>(whole), 0, static_cast<uint32_t>(rows));
  }
  if (encoder.positions.rows < std::min(all, kLeastWhisperRows)) {
    spec.warnings.push_back(
        format_text("a window of {} rows: Whisper repeats itself where the window has fewer than {} (15 s), unless it "
                    "was trained for it",
            encoder.positions.rows, kLeastWhisperRows));
  }
}

std::shared_ptr<const Matrix> first_rows(const std::shared_ptr<const Matrix>& table, uint32_t n) {
  return slice_rows(table, 0, n);
}

void leave_out_timestamps(const WhisperIds& ids, bool are_kept, ModelSpec& spec) {
  const uint32_t all = spec.decoder.embedding->rows, first = ids.no_timestamps + 1;
  uint32_t kept = ids.n_kept;
  if (are_kept) {
    if (!ids.timestamps.empty() || first >= all)
      throw Error("--timestamps: the vocabulary does not end with Whisper's entries of times, \"<|0.00|>\" and so on");
    spec.generation.first_timestamp = first;
    kept = std::min(all, first + kWhisperTimes);
  }
  if (!ids.timestamps.empty()) {
    spec.warnings.push_back(
        format_text("{} entries of timestamps are suppressed, because entries follow them: results have no timestamps",
            ids.timestamps.size()));
  }
  if (kept == all) return;
  const bool is_tied = spec.projection.weight == spec.decoder.embedding;
  spec.decoder.embedding = first_rows(spec.decoder.embedding, kept);
  spec.projection.weight = is_tied ? spec.decoder.embedding : first_rows(spec.projection.weight, kept);
  spec.projection.bias.resize(kept);
  spec.warnings.push_back(
      ids.timestamps.empty() && !are_kept
          ? format_text("{} entries of timestamps were left out: --timestamps keeps them", all - kept)
          : format_text("{} rows after the last entry of the vocabulary were left out", all - kept));
}

void set_prompt(const WhisperIds& ids, const std::string& asked, GenerationSpec& generation) {
  const std::string language = language_code(asked);
  generation.prompt.forced_ids = ids.prompt;
  if (ids.languages.empty()) {
    if (language.empty() || language == "en") return;
    throw Error("--language {}: the model knows only English, \"en\"", in_quotes(asked));
  }
  if (!ids.language_is_open) return;
  std::vector<std::string> codes;
  for (const LanguageEntry& entry : ids.languages) {
    codes.push_back(entry.code);
    if (language.empty()) generation.prompt.first_choices.push_back(entry.id);
    if (language == entry.code) generation.prompt.forced_ids.insert(generation.prompt.forced_ids.begin(), entry.id);
  }
  if (language.empty() || generation.prompt.forced_ids.size() > ids.prompt.size()) return;
  throw Error("--language {}: is not a language of the model{}; its languages: {}", in_quotes(asked),
      guess_languages(language, codes), list_in_quotes(codes, 8));
}

// Returns those of the ids that are left, ascending, each once.
std::vector<uint32_t> kept_ids(std::vector<uint32_t> ids, uint32_t n) {
  std::erase_if(ids, [&](uint32_t id) { return id >= n; });
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Triangles of equal area whose corners are evenly spaced on Slaney's scale (Slaney 1998, Auditory Toolbox: linear to 1
// kHz, then 27 steps to a factor of 6.4); transformers/audio_utils.py at v5.23, mel_filter_bank, has the same.
constexpr uint32_t kMelFrame = 400, kMelHop = 160;
constexpr double kMelRate = kWhisperRate, kPi = 3.14159265358979323846;
constexpr double kKneeHertz = 1000, kHertzAMel = 200.0 / 3, kKneeMels = kKneeHertz / kHertzAMel;

double mels_a_factor() { return 27 / exact_log(6.4); }

double mel_of(double hertz) {
  return hertz < kKneeHertz ? hertz / kHertzAMel : kKneeMels + exact_log(hertz / kKneeHertz) * mels_a_factor();
}

double hertz_of(double mel) {
  return mel < kKneeMels ? mel * kHertzAMel : kKneeHertz * exact_exp((mel - kKneeMels) / mels_a_factor());
}

// Returns frames of 400 samples at 16 kHz, one each 160, with a periodic Hann window and `bands` mel bands.
LogMelSpec whisper_log_mel(uint32_t bands) {
  constexpr uint32_t kBins = kMelFrame / 2 + 1;
  LogMelSpec spec;
  spec.n_fft = kMelFrame;
  spec.hop = kMelHop;
  for (uint32_t i = 0; i < kMelFrame; ++i)
    spec.window.push_back(static_cast<float>(0.5 - 0.5 * exact_cos(2 * kPi * i / kMelFrame)));
  std::vector<double> corners;
  for (uint32_t i = 0; i < bands + 2; ++i) corners.push_back(hertz_of(mel_of(kMelRate / 2) * i / (bands + 1)));
  std::vector<float> weights;
  for (uint32_t band = 0; band < bands; ++band) {
    const double low = corners[band], middle = corners[band + 1], high = corners[band + 2];
    for (uint32_t bin = 0; bin < kBins; ++bin) {
      const double hertz = bin * kMelRate / kMelFrame;
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      weights.push_back(static_cast<float>(std::max(0.0, height) * 2 / (high - low)));
    }
  }
  spec.filters = {"mel bands", bands, kBins, std::move(weights)};
  return spec;
}

// "<|0.00|>"
bool is_timestamp(const std::string& text) {
  return text.size() > 4 && text.starts_with("<|") && text.ends_with("|>") && text.find('.') != text.npos &&
         std::all_of(text.begin() + 2, text.end() - 2, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

// Finds which entries a file keeps: up to the last that is no timestamp. Tokens that were added follow the timestamps.
void find_timestamps(const Vocabulary& vocabulary, WhisperIds* ids) {
  ids->n_kept = ids->no_timestamps + 1;
  std::vector<uint32_t> timestamps;
  for (uint32_t id = ids->n_kept; id < vocabulary.id_to_text.size(); ++id) {
    const std::string& text = vocabulary.id_to_text[id];
    if (is_timestamp(text)) {
      timestamps.push_back(id);
    } else if (!text.empty()) {
      ids->n_kept = id + 1;
      ids->timestamps = timestamps;
    }
  }
}
}  // namespace

WhisperIds find_whisper_ids(const Vocabulary& vocabulary, bool is_multilingual) {
  WhisperIds ids;
  ids.end = id_of(vocabulary, "<|endoftext|>");
  ids.start = id_of(vocabulary, kStart);
  ids.no_timestamps = id_of(vocabulary, "<|notimestamps|>");
  ids.prompt = {ids.no_timestamps};
  find_timestamps(vocabulary, &ids);
  if (!is_multilingual) return ids;
  ids.language_is_open = true;
  ids.prompt = {id_of(vocabulary, "<|transcribe|>"), ids.no_timestamps};
  for (uint32_t id = ids.start + 1; id < vocabulary.id_to_text.size(); ++id) {
    const std::string& text = vocabulary.id_to_text[id];
    if (is_language_entry(text)) ids.languages.push_back({text.substr(2, text.size() - 4), id});
  }
  if (ids.languages.empty()) {
    throw Error(
        "{}: has no entries of languages, such as \"<|en|>\", which a multilingual Whisper has", vocabulary.where);
  }
  return ids;
}

WhisperIds usual_whisper_ids(uint32_t n_ids) {
  constexpr uint32_t kTimestamps = kWhisperTimes, kTextIds = 50257,
                     kBetween = 5;  // kBetween: transcribe to notimestamps
  WhisperIds ids;
  if (n_ids < kTextIds + kTimestamps + kBetween + 2) {
    ids.no_timestamps = n_ids - 1;
    ids.n_kept = n_ids;
    ids.prompt = {ids.no_timestamps};
    return ids;
  }
  ids.end = n_ids >= kFirstMultilingual ? kTextIds : kTextIds - 1;
  ids.start = ids.end + 1;
  ids.no_timestamps = n_ids - kTimestamps - 1;
  ids.n_kept = ids.no_timestamps + 1;
  ids.prompt = {ids.no_timestamps};
  return ids;
}

FrontendSpec whisper_frontend(uint32_t bands, LinearSpec first, LinearSpec second) {
  FrontendSpec frontend;
  frontend.sample_rate = kWhisperRate;
  frontend.channels = bands;
  frontend.fixed_window = true;
  frontend.log_mel = whisper_log_mel(bands);
  const uint32_t width = first.weight->rows;
  frontend.convolutions.push_back({std::move(first), bands, kWhisperKernel, 1, 1, Activation::kGelu});
  frontend.convolutions.push_back({std::move(second), width, kWhisperKernel, 2, 1, Activation::kGelu});
  // The first one takes 1 % of the encoder's work, and saves one text of 15 (tests/peers/speech_clips.py).
  for (ConvolutionSpec& convolution : frontend.convolutions) convolution.linear.fine_input = true;
  return frontend;
}

std::vector<uint32_t> whisper_alignment_heads(const Config& config, const StackSpec& decoder) {
  const auto n_layers = static_cast<uint32_t>(decoder.layers.size());
  std::vector<uint32_t> heads;
  const Value* const pairs = config.find("alignment_heads");
  if (pairs == nullptr || pairs->is_null()) {
    for (uint32_t i = n_layers / 2 * decoder.n_heads; i < n_layers * decoder.n_heads; ++i) heads.push_back(i);
    return heads;
  }
  const std::string where = config.where("alignment_heads");
  if (!pairs->is_list()) throw Error("{} is a JSON {}, expected [[LAYER, HEAD], ...]", where, pairs->type_name());
  for (const Value& pair : *pairs) {
    const bool is_pair = pair.is_list() && pair.size() == 2 && pair[0].is_natural() && pair[1].is_natural();
    if (!is_pair || pair[0].natural() >= n_layers || pair[1].natural() >= decoder.n_heads) {
      throw Error("{} has {}, expected [LAYER, HEAD] of the decoder's {} layers and {} heads", where, write_json(pair),
          n_layers, decoder.n_heads);
    }
    heads.push_back(
        static_cast<uint32_t>(pair[0].natural()) * decoder.n_heads + static_cast<uint32_t>(pair[1].natural()));
  }
  return heads;
}

void finish_whisper(
    const WhisperIds& ids, const WhisperSuppressed& stored, const OpenChoices& options, ModelSpec& spec) {
  set_window(options, spec);
  leave_out_timestamps(ids, options.timestamps, spec);
  GenerationSpec& generation = spec.generation;
  const uint32_t n = spec.decoder.embedding->rows;
  if (options.timestamps)
    generation.max_first_timestamp = std::min(stored.max_first_timestamp, n - 1 - generation.first_timestamp);
  generation.decoder_start_id = ids.start;
  generation.end_id = ids.end;
  std::vector<uint32_t> suppressed = stored.always;
  suppressed.insert(suppressed.end(), ids.timestamps.begin(), ids.timestamps.end());
  generation.suppressed_ids = kept_ids(std::move(suppressed), n);
  generation.prompt.first_suppressed_ids = kept_ids(stored.at_first, n);
  set_prompt(ids, options.language, generation);
  spec.source_language = options.language.empty() && ids.languages.empty() ? "en" : language_code(options.language);
  for (const LanguageEntry& entry : ids.languages)
    if (!ids.language_is_open && entry.id == ids.prompt.front()) spec.source_language = entry.code;
  spec.target_language = spec.source_language;
  // A prompt takes positions of the decoder, and none of a text's length.
  const uint32_t positions = spec.decoder.positions.rows;
  const uint32_t most = positions - std::min(static_cast<uint32_t>(generation.prompt.size()), positions - 1);
  generation.max_target_tokens =
      std::min(generation.max_target_tokens == 0 ? most : generation.max_target_tokens, most);
}
}  // namespace goldcrest::converter
