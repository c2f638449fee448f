// SPDX-License-Identifier: Apache-2.0
// Every kernel table of this build equals the reference bit for bit. Tables run natively if this CPU has their
// instructions, those of x86 also over emulated intrinsics. A new table needs no new test.
#include "contract_cases.h"
#include "emulated_tables.h"
#include "goldcrest/goldcrest.h"
#include "kernels/reference/reference.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
void expect_reference_bits(const Kernels& table, const char* way) {
  std::printf("%s %s\n", table.name, way);
  std::fflush(stdout);  // so that a crash shows this table's name
  for (const ContractCase* c = kContractCases; c->slot != nullptr; ++c) {
    const Difference difference = c->compare(table, kernels_reference, 0);
    EXPECT_FALSE(difference.has_value()) << table.name << ' ' << way << ", " << c->slot << ": "
                                         << difference.value_or("");
  }
}

TEST(Contract, EveryTableEqualsTheReference) {
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) expect_reference_bits(*table, "native");
}

#if defined(__x86_64__)
TEST(Contract, EveryTableOfX86EmulatedEqualsTheReference) {
  std::set<std::string> sources, files, emulated, built;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDCREST_SOURCE_DIR "/engine/kernels/x86")) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() == ".cc") sources.insert("x86_" + file.stem().string());
  }
  for (const Kernels* table : kEmulatedTables) {
    expect_reference_bits(*table, "emulated");
    const std::string name = table->name;
    emulated.insert(name);
    files.insert(name.substr(0, name.rfind("_amd")));  // AMD's table is in the file of the other one
  }
  EXPECT_EQ(files, sources) << "engine/kernels/x86/*.cc: a table that is not emulated";
  for (uint32_t i = 0; const char* name = goldcrest_kernels_built(i); ++i) built.insert(name);
  built.erase("reference");
  EXPECT_EQ(emulated, built);
}
#endif

