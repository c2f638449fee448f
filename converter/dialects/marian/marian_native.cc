// SPDX-License-Identifier: Apache-2.0
// Marian's own models, .npz and .bin (marian-dev at 2781d735: src/models/transformer.h and src/layers/generic.cpp).
// Matrices are [inputs, outputs]. A target begins with the zero vector, which becomes a row with its own id.
#include "dialects/marian/marian_native.h"
#include <cmath>
#include "base/bounds.h"
#include "dialects/positions.h"
#include "dialects/tensor_reader.h"
#include "host/wording.h"
#include "sources/values/yaml_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr float kNativeNormEpsilon = 1e-6f;  // src/layers/generic.h, layerNorm
constexpr uint32_t kPositions = 512;         // sinusoids have this many positions, unless max-length is set

class MarianNativeReader {
 public:
  MarianNativeReader(const Checkpoint& checkpoint, const MarianGraph& graph, const Config& decoder, ModelSpec& spec)
      : graph_(graph), decoder_(decoder), tensors_(checkpoint.tensors), spec_(spec) {}

  void read() {
    read_tables();
    read_stack("encoder", graph_.encoder_layers, graph_.encoder_d_ff, spec_.encoder);
    read_stack("decoder", graph_.decoder_layers, graph_.decoder_d_ff, spec_.decoder);
    tensors_.check_missing();
    const std::vector<std::string> unused = tensors_.unused();
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }
 private:
  void read_tables() {
    const std::string source = graph_.shared_tables ? "Wemb" : "encoder_Wemb";
    const std::string target = graph_.shared_tables ? "Wemb" : "decoder_Wemb";
    spec_.encoder.embedding = tensors_.table(source, graph_.d_model);
    spec_.decoder.embedding = tensors_.table(target, graph_.d_model);
    const uint32_t vocab_size = spec_.decoder.embedding->rows;
    spec_.projection.weight = projection(vocab_size);
    const std::string bias = "decoder_ff_logit_out_b";
    spec_.projection.bias =
        graph_.has_projection_bias ? tensors_.vector(bias, vocab_size) : std::vector<float>(vocab_size, 0.0f);
  }

  std::shared_ptr<const Matrix> projection(uint32_t vocab_size) {
    const std::string legacy = "decoder_ff_logit_out_W";
    if (graph_.tied_projection) return spec_.decoder.embedding;
    return tensors_.has(legacy) ? tensors_.transposed(legacy, vocab_size, graph_.d_model)
                                : tensors_.matrix(legacy + "t", vocab_size, graph_.d_model);
  }

  // `end`: "q" for "_Wq" and "_bq".
  LinearSpec linear(const std::string& prefix, const std::string& end, uint32_t outputs, uint32_t inputs) {
    return {tensors_.transposed(prefix + "_W" + end, outputs, inputs), tensors_.vector(prefix + "_b" + end, outputs)};
  }

  // `end`: "" or "_pre".
  NormSpec norm(const std::string& prefix, const std::string& end) {
    return {tensors_.vector(prefix + "_ln_scale" + end, graph_.d_model),
        tensors_.vector(prefix + "_ln_bias" + end, graph_.d_model), kNativeNormEpsilon};
  }
  NormSpec block_norm(const std::string& prefix) { return norm(prefix, graph_.pre_norm ? "_pre" : ""); }

  AttentionSpec attention(const std::string& prefix) {
    const auto projection = [&](const char* end) { return linear(prefix, end, graph_.d_model, graph_.d_model); };
    return {projection("q"), projection("k"), projection("v"), projection("o"), block_norm(prefix + "_Wo")};
  }

  RecurrentSpec recurrent(const std::string& prefix) {
    const uint32_t d = graph_.d_model;
    return {{tensors_.transposed(prefix + "_W", d, d), std::vector<float>(d, 0.0f)}, linear(prefix, "f", d, d),
        graph_.pre_norm ? norm(prefix, "_pre") : norm(prefix + "_ffn", "")};
  }

