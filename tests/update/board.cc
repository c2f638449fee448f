// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "support/engine_fixture.h"

namespace goldcrest::test {
namespace {
constexpr size_t kArenaBytes = 1 << 20;
constexpr uint32_t kTextBytes = 64;

uint32_t sectors_of(size_t model_bytes, const FlashSizes& sizes) {
  return static_cast<uint32_t>(2 + 2 * ((model_bytes + sizes.sector_bytes - 1) / sizes.sector_bytes));
}

goldcrest_search hashed_search() {
  goldcrest_search search = {};
  search.beam_size = 1;
  search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  return search;
}
}  // namespace

converter::FileImage tested_tiny_file(uint64_t seed) {
  TinyOptions options = odd_tiny_options();
  options.seed = seed;
  converter::ModelSpec spec = tiny_spec(options);
  add_tokenizers(converter::TokenizerKind::kCharacter, spec);
  const converter::Payload payload = converter::build_payload(spec, {});
  const converter::FileImage untested = converter::assemble(payload, {});
  TestEngine engine(untested.span(), {});
  engine.set_search(hashed_search());
  const std::vector<int32_t> source = {2, 3, 4, 0};
  const Translation translation = engine.run(source);
  const converter::SelfTestLine line = {
      {source.begin(), source.end()}, {translation.tokens.begin(), translation.tokens.end()}, translation.logits_hash};
  return converter::assemble(payload, std::vector{line});
}

uint64_t hash_of(goldcrest_engine* engine, const std::string& text) {
  const goldcrest_search search = hashed_search();
  goldcrest_result result = {};
  int status = goldcrest_set_search(engine, &search);
  if (status >= 0) status = goldcrest_begin_text(engine, text.data(), text.size());
  if (status >= 0) status = goldcrest_run(engine);
  if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
  if (status < 0) throw std::runtime_error(goldcrest_status_string(status));
  return result.logits_hash;
}

uint64_t hash_of(std::span<const uint8_t> model, const std::string& text) {
  EngineSetup setup;
  setup.limits.max_source_bytes = kTextBytes;
  setup.limits.beam_size = 1;
  return hash_of(TestEngine(model, setup).get(), text);
}

Board::Board(size_t model_bytes, const FlashSizes& sizes)
    : memory_(size_t{sectors_of(model_bytes, sizes)} * sizes.sector_bytes), arena_(kArenaBytes) {
  FlashDevice layout = {};
  layout.n_sectors = sectors_of(model_bytes, sizes);
  layout.sector_bytes = sizes.sector_bytes;
  layout.page_bytes = sizes.page_bytes;
  make_simulated_flash(&flash_, memory_.get(), &layout);
  slots_.flash = &flash_.device;
}

int Board::install(std::span<const uint8_t> model, size_t chunk_bytes) {
  ModelUpdate update;
  const auto rest = model.first(model.size() - kTrailerBytes);
  int status = begin_update(&update, &slots_, model.size(), model.last(kTrailerBytes).data());
  for (size_t at = 0; status >= 0 && at < rest.size(); at += chunk_bytes)
    status = write_update(&update, rest.data() + at, std::min(chunk_bytes, rest.size() - at));
  if (status >= 0) status = finish_update(&update);
  detail_ = update.detail;
  return status;
}

int Board::start() {
  std::fill(arena_.begin(), arena_.end(), uint8_t{0xAA});
  goldcrest_config config = {};
  config.arena = arena_.get();
  config.arena_bytes = arena_.size();
  config.limits.max_source_bytes = kTextBytes;
  config.limits.beam_size = 1;
  config.detail = &detail_;
  return start_model(&slots_, &config, &engine_);
}

void Board::settle(std::span<const uint8_t> model) {
  power_on(0, 0);
  if (install(model) < 0 || start() < 0 || confirm() < 0) throw std::runtime_error("settle: " + reason());
}

std::string Board::reason() const {
  return detail_.index < 0 ? detail_.message : detail_.message + (" (" + std::to_string(detail_.index) + ")");
}
}  // namespace goldcrest::test