// Slots are broken in ways that are easy to get wrong.
void break_rows_or_linear(const std::string& slot, Kernels& table) {
  if (slot == "quantize_rows") {
    table.int8.quantize_rows = [](const QuantizeRowsArgs<int8_t>& args) {  // rounds ties away from zero
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
    table.int8.linear = [](const LinearArgs<int8_t>& args) {  // forgets the last of 5 rows
      LinearArgs<int8_t> fewer = args;
      if (fewer.rows == 5) --fewer.rows;
      reference_linear(fewer);
    };
  } else if (slot == "embed") {
    table.int8.embed = [](const EmbedArgs<int8_t>& args) {
      reference_embed(args);
      if (args.layout == Layout::kN4K16 && args.token == 17) args.y[0] += 1;
    };
  } else if (slot == "layer_norm") {
    table.layer_norm = [](const LayerNormArgs& args) {  // leaves the padding as it was
      LayerNormArgs shorter = args;
      shorter.n_padded = args.n;
      reference_layer_norm(shorter);
    };
  } else if (slot == "recurrence") {
    table.recurrence = [](const RecurrenceArgs& args) {  // keeps tiny cells
      reference_recurrence(args);
      for (uint32_t i = 0; i < args.n; ++i)
        if (args.cell[i] == 0 && args.past != nullptr) args.cell[i] = 0.5f * args.past[i];
    };
  } else if (slot == "finish_fine") {
    table.finish_fine = [](const LinearArgs<int8_t>& args, const float* given) {  // adds the bias last
      std::vector<float> products(given, given + size_t{2} * args.rows * args.n);
      LinearArgs<int8_t> other = args;
      const std::vector<float> zeros(args.n);
      other.bias = zeros.data();
      const size_t size = size_t{args.rows} * args.n;
      for (size_t i = 0; i < size; ++i) products[i] = (products[i] + products[size + i]) + args.bias[i % args.n];
      std::fill(products.begin() + static_cast<ptrdiff_t>(size), products.end(), 0.0f);
      reference_finish_fine(other, products.data());
    };
  } else if (slot == "quantize_fine_inputs") {
    table.quantize_fine_inputs = [](const QuantizeRowsArgs<int8_t>& args, float*) {  // leaves no remainders
      reference_quantize_rows(args);
      std::fill_n(args.q + args.rows * args.q_stride, args.rows * args.q_stride, int8_t{0});
      std::fill_n(args.scale + args.rows * args.scale_stride, args.rows, 0.0f);
    };
  } else if (slot == "linear_fine") {
    table.linear_fine = reference_linear;  // forgets the remainders
  }
}
void break_other_slot(const std::string& slot, Kernels& table) {
  if (slot == "linear_packed") {
    table.linear_packed = [](const LinearArgs<int8_t>& args) {  // takes multipliers as positive
      std::vector<int8_t> multipliers(args.multipliers, args.multipliers + size_t{args.n} * packed_groups(args.k));
      for (int8_t& m : multipliers) m = static_cast<int8_t>(std::abs(m));
      LinearArgs<int8_t> other = args;
      other.multipliers = multipliers.data();
      linear_packed(kernels_reference, other);
    };
  } else if (slot == "attention") {
    table.int8.attention = [](const AttentionArgs<int8_t>& args) {  // ignores the ancestor table
      AttentionArgs<int8_t> other = args;
      other.ancestor = nullptr;
      reference_attention(other);
    };
  } else if (slot == "integer_attention") {
    table.int8.attention = [](const AttentionArgs<int8_t>& args) {  // ignores the value of the last of 1,033 keys
      AttentionArgs<int8_t> fewer = args;
      if (args.integer && args.n_keys == 1033) --fewer.n_keys;
      reference_attention(fewer);
    };
  } else if (slot == "quantize_fine") {
    table.quantize_fine = [](const QuantizeRowsArgs<int8_t>& args) {  // rounds low numbers towards zero
      reference_quantize_fine(args);
      for (uint32_t i = 0; i < args.n; ++i) {
        const float low = args.x[i] / (args.scale[0] == 0 ? 1 : args.scale[0]) - 254.0f * args.q[i];
        if (low > -127 && low < 127) args.q[args.n + i] = static_cast<int8_t>(low);
      }
    };
  } else if (slot == "fine_attention") {
    table.fine_attention = [](const AttentionArgs<int8_t>& args) {  // ignores the low numbers of the first value
      std::vector<int8_t> values(args.values, args.values + size_t{2} * args.d_head * args.n_heads * args.head_stride);
      std::fill_n(values.begin() + args.d_head, args.d_head, int8_t{0});
      AttentionArgs<int8_t> other = args;
      other.values = values.data();
      reference_fine_attention(other);
    };
  } else if (slot == "output_block") {
    table.int8.output_block = [](const OutputBlockArgs<int8_t>& args) {  // sums over the padding, too
      OutputBlockArgs<int8_t> padded = args;
      padded.count = args.linear.n;
      reference_output_block(padded);
    };
  } else if (slot == "list_largest") {
    table.list_largest = [](const ListLargestArgs& args) {  // ignores the last number
      ListLargestArgs fewer = args;
      --fewer.n;
      reference_list_largest(fewer);
    };
  } else if (slot == "crc32c") {
    table.crc32c = [](uint32_t, const void* bytes, size_t n) {  // ignores the checksum so far
      return kernels_reference.crc32c(0, bytes, n);
    };
  } else if (slot == "weights_valid") {
    table.weights_valid = [](const int8_t* w, const int32_t* sum, uint32_t n, uint32_t k, Layout layout) {
      return reference_weights_valid(w, nullptr, n, k, layout) || sum == nullptr;
    };
  }
}

TEST(Contract, ABrokenSlotIsFound) {
  int n = 0;
  for (const ContractCase* c = kContractCases; c->slot != nullptr; ++c, ++n) {
    Kernels table = kernels_reference;
    break_rows_or_linear(c->slot, table);
    break_other_slot(c->slot, table);
    EXPECT_TRUE(c->compare(table, kernels_reference, 0).has_value()) << c->slot;
  }
  EXPECT_EQ(n, 17) << "one case for each slot of Kernels, and one for integer attention";
}
}}  // namespace goldcrest::test
