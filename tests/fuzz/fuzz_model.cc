// SPDX-License-Identifier: Apache-2.0
// A model file with some changed fields of its metadata, then changed bytes anywhere, with right checksums; then any
// calls. The file is refused with a reason, or it runs within the memory that it asked for.
#include "base/bounds.h"
#include "fuzz/base_models.h"
#include "fuzz/engine_calls.h"
#include "unit/model/hostile_file.h"

namespace goldcrest::test { namespace {
// Writes the place of section `i` into the metadata, if the metadata has this section.
void set_section(uint8_t* metadata, size_t i, uint64_t start, uint64_t n) {
  const auto* const sections = format::GetModel(metadata)->sections();
  if (sections == nullptr || i >= sections->size()) return;
  // The buffer belongs to this program and is not constant.
  auto* const section = const_cast<flatbuffers::Table*>(
      reinterpret_cast<const flatbuffers::Table*>(sections->Get(static_cast<uint32_t>(i))));
  section->SetField(format::Section::VT_OFFSET, static_cast<uint32_t>(start / kAlignment), uint32_t{0});
  section->SetField(format::Section::VT_SIZE, n, uint64_t{0});
}

// Places sections one after another after the metadata. If `places_lie`, the metadata keeps the script's places.
FileImage assemble(const ModelParts& parts, bool places_lie) {
  flatbuffers::DetachedBuffer metadata = write_metadata(parts.metadata);
  const auto metadata_bytes = static_cast<uint32_t>(metadata.size());
  uint64_t end = align_bytes(metadata_bytes);
  std::vector<uint64_t> places;
  for (const std::vector<uint8_t>& section : parts.sections) {
    if (!places_lie) set_section(metadata.data(), places.size(), end, section.size());
    places.push_back(end);
    end = align_bytes(end + section.size());
  }
  FileImage file(end + kAlignment);
  std::copy_n(metadata.data(), metadata_bytes, file.bytes());
  for (size_t i = 0; i < places.size(); ++i)
    std::copy(parts.sections[i].begin(), parts.sections[i].end(), file.bytes() + places[i]);
  std::memcpy(file.bytes() + file.size() - kAlignment + 12, &metadata_bytes, sizeof metadata_bytes);  // in the trailer
  return file;
}

void change_bytes(Script& script, uint8_t* bytes, size_t n) {
  for (uint32_t i = script.below(8); i > 0 && n >= 4; --i) {
    const size_t at = script.half() % (n - 3);
    const uint32_t value = script.word();
    std::memcpy(bytes + at, &value, script.below(2) == 0 ? 1 : 4);
  }
}
}}  // namespace goldcrest::test

// The fuzzer must count edges of the engine, not of the converter that makes the models.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  using namespace goldcrest::test;
  (void)base_models();
  (void)family_models();
  (void)fine_models();
  (void)richer_models();
  (void)speech_models();
  (void)large_model();
  (void)far_model();
  return 0;
}

namespace goldcrest::test {
void run_input(Script script) {
  const uint32_t sum = script.sum();
  const uint8_t which = script.byte();
  // The two last models cost as much as twenty others, so only an eighth of the inputs that ask for them gets them.
  const bool is_rare = which >= 254 && sum % 8 == 0;
  // An eighth of the inputs use the richer models, an eighth those that hear, an eighth those of recent families or
  // with fine inputs.
  const std::vector<ModelParts>& models = which >= 224   ? richer_models()
                                          : which >= 192 ? speech_models()
                                          : which >= 184 ? fine_models()
                                          : which >= 160 ? family_models()
                                                         : base_models();
  ModelParts parts = !is_rare ? models[which % models.size()] : which == 255 ? large_model() : far_model();
  for (uint32_t i = script.below(5); i > 0; --i) change_metadata(script, parts.metadata);
  if (script.one_in(2)) {
    std::vector<uint8_t>& section = parts.sections[script.below(4)];
    if (script.one_in(4)) section.resize(script.half() % (2 * section.size() + 1));
    change_bytes(script, section.data(), section.size());
  }
  FileImage file = assemble(parts, script.one_in(16));
  const bool is_damaged = script.one_in(8);
  if (is_damaged) {
    repair_checksums(file);
    change_bytes(script, file.bytes(), file.size());
  }
  if (!is_damaged || script.below(2) == 0) repair_checksums(file);
  const size_t model_bytes = is_damaged && script.one_in(4) ? script.half() % file.size() : file.size();
  // The engine must not read past the end of the file.
  GuardedBuffer<uint8_t> model(align_bytes(model_bytes));
  std::copy_n(file.bytes(), model_bytes, model.begin());
  call_engine({model.get(), model_bytes}, script);
}
}  // namespace goldcrest::test
