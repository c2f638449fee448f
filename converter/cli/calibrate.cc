// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include "cli/changes.h"
#include "cli/quality.h"
#include "evaluate/line_encoder.h"
#include "model/packed.h"
#include "reference/input_products.h"
#include "reference/reference_search.h"
#include "report/divergence.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kFewLines = 64, kMadeUpLines = 512, kOneOfLines = 4;

// Returns made-up sources of 4 to 35 ids.
std::vector<OwnedSource> made_up_sources(const ModelSpec& spec) {
  std::vector<uint32_t> lengths;
  for (uint32_t i = 0; i < kMadeUpLines; ++i) lengths.push_back(4 + i % 32);
  std::vector<OwnedSource> sources;
  for (std::vector<int32_t>& source : random_sources(spec, spec.encoder.positions.rows, lengths))
    sources.emplace_back(std::move(source));
  return sources;
}

OwnedSource read_source(const Job& job, const std::optional<LineEncoder>& encoder, const std::string& line) {
  const std::optional<FrontendSpec>& frontend = job.spec.encoder.frontend;
  if (!frontend) return encoder->source(line);
  return read_clip(std::filesystem::path(job.lines.calibration.path).parent_path() / line, frontend->sample_rate);
}

std::vector<OwnedSource> read_sources(Job& job) {
  const LinesOf<NumberedLine>& lines = job.lines.calibration;
  ModelSpec& spec = job.spec;
  std::optional<LineEncoder> encoder;
  if (!spec.encoder.frontend) encoder.emplace(spec, job.lines.ids);
  std::vector<OwnedSource> sources;
  for (const NumberedLine& line : lines.lines) {
    try {
      sources.push_back(read_source(job, encoder, line.text));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", lines.path, line.number, error.what());
    }
  }
  if (sources.size() < kFewLines && !spec.encoder.frontend)
    spec.warnings.push_back(
        format_text("{}: {} lines; with fewer than {} for --calibrate, weights of 4 bits fit other texts badly",
            lines.path, sources.size(), kFewLines));
  return sources;
}

// Returns the encoder's rows that hold a clip: silence fills the rest of a window.
uint32_t rows_of_clip(const ModelSpec& spec, const OwnedSource& source) {
  if (!spec.encoder.frontend) return UINT32_MAX;
  const double seconds = static_cast<double>(source.view().samples.size()) / spec.encoder.frontend->sample_rate;
  return static_cast<uint32_t>(std::max<size_t>(1, rows_of_seconds(*spec.encoder.frontend, seconds)));
}

struct CalibratedSource {
  const OwnedSource* source;
  std::vector<int32_t> target;  // float32's result
  Logits logits = {};           // float32's, of each id of the target
};

// Tries choices of matrices with 4 bits, whose names job.pack has.
class PackedSearch {
 public:
  // Takes some of the lines, as far from each other as possible and as many as their logits have room.
  PackedSearch(std::vector<CalibratedSource> lines, Job& job);
  void run(double bound);
 private:
  struct Ranked {
    std::string name;
    double saved = 0, cost = 0;  // bytes, and the divergence for each
  };

  // Returns the divergence if these matrices have 4 bits, of every stride-th line.
  double divergence(std::span<const Ranked> packed, size_t stride);
  // Returns the matrices by what a byte costs if only the matrix has 4 bits.
  std::vector<Ranked> rank();

  std::vector<CalibratedSource> lines_;
  Job& job_;
};

PackedSearch::PackedSearch(std::vector<CalibratedSource> lines, Job& job) : job_(job) {
  constexpr size_t kMostLines = 64, kMostLogits = size_t{1} << 26;  // 256 MiB
  size_t n_ids = 0;
  for (const CalibratedSource& line : lines) n_ids += line.target.size();
  const size_t fit = kMostLogits * lines.size() / (n_ids * job.spec.projection.weight->rows);
  const size_t n = std::min({lines.size(), kMostLines, std::max<size_t>(1, fit)});
  const Reference reference(job.spec);
  job.progress.stage("computing probabilities");
  for (size_t i = 0; i < n; ++i) {
    CalibratedSource& line = lines_.emplace_back(std::move(lines[i * lines.size() / n]));
    line.logits = reference.teacher_forced_logits(reference.encode(line.source->view()), line.target);
    job.progress.at(i + 1, n);
  }
}

double PackedSearch::divergence(std::span<const Ranked> packed, size_t stride) {
  job_.pack = {{"all", 0}};
  for (const Ranked& matrix : packed) job_.pack.push_back({matrix.name, kPackedWeights});
  const InMemoryModel model(job_);
  goldcrest_limits limits = {};
  limits.max_source_bytes = model.max_source_bytes();
  Divergence divergence(model.image().span(), limits, job_.input);
  if (job_.lines.calibration.empty()) divergence.session().choose_languages(0);
  for (size_t i = 0; i < lines_.size(); i += stride)
    divergence.add(*lines_[i].source, lines_[i].target, lines_[i].logits);
  return divergence.mean();
}

