// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include "cli/changes.h"
#include "cli/quality.h"
#include "evaluate/line_encoder.h"
#include "reference/input_products.h"
#include "reference/reference_search.h"
#include "report/engine_session.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kFewLines = 64, kMadeUpLines = 512;

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
}  // namespace

void calibrate(const std::vector<MatrixLevel>& pack, Job& job) {
  const std::vector<const Matrix*> matrices = packed_inputs(job.spec, pack);
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
  SearchOptions options = default_search(job.spec);
  options.beam_size = 1;
  const Reference reference(job.spec);
  CollectInputs collect(*products);
  for (size_t i = 0; i < sources.size(); ++i) {
    collect.limit_rows(rows_of_clip(job.spec, sources[i]));
    try {
      search(reference, sources[i].view(), options);
    } catch (const Error& error) {
      if (lines.empty()) throw;
      throw Error("{}:{}: {}", lines.path, lines.lines[i].number, error.what());
    }
    job.progress.at(i + 1, sources.size());
  }
  job.products = [products](const Matrix& of) -> std::vector<float> {
    const auto found = products->find(&of);
    if (found == products->end()) return {};
    const Rows& sums = found->second.finish();
    std::vector<float> values(sums.data(), sums.data() + sums.size());
    products->erase(found);
    return values;
  };
}
}  // namespace goldcrest::converter
