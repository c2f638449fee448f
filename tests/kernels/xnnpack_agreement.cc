// SPDX-License-Identifier: Apache-2.0
// Compares XNNPACK's kernels with the exact tables on a model and its validation lines. At least 99 % of the greedy
// tokens must be the same, and logits after the same tokens must be within kCloseLogits. Prints both figures.
// Usage: xnnpack_agreement [--all] MODEL VALIDATION_TSV [xnnpack|fastest]
#include "kernels/kernels.h"
#include "kernels/validation_sources.h"
#include "kernels/xnnpack_session.h"
#include "support/program.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kMaxSourceBytes = 512;
constexpr double kLeastAgreement = 0.99;

// A greedy translation with the logits of every position.
struct Traced {
  std::vector<int32_t> tokens;
  std::vector<std::vector<float>> logits;  // [position][vocabulary]
};

void record_logits(void* context, const char* name, int32_t, uint32_t position, const float* values, uint32_t count) {
  if (std::string(name) != "logits") return;
  auto& logits = static_cast<Traced*>(context)->logits;
  logits.resize(std::max<size_t>(logits.size(), position + 1));
  logits[position].insert(logits[position].end(), values, values + count);
}

// The engine's trace hook fills `traced`.
void translate(TestEngine& engine, const std::string& source, Traced* traced) {
  *traced = {};
  int status = goldcrest_begin_text(engine.get(), source.data(), source.size());
  if (status >= 0) status = goldcrest_run(engine.get());
  if (status < 0) throw std::runtime_error(source + ": " + goldcrest_status_string(status));
  traced->tokens = engine.results(0).at(0).tokens;
}

struct Agreement {
  size_t n_tokens = 0, n_same = 0, n_lines = 0, n_same_lines = 0;
  double largest_distance = 0, sum_distance = 0;  // logits' distances, as fractions of the position's largest logit
  size_t n_positions = 0;
};

void compare_logits(const std::vector<float>& exact, const std::vector<float>& close, Agreement* agreement) {
  if (exact.size() != close.size() || exact.empty())
    throw std::runtime_error("there are positions without logits to compare");
  double largest = 0, distance = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, std::fabs(double{exact[i]}));
    distance = std::max(distance, std::fabs(double{exact[i]} - close[i]));
  }
  agreement->largest_distance = std::max(agreement->largest_distance, distance / largest);
  agreement->sum_distance += distance / largest;
  ++agreement->n_positions;
}

void compare(const Traced& exact, const Traced& close, Agreement* agreement) {
  bool same_so_far = true;
  agreement->n_tokens += std::max(exact.tokens.size(), close.tokens.size());
  for (size_t i = 0; i < std::min(exact.tokens.size(), close.tokens.size()); ++i) {
    const bool computed = i < exact.logits.size() && i < close.logits.size();  // a forced end has no logits
    if (same_so_far && computed) compare_logits(exact.logits[i], close.logits[i], agreement);
    const bool same = exact.tokens[i] == close.tokens[i];
    agreement->n_same += same;
    same_so_far &= same;
  }
  ++agreement->n_lines;
  agreement->n_same_lines += exact.tokens == close.tokens;
}

EngineSetup greedy_setup(Traced* traced) {
  return {
      .limits = {.max_source_bytes = kMaxSourceBytes, .beam_size = 1}, .trace = record_logits, .trace_context = traced};
}

int run(int n_arguments, char** arguments) {
  const bool all = n_arguments > 1 && std::string(arguments[1]) == "--all";
  if (all) --n_arguments, ++arguments;
  if (n_arguments < 3 || n_arguments > 4) {
    std::fprintf(stderr, "usage: xnnpack_agreement [--all] MODEL VALIDATION_TSV [xnnpack|fastest]\n");
    return 2;
  }
  const std::string bytes = read_whole_file(arguments[1]);
  GuardedBuffer<uint8_t> file(bytes.size());
  std::copy(bytes.begin(), bytes.end(), file.begin());
  const XnnpackModel model({file.get(), file.size()});

  Traced of_exact, of_close;
  TestEngine exact(model.file(), greedy_setup(&of_exact));
  XnnpackEngineFixture close(model, greedy_setup(&of_close), n_arguments == 4 ? arguments[3] : "xnnpack");
  Agreement agreement;
  for (const std::string& source : read_validation_sources(arguments[2], all)) {
    translate(exact, source, &of_exact);
    translate(close.engine(), source, &of_close);
    compare(of_exact, of_close, &agreement);
  }
  const double tokens = static_cast<double>(agreement.n_same) / static_cast<double>(agreement.n_tokens);
  std::printf("%s against %s: tokens %.4f %% of %zu, lines %zu of %zu, logits at most %.5f apart, %.7f on average\n",
      goldcrest_kernels_name(close.engine().get()), goldcrest_kernels_name(exact.get()), 100 * tokens,
      agreement.n_tokens, agreement.n_same_lines, agreement.n_lines, agreement.largest_distance,
      agreement.sum_distance / static_cast<double>(agreement.n_positions));
  return tokens >= kLeastAgreement && agreement.largest_distance <= double{kCloseLogits} && close.intact() ? 0 : 1;
}
}}  // namespace goldcrest::test

int main(int n_arguments, char** arguments) {
  using namespace goldcrest::test;
  return report_errors("xnnpack_agreement", [&] { return run(n_arguments, arguments); });
}
