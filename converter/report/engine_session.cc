// SPDX-License-Identifier: Apache-2.0
#include "report/engine_session.h"
#include <algorithm>
#include "base/hash.h"
#include "evaluate/line_encoder.h"
#include "goldcrest/languages.h"
#include "goldcrest/speech.h"
#include "host/picture.h"
#include "math/deterministic_math.h"
#include "model/model_view.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"

namespace goldcrest::converter {
EngineSession::EngineSession(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file,
    std::function<std::string(goldcrest_config*)> prepare) {
  use(model.data(), model.size());
  Options options;
  options.prepare = std::move(prepare);
  options.replace_unknowns = false;
  std::string problem = read_info();
  if (problem.empty()) problem = start(options, limits);
  if (!problem.empty()) throw Error("{}: {}", file, problem);
  const goldcrest_lexicon none = {};  // self-test and measures are of the model without its lexicon
  if (info().limits.lexicon != 0) check(goldcrest_set_lexicon(engine(), &none), file);
}

void EngineSession::check(int64_t status, const std::string& context) const {
  if (status < 0) throw Error("{}: {}", context, describe(status));
}

void EngineSession::set_search(const goldcrest_search& search) {
  check(goldcrest_set_search(engine(), &search), "search");
}

bool EngineSession::choose_languages(size_t line) {
  LanguagesView table;
  if (!view_languages(model(), &table)) return false;
  const bool is_forced = table.of_targets().place == goldcrest::LanguagePlace::kForcedFirst;
  const char* names[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    const LanguageSide& side = table.sides[i];
    const bool takes_turns = is_forced && i == 1;
    if (side.n == 0 || (side.by_default != kNoId && !takes_turns)) continue;
    auto language = static_cast<uint32_t>(takes_turns ? line % side.n : 0);
    while (side.ids[language] == kNoId) language = (language + 1) % side.n;
    names[i] = view_language_code(model(), language);
  }
  check(goldcrest_set_languages(engine(), names[0], names[1]), "languages");
  return is_forced;
}

std::vector<int32_t> EngineSession::encode(const std::string& text) {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  check(tokenize(text, &ids, &pieces), "source");
  return ids;
}

std::string EngineSession::decode(std::span<const int32_t> tokens) {
  std::string text;
  check(append_text(tokens.data(), tokens.size(), &text), "target");
  return text;
}

host::Sentence EngineTranslator::read(const std::string& line) {
  host::Sentence sentence;
  if (lines_ == Lines::kClips) sentence.samples = read_clip(line, session_.info().sample_rate);
  const std::string problem =
      lines_ == Lines::kImages ? host::read_rows(session_, line, &sentence.features) : std::string();
  if (!problem.empty()) throw Error("{}: {}", line, problem);
  if (lines_ == Lines::kIds) sentence.source = parse_ids(line, UINT32_MAX >> 1);  // the engine checks the vocabulary
  const int status = lines_ == Lines::kText ? session_.tokenize(line, &sentence.source, &sentence.pieces) : 0;
  if (status < 0) sentence.problem = session_.describe(status);
  return sentence;
}

std::string EngineTranslator::text_of(const host::Found& found) const {
  if (lines_ == Lines::kIds) return ids_text(found.ids);
  return lines_ == Lines::kClips ? spoken_words(found.text) : found.text;
}

std::vector<Translation> EngineTranslator::run(
    std::span<const std::string> sources, std::span<const Translation> targets) {
  std::vector<Translation> translations(sources.size());
  std::vector<host::Sentence> sentences(sources.size());
  std::vector<host::Sentence*> readable;
  for (size_t i = 0; i < sources.size(); ++i) {
    std::string& error = translations[i].error;
    if (!targets.empty()) error = targets[i].error;
    if (!error.empty()) continue;
    try {
      sentences[i] = read(sources[i]);
      error = sentences[i].problem;
    } catch (const Error& problem) {  // the clip or the image cannot be read
      error = problem.what();
    }
    sentences[i].input = i;
    if (!targets.empty()) sentences[i].target = targets[i].tokens;
    if (error.empty()) readable.push_back(&sentences[i]);
  }
  host::SentenceSearch search;
  search.begin({.has_text = lines_ != Lines::kIds, .token_scores = true, .scores_targets = !targets.empty()}, readable);
  while (!search.is_done()) {
    host::Sentence* const finished = search.work(&session_);
    if (finished == nullptr) continue;
    Translation& translation = translations[finished->input];
    translation.error = finished->problem;
    if (!translation.error.empty()) continue;
    host::Found& found = finished->found[0];
    translation.text = text_of(found);
    translation.tokens = std::move(found.ids);
    translation.n_outputs = found.n_outputs;
    translation.token_log_probs = std::move(found.token_log_probs);
    translation.n_source_tokens = static_cast<uint32_t>(finished->source.size());
  }
  return translations;
}

goldcrest_info read_info(std::span<const uint8_t> model, const std::string& file) {
  goldcrest_info info = {};
  goldcrest_detail detail = {"", -1};
  const int status = goldcrest_model_info(model.data(), model.size(), &info, &detail);
  if (status < 0) throw Error("{}: {}: {} ({})", file, goldcrest_status_string(status), detail.message, detail.index);
  return info;
}

namespace {
// Runs one greedy search of `line`, whose source it has, and fills in the results. `begin`: of the engine's.
bool run_line(
    EngineSession& session, uint32_t flags, const std::function<int(goldcrest_engine*)>& begin, SelfTestLine& line) {
  goldcrest_search search = session.info().search;
  search.beam_size = 1;
  search.min_target_tokens = 0;
  search.max_target_tokens = session.memory().limits.max_target_tokens;
  search.flags = GOLDCREST_SEARCH_HASH_LOGITS | flags;
  session.set_search(search);
  goldcrest_result result = {};
  if (begin(session.engine()) < 0 || goldcrest_run(session.engine()) < 0 ||
      goldcrest_get_result(session.engine(), 0, 0, &result) < 0)
    return false;
  line.target = {result.tokens, result.tokens + result.n_tokens};
  line.hash = result.logits_hash;
  line.shortlist = result.n_outputs < session.info().target_vocab_size;
  return true;
}
}  // namespace

std::vector<SelfTestLine> make_self_test(EngineSession& session, std::span<const std::vector<int32_t>> sources,
    const std::function<void(size_t, size_t)>& progress) {
  std::vector<SelfTestLine> lines;
  const auto run = [&](const std::vector<int32_t>& source, uint32_t flags) {
    SelfTestLine line;
    line.source = {source.begin(), source.end()};
    line.is_forced = session.choose_languages(lines.size());
    const auto begin = [&](goldcrest_engine* engine) { return goldcrest_begin(engine, source.data(), source.size()); };
    if (run_line(session, flags, begin, line)) lines.push_back(std::move(line));
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    if (progress) progress(i, sources.size());
    run(sources[i], 0);
  }
  const bool all_listed = std::ranges::all_of(lines, [](const SelfTestLine& line) { return line.shortlist; });
  if (all_listed && !lines.empty()) run({lines[0].source.begin(), lines[0].source.end()}, GOLDCREST_SEARCH_ALL_OUTPUTS);
  return lines;
}

std::vector<SelfTestLine> make_self_test(EngineSession& session, std::span<const int16_t> samples) {
  SelfTestLine line;
  line.samples = {samples.begin(), samples.end()};
  const auto begin = [&](goldcrest_engine* engine) {
    return goldcrest_begin_audio(engine, line.samples.data(), line.samples.size());
  };
  if (!run_line(session, 0, begin, line)) return {};
  return {line};
}

std::vector<int16_t> made_up_clip(const ModelSpec& spec, uint32_t max_source_tokens) {
  const std::optional<FrontendSpec>& frontend = spec.encoder.frontend;
  if (!frontend || frontend->input != FrontendInput::kSamples) return {};
  constexpr double kSeconds = 0.5, kPi = 3.14159265358979323846;
  size_t n = static_cast<size_t>(kSeconds * frontend->sample_rate);
  const auto rows_of = [&](size_t samples) { return count_frontend_rows(*frontend, samples); };
  if (!frontend->fixed_window) {
    while (n > 1 && rows_of(n) > max_source_tokens) n -= n / 16 + 1;
    while (rows_of(n) == 0) n += n / 16 + 1;
  }
  std::vector<int16_t> samples(n);
  uint64_t state = kHashStart;
  for (size_t i = 0; i < n; ++i) {
    state = hash_word(state, static_cast<uint32_t>(i));
    const double seconds = static_cast<double>(i) / frontend->sample_rate, loudness = exact_sin(2 * kPi * seconds);
    const double tone = exact_sin(2 * kPi * seconds * (200 + 900 * seconds));
    const double noise = static_cast<double>(state >> 40) * 0x1p-24 - 0.5;
    samples[i] = static_cast<int16_t>(loudness * (6000 * tone + 1500 * noise));
  }
  return samples;
}

std::vector<std::vector<int32_t>> random_sources(
    const ModelSpec& spec, uint32_t max_source_tokens, const std::vector<uint32_t>& lengths) {
  const std::vector<uint32_t>& prefix = spec.generation.source_prefix;
  const std::vector<uint32_t>& suffix = spec.generation.source_suffix;
  std::vector<std::vector<int32_t>> sources;
  if (spec.encoder.frontend) return sources;
  uint64_t state = kHashStart;
  for (const uint32_t length : lengths) {
    const size_t around = prefix.size() + suffix.size();
    if (around >= max_source_tokens) break;
    std::vector<int32_t> source(prefix.begin(), prefix.end());
    for (uint32_t i = 0; i < std::min<size_t>(length, max_source_tokens - around); ++i) {
      state = hash_word(state, i);
      source.push_back(static_cast<int32_t>((state >> 33) % spec.encoder.embedding->rows));
    }
    source.insert(source.end(), suffix.begin(), suffix.end());
    sources.push_back(std::move(source));
  }
  return sources;
}
}  // namespace goldcrest::converter
