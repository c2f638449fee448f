// SPDX-License-Identifier: Apache-2.0
// Assembles metadata, sections and trailer into one image.
#include "file/write.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>
#include "base/crc32c.h"
#include "file/format.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
static_assert(std::endian::native == std::endian::little, "the converter copies numbers as they are in memory");

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

void add_lines(std::span<const SelfTestLine> self_test, format::ModelT& metadata) {
  for (const SelfTestLine& line : self_test) {
    auto out = std::make_unique<format::SelfTestLineT>();
    out->source = line.source;
    out->target = line.target;
    out->hash_low = static_cast<uint32_t>(line.hash);
    out->hash_high = static_cast<uint32_t>(line.hash >> 32);
    out->shortlist = line.shortlist;
    out->samples = line.samples;
    out->n_forced = line.is_forced ? 1 : 0;
    metadata.self_test.push_back(std::move(out));
  }
}

// Returns the metadata except for places and checksums of the sections.
format::ModelT metadata_of(const Payload& payload, std::span<const SelfTestLine> self_test) {
  format::ModelT metadata(*payload.metadata);
  add_lines(self_test, metadata);
  for (const SectionBytes& section : payload.sections) {
    auto out = std::make_unique<format::SectionT>();
    out->kind = section.kind;
    out->size = section.size();
    out->offset = 1;  // not the default, so the real offset takes the same room; likewise for the checksum
    out->crc32c = out->size == 0 ? 0 : 1;
    metadata.sections.push_back(std::move(out));
  }
  return metadata;
}

format::ModelT metadata_of(const FileImage& image) {
  format::ModelT metadata;
  format::GetModel(image.bytes())->UnPackTo(&metadata);
  return metadata;
}

// Places the sections after metadata of at least `metadata_bytes`, and sets that to the bytes the metadata takes.
// Returns the bytes of the file.
uint64_t place_sections(format::ModelT& metadata, uint64_t& metadata_bytes) {
  metadata_bytes = std::max<uint64_t>(metadata_bytes, serialize(metadata).size());
  uint64_t end = align_bytes(metadata_bytes);
  for (const auto& section : metadata.sections) {
    if (end / kAlignment > UINT32_MAX) throw Error("the model is too large: the file goes beyond 256 GiB");
    section->offset = static_cast<uint32_t>(end / kAlignment);
    end = align_bytes(end + section->size);
  }
  return end + sizeof(Trailer);
}

// Writes metadata and trailer of an image whose sections are in place.
void finish(const format::ModelT& metadata, uint64_t metadata_bytes, FileImage& image) {
  const flatbuffers::DetachedBuffer serialized = serialize(metadata);
  std::fill_n(image.bytes(), align_bytes(metadata_bytes), uint8_t{0});
  std::memcpy(image.bytes(), serialized.data(), serialized.size());
  Trailer trailer;
  trailer.metadata_bytes = static_cast<uint32_t>(metadata_bytes);
  trailer.total_bytes = image.size();
  trailer.metadata_crc32c = crc32c(0, image.bytes(), metadata_bytes);
  trailer.trailer_crc32c = crc32c(0, &trailer, offsetof(Trailer, trailer_crc32c));
  std::memcpy(image.bytes() + image.size() - sizeof trailer, &trailer, sizeof trailer);
}

// If `payload` is not const, its sections' arrays are freed as they are copied.
template <typename AnyPayload>
FileImage image_of(AnyPayload& payload, std::span<const SelfTestLine> self_test, uint64_t metadata_bytes) {
  format::ModelT metadata = metadata_of(payload, self_test);
  FileImage image(place_sections(metadata, metadata_bytes));
  for (size_t i = 0; i < payload.sections.size(); ++i) {
    format::SectionT& section = *metadata.sections[i];
    uint8_t* const place = image.bytes() + section.offset * kAlignment;
    uint64_t at = 0;
    for (auto& array : payload.sections[i].arrays) {
      std::copy(array.begin(), array.end(), place + at);
      at += align_bytes(array.size());
      if constexpr (!std::is_const_v<AnyPayload>) std::vector<uint8_t>().swap(array);
    }
    section.crc32c = crc32c(0, place, section.size);
  }
  finish(metadata, metadata_bytes, image);
  return image;
}

uint64_t bytes_of_any_weights(format::ModelT metadata) {
  for (const auto& line : metadata.self_test) line->target.resize(metadata.decoder->max_positions);
  return serialize(metadata).size();
}
}  // namespace

void FileImage::grow(size_t bytes) { units_.resize(bytes / kAlignment); }

uint64_t metadata_bytes_of_any_weights(const Payload& payload, std::span<const SelfTestLine> self_test) {
  return bytes_of_any_weights(metadata_of(payload, self_test));
}

FileImage assemble(const Payload& payload, std::span<const SelfTestLine> self_test, uint64_t metadata_bytes) {
  return image_of(payload, self_test, metadata_bytes);
}

FileImage assemble_from(Payload& payload) {
  FileImage image = image_of(payload, {}, 0);
  payload.sections.clear();
  return image;
}

void add_self_test(std::span<const SelfTestLine> self_test, FileImage& image) {
  format::ModelT metadata = metadata_of(image);
  add_lines(self_test, metadata);
  const uint64_t begin = metadata.sections.front()->offset * kAlignment;
  const uint64_t n = image.size() - sizeof(Trailer) - begin;  // sections keep their places relative to one another
  uint64_t metadata_bytes = bytes_of_any_weights(metadata);
  image.grow(place_sections(metadata, metadata_bytes));
  uint8_t* const sections = image.bytes() + metadata.sections.front()->offset * kAlignment;
  std::memmove(sections, image.bytes() + begin, n);
  finish(metadata, metadata_bytes, image);
}
}  // namespace goldcrest::converter
