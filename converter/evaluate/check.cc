// SPDX-License-Identifier: Apache-2.0
// Compares layers first, in forward order, then logits, then, if all of those agree, the searches.
#include "evaluate/check.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include "evaluate/check_samples.h"
#include "reference/reference_search.h"
#include "sources/containers/tensor_source.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Rows of one layer's output, computed by the reference.
struct Captured {
  size_t rows = 0, columns = 0;
  std::vector<float> values;
};

// Returns a traced tensor's place in the forward pass: its stack, then its stage there. Returns nothing for an unknown
// name.
std::optional<std::tuple<int, uint64_t>> forward_order(std::string_view name) {
  if (name == "logits") return std::tuple(2, uint64_t{0});
  const int stack = name.starts_with("encoder.") ? 0 : name.starts_with("decoder.") ? 1 : -1;
  if (stack < 0) return std::nullopt;
  name.remove_prefix(std::string_view("encoder.").size());
  constexpr uint64_t kEmbed = 256;  // above the stem's convolutions
  if (name == "features") return std::tuple(stack, uint64_t{0});
  if (name == "embed") return std::tuple(stack, kEmbed);
  if (name == "norm") return std::tuple(stack, UINT64_MAX);
  constexpr std::string_view kLayers = "layers.", kConvolutions = "convolutions.";
  const bool is_convolution = name.starts_with(kConvolutions);
  if (!is_convolution && !name.starts_with(kLayers)) return std::nullopt;
  name.remove_prefix(is_convolution ? kConvolutions.size() : kLayers.size());
  uint32_t layer = 0;
  const auto [stop, failure] = std::from_chars(name.data(), name.data() + name.size(), layer);
  if (failure != std::errc() || stop != name.data() + name.size()) return std::nullopt;
  return std::tuple(stack, uint64_t{layer} + 1 + (is_convolution ? 0 : kEmbed));
}

// Returns every layer's output for one source, by the trace's names.
std::map<std::string, Captured> capture(const ModelSpec& spec, const SampleLine& sample) {
  std::map<std::string, Captured> layers;
  Reference reference(spec);
  reference.set_trace([&](const std::string& name, int layer, uint32_t, std::span<const float> values) {
    if (name == "logits") values = values.first(values.size() - spec.added_target_ids);
    Captured& captured = layers[layer < 0 ? name : format_text("{}.{}", name, layer)];
    captured.columns = values.size();
    captured.values.insert(captured.values.end(), values.begin(), values.end());
    ++captured.rows;
  });
  const EncodedSource encoded = reference.encode(sample.input());
  if (const SampleSearch* greedy = sample.find("greedy")) reference.teacher_forced_logits(encoded, greedy->tokens);
  return layers;
}

// found, expected: [rows, columns]
TensorCheck compare_values(
    const Departure& where, const Captured& found, const std::vector<float>& expected, double tolerance) {
  TensorCheck result = {where.tensor, found.rows, found.columns, 0, std::nullopt};
  for (size_t row = 0; row < found.rows; ++row) {
    const size_t start = row * found.columns;
    double scale = 1, worst = 0;
    for (size_t i = start; i < start + found.columns; ++i)
      if (std::isfinite(expected[i])) scale = std::max(scale, std::abs(double{expected[i]}));
    std::optional<Departure> departure;
    for (size_t i = start; i < start + found.columns; ++i) {
      double difference = std::abs(double{found.values[i]} - double{expected[i]});
      if (std::isnan(difference)) difference = HUGE_VAL;
      result.largest_difference = std::max(result.largest_difference, difference);
      if (difference <= tolerance * scale || difference <= worst) continue;
      worst = difference;
      departure = {where.tensor, where.line, row, i - start, found.values[i], expected[i], ""};
    }
    if (departure && !result.departure) result.departure = departure;
  }
  return result;
}

// `found` is null if the model has no such layer.
TensorCheck compare_tensor(
    const std::string& name, size_t line, const Captured* found, const Tensor& expected, double tolerance) {
  Departure departure = {name, line, 0, 0, 0, 0, ""};
  if (found == nullptr) {
    departure.reason = "the model, as its configuration describes it, has no such layer";
    return {name, 0, 0, 0, departure};
  }
  if (expected.shape != std::vector<uint64_t>{found->rows, found->columns}) {
    departure.reason = format_text(
        "found the shape [{}, {}], expected [{}]", found->rows, found->columns, join_text(expected.shape, ", "));
    return {name, found->rows, found->columns, 0, departure};
  }
  return compare_values(departure, *found, expected.values, tolerance);
}

