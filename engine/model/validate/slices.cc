// SPDX-License-Identifier: Apache-2.0
// Checks a file's checksums slice by slice. The caller's goldcrest_check stores the state, so that a call reads only
// its own slice and the trailer.
#include "base/exact_floats.h"
#include "base/arithmetic.h"
#include "model/validate/trailer.h"
#include "schema/model_reader_generated.h"

namespace goldcrest {
namespace {
constexpr uint32_t kParts = 5;  // the metadata and four sections

struct SliceCheck {
  const uint8_t* file;  // [file_bytes]
  size_t file_bytes, end;
  const VerifyFunctions& functions;
  goldcrest_check& state;
  goldcrest_detail& detail;  // named for GOLDCREST_REQUIRE

  int index() const { return static_cast<int>(state.part) - 1; }  // the current section's

  // Ensures that no state leads to a read outside of the file.
  int check_state() const {
    bool possible = state.part < kParts;
    uint64_t start = 0, previous = 0;  // start of the current part; end of the previous part
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

  // Stores the sections' places. They are read only once, because the metadata may change before the last section is
  // checked.
  int keep_sections() {
    GOLDCREST_TRY(validate_model(file, file_bytes, functions, &detail));
    const auto& sections = *format::GetModel(file)->sections();
    for (uint32_t i = 1; i < kParts; ++i) {
      const format::Section* section = sections.at(i - 1);
      state.ends[i] = section->offset() * kAlignment + section->size();
      state.checksums[i] = section->crc32c();
    }
    return GOLDCREST_OK;
  }

  // Checks the current part and the zeros after it, up to `end`. WORKING: the part continues after `end`.
  int check_part() {
    const uint64_t part_end = state.ends[state.part], next = align_bytes(part_end);
    uint64_t at = state.checked_bytes;
    if (at < part_end && at < end) {
      const uint64_t n = smaller<uint64_t>(end, part_end) - at;
      state.crc32c = functions.crc32c(state.crc32c, file + at, static_cast<size_t>(n));
      at += n;
    }
    for (; at >= part_end && at < smaller<uint64_t>(end, next); ++at)
      GOLDCREST_REQUIRE_INTACT(file[at] == 0, "sections: padding behind", index());
    state.checked_bytes = at;
    if (at < next) return GOLDCREST_WORKING;
    GOLDCREST_REQUIRE_INTACT(state.crc32c == state.checksums[state.part],
        state.part == 0 ? "metadata: checksum" : "sections: checksum", index());
    if (state.part == 0) GOLDCREST_TRY(keep_sections());
    state.crc32c = 0;
    ++state.part;
    return GOLDCREST_OK;
  }

  int run() {
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

int check_slice(
    const FileSlice& slice, const VerifyFunctions& functions, goldcrest_check* check, goldcrest_detail* detail) {
  goldcrest_detail unwanted;
  goldcrest_detail& wanted = detail != nullptr ? *detail : unwanted;
  const int status = SliceCheck{slice.file, slice.file_bytes, slice.end_bytes, functions, *check, wanted}.run();
  if (status != GOLDCREST_WORKING) *check = {};
  return status;
}
}  // namespace goldcrest
