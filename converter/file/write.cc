// SPDX-License-Identifier: Apache-2.0
// Metadata, sections and trailer into one image.
#include "file/write.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/crc32c.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

static_assert(std::endian::native == std::endian::little, "the converter copies numbers as they lie in memory");

// FORMAT.md, "Trailer".
struct Trailer {
  char magic[8] = {'G', 'C', 'S', 'T', 'E', 'N', 'D', '\n'};
  uint32_t format_version = GOLDCREST_FORMAT_VERSION;
  uint32_t metadata_bytes = 0;
  uint64_t total_bytes = 0;
  uint32_t metadata_crc32c = 0;
  uint8_t zeros[32] = {};
  uint32_t trailer_crc32c = 0;
};
static_assert(sizeof(Trailer) == kAlignment);

flatbuffers::DetachedBuffer serialize(const format::ModelT& metadata) {
  flatbuffers::FlatBufferBuilder builder;
  format::FinishModelBuffer(builder, format::CreateModel(builder, &metadata));
  return builder.Release();
}

// All but the places of the sections.
format::ModelT metadata_of(const Payload& payload, std::span<const SelfTestLine> self_test) {
  format::ModelT metadata(payload.metadata);
  for (const SelfTestLine& line : self_test) {
    auto out = std::make_unique<format::SelfTestLineT>();
    out->source = line.source;
    out->target = line.target;
    out->hash_low = static_cast<uint32_t>(line.hash);
    out->hash_high = static_cast<uint32_t>(line.hash >> 32);
    out->shortlist = line.shortlist;
    metadata.self_test.push_back(std::move(out));
  }
  for (const SectionBytes& section : payload.sections) {
    auto out = std::make_unique<format::SectionT>();
    out->kind = section.kind;
    out->offset = 1;  // not the default, so that the true offsets take the same room
    out->size = section.bytes.size();
    out->crc32c = crc32c(0, section.bytes.data(), section.bytes.size());
    metadata.sections.push_back(std::move(out));
  }
  return metadata;
}

// Gives the sections their places when the metadata takes `metadata_bytes`. Returns the offset of the trailer.
uint64_t place_sections(format::ModelT& metadata, uint64_t metadata_bytes) {
  uint64_t end = align_bytes(metadata_bytes);
  for (const auto& section : metadata.sections) {
    if (end / kAlignment > UINT32_MAX) throw Error("the model is too large: the file goes beyond 256 GiB");
    section->offset = static_cast<uint32_t>(end / kAlignment);
    end = align_bytes(end + section->size);
  }
  return end;
}

}  // namespace

uint64_t metadata_bytes_of_any_weights(const Payload& payload, std::span<const SelfTestLine> self_test) {
  format::ModelT metadata = metadata_of(payload, self_test);
  for (const auto& line : metadata.self_test) line->target.resize(metadata.decoder->max_positions);
  return serialize(metadata).size();
}

FileImage assemble(const Payload& payload, std::span<const SelfTestLine> self_test, uint64_t metadata_bytes) {
  format::ModelT metadata = metadata_of(payload, self_test);
  Trailer trailer;
  trailer.metadata_bytes = static_cast<uint32_t>(std::max<uint64_t>(metadata_bytes, serialize(metadata).size()));
  const uint64_t trailer_offset = place_sections(metadata, trailer.metadata_bytes);
  const flatbuffers::DetachedBuffer serialized = serialize(metadata);
  trailer.total_bytes = trailer_offset + sizeof trailer;
  FileImage image(trailer.total_bytes);
  std::memcpy(image.bytes(), serialized.data(), serialized.size());
  trailer.metadata_crc32c = crc32c(0, image.bytes(), trailer.metadata_bytes);
  trailer.trailer_crc32c = crc32c(0, &trailer, offsetof(Trailer, trailer_crc32c));
  for (size_t i = 0; i < payload.sections.size(); ++i) {
    const std::vector<uint8_t>& bytes = payload.sections[i].bytes;
    std::copy(bytes.begin(), bytes.end(), image.bytes() + metadata.sections[i]->offset * kAlignment);
  }
  std::memcpy(image.bytes() + trailer_offset, &trailer, sizeof trailer);
  return image;
}

}  // namespace goldcrest::converter