void check_trace(const ModelSpec& spec, const Samples& samples, double tolerance, CheckReport& report) {
  if (samples.trace == nullptr) {
    report.not_compared.push_back("layers: no trace.safetensors");
    return;
  }
  const SampleLine& sample = samples.lines[0];
  const bool has_target = sample.find("greedy") != nullptr;
  std::vector<std::pair<std::tuple<int, uint64_t>, std::string>> names;
  for (const std::string& name : samples.trace->names()) {
    const auto order = forward_order(name);
    if (!order) report.not_compared.push_back(name + ": not a layer's name (check.h has them)");
    else if (std::get<0>(*order) > 0 && !has_target)
      report.not_compared.push_back(name + ": the first line of results.jsonl has no \"greedy\" ids");
    else names.emplace_back(*order, name);
  }
  std::sort(names.begin(), names.end());
  const std::map<std::string, Captured> layers = capture(spec, sample);
  for (const auto& [order, name] : names) {
    const auto found = layers.find(name);
    report.tensors.push_back(compare_tensor(
        name, sample.line, found == layers.end() ? nullptr : &found->second, samples.trace->load(name), tolerance));
  }
}

void check_logits(const Reference& reference, const Samples& samples, double tolerance, CheckReport& report) {
  if (samples.logits == nullptr) {
    report.not_compared.push_back("logits: no logits.safetensors");
    return;
  }
  size_t n_compared = 0;
  for (const SampleLine& sample : samples.lines) {
    const std::string name = format_text("logits.{}", sample.line);
    const SampleSearch* greedy = sample.find("greedy");
    if (greedy == nullptr || !samples.logits->has(name)) continue;
    const Logits logits = reference.teacher_forced_logits(reference.encode(sample.input()), greedy->tokens);
    Captured found = {logits.rows, logits.ids - reference.spec().added_target_ids, {}};
    for (size_t i = 0; i < logits.rows; ++i) {
      const std::span<const float> known = logits.row(i).first(found.columns);
      found.values.insert(found.values.end(), known.begin(), known.end());
    }
    report.tensors.push_back(compare_tensor(name, sample.line, &found, samples.logits->load(name), tolerance));
    ++n_compared;
  }
  if (n_compared < samples.logits->names().size())
    report.not_compared.push_back(
        format_text("{} tensors of logits.safetensors: no line with that number and \"greedy\" ids",
            samples.logits->names().size() - n_compared));
}

// Returns how far `expected` is ahead of `found` (SearchDifference).
double score_gap(const Reference& reference, const SampleLine& sample, const std::vector<int32_t>& found,
    const std::vector<int32_t>& expected, const SearchOptions& options) {
  const std::vector<double> found_probs = token_log_probs(reference, sample.input(), found, options);
  const std::vector<double> expected_probs = token_log_probs(reference, sample.input(), expected, options);
  if (options.beam_size == 1) {
    const auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
    const size_t at = static_cast<size_t>(a - found.begin());
    return b == expected.end() || a == found.end() ? HUGE_VAL : expected_probs[at] - found_probs[at];
  }
  const auto score = [&](const std::vector<double>& probs) {
    return length_normalized_score(std::accumulate(probs.begin(), probs.end(), 0.0), probs.size(), options);
  };
  return score(expected_probs) - score(found_probs);
}

void check_search(const Reference& reference, const SampleLine& sample, const SampleSearch& expected,
    const CheckOptions& options, SearchCheck& result) {
  SearchOptions search_options = default_search(reference.spec());
  search_options.beam_size = expected.beam_size;
  const uint32_t most = sample.max_target_tokens > 0 ? sample.max_target_tokens : options.max_target_tokens;
  if (most > 0) search_options.max_target_tokens = most;
  // A framework's search has no limit by the length of a clip.
  if (reference.spec().encoder.frontend) search_options.rules.max_length_factor = 0;
  ++result.lines;
  SearchDifference difference = {
      sample.line, search(reference, sample.input(), search_options)[0].tokens, expected.tokens, 0, false};
  if (difference.found == difference.expected) {
    ++result.equal;
    return;
  }
  difference.gap = score_gap(reference, sample, difference.found, difference.expected, search_options);
  difference.tie = std::abs(difference.gap) <= options.tie;
  result.ties += difference.tie ? 1 : 0;
  result.differences.push_back(std::move(difference));
}

