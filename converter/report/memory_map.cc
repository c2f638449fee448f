// SPDX-License-Identifier: Apache-2.0
#include "report/memory_map.h"
#include <algorithm>
#include <array>
#include "base/align.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr std::array<const char*, 4> kPhaseNames = {"fixed", "text", "encode", "decode"};

const char* letter(uint8_t factor) {
  switch (factor) {
    case GOLDCREST_FACTOR_SOURCE_TOKENS: return "S";
    case GOLDCREST_FACTOR_SOURCE_BYTES: return "C";
    case GOLDCREST_FACTOR_TARGET_TOKENS: return "T";
    case GOLDCREST_FACTOR_LONGEST: return "L";
    case GOLDCREST_FACTOR_BEAM: return "B";
    case GOLDCREST_FACTOR_BATCH: return "N";
    case GOLDCREST_FACTOR_ENCODER_ROWS: return "R";
    case GOLDCREST_FACTOR_BEAM_USED: return "(B>1)";
    case GOLDCREST_FACTOR_THREADS: return "P";
    case GOLDCREST_FACTOR_CANDIDATES: return "K";
    case GOLDCREST_FACTOR_PREFIX_TOKENS: return "X";
    case GOLDCREST_FACTOR_SAMPLED: return "D";
    default: return "";
  }
}

std::string term(const goldcrest_buffer& buffer) {
  const bool for_each_task = std::ranges::count(buffer.factors, GOLDCREST_FACTOR_THREADS) > 0;
  const std::string copies = for_each_task ? format_text("{}*", letter(GOLDCREST_FACTOR_THREADS)) : "";
  if (buffer.coefficient == 0) return format_text("{}{}", copies, align_bytes(buffer.constant));
  std::string product = format_text("{}", buffer.coefficient);
  for (uint8_t factor : buffer.factors)
    if (factor != GOLDCREST_FACTOR_NONE && factor != GOLDCREST_FACTOR_THREADS)
      product += format_text("*{}", letter(factor));
  if (buffer.constant != 0) product = format_text("{} + {}", buffer.constant, product);
  return format_text("{}up64({})", copies, product);
}
}  // namespace

MemoryMap map_memory(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file) {
  MemoryMap map;
  goldcrest_detail detail = {"", -1};
  const auto keep = [](void* context, const goldcrest_buffer* buffer) {
    static_cast<MemoryMap*>(context)->buffers.push_back(*buffer);
  };
  const int status = goldcrest_plan_memory(model.data(), model.size(), &limits, &map.memory, keep, &map, &detail);
  if (status < 0) throw Error("{}: {}: {}", file, goldcrest_status_string(status), detail.message);
  return map;
}

std::string arena_formula(const MemoryMap& map) {
  std::string text = "arena = fixed + max(text, encode, decode)\n";
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    std::string sum;
    for (const goldcrest_buffer& buffer : map.buffers) {
      if (static_cast<size_t>(buffer.phase) != phase || (buffer.constant == 0 && buffer.coefficient == 0)) continue;
      sum += format_text("{}{}", sum.empty() ? "" : " + ", term(buffer));
    }
    text += format_text("{} = {}\n", kPhaseNames[phase], sum.empty() ? "0" : sum);
  }
  return text;
}

std::string formula_legend(const goldcrest_limits& limits) {
  const bool has_candidates = limits.max_candidates != 0 && limits.max_candidates != GOLDCREST_NO_SHORTLIST;
  return format_text(
      "S = {} source tokens, C = {} source bytes, T = {} target tokens, L = {} (the larger of S and T), B = {} beams, "
      "N = {} sentences, R = {} encoder rows, P = {} threads{}{}{}; up64: rounded up to 64; (B>1): 1 with beams, else "
      "0",
      limits.max_source_tokens, limits.max_source_bytes, limits.max_target_tokens,
      std::max(limits.max_source_tokens, limits.max_target_tokens), limits.beam_size, limits.batch, limits.encoder_rows,
      limits.threads,
      has_candidates ? format_text(", K = {} (the multiple of 16 above {} candidates)", pad16(limits.max_candidates),
                           limits.max_candidates)
                     : "",
      limits.max_prefix_tokens != 0 ? format_text(", X = {} prefix tokens", limits.max_prefix_tokens) : "",
      limits.max_sampled != 0 ? format_text(", D = {} sampled", limits.max_sampled) : "");
}

std::string picture(const MemoryMap& map) {
  std::vector<goldcrest_buffer> buffers = map.buffers;
  std::erase_if(buffers, [](const goldcrest_buffer& buffer) { return buffer.bytes == 0; });
  std::ranges::stable_sort(
      buffers, {}, [](const goldcrest_buffer& buffer) { return std::pair(buffer.phase, buffer.offset_bytes); });
  constexpr uint64_t kBarWidth = 40;
  std::string text =
      format_text("{:>12} {:>12}  {:{}}  {:7} buffer\n", "offset", "bytes", "share of the arena", kBarWidth, "phase");
  for (const goldcrest_buffer& buffer : buffers) {
    const uint64_t begin = buffer.offset_bytes * kBarWidth / map.memory.arena_bytes;
    const uint64_t end = std::max(begin + 1, (buffer.offset_bytes + buffer.bytes) * kBarWidth / map.memory.arena_bytes);
    std::string bar(static_cast<size_t>(kBarWidth), '.');
    std::fill(bar.begin() + static_cast<ptrdiff_t>(begin),
        bar.begin() + static_cast<ptrdiff_t>(std::min(end, kBarWidth)), '#');
    text += format_text("{:>12} {:>12}  {}  {:7} {}{}\n", buffer.offset_bytes, buffer.bytes, bar,
        kPhaseNames[buffer.phase], buffer.name, buffer.scratch ? " (scratch)" : "");
  }
  return text;
}
}  // namespace goldcrest::converter
