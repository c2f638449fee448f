// SPDX-License-Identifier: Apache-2.0
#include "cli/in_memory_model.h"
#include <algorithm>
#include <iterator>
#include <numeric>
#include "file/format.h"
#include "quantize/quantize.h"
#include "spec/error.h"

namespace goldcrest::converter {
void set_quantizer(const QuantizeOptions& options, Job& job) {
  job.quantize = [&](const ModelSpec& spec) {
    const bool is_first = job.kept.empty();  // later ones are tries of --pack auto
    if (is_first) job.progress.stage("quantizing");
    BuildOptions build;
    if (options.weights == "float32") build.weights = Weights::kFloat32;
    build.layout = layout_for_cpu(options.cpu.empty() ? "generic" : options.cpu);
    build.attention = options.attention.value_or(AttentionWeights::kIntegerForSpeech);
    build.accuracy = options.levels();
    build.pack = job.pack;
    build.products = job.products;
    if (options.pack_loss) build.kept = &job.kept;
    build.limits = job.limits;
    if (!options.license.empty()) build.license = options.license;
    if (!options.attribution.empty()) build.attribution = options.attribution;
    if (is_first) build.progress = job.progress.counter();
    try {
      return build_payload(spec, build);
    } catch (const Error& error) {
      throw Error("{}: {}", job.input, error.what());
    }
  };
}

uint64_t section_bytes(const Payload& payload) {
  return std::accumulate(payload.sections.begin(), payload.sections.end(), uint64_t{0},
      [](uint64_t sum, const SectionBytes& section) { return sum + section.size(); });
}

InMemoryModel::InMemoryModel(Job& job) : job_(job), image_(0) {
  Payload payload = job.quantize(job.spec);
  bytes_ = section_bytes(payload);
  max_source_bytes_ = payload.metadata->limits->max_source_bytes;
  image_ = assemble_from(payload);
}

std::vector<Translation> InMemoryModel::translate(const std::vector<EvaluationLine>& lines) {
  constexpr size_t kBatch = 16;
  job_.progress.stage("translating");
  goldcrest_limits limits = {};
  limits.max_source_bytes = max_source_bytes_;
  limits.beam_size = 1;
  limits.n_best = 1;
  limits.batch = kBatch;
  EngineSession session(image_.span(), limits, job_.input);
  EngineTranslator translator(session, job_.lines.ids ? Lines::kIds : Lines::kText);
  std::vector<Translation> translations;
  for (size_t done = 0; done < lines.size();) {
    std::vector<std::string> sources;
    for (size_t i = done; i < std::min(lines.size(), done + kBatch); ++i) sources.push_back(lines[i].source);
    std::ranges::move(translator.translate(sources), std::back_inserter(translations));
    done += sources.size();
    job_.progress.at(done, lines.size());
  }
  return translations;
}

std::string describe_failures(const std::vector<Translation>& translations) {
  const auto has_failed = [](const Translation& translation) { return !translation.error.empty(); };
  const auto failed = std::ranges::count_if(translations, has_failed);
  if (failed == 0) return "";
  return format_text("{} of {} sources cannot be translated; the first: {}", failed, translations.size(),
      std::ranges::find_if(translations, has_failed)->error);
}
}  // namespace goldcrest::converter