void check_searches(
    const Reference& reference, const Samples& samples, const CheckOptions& options, CheckReport& report) {
  std::map<std::pair<uint32_t, std::string>, SearchCheck> checks;  // greedy first, then by beam size
  for (size_t i = 0; i < samples.lines.size(); ++i) {
    for (const SampleSearch& expected : samples.lines[i].searches) {
      SearchCheck& result = checks[{expected.beam_size, expected.name}];
      result.name = expected.name;
      check_search(reference, samples.lines[i], expected, options, result);
    }
    if (options.progress) options.progress(i + 1, samples.lines.size());
  }
  if (checks.empty()) report.not_compared.push_back("searches: results.jsonl has no \"greedy\" or \"beam4\" ids");
  for (auto& [order, result] : checks) report.searches.push_back(std::move(result));
}

// Another value of a setting that no tensor tells.
struct Change {
  enum Setting { kHeads, kActivation, kNorms, kScale } setting;
  std::string text;  // "nhead 4", by config.json's name
  std::function<void(StackSpec&)> make;
};

void set_heads(uint32_t heads, StackSpec& stack) {
  const auto usual_scale = [&] { return 1 / std::sqrt(static_cast<float>(stack.d_head)); };
  const uint32_t width = stack.n_heads * stack.d_head;
  if (width % heads != 0) return;
  const bool has_usual_scale = stack.attention_scale == usual_scale();
  stack.n_heads = heads;
  stack.d_head = width / heads;
  if (has_usual_scale) stack.attention_scale = usual_scale();
}

std::vector<Change> changes_of(const StackSpec& stack) {
  std::vector<Change> changes;
  // The tables of biases and of rotary positions tell the number of heads.
  const auto has_bias = [](const LayerSpec& layer) { return layer.self_attention && layer.self_attention->bias; };
  const bool tells_heads = stack.rotary || std::any_of(stack.layers.begin(), stack.layers.end(), has_bias);
  constexpr uint32_t kMostHeads = 64;
  for (uint32_t heads = 1; heads <= kMostHeads && !tells_heads; ++heads)
    if (stack.n_heads * stack.d_head % heads == 0 && heads != stack.n_heads)
      changes.push_back({Change::kHeads, format_text("nhead {}", heads), [=](StackSpec& of) { set_heads(heads, of); }});
  for (const auto& [name, value] : {std::pair("relu", Activation::kRelu), std::pair("gelu", Activation::kGelu),
           std::pair("gelu_tanh", Activation::kGeluTanh), std::pair("silu", Activation::kSilu)})
    if (value != stack.activation)
      changes.push_back({Change::kActivation, format_text("activation {}", name),
          [activation = value](StackSpec& of) { of.activation = activation; }});
  const bool pre_norm = !stack.pre_norm, is_scaled = stack.embedding_scale == 1;
  const auto set_norms = [=](StackSpec& of) { of.pre_norm = pre_norm; };
  const auto set_scale = [=](StackSpec& of) {
    of.embedding_scale = is_scaled ? std::sqrt(static_cast<float>(of.d_model)) : 1;
  };
  changes.push_back({Change::kNorms, format_text("norm_first {}", pre_norm), set_norms});
  changes.push_back({Change::kScale, format_text("scale_embedding {}", is_scaled), set_scale});
  return changes;
}

bool is_equal(const ModelSpec& spec, const Samples& samples, double tolerance) {
  CheckReport report;
  check_trace(spec, samples, tolerance, report);
  if (report.first_departure() == nullptr) check_logits(Reference(spec), samples, tolerance, report);
  return report.first_departure() == nullptr;
}

