// SPDX-License-Identifier: Apache-2.0
#include "evaluate/centre_keys.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include "reference/reference.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kTargetTokens = 16;
// The share of squared scales that a centred head keeps. Where less is gained, other near ties decide as often against
// float32 as for it.
constexpr double kMostLeft = 0.75;

// The keys of an attention, row-major [keys, n_heads * d_head].
using AllKeys = std::map<const AttentionSpec*, std::vector<float>>;

// Returns the id with the largest logit, other than the end token.
int32_t likeliest(std::span<const float> logits, uint32_t end_id) {
  size_t best = end_id == 0 && logits.size() > 1 ? 1 : 0;
  for (size_t id = best + 1; id < logits.size(); ++id)
    if (logits[id] > logits[best] && id != end_id) best = id;
  return static_cast<int32_t>(best);
}

void decode_greedily(const Reference& reference, const EncodedSource& encoded) {
  const ModelSpec& spec = reference.spec();
  DecoderState state = reference.start(1);
  auto token = static_cast<int32_t>(spec.generation.decoder_start_id);
  for (uint32_t i = 0; i < std::min(kTargetTokens, spec.decoder.positions.rows); ++i)
    token = likeliest(reference.decode(encoded, {&token, 1}, state).row(0), spec.generation.end_id);
}

// The keys of a head: key i begins at first[i * stride].
struct HeadKeys {
  const float* first;
  size_t n, stride, d_head;

  std::vector<double> mean() const {
    std::vector<double> sums(d_head);
    for (size_t i = 0; i < n; ++i)
      for (size_t c = 0; c < d_head; ++c) sums[c] += double{first[i * stride + c]};
    for (double& sum : sums) sum /= static_cast<double>(n);
    return sums;
  }

  // Returns the sum of the squares of the keys' largest magnitudes, which their scales follow, less `centre`.
  double squared_scales(const std::vector<double>& centre) const {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      double largest = 0;
      for (size_t c = 0; c < d_head; ++c)
        largest = std::max(largest, std::abs(double{first[i * stride + c]} - centre[c]));
      sum += largest * largest;
    }
    return sum;
  }
};

CentredKeys centre_heads(const AllKeys& keys, size_t d_head, AttentionSpec& attention) {
  CentredKeys heads;
  const auto found = keys.find(&attention);
  if (found == keys.end()) return heads;
  std::vector<float>& bias = attention.key.bias;
  for (size_t column = 0; column < bias.size(); column += d_head, ++heads.heads) {
    const HeadKeys head = {found->second.data() + column, found->second.size() / bias.size(), bias.size(), d_head};
    const std::vector<double> mean = head.mean();
    // Written so that keys of zeros, and values that are not finite, centre nothing.
    if (!(head.squared_scales(mean) < kMostLeft * head.squared_scales(std::vector<double>(d_head)))) continue;
    for (size_t c = 0; c < d_head; ++c) {
      const double centred = double{bias[column + c]} - mean[c];
      bias[column + c] = static_cast<float>(centred);
    }
    ++heads.centred;
  }
  return heads;
}
}  // namespace

CentredKeys centre_keys(const std::vector<std::vector<int32_t>>& sources,
    const std::function<void(size_t, size_t)>& progress, ModelSpec& spec) {
  AllKeys keys;
  Reference reference(spec);
  reference.set_key_trace([&](const AttentionSpec& of, std::span<const float> key) {
    std::vector<float>& all = keys[&of];
    all.insert(all.end(), key.begin(), key.end());
  });
  for (size_t i = 0; i < sources.size(); ++i) {
    if (progress) progress(i, sources.size());
    decode_greedily(reference, reference.encode(sources[i]));
  }
  CentredKeys centred;
  const auto add = [&](const StackSpec& stack, AttentionSpec& attention) {
    const CentredKeys heads = centre_heads(keys, stack.d_head, attention);
    centred.heads += heads.heads;
    centred.centred += heads.centred;
  };
  for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    for (LayerSpec& layer : stack->layers) {
      if (layer.self_attention && !stack->rotary) add(*stack, *layer.self_attention);
      if (layer.cross_attention) add(*stack, *layer.cross_attention);
    }
  }
  return centred;
}

std::string to_text(const CentredKeys& keys) {
  return format_text("keys         {} of {} heads centred (--accuracy)\n", keys.centred, keys.heads);
}
}  // namespace goldcrest::converter
