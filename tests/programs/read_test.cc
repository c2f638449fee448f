// SPDX-License-Identifier: Apache-2.0
// goldcrest-read: pixels of PNG and JPEG files that this test writes, and the program itself.
#include "read/picture.h"

// libjpeg's header needs stdio's before it.
#include <jpeglib.h>
#include <zlib.h>

#include "convert/support/sample_folder.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
std::string big_endian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
      static_cast<char>(number)};
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body + big_endian(static_cast<uint32_t>(crc));
}

struct Png {
  char depth, colours;          // the colour type of PNG
  std::string rows, more = "";  // rows with their filters; further chunks
  uint32_t width = 3, height = 2;

  std::string bytes() const {
    uLongf n = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(n, '\0');
    compress(reinterpret_cast<Bytef*>(packed.data()), &n, reinterpret_cast<const Bytef*>(rows.data()),
        static_cast<uLong>(rows.size()));
    const std::string header = big_endian(width) + big_endian(height) + depth + colours + std::string(3, '\0');
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + more + chunk("IDAT", packed.substr(0, n)) + chunk("IEND", "");
  }
};

std::string exif(char orientation) {
  return std::string("II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0", 18) + orientation + std::string(7, '\0');
}

// 16 x 8 pixels, of which the left half has the first value of each colour, the right half the second.
std::string jpeg(J_COLOR_SPACE space, int n_colours, char orientation = 0) {
  jpeg_compress_struct out = {};
  jpeg_error_mgr errors = {};
  out.err = jpeg_std_error(&errors);
  jpeg_create_compress(&out);
  unsigned char* bytes = nullptr;
  unsigned long n = 0;
  jpeg_mem_dest(&out, &bytes, &n);
  out.image_width = 16;
  out.image_height = 8;
  out.input_components = n_colours;
  out.in_color_space = space;
  jpeg_set_defaults(&out);
  jpeg_start_compress(&out, TRUE);
  const std::string data = std::string("Exif\0\0", 6) + exif(orientation);
  if (orientation != 0)
    jpeg_write_marker(
        &out, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(data.data()), static_cast<unsigned>(data.size()));
  std::vector<JSAMPLE> row(size_t{16} * static_cast<size_t>(n_colours), 40);
  std::fill(row.begin() + 8 * n_colours, row.end(), JSAMPLE{200});
  for (JSAMPROW at = row.data(); out.next_scanline < 8;) jpeg_write_scanlines(&out, &at, 1);
  jpeg_finish_compress(&out);
  std::string result(reinterpret_cast<const char*>(bytes), n);
  jpeg_destroy_compress(&out);
  std::free(bytes);
  return result;
}

std::string read(const std::string& bytes, Picture* picture) {
  std::FILE* const file = std::tmpfile();
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::rewind(file);
  std::string problem = read_picture(file, picture);
  std::fclose(file);
  return problem;
}

std::string text_of(const Picture& picture) { return {picture.pixels.begin(), picture.pixels.end()}; }

const Png kGrey = {8, 0, std::string("\0abc\0def", 8)};

TEST(Pictures, PixelsOfEachKindOfPng) {
  const std::string palette = chunk("PLTE", "ABCDEF") + chunk("tRNS", "\x80");
  struct Case {
    Png png;
    goldcrest_pixels format;
    std::string pixels;
  };
  const Case cases[] = {{kGrey, GOLDCREST_GREY, "abcdef"},
      {{1, 0, std::string("\0\xa0\0\x40", 4)}, GOLDCREST_GREY, std::string("\xff\0\xff\0\xff\0", 6)},
      {{16, 0, std::string("\0a1b1c1\0d1e1f1", 14)}, GOLDCREST_GREY, "abcdef"},
      {{8, 2, std::string("\0abcdefghi\0ABCDEFGHI", 20)}, GOLDCREST_RGB, "abcdefghiABCDEFGHI"},
      {{8, 4, std::string("\0a1b2c3\0d4e5f6", 14)}, GOLDCREST_RGBA, "aaa1bbb2ccc3ddd4eee5fff6"},
      {{8, 6, std::string("\0abc1def2ghi3\0ABC4DEF5GHI6", 26)}, GOLDCREST_RGBA, "abc1def2ghi3ABC4DEF5GHI6"},
      {{8, 3, std::string("\0\0\1\0\0\1\1\0", 8), palette}, GOLDCREST_RGBA,
          "ABC\x80"
          "DEF\xff"
          "ABC\x80"
          "DEF\xff"
          "DEF\xff"
          "ABC\x80"}};
  for (const Case& c : cases) {
    Picture picture;
    EXPECT_EQ(read(c.png.bytes(), &picture), "");
    EXPECT_EQ(picture.format, c.format);
    EXPECT_EQ(text_of(picture), c.pixels);
  }
}

