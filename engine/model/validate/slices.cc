// SPDX-License-Identifier: Apache-2.0
// A file's checksums a slice at a time. What is known of its parts is kept by the caller, so that a call reads its own
// slice and the trailer alone.
#include "base/arithmetic.h"
#include "model/validate/trailer.h"
#include "model_generated.h"

namespace goldcrest {

namespace {

constexpr uint32_t kParts = 5;  // the metadata and four sections

struct SliceCheck {
  const uint8_t* file;  // [file_bytes]
  size_t file_bytes, end;
  const VerifyFunctions& functions;
  goldcrest_check& state;
  goldcrest_detail* detail;  // named for GOLDCREST_REQUIRE

  int index() const { return static_cast<int>(state.part) - 1; }  // of the section that is under way

  // Whatever the state is, no byte outside of the file is read by it.
  [[gnu::cold]] int check_state() const {
    bool possible = state.part < kParts;
    uint64_t start = 0, previous = 0;  // of the part that is under way; the end of the one before
    for (uint32_t i = 0; possible && i < (state.part == 0 ? 1 : kParts); ++i) {
      possible = state.ends[i] >= align_bytes(previous) && state.ends[i] <= file_bytes - sizeof(Trailer);
      if (i == state.part) start = align_bytes(previous);
      previous = state.ends[i];
    }
    GOLDCREST_REQUIRE(
        possible && state.checked_bytes >= start && state.checked_bytes <= align_bytes(state.ends[state.part]),
        GOLDCREST_ERROR_ARGUMENT, "check: a state that no call has left", -1);
    return GOLDCREST_OK;
  }

  // The sections' places, which are read once: the metadata may change before the last of them is checked.
  [[gnu::cold]] int keep_sections() {
    GOLDCREST_TRY(validate_model(file, file_bytes, functions, detail));
    const auto& sections = *format::GetModel(file)->sections();
    for (uint32_t i = 1; i < kParts; ++i) {
      const format::Section* section = sections.Get(i - 1);
      state.ends[i] = section->offset() * kAlignment + section->size();
      state.checksums[i] = section->crc32c();
    }
    return GOLDCREST_OK;
  }

  // The part that is under way and the zeros behind it. WORKING: it goes on behind `end`.
  [[gnu::cold]] int check_part() {
    const uint64_t part_end = state.ends[state.part], next = align_bytes(part_end);
    uint64_t at = state.checked_bytes;
    if (at < part_end && at < end) {
      const uint64_t n = smaller<uint64_t>(end, part_end) - at;
      state.crc32c = functions.crc32c(state.crc32c, file + at, static_cast<size_t>(n));
      at += n;
    }
    for (; at >= part_end && at < smaller<uint64_t>(end, next); ++at) {
      GOLDCREST_REQUIRE_INTACT(file[at] == 0, "sections: padding behind", index());
    }
    state.checked_bytes = at;
    if (at < next) return GOLDCREST_WORKING;
    GOLDCREST_REQUIRE_INTACT(state.crc32c == state.checksums[state.part],
                             state.part == 0 ? "metadata: checksum" : "sections: checksum", index());
    if (state.part == 0) GOLDCREST_TRY(keep_sections());
    state.crc32c = 0;
    ++state.part;
    return GOLDCREST_OK;
  }

  [[gnu::cold]] int run() {
    Trailer trailer;
    GOLDCREST_TRY(read_trailer(file, file_bytes, functions, &trailer, detail));
    if (state.part == 0) {
      state.ends[0] = trailer.metadata_bytes;
      state.checksums[0] = trailer.metadata_crc32c;
    }
    GOLDCREST_TRY(check_state());
    while (state.part < kParts) {
      const int status = check_part();
      if (status != GOLDCREST_OK) return status;
    }
    return GOLDCREST_DONE;
  }
};

}  // namespace

int check_slice(const FileSlice& slice, const VerifyFunctions& functions, goldcrest_check* check,
                goldcrest_detail* detail) {
  const int status = SliceCheck{slice.file, slice.file_bytes, slice.end_bytes, functions, *check, detail}.run();
  if (status != GOLDCREST_WORKING) *check = {};
  return status;
}

}  // namespace goldcrest