std::vector<PackedSearch::Ranked> PackedSearch::rank() {
  constexpr size_t kRankedIds = 512;
  size_t n_ids = 0;
  for (const CalibratedSource& line : lines_) n_ids += line.target.size();
  const size_t stride = std::max<size_t>(1, n_ids / kRankedIds);
  std::vector<Ranked> ranked;
  for (const auto& [key, kept] : job_.kept) {
    const auto& [rows, columns] = std::pair(kept.matrix.rows, kept.matrix.columns);
    const uint64_t saved = uint64_t{rows} * columns - packed_bytes(rows, columns);
    if (!kept.matrix.multipliers.empty()) ranked.push_back({kept.name, static_cast<double>(saved)});
  }
  std::ranges::sort(ranked, {}, &Ranked::name);  // not by addresses
  job_.progress.stage("ranking matrices");
  const double none = divergence({}, stride);
  for (Ranked& matrix : ranked) {
    job_.progress.at(static_cast<size_t>(&matrix - ranked.data()), ranked.size());
    matrix.cost = (divergence({&matrix, 1}, stride) - none) / matrix.saved;
  }
  std::ranges::stable_sort(ranked, {}, &Ranked::cost);
  return ranked;
}

void PackedSearch::run(double bound) {
  constexpr int kTries = 6;
  (void)job_.quantize(job_.spec);  // keeps all
  const std::vector<Ranked> ranked = rank();
  std::vector<double> saved(1);  // by the first n of them
  for (const Ranked& matrix : ranked) saved.push_back(saved.back() + matrix.saved);
  size_t within = 0, beyond = ranked.size() + 1;
  job_.progress.stage("choosing matrices");
  PackedChoice choice = {bound, 0, divergence({}, 1), lines_.size()};
  for (int tries = 0; tries < kTries && beyond - within > 1; ++tries) {
    const size_t last = std::min(beyond, ranked.size());
    const auto middle = std::ranges::lower_bound(saved, (saved[within] + saved[last]) / 2) - saved.begin();
    const size_t n = tries == 0 ? last : std::clamp(static_cast<size_t>(middle), within + 1, beyond - 1);
    job_.progress.at(static_cast<size_t>(tries), kTries);
    const double found = divergence(std::span(ranked).first(n), 1) - choice.of_int8;
    (found <= bound ? within : beyond) = n;
    if (found <= bound) choice.rise = found;
  }
  job_.pack = {{"all", 0}};
  for (const Ranked& matrix : std::span(ranked).first(within)) job_.pack.push_back({matrix.name, kPackedWeights});
  if (within > 0) job_.packed_choice = choice;
  else job_.spec.warnings.push_back(format_text("--pack auto={}: one matrix of 4 bits is too much; all have 8", bound));
}
}  // namespace

void calibrate(const QuantizeOptions& options, Job& job) {
  const std::vector<const Matrix*> matrices = packed_inputs(job.spec, options.pack);
  if (matrices.empty()) return;
  const LinesOf<NumberedLine>& lines = job.lines.calibration;
  if (job.spec.encoder.frontend && job.spec.encoder.frontend->image)
    throw Error("{}: reads images, on which --pack cannot be calibrated yet; leave it out", job.input);
  if (lines.empty() && job.spec.encoder.frontend)
    throw Error("{}: is a model of speech; --pack needs --calibrate with clips of speech", job.input);
  job.progress.stage("calibrating");
  const std::vector<OwnedSource> sources = lines.empty() ? made_up_sources(job.spec) : read_sources(job);
  const auto products = std::make_shared<CollectedProducts>();
  for (const Matrix* matrix : matrices) (*products)[matrix];
  SearchOptions greedy = default_search(job.spec);
  greedy.beam_size = 1;
  std::vector<CalibratedSource> held_out;  // by auto, which measures on them
  const Reference reference(job.spec);
  std::optional<CollectInputs> collect(std::in_place, *products);
  for (size_t i = 0; i < sources.size(); ++i) {
    const bool is_held_out = options.pack_loss && i % kOneOfLines == 0;
    collect->limit_rows(is_held_out ? 0 : rows_of_clip(job.spec, sources[i]));
    try {
      std::vector<int32_t> target = search(reference, sources[i].view(), greedy)[0].tokens;
      if (is_held_out) held_out.push_back({&sources[i], std::move(target)});
    } catch (const Error& error) {
      if (lines.empty()) throw;
      throw Error("{}:{}: {}", lines.path, lines.lines[i].number, error.what());
    }
    job.progress.at(i + 1, sources.size());
  }
  collect.reset();
  job.products = [products](const Matrix& of) -> std::vector<float> {
    const auto found = products->find(&of);
    if (found == products->end()) return {};
    const Rows& sums = found->second.finish();
    std::vector<float> values(sums.data(), sums.data() + sums.size());
    products->erase(found);
    return values;
  };
  if (!options.pack_loss) return;
  PackedSearch choice(std::move(held_out), job);
  choice.run(*options.pack_loss);
}
}  // namespace goldcrest::converter