// Returns the one or two settings that make a model equal whose tensors depart; nothing if there are none.
std::string find_settings(const ModelSpec& spec, const Samples& samples, double tolerance, const CheckReport& report) {
  const Departure& first = *report.first_departure();
  const bool in_encoder = first.tensor.starts_with("encoder."), in_decoder = first.tensor.starts_with("decoder.");
  const bool embedding_departs = first.tensor.ends_with(".embed");
  bool embedding_is_equal = false;
  for (const TensorCheck& tensor : report.tensors) {
    if (tensor.departure || ((in_encoder || in_decoder) && tensor.name[0] != first.tensor[0])) continue;
    if (tensor.name.find(".layers.") != std::string::npos) return "";  // the settings of its stack are right
    embedding_is_equal = embedding_is_equal || tensor.name.ends_with(".embed");
  }
  if (!first.reason.empty()) return "";
  const std::vector<Change> changes = changes_of(in_decoder ? spec.decoder : spec.encoder);
  std::vector<std::vector<Change>> candidates;
  for (const Change& change : changes) candidates.push_back({change});
  for (const Change& change : changes)
    for (const Change& other : changes)
      if (change.setting < other.setting) candidates.push_back({change, other});
  for (const std::vector<Change>& candidate : candidates) {
    const bool scales = candidate.back().setting == Change::kScale;
    if (embedding_departs ? !scales : scales && embedding_is_equal) continue;
    for (const std::string_view stack : {"", "encoder_", "decoder_"}) {
      if (in_decoder ? stack != "decoder_" : stack == "decoder_" || (stack == "encoder_" && !in_encoder)) continue;
      ModelSpec trial = spec;
      std::string text;
      for (const Change& change : candidate) {
        if (stack != "decoder_") change.make(trial.encoder);
        if (stack != "encoder_") change.make(trial.decoder);
        text += format_text("{}{}{}", text.empty() ? "" : " and ", stack, change.text);
      }
      if (is_equal(trial, samples, tolerance)) return text;
    }
  }
  return "";
}
}  // namespace

const Departure* CheckReport::first_departure() const {
  for (const TensorCheck& tensor : tensors)
    if (tensor.departure) return &*tensor.departure;
  return nullptr;
}

bool CheckReport::passed() const {
  return first_departure() == nullptr && std::all_of(searches.begin(), searches.end(), [](const SearchCheck& check) {
    return check.equal + check.ties == check.lines;
  });
}

CheckReport check(
    const Reference& reference, const std::filesystem::path& samples_folder, const CheckOptions& options) {
  const Samples samples = read_samples(samples_folder, reference.spec());
  CheckReport report;
  check_trace(reference.spec(), samples, options.tolerance, report);
  check_logits(reference, samples, options.tolerance, report);
  if (report.first_departure() == nullptr) check_searches(reference, samples, options, report);
  else report.equal_with = find_settings(reference.spec(), samples, options.tolerance, report);
  if (report.first_departure() != nullptr)
    report.not_compared.push_back("searches: they would say nothing while a layer departs");
  return report;
}

std::string to_text(const CheckReport& report) {
  std::string text;
  for (const TensorCheck& tensor : report.tensors)
    text += format_text("{:<20} [{}, {}]  largest difference {:.2e}{}\n", tensor.name, tensor.rows, tensor.columns,
        tensor.largest_difference, tensor.departure ? "  departs" : "");
  for (const SearchCheck& search : report.searches) {
    text += format_text("{:<20} {} of {} lines equal, {} ties\n", search.name, search.equal, search.lines, search.ties);
    for (const SearchDifference& difference : search.differences)
      text += format_text("  line {}: {}, the sample is ahead by {:.2e}\n    found    {}\n    expected {}\n",
          difference.line, difference.tie ? "a tie" : "differs", difference.gap, join_text(difference.found, " "),
          join_text(difference.expected, " "));
  }
  for (const std::string& item : report.not_compared) text += format_text("not compared: {}\n", item);
  if (const Departure* first = report.first_departure()) {
    text += format_text("first departure: {}, line {}", first->tensor, first->line);
    text += first->reason.empty() ? format_text(", row {}, column {}: found {}, expected {}\n", first->row,
                                        first->column, first->found, first->expected)
                                  : format_text(": {}\n", first->reason);
  }
  if (!report.equal_with.empty()) text += format_text("with {} it is equal\n", report.equal_with);
  return text;
}
}  // namespace goldcrest::converter
