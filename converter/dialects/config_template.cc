// SPDX-License-Identifier: Apache-2.0
// Drafts the config.json of an nn.Transformer from its tensors.
#include "dialects/config_template.h"
#include <algorithm>
#include <cctype>
#include <optional>
#include "base/bounds.h"
#include "dialects/dialect.h"
#include "dialects/positions.h"
#include "dialects/tensor_reader.h"
#include "dialects/tutorials/tutorial.h"
#include "host/wording.h"
#include "sources/sniffing/sniff.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string without_encoding(const std::string& name) {
  std::string text = lower_case(name);
  for (const std::string word : {"encoding", "pos_enc", "posenc"})
    if (const size_t at = text.find(word); at != std::string::npos) text.erase(at, word.size());
  return text;
}
}  // namespace

bool has_any(const std::string& name, const std::vector<const char*>& parts) {
  const std::string lower = lower_case(name);
  return std::any_of(parts.begin(), parts.end(), [&](const char* p) { return lower.find(p) != std::string::npos; });
}

bool is_of_source(const std::string& name) { return has_any(name, {"src", "source", "enc", "input"}); }
bool is_of_target(const std::string& name) { return has_any(name, {"tgt", "trg", "target", "dec"}); }
bool has_source_positions(const std::string& name) { return is_of_source(without_encoding(name)); }
bool has_target_positions(const std::string& name) { return is_of_target(without_encoding(name)); }

