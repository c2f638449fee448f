// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "memory/plan.h"
#include "base/build_options.h"

namespace goldcrest {
namespace {
constexpr Phase kPhasesInTurn[] = {Phase::kText, Phase::kEncode, Phase::kDecode};  // those that share bytes
}  // namespace

uint64_t Plan::factor_value(uint8_t factor) const {
  switch (factor) {
    case GOLDCREST_FACTOR_SOURCE_TOKENS: return limits_.max_source_tokens;
    case GOLDCREST_FACTOR_SOURCE_BYTES: return limits_.max_source_bytes;
    case GOLDCREST_FACTOR_TARGET_TOKENS: return limits_.max_target_tokens;
    case GOLDCREST_FACTOR_LONGEST:
      return limits_.max_source_tokens > limits_.max_target_tokens ? limits_.max_source_tokens
                                                                   : limits_.max_target_tokens;
    case GOLDCREST_FACTOR_BEAM: return limits_.beam_size;
    case GOLDCREST_FACTOR_BATCH: return limits_.batch;
    case GOLDCREST_FACTOR_ENCODER_ROWS: return limits_.encoder_rows;
    case GOLDCREST_FACTOR_CANDIDATES: return kHasShortlist ? pad16(limits_.max_candidates) : 0;
    case GOLDCREST_FACTOR_PREFIX_TOKENS: return limits_.max_prefix_tokens;
    case GOLDCREST_FACTOR_SAMPLED: return kHasSearch ? limits_.max_sampled : 0;
    case GOLDCREST_FACTOR_BEAM_USED: return limits_.beam_size > 1 ? 1 : 0;
    default: return 1;
  }
}

BufferRef Plan::add(const char* name, Phase phase, Region region, const BufferSize& size) {
  uint64_t bytes = size.coefficient;
  bool overflow = false;
  for (uint8_t factor : size.factors) overflow |= __builtin_mul_overflow(bytes, factor_value(factor), &bytes);
  overflow |= __builtin_add_overflow(bytes, size.constant, &bytes);
  overflow |= bytes > uint64_t{1} << 40;
  bytes = overflow ? 0 : align_bytes(bytes);
  bool for_each_task = false;
  for (uint8_t factor : size.factors) for_each_task |= factor == GOLDCREST_FACTOR_THREADS;
  const uint64_t task_stride = for_each_task ? bytes / kAlignment : 0;
  if (for_each_task) bytes *= limits_.threads;  // at most 2^40 * 64

  uint64_t& used = used_[static_cast<int>(region)][static_cast<int>(phase)];
  const uint64_t offset = used;
  used += bytes;
  overflowed_ |= overflow || used / kAlignment > UINT32_MAX;

  if (visit_ != nullptr) {
    goldcrest_buffer buffer = {};
    buffer.name = name;
    buffer.phase = static_cast<uint32_t>(phase);
    buffer.scratch = region == Region::kScratch;
    buffer.constant = size.constant;
    buffer.coefficient = size.coefficient;
    for (int i = 0; i < 4; ++i) buffer.factors[i] = size.factors[i];
    buffer.bytes = bytes;
    buffer.offset_bytes = finished_->part_offset(region, phase) + offset;
    visit_(visit_context_, &buffer);
  }
  return {static_cast<uint32_t>(offset / kAlignment), static_cast<uint32_t>(task_stride), region, phase};
}

uint64_t Plan::longest_phase(Region region) const {
  uint64_t longest = 0;
  for (Phase phase : kPhasesInTurn)
    if (used(region, phase) > longest) longest = used(region, phase);
  return longest;
}

uint64_t Plan::longest_phase() const {
  uint64_t longest = 0;
  for (Phase phase : kPhasesInTurn) {
    const uint64_t both = used(Region::kMain, phase) + used(Region::kScratch, phase);
    if (both > longest) longest = both;
  }
  return longest;
}

uint64_t Plan::part_offset(Region region, Phase phase) const {
  if (phase == Phase::kAlways) return region == Region::kMain ? 0 : used(Region::kMain, Phase::kAlways);
  const uint64_t fixed = used(Region::kMain, Phase::kAlways) + used(Region::kScratch, Phase::kAlways);
  return region == Region::kMain ? fixed : fixed + used(Region::kMain, phase);
}
}  // namespace goldcrest
