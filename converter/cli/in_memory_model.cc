// SPDX-License-Identifier: Apache-2.0
#include "cli/in_memory_model.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "cli/changes.h"
#include "file/fine_inputs.h"
#include "file/format.h"
#include "quantize/pack.h"
#include "spec/error.h"

namespace goldcrest::converter {

Payload make_payload(const ModelSpec& spec, const Arguments& arguments, Progress& progress) {
  progress.stage("quantizing");
  BuildOptions options;
  if (arguments.weights == "float32") options.weights = Weights::kFloat32;
  options.layout = layout_for_cpu(arguments.cpu.empty() ? "generic" : arguments.cpu);
  options.refine = arguments.refine;
  options.limits = arguments.limits;
  if (!arguments.license.empty()) options.license = arguments.license;
  if (!arguments.attribution.empty()) options.attribution = arguments.attribution;
  options.progress = progress.counter();
  try {
    Payload payload = build_payload(spec, options);
    if (!arguments.fine.empty() && !auto_share(arguments)) set_fine_inputs(fine_matrices(arguments), *payload.metadata);
    return payload;
  } catch (const Error& error) {
    throw Error("{}: {}", arguments.input, error.what());
  }
}

uint64_t section_bytes(const Payload& payload) {
  return std::accumulate(payload.sections.begin(), payload.sections.end(), uint64_t{0},
                         [](uint64_t sum, const SectionBytes& section) { return sum + section.size(); });
}

InMemoryModel::InMemoryModel(const ModelSpec& spec, const Arguments& arguments, Progress& progress)
    : arguments_(arguments), progress_(progress), image_(0) {
  Payload payload = make_payload(spec, arguments, progress);
  bytes_ = section_bytes(payload);
  max_source_bytes_ = payload.metadata->limits->max_source_bytes;
  image_ = assemble_from(payload);
}

std::vector<Translation> InMemoryModel::translate(const std::vector<EvaluationLine>& lines) {
  constexpr size_t kBatch = 16;
  progress_.stage("translating");
  goldcrest_limits limits = {};
  limits.max_source_bytes = max_source_bytes_;
  limits.beam_size = 1;
  limits.n_best = 1;
  limits.batch = kBatch;
  EngineSession session(image_.span(), limits, arguments_.input);
  EngineTranslator translator(session, arguments_.ids ? Lines::kIds : Lines::kText);
  std::vector<Translation> translations;
  for (size_t done = 0; done < lines.size();) {
    std::vector<std::string> sources;
    for (size_t i = done; i < std::min(lines.size(), done + kBatch); ++i) sources.push_back(lines[i].source);
    std::ranges::move(translator.translate(sources), std::back_inserter(translations));
    done += sources.size();
    progress_.at(done, lines.size());
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