std::string without_weight(const std::string& name) {
  const std::string end = ".weight";
  return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

namespace {
struct Stack {
  std::string prefix;  // "transformer.encoder."
  uint64_t d_model = 0, d_ff = 0, n_layers = 0;
};

std::string divisors(uint64_t d_model) {
  std::string text;
  for (uint64_t n = 1; n <= std::min<uint64_t>(d_model, kMaxHeads); ++n)
    if (d_model % n == 0) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return text;
}

class ConfigTemplate {
 public:
  // `tutorial` is null unless the tensors belong to a tutorial's code.
  ConfigTemplate(
      std::shared_ptr<const TensorSource> source, const std::filesystem::path& path, const Tutorial* tutorial)
      : tensors_(std::move(source)), path_(path), tutorial_(tutorial) {
    if (tutorial == nullptr) return;
    names_ = tutorial->names;
    of_tutorial_ = tutorial_settings(*tutorial, tensors_);
  }

  Value make() {
    find_stacks();
    json_["model_type"] = tutorial_ == nullptr ? "nn_transformer" : tutorial_->model_type;
    add_architecture();
    if (tutorial_ != nullptr) {
      add_positions_of_tutorial();
      add_sizes_of_tutorial();
      add_text();
      return json_;
    }
    sort_tables();
    find_embeddings();
    add_positions();
    add_text();
    add_tables();
    add_vocab_size("source", source_.empty() ? 0 : rows(source_));
    if (!json_.contains("shared_embeddings")) add_vocab_size("target", target_.empty() ? target_rows_ : rows(target_));
    json_["tensors"] = roles_;
    return json_;
  }
 private:
  // Finds the encoder and the decoder; only the decoder attends to the other.
  void find_stacks() {
    const std::string first = names_.first("encoder");
    Names encoders, decoders;
    for (const std::string& name : tensors_.names()) {
      if (name != first && !name.ends_with("." + first)) continue;
      const std::string prefix = name.substr(0, name.size() - first.size());
      const std::string across = prefix + "layers.0." + names_.cross_attention;
      const bool attends = names_.query != nullptr
                               ? tensors_.has(across + names_.query + ".weight")
                               : tensors_.has(across + "in_proj_weight") || tensors_.has(across + "q_proj_weight");
      (attends ? decoders : encoders).push_back(prefix);
    }
    if (encoders.size() != 1 || decoders.size() != 1) {
      throw Error(
          "{}: its tensors are {} encoders and {} decoders of nn.Transformer, expected one of each: names that end in "
          "\"{}\", for the decoder next to \"layers.0.{}{}\"; it has {}",
          path_.string(), encoders.size(), decoders.size(), first, names_.cross_attention,
          names_.query == nullptr ? "in_proj_weight" : names_.query + std::string(".weight"),
          list_in_quotes(tensors_.names(), 8));
    }
    encoder_ = read_stack(encoders[0]);
    decoder_ = read_stack(decoders[0]);
  }

  Stack read_stack(const std::string& prefix) const {
    const std::string first = prefix + names_.first("encoder");
    const std::vector<uint64_t> shape = tensors_.shape(first);
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0 || std::max(shape[0], shape[1]) > kMaxWidth)
      throw Error("{} has shape {}, expected [dim_feedforward, d_model]", tensors_.describe(first), shape_text(shape));
    Stack stack = {prefix, shape[1], shape[0]};
    while (stack.n_layers < kMaxLayers &&
           tensors_.has(format_text("{}layers.{}.{}.weight", prefix, stack.n_layers, names_.inner)))
      ++stack.n_layers;
    return stack;
  }

  bool is_in_a_stack(const std::string& name) const {
    return name.starts_with(encoder_.prefix + "layers.") || name.starts_with(decoder_.prefix + "layers.");
  }

  uint64_t rows(const std::string& name) const {
    const std::vector<uint64_t> shape = tensors_.shape(name);
    return *std::max_element(shape.begin(), shape.end() - 1);
  }
  uint64_t columns(const std::string& name) const { return tensors_.shape(name).back(); }

  // Sorts the tables [rows, d_model]: positions by their names, linear layers by their biases or names, all others as
  // embeddings. A table [1, rows, d_model] is not an embedding, so it may be of positions whatever its name is.
  void sort_tables() {
    for (const std::string& name : tensors_.names()) {
      const std::vector<uint64_t> shape = tensors_.shape(name);
      const bool is_wide = !shape.empty() && (shape.back() == encoder_.d_model || shape.back() == decoder_.d_model);
      if (is_in_a_stack(name) || shape.size() < 2 || shape.size() > 3 || !is_wide) continue;
      if (name == "pe" || name.ends_with(".pe") || has_any(name, {"pos"})) {
        positions_.push_back(name);
      } else if (shape.size() == 2) {
        const bool has_bias = tensors_.has(without_weight(name) + ".bias");
        const bool is_called_so =
            has_any(name, {"generator", "proj", "head", "out", "fc", "linear", "logit", "classif"});
        (has_bias || (is_called_so && !has_any(name, {"emb", "tok"})) ? linears_ : embeddings_).push_back(name);
      } else {
        others_.push_back(name);
      }
    }
  }

  void set(Value& json, const std::string& key, const Value& value, const std::string& note) {
    json[key] = value;
    json[key + "?"] = note;
  }
  // Asks for a setting unless the tutorial's code fixes it.
  void ask(const std::string& key, const std::string& choices) {
    if (of_tutorial_.contains(key)) set(json_, key, of_tutorial_[key], "the tutorial's; no tensor tells it");
    else set(json_, key, nullptr, choices);
  }
  void ask_token(const std::string& key, const std::string& meaning, const char* Tutorial::*of_tutorial) {
    ask(key,
        tutorial_ == nullptr ? meaning : format_text("{}; the tutorial's is {}", meaning, tutorial_->*of_tutorial));
  }
  void ask_name(const std::string& role, const Names& choices, const std::string& more) {
    const std::string names = choices.empty() ? "a table [vocabulary, d_model]; the checkpoint has none"
                                              : "one of " + list_in_quotes(choices, 8);
    set(roles_, role, nullptr, names + more);
  }

  // Sets a key for both stacks if they agree.
  void add_of_stacks(const std::string& key, uint64_t Stack::*value) {
    if (encoder_.*value == decoder_.*value) {
      json_[key] = encoder_.*value;
    } else {
      json_["encoder_" + key] = encoder_.*value;
      json_["decoder_" + key] = decoder_.*value;
    }
  }

  void add_architecture() {
    add_of_stacks("d_model", &Stack::d_model);
    add_of_stacks("dim_feedforward", &Stack::d_ff);
    json_["num_encoder_layers"] = encoder_.n_layers;
    json_["num_decoder_layers"] = decoder_.n_layers;
    const auto heads = [](uint64_t d_model) {
      return format_text(
          "one of {} (a divisor of d_model {}): nhead of the nn.Transformer", divisors(d_model), d_model);
    };
    if (encoder_.d_model == decoder_.d_model) {
      ask("nhead", heads(encoder_.d_model));
    } else {
      ask("encoder_nhead", heads(encoder_.d_model));
      ask("decoder_nhead", heads(decoder_.d_model));
    }
    ask("activation", R"("relu", "gelu" (with erf), "gelu_tanh" or "silu"; PyTorch's default is "relu")");
    ask("norm_first", "true or false; PyTorch's default is false");
    if (tutorial_ == nullptr) set(json_, "layer_norm_eps", 1e-5, "PyTorch's default");
    else ask("layer_norm_eps", "");
    ask("scale_embedding", "true if embeddings are multiplied by sqrt(d_model), as in PyTorch's tutorials, else false");
  }

  // Returns the sinusoids that a stored table holds, or nothing for another table.
  std::optional<Sinusoid> sinusoid_of(const std::string& name) {
    constexpr float kTolerance = 2e-3f;  // a table in half precision is off by up to 5e-4
    const auto d_model = static_cast<uint32_t>(columns(name));
    if (d_model % 2 != 0 || d_model < 4) return std::nullopt;
    const auto table = tensors_.table(name, d_model);
    if (uint64_t{table->rows} * d_model > kMaxPositionValues) return std::nullopt;
    for (const bool interleaved : {true, false}) {
      for (const bool minus_two : {false, true}) {
        for (uint32_t first = 0; first < 3; ++first) {
          const Sinusoid sinusoid = {interleaved, minus_two, first, 10000};
          if (largest_difference(*table, sinusoid_table(sinusoid, table->rows, d_model)) <= kTolerance) return sinusoid;
        }
      }
    }
    return std::nullopt;
  }

  void add_positions_of_tutorial() {
    ask("position_encoding", "");
    if (tutorial_->sinusoids == nullptr) return;
    const std::string meaning = "the most positions that a text may have";
    if (of_tutorial_.contains("max_positions"))
      set(json_, "max_positions", of_tutorial_["max_positions"],
          format_text("{}: the rows of \"{}\"; fewer make a smaller file", meaning, tutorial_->sinusoids));
    else ask("max_positions", "an integer: " + meaning);
  }

  // Names the tables that may be of positions: by their names, or else all that have no other role yet.
  std::string position_choices() const {
    Names choices = positions_;
    if (choices.empty()) {
      choices = only(embeddings_, [&](const std::string& name) { return name != source_ && name != target_; });
      choices.insert(choices.end(), others_.begin(), others_.end());
    }
    if (choices.empty()) return "";
    return ", or those of both sides as tensors.source_positions and tensors.target_positions; it may be one of " +
           list_in_quotes(choices, 8);
  }

  // Sets the number of learned positions, because --shape has no table to read it from.
  void set_rows(const std::string& key, const std::string& table) {
    json_[key] = std::min<uint64_t>(rows(table), kMaxPositions);
  }

  void add_positions() {
    const Names source = only(positions_, has_source_positions), target = only(positions_, has_target_positions);
    const bool one_for_each = positions_.size() == 2 && source.size() == 1 && target.size() == 1 && source != target;
    if (positions_.size() != 1 && !one_for_each) {
      ask("position_encoding",
          R"("sinusoidal_interleaved" (sin, cos, sin ...: the paper, PyTorch's tutorials), "sinusoidal_concatenated" )"
          R"((all sines, then all cosines), or "learned" with the table's name as tensors.positions)" +
              position_choices());
      ask("max_positions", "an integer: the most positions that a text may have");
      return;
    }
    const auto sinusoid = sinusoid_of(positions_[0]);
    if (!sinusoid || (one_for_each && !sinusoid_of(positions_[1]))) {
      json_["position_encoding"] = "learned";
      if (one_for_each) {
        roles_["source_positions"] = source[0];
        roles_["target_positions"] = target[0];
        set_rows("encoder_max_positions", source[0]);
        set_rows("decoder_max_positions", target[0]);
      } else {
        roles_["positions"] = positions_[0];
        set_rows("max_positions", positions_[0]);
      }
      return;
    }
    json_["position_encoding"] = sinusoid->interleaved ? "sinusoidal_interleaved" : "sinusoidal_concatenated";
    if (sinusoid->denominator_minus_two) json_["position_denominator"] = "d_model-2";
    if (sinusoid->first != 0) json_["position_offset"] = sinusoid->first;
    json_["max_positions"] = std::min<uint64_t>(rows(positions_[0]), kMaxPositions);
  }

  void add_text() {
    for (const std::string side : {"source_", "target_"}) {
      ask(side + "vocabulary",
          "the texts in the order of their ids, or a file next to config.json (.json, .spm, .model, or one text a "
          "line); remove it and the unit to use token ids only");
      ask(side + "unit", R"("word", "character", "subword" or "sentencepiece")");
    }
    ask_token("bos_token", "the start token, a text of the vocabulary or its id", &Tutorial::start);
    ask_token("eos_token", "the end token, a text of the vocabulary or its id", &Tutorial::end);
    ask_token("pad_token", "the padding token, a text or its id; remove it if there is none", &Tutorial::padding);
    ask_token("unk_token", "the unknown token, a text or its id; remove it if there is none", &Tutorial::unknown);
    if (tutorial_ != nullptr) ask("add_source_bos", "");
    ask("add_source_eos", "true if the end token follows a source, else false");
  }

  // Returns the table of one side, or "" if nothing tells which it is.
  std::string embedding(const Stack& stack, bool is_source, uint64_t target_rows) const {
    Names fitting = only(embeddings_, [&](const std::string& name) { return columns(name) == stack.d_model; });
    if (fitting.size() == 1) return fitting[0];
    const Names called = only(fitting, [&](const std::string& name) {
      return is_source ? is_of_source(name) && !is_of_target(name) : is_of_target(name) && !is_of_source(name);
    });
    if (called.size() == 1) return called[0];
    const Names of_target = only(fitting, [&](const std::string& name) { return rows(name) == target_rows; });
    if (fitting.size() != 2 || of_target.size() != 1) return "";
    return is_source == (fitting[0] == of_target[0]) ? fitting[1] : fitting[0];
  }

  Names last_linears() const {
    return only(linears_, [&](const std::string& name) { return columns(name) == decoder_.d_model; });
  }

  void find_embeddings() {
    const Names linears = last_linears();
    target_rows_ = linears.size() == 1 ? rows(linears[0]) : 0;
    source_ = embedding(encoder_, true, target_rows_);
    target_ = embedding(decoder_, false, target_rows_);
  }

  // If `n_entries` is 0, no table tells the size.
  void add_vocab_size(const std::string& side, uint64_t n_entries) {
    const std::string key = side + "_vocab_size";
    if (n_entries != 0) json_[key] = n_entries;
    else
      json_[key + "?"] =
          format_text("the rows of tensors.{}_embedding; --shape needs them if no vocabulary is given", side);
  }

  // Sets the sizes of the tables, because --shape has no tables to read them from.
  void add_sizes_of_tutorial() {
    const Value& roles = of_tutorial_["tensors"];
    for (const std::string side : {"source", "target"}) {
      const std::string stack = side == "source" ? "encoder" : "decoder";
      const auto table = [&](const std::string& role) -> std::string {
        const std::string name = roles.contains(role) ? roles[role].text() : "";
        return tensors_.has(name) && tensors_.shape(name).size() >= 2 ? name : "";
      };
      const std::string embedding = table(side + "_embedding"), positions = table(side + "_positions");
      if (!embedding.empty()) add_vocab_size(side, rows(embedding));
      if (!positions.empty()) set_rows(stack + "_max_positions", positions);
    }
  }

  void add_tables() {
    const Names linears = last_linears();
    const std::string &source = source_, &target = target_;
    const auto name_or_ask = [&](const char* role, const std::string& name) {
      if (name.empty()) ask_name(role, embeddings_, "");
      else roles_[role] = name;
    };
    name_or_ask("source_embedding", source);
    if (!source.empty() && source == target) json_["shared_embeddings"] = true;
    else name_or_ask("target_embedding", target);
    const Names fitting =
        only(linears, [&](const std::string& name) { return !target.empty() && rows(name) == rows(target); });
    const Names& projections = fitting.empty() ? linears : fitting;
    if (projections.size() == 1) roles_["output_projection"] = without_weight(projections[0]);
    else if (linears.empty() && !target.empty() && embeddings_.size() <= 2) json_["tied_output_projection"] = true;
    else ask_name("output_projection", linears.empty() ? embeddings_ : linears, ": the last linear layer");
    add_prefixes();
  }

  void add_prefixes() {
    const auto without = [](const std::string& prefix, const std::string& end) {
      const bool ends = prefix == end || prefix.ends_with("." + end);
      return ends ? std::optional(prefix.substr(0, prefix.size() - end.size())) : std::nullopt;
    };
    const auto whole = without(encoder_.prefix, "encoder.");
    if (whole && whole == without(decoder_.prefix, "decoder.")) {
      roles_["transformer"] = *whole;
    } else {
      roles_["encoder"] = encoder_.prefix;
      roles_["decoder"] = decoder_.prefix;
    }
  }

  TensorReader tensors_;
  const std::filesystem::path& path_;
  const Tutorial* tutorial_;
  LayerNames names_;
  Value of_tutorial_ = Value::map();
  Stack encoder_, decoder_;
  Names embeddings_, linears_, positions_, others_;
  std::string source_, target_;  // names of the embeddings; "": nothing tells them
  uint64_t target_rows_ = 0;     // rows of the last linear layer; 0: there are several
  Value json_, roles_ = Value::map();
};
}  // namespace

Value config_template(const std::filesystem::path& path) {
  const Sniffed sniffed = sniff(path);
  const bool has_settings = sniffed.kind == KindId::kMarianTensors || tells_its_settings(sniffed.kind);
  if (has_settings || (sniffed.use != Use::kConvert && sniffed.use != Use::kUnknown)) throw Error("{}", sniffed.text());
  return ConfigTemplate(open_tensors(path), path, tutorial_of(sniffed.kind)).make();
}
}  // namespace goldcrest::converter