  LayerSpec layer(const std::string& prefix, uint32_t d_ff, bool is_decoder) {
    LayerSpec layer;
    if (is_decoder && graph_.is_recurrent) layer.recurrent = recurrent(prefix + "_rnn");
    else layer.self_attention = attention(prefix + "_self");
    if (is_decoder) layer.cross_attention = attention(prefix + "_context");
    const std::string ffn = prefix + "_ffn";
    layer.feed_forward = {
        linear(ffn, "1", d_ff, graph_.d_model), linear(ffn, "2", graph_.d_model, d_ff), block_norm(ffn + "_ffn")};
    return layer;
  }

  void read_stack(const std::string& name, uint32_t n_layers, uint32_t d_ff, StackSpec& stack) {
    stack.d_model = graph_.d_model;
    stack.d_ff = d_ff;
    stack.n_heads = graph_.n_heads;
    stack.d_head = graph_.d_model / graph_.n_heads;
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
    stack.activation = graph_.activation;
    stack.pre_norm = graph_.pre_norm;
    read_positions(stack);
    if (graph_.embedding_norm) stack.embedding_norm = norm(name + "_emb", "_pre");
    if (graph_.final_norm) stack.final_norm = norm(name + "_top", "");
    for (uint32_t i = 1; i <= n_layers; ++i)
      stack.layers.push_back(layer(format_text("{}_l{}", name, i), d_ff, name == "decoder"));
  }

  // Learned positions (transformer-train-positions) are used with unscaled embeddings, sinusoids with scaled ones.
  void read_positions(StackSpec& stack) {
    if (tensors_.has("Wpos")) {
      stack.positions = *tensors_.table("Wpos", graph_.d_model);
      return;
    }
    const uint32_t most = std::min(kMaxPositions, static_cast<uint32_t>(kMaxPositionValues / graph_.d_model));
    const uint32_t rows = decoder_.count_or("max-length", std::min(kPositions, most), 1, most);
    Sinusoid native;
    native.denominator_minus_two = true;
    stack.positions = sinusoid_table(native, rows, graph_.d_model);
    stack.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(graph_.d_model)));
  }

  const MarianGraph& graph_;
  const Config& decoder_;
  TensorReader tensors_;
  ModelSpec& spec_;
};

ModelSpec load_marian_native(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const MarianGraph graph = read_marian_graph(checkpoint.config);
  const Config decoder = find_decoder_settings(checkpoint, spec.warnings);
  MarianNativeReader(checkpoint, graph, decoder, spec).read();
  read_marian_text(checkpoint, decoder, spec);
  add_start_row(spec);
  read_marian_shortlist(checkpoint, decoder, spec);
  return spec;
}

OpenedCheckpoint open_marian_native(const LoadRequest& request) {
  std::unique_ptr<TensorSource> tensors = counted(open_tensors(request.path), request.options);
  const std::filesystem::path file = tensors->files()[0];
  if (!tensors->settings().is_text())
    throw Error("{}: has no special:model.yml, which tells the graph of its weights", file.string());
  const std::string where = file.string() + ": special:model.yml";
  Config config(parse_yaml_settings(tensors->settings().text(), where), where, file);
  Checkpoint checkpoint{request.directory, std::move(config), std::move(tensors), false, request.options.config};
  return {std::move(checkpoint), "marian_native", load_marian_native};
}
}  // namespace

const WayIn kMarianNativeWay = {is_marian_native, open_marian_native, [] {
                                  return std::vector<ListedFamily>{
                                      {"Firefox's translation students and other models of Marian's own",
                                          "`.npz`, `.bin`, with their YAML, vocabularies and shortlists; [details of "
                                          "Marian files](converter/dialects/MARIAN.md)"}};
                                }};
}  // namespace goldcrest::converter