TEST(Pictures, AreTurnedAsTheirExifDataSays) {
  const char* const turned[] = {
      "abcdef", "abcdef", "cbafed", "fedcba", "defabc", "adbecf", "daebfc", "fcebda", "cfbead"};
  for (char orientation = 0; orientation <= 8; ++orientation) {
    Png png = kGrey;
    png.more = chunk("eXIf", exif(orientation));
    Picture picture;
    EXPECT_EQ(read(png.bytes(), &picture), "");
    EXPECT_EQ(text_of(picture), turned[static_cast<size_t>(orientation)]);
    EXPECT_EQ(picture.width, orientation < 5 ? 3u : 2u);
  }
  Picture picture;
  EXPECT_EQ(read(jpeg(JCS_RGB, 3, 8), &picture), "");  // its right is shown above
  ASSERT_EQ(picture.width, 8u);
  EXPECT_NEAR(picture.pixels.front(), 200, 3);
  EXPECT_NEAR(picture.pixels.back(), 40, 3);
  EXPECT_EQ(read(jpeg(JCS_GRAYSCALE, 1), &picture), "");
  EXPECT_EQ(picture.format, GOLDCREST_GREY);
  EXPECT_NEAR(picture.pixels.front(), 40, 3);
}

TEST(Pictures, WhatCannotBeReadIsRefusedByName) {
  const std::string png = kGrey.bytes(), photo = jpeg(JCS_RGB, 3);
  Png huge = kGrey, none = kGrey;
  huge.width = huge.height = 10000;
  none.height = 0;
  const std::pair<std::string, std::string> cases[] = {{"", "is neither PNG nor JPEG"}, {"GIF89a.....", "is neither"},
      {png.substr(0, png.size() - 30), "is damaged: "}, {png.substr(0, png.size() - 12), "is damaged: "},
      {png.substr(0, 8), "is damaged: "}, {huge.bytes(), "has 10000 x 10000 pixels; expected"},
      {none.bytes(), "is damaged: "}, {photo.substr(0, photo.size() / 2), "is damaged: Premature end"},
      {photo.substr(0, photo.size() - 2), "is damaged: Premature end"}, {photo.substr(0, 4), "is damaged: "},
      {jpeg(JCS_CMYK, 4), "has colours for print (CMYK)"}};
  for (const auto& [bytes, problem] : cases) {
    Picture picture;
    EXPECT_EQ(read(bytes, &picture).substr(0, problem.size()), problem);
  }
}

TEST(Read, EachImageHasALineAndBadOnesAMessage) {
  const PackedFolders checkpoints(recorded("images.json"));
  const SampleFolder folder;
  const std::string model = folder.path() / "model.gcst", good = folder.path() / "good.png",
                    bad = folder.path() / "bad.jpg";
  convert(checkpoints.path() / "20025", {"-o", model});
  folder.write("good.png", kGrey.bytes());
  folder.write("lines.tsv", "good.png\ttext\n");
  folder.write("bad.jpg", jpeg(JCS_RGB, 3).substr(0, 100));
  const Outcome one = with_status(0, run(GOLDCREST_READ_PROGRAM, {model, good}));
  const Outcome three = with_status(3, run(GOLDCREST_READ_PROGRAM, {model, good, bad, good}));
  EXPECT_EQ(lines_of(one.out).size(), 1u);
  EXPECT_EQ(three.out, one.out + "\n" + one.out);
  EXPECT_NE(three.err.find("bad.jpg: is damaged: Premature end"), std::string::npos) << three.err;
  EXPECT_NE(with_status(1, run(GOLDCREST_READ_PROGRAM, {converted_model("g2p"), good})).err.find("takes no images"),
      std::string::npos);
  EXPECT_NE(with_status(2, run(GOLDCREST_READ_PROGRAM, {model})).err.find("IMAGE"), std::string::npos);
  EXPECT_NE(
      with_status(1, convert(checkpoints.path() / "20025", {"-o", model, "--evaluate", folder.path() / "lines.tsv"}))
          .err.find("reads images"),
      std::string::npos);
}
}  // namespace
}  // namespace goldcrest::test
