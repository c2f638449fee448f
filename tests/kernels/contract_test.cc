// SPDX-License-Identifier: Apache-2.0
// Every kernel table that this build has and this CPU runs equals the reference bit for bit. A new table needs no new
// test.
#include <gtest/gtest.h>

#include "contract_cases.h"
#include "kernels/reference.h"

namespace goldcrest {
namespace {

using test::ContractCase;
using test::kContractCases;

TEST(Contract, EveryTableEqualsTheReference) {
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    for (const ContractCase* c = kContractCases; c->slot != nullptr; ++c) {
      const test::Difference difference = c->compare(*table, kernels_reference);
      EXPECT_FALSE(difference.has_value()) << table->name << ", " << c->slot << ": " << difference.value_or("");
    }
  }
}

// Tables with one broken slot each, in ways that are easy to get wrong.
Kernels broken_table(const std::string& slot) {
  Kernels table = kernels_reference;
  if (slot == "quantize_rows") {
    table.quantize_rows = [](const QuantizeRowsArgs& args) {  // ties away from zero
      reference_quantize_rows(args);
      for (uint32_t row = 0; row < args.rows; ++row) {
        const float inverse = args.scale[row * args.scale_stride] == 0 ? 0 : 1 / args.scale[row * args.scale_stride];
        for (uint32_t i = 0; i < args.n; ++i) {
          const float scaled = args.x[row * args.x_stride + i] * inverse;
          if (scaled == 2.5f) args.q[row * args.q_stride + i] = 3;
        }
      }
    };
  } else if (slot == "linear") {
    table.linear = [](const LinearArgs& args) {  // the last row is forgotten for 5 rows
      LinearArgs fewer = args;
      if (fewer.rows == 5) --fewer.rows;
      reference_linear(fewer);
    };
  } else if (slot == "embed") {
    table.embed = [](const EmbedArgs& args) {
      reference_embed(args);
      if (args.layout == Layout::kN4K16 && args.token == 17) args.y[0] += 1;
    };
  } else if (slot == "layer_norm") {
    table.layer_norm = [](const LayerNormArgs& args) {  // the padding is left as it was
      LayerNormArgs shorter = args;
      shorter.n_padded = args.n;
      reference_layer_norm(shorter);
    };
  } else if (slot == "attention") {
    table.attention = [](const AttentionArgs& args) {  // the ancestor table is ignored
      AttentionArgs other = args;
      other.ancestor = nullptr;
      reference_attention(other);
    };
  } else if (slot == "output_block") {
    table.output_block = [](const OutputBlockArgs& args) {  // the sum runs over the padding too
      OutputBlockArgs padded = args;
      padded.count = args.linear.n;
      reference_output_block(padded);
    };
  } else if (slot == "next_above") {
    table.next_above = [](const float* x, uint32_t begin, uint32_t end, float threshold) {
      while (begin < end && !(x[begin] >= threshold)) ++begin;  // not strictly above
      return begin;
    };
  } else if (slot == "crc32c") {
    table.crc32c = [](uint32_t crc, const void* bytes, size_t n) {  // not continued
      (void)crc;
      return kernels_reference.crc32c(0, bytes, n);
    };
  } else if (slot == "weights_valid") {
    table.weights_valid = [](const int8_t* w, const int32_t* sum, uint32_t n, uint32_t k, Layout layout) {
      return reference_weights_valid(w, nullptr, n, k, layout) || sum == nullptr;
    };
  }
  return table;
}

TEST(Contract, ABrokenSlotIsFound) {
  int n = 0;
  for (const ContractCase* c = kContractCases; c->slot != nullptr; ++c, ++n) {
    EXPECT_TRUE(c->compare(broken_table(c->slot), kernels_reference).has_value()) << c->slot;
  }
  EXPECT_EQ(n, 9) << "one case for each slot of Kernels";
}

}  // namespace
}  // namespace goldcrest
