// SPDX-License-Identifier: Apache-2.0
// Changing a file's layout gives the bytes of a conversion to that layout.
#include "file/relayout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model_generated.h"
#include "support/expect_error.h"
#include "support/random_spec.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

constexpr Layout kLayouts[] = {Layout::kN16K4, Layout::kN4K16};

FileImage image_of(const ModelSpec& spec, Layout layout) {
  const SelfTestLine lines[] = {{{5, 3, 0}, {1, 2, 0}, 0x0123456789abcdefu}, {{7}, {0}, 1}};
  BuildOptions options;
  options.layout = layout;
  return assemble(build_payload(spec, options), lines);
}

bool same(const FileImage& a, const FileImage& b) { return std::ranges::equal(a.span(), b.span()); }

TEST(Relayout, TheBytesOfConvertingToThatLayout) {
  ModelSpec tied = test::random_spec(12);
  tied.projection.weight = tied.decoder.embedding;
  for (const ModelSpec& spec : {test::random_spec(11), tied, test::random_recurrent_spec(11)}) {
    for (const Layout from : kLayouts) {
      for (const Layout to : kLayouts) {
        const FileImage source = image_of(spec, from), expected = image_of(spec, to);
        EXPECT_EQ(same(source, expected), from == to);
        EXPECT_TRUE(same(relay_out(source, to, "model.gcst"), expected));
      }
    }
  }
}

TEST(Relayout, TheRoomOfTheMetadataStays) {
  const SelfTestLine lines[] = {{{5, 3, 0}, {1, 2, 0}, 0x0123456789abcdefu}};
  const Payload payload = build_payload(test::random_spec(11), {});
  for (const uint64_t room : {uint64_t{0}, metadata_bytes_of_any_weights(payload, lines), uint64_t{10000}}) {
    const FileImage image = assemble(payload, lines, room);
    const FileImage there = relay_out(image, Layout::kN4K16, "model.gcst");
    EXPECT_EQ(there.size(), image.size());
    EXPECT_TRUE(same(relay_out(there, Layout::kN16K4, "model.gcst"), image));
  }
}

TEST(Relayout, WhatItCannotKeepIsRefused) {
  FileImage image = image_of(test::random_spec(11), Layout::kN16K4);
  image.bytes()[image.size() - 100] ^= 1;
  test::expect_error([&] { relay_out(image, Layout::kN4K16, "model.gcst"); }, {"model.gcst: "});

  const Payload payload = build_payload(test::random_spec(11), {});
  const auto relay_out_changed = [&](auto change) {
    Payload changed;
    changed.metadata.reset(new format::ModelT(*payload.metadata));
    changed.sections = payload.sections;
    change(changed);
    (void)relay_out(assemble(changed, {}), Layout::kN4K16, "model.gcst");
  };
  test::expect_error([&] { relay_out_changed([](Payload& model) { ++model.metadata->weights_hash_low; }); },
                     {"model.gcst: the weights' hash is", "expected"});
  test::expect_error([&] { relay_out_changed([](Payload& model) { ++model.sections[0].at(0); }); },
                     {"the weights' hash is"});
  test::expect_error(
      [&] {
        relay_out_changed([](Payload& model) { ++model.metadata->encoder->layers[0]->feed_forward->in->weights; });
      },
      {"overlap"});
  test::expect_error(
      [&] {
        relay_out_changed([](Payload& model) {
          model.metadata->projection->weights = model.metadata->encoder->layers[0]->self_attention->out->weights;
        });
      },
      {"share their bytes"});
}

TEST(Relayout, AModelFileIsKnownByItsEndingOrItsIdentifier) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(is_model_file(folder.write("a.gcst", "")));
  EXPECT_TRUE(is_model_file(folder.write("a.bin", std::string("\1\0\0\0GCST", 8))));
  EXPECT_FALSE(is_model_file(folder.write("b.bin", "GCST")));
  EXPECT_FALSE(is_model_file(folder.path()));
  EXPECT_FALSE(is_model_file(folder / "missing.gcst"));
  test::expect_error([&] { read_model_file(folder / "a.gcst"); }, {"a.gcst: the file is empty"});
  // Without the identifier a file is no model, whatever its size is.
  for (const std::string& bytes : {std::string("GCST"), std::string(128, 'x')}) {
    const std::filesystem::path file = folder.write("b.bin", bytes);
    test::expect_error([&] { read_model_file(file); },
                       {"b.bin: it is not a .gcst file; expected one that goldcrest-convert made"});
  }
  const std::string begin("\1\0\0\0GCST", 8);
  folder.write("c", begin + "1234");
  test::expect_error([&] { read_model_file(folder / "c"); },
                     {"c: ", "12 bytes", "multiple of 64", "its end is missing"});
  EXPECT_EQ(read_model_file(folder.write("d", begin + std::string(120, 'x'))).size(), 128u);
}

}  // namespace
}  // namespace goldcrest::converter
