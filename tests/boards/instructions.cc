// SPDX-License-Identifier: Apache-2.0
// On the board: prints how many instructions the kernels and a whole search take, for every kernel table of the build.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include "board_api.h"
#include "counted_work.h"
#include "instruction_count.h"
#include "kernels/kernels.h"
#include "model_g2p.h"
#if defined(GOLDCREST_COUNT_ENFR)
#include "model_enfr.h"
#endif

namespace goldcrest::test { namespace {
void print_linear(const Kernels& table, Layout layout) {
  std::printf("  linear %s, n = %u, multiply-accumulates per instruction\n    rows",
      layout == Layout::kN16K4 ? "N16K4" : "N4K16", static_cast<unsigned>(kOutputs));
  for (const uint32_t k : {128, 256, 512}) std::printf("   k = %u", static_cast<unsigned>(k));
  std::printf("\n");
  for (uint32_t rows = 1; rows <= kMaxRows; ++rows) {
    std::printf("    %4u", static_cast<unsigned>(rows));
    for (const uint32_t k : {128u, 256u, 512u}) std::printf("   %7.3f", linear_rate(table, rows, k, layout));
    std::printf("\n");
  }
}

AttentionArgs<int8_t> attention_args() {
  AttentionArgs<int8_t> args = {};
  args.q = operands.x;
  args.keys = operands.w;
  args.values = operands.w + kKeys * kHeads * kHeadWidth;
  args.key_scales = args.value_scales = operands.cache_scales;
  args.out = operands.y;
  args.weights = operands.weights;
  args.q_row = operands.query;
  args.q_stride = args.out_stride = kHeads * kHeadWidth;
  args.head_stride = kKeys;
  args.position_stride = 1;
  args.rows = 1;
  args.n_keys = kKeys;
  args.n_heads = kHeads;
  args.d_head = kHeadWidth;
  args.scale = 0.176776695f;
  return args;
}

void print_slot(const char* name, uint64_t found) {
  std::printf("    %-44s %8" PRIu32 "\n", name, static_cast<uint32_t>(found));
}

// Prints the instructions of one call for one row.
void print_slots(const Kernels& table, Layout layout) {
  Operands& o = operands;
  std::printf("  instructions of one call\n");
  print_slot("quantize_rows, n = 128", instructions_of([&] {
    table.int8.quantize_rows({o.x, o.q, o.row_scale, 128, 128, 1, 1, 128});
  }));
  print_slot("layer_norm, n = 128", instructions_of([&] {
    table.layer_norm({o.x, o.y, o.w_scale, o.bias, 128, 1, 128, 128, 1e-5f});
  }));
  const AttentionArgs<int8_t> attention = attention_args();
  print_slot("attention, 4 heads of 32, 16 keys", instructions_of([&] { table.int8.attention(attention); }));
  print_slot("embed, n = 128", instructions_of([&] {
    table.int8.embed({o.w, o.w_scale, o.x, o.y, 1, 128, 1.0f, layout});
  }));
  OutputBlockArgs<int8_t> block = {};
  block.linear = linear_args(1, kOutputBlock, 16, layout);
  block.linear.y_stride = kOutputBlock;
  block.count = kOutputBlock;
  float largest, sum;
  const uint64_t logits = instructions_of([&] { table.int8.output_block(block); });
  block.block_max = &largest;
  block.block_sum = &sum;
  block.stride = 1;
  print_slot(
      "log-sum-exp of output_block, 256 outputs", instructions_of([&] { table.int8.output_block(block); }) - logits);
  float listed = 100.0f;
  int32_t token = 0;
  uint32_t count = 1;
  print_slot("list_largest, 256 numbers, none larger than the listed one", instructions_of([&] {
    table.list_largest({o.x, nullptr, 1, 256, {&listed, &token, &count, 1}});
  }));
  print_slot("crc32c, 1024 bytes", instructions_of([&] { table.crc32c(0, o.w, 1024); }));
  print_slot("weights_valid, 64 x 128", instructions_of([&] { table.weights_valid(o.w, nullptr, 64, 128, layout); }));
}

const CountedModel kPronunciation = {
    "pronunciation model", model_g2p, MODEL_G2P_BYTES, MODEL_G2P_LIMITS, kCountedWords, kNCountedWords};
#if defined(GOLDCREST_COUNT_ENFR)
constexpr const char* kSentences[] = {"The wren is a small bird.", "Where does this train go?"};
const CountedModel kTranslation = {
    "English-French model", model_enfr, MODEL_ENFR_BYTES, MODEL_ENFR_LIMITS, kSentences, 2};
constexpr size_t kArenaBytes = MODEL_ENFR_ARENA_BYTES;
#else
constexpr size_t kArenaBytes = MODEL_G2P_ARENA_BYTES;
#endif

alignas(GOLDCREST_ALIGN) uint8_t arena[kArenaBytes];

// Prints the cost of encoding and of a target position: runs the same sources to one token and to their end.
int print_search(goldcrest_engine* engine, const CountedModel& model, uint32_t beam_size) {
  SearchCost first, whole;
  int status = search_all(engine, model, beam_size, 1, &first);
  if (status >= 0) status = search_all(engine, model, beam_size, 0, &whole);
  if (status < 0) return status;
  const auto thousands = [](uint64_t n) { return static_cast<unsigned>((n + 500) / 1000); };
  const uint64_t positions = whole.steps - first.steps;
  std::printf("    beam %u: %8u per target position, %8u per generated token with its encoder work\n",
      static_cast<unsigned>(beam_size), thousands((whole.instructions - first.instructions) / positions),
      thousands(whole.instructions / whole.tokens));
  return 0;
}

bool print_model(const CountedModel& model, const char* kernels) {
  goldcrest_detail detail = {};
  goldcrest_config config = {.model = model.file,
      .model_bytes = model.file_bytes,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = model.limits,
      .kernels = kernels,
      .detail = &detail};
  goldcrest_engine* engine = nullptr;
  const uint64_t start = board_ticks();
  int status = goldcrest_init(&engine, &config);
  const uint64_t init = instructions_since(start);
  std::printf("  %s, thousands of instructions\n    init with every check: %u\n", model.name,
      static_cast<unsigned>(init / 1000));
  if (status >= 0) status = print_search(engine, model, 1);
  if (status >= 0) status = print_search(engine, model, 4);
  if (status < 0)
    std::printf("%s, %s\n", goldcrest_status_string(status), detail.message != nullptr ? detail.message : "");
  return status >= 0;
}

bool run() {
  if (!clock_counts_instructions()) return false;
  fill_operands();
  bool ok = true;
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    std::printf("%s: %s\n", board_name(), table->name);
    print_linear(*table, Layout::kN16K4);
    print_linear(*table, Layout::kN4K16);
    print_slots(*table, std::strcmp(table->name, "cortexm_helium") == 0 ? Layout::kN4K16 : Layout::kN16K4);
    ok &= print_model(kPronunciation, table->name);
#if defined(GOLDCREST_COUNT_ENFR)
    if (i == 0) ok &= print_model(kTranslation, table->name);  // all tables would take minutes
#endif
  }
  return ok;
}
}}  // namespace goldcrest::test

int main() {
  board_init();
  return goldcrest::test::run() ? 0 : 1;
}
