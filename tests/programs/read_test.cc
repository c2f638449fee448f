// SPDX-License-Identifier: Apache-2.0
// goldcrest-read: files with the pixels that Pillow reads (tests/peers/images.py --record), and the program itself.
#include "convert/support/sample_folder.h"
#include "programs/models.h"
#include "read/picture.h"
#include "sources/containers/numpy_array.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
const std::filesystem::path& recorded_images() {
  static const PackedFolders unpacked(recorded("images.json"));
  return unpacked.path();
}

std::string read(const std::filesystem::path& path, Picture* picture) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  std::string problem = read_picture(file, picture);
  std::fclose(file);
  return problem;
}

TEST(Pictures, HavePillowsPixels) {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recorded_images() / "files")) {
    if (entry.path().extension() != ".npy") continue;
    Picture picture;
    const std::filesystem::path file = entry.path().parent_path() / entry.path().stem();
    ASSERT_EQ(read(file, &picture), "") << file;
    const std::string expected = read_file(entry.path());
    const converter::NumpyHeader header = converter::parse_numpy_header(expected, file);
    EXPECT_EQ(header.shape, (std::vector<uint64_t>{picture.height, picture.width, picture.step()})) << file;
    ASSERT_EQ(picture.pixels.size(), expected.size() - header.bytes) << file;
    const int most = file.extension() == ".jpg" ? 3 : 0;  // decoders of JPEG may round in other ways
    for (size_t i = 0; i < picture.pixels.size(); ++i)
      ASSERT_NEAR(picture.pixels[i], static_cast<uint8_t>(expected[header.bytes + i]), most) << file;
    ++n;
  }
  EXPECT_EQ(n, 18u);
}

TEST(Pictures, WhatCannotBeReadIsRefusedByName) {
  struct Case {
    const char* file;
    size_t left_out;  // bytes at the end
    const char* problem;
  };
  constexpr Case kCases[] = {{"grey.png", 30, "is damaged: "}, {"grey.png", 12, "is damaged: Read Error"},
      {"grey.png", 150, "is damaged: "}, {"photo.jpg", 2, "is damaged: Premature end of JPEG file"},
      {"photo.jpg", 400, "is damaged: Premature"}, {"photo.jpg", 897, "is damaged: "},
      {"print.jpg", 0, "has colours for print (CMYK)"}, {"large.png", 0, "has 10000 x 10000 pixels; expected"},
      {"wide.png", 0, "has 70000 x 1 pixels; expected"}, {"grey.png.npy", 0, "is neither PNG nor JPEG"},
      {"grey.png", 193, "is neither PNG nor JPEG"}};
  const SampleFolder folder;
  for (const auto& [file, left_out, problem] : kCases) {
    const std::string bytes = read_file(recorded_images() / "files" / file);
    folder.write(file, bytes.substr(0, bytes.size() - left_out));
    Picture picture;
    EXPECT_EQ(read(folder.path() / file, &picture).substr(0, std::strlen(problem)), problem) << left_out;
  }
}

TEST(Read, EachImageHasALineAndBadOnesAMessage) {
  const SampleFolder folder;
  const std::string model = folder.path() / "model.gcst", good = recorded_images() / "files/photo.jpg",
                    bad = recorded_images() / "files/print.jpg", checkpoint = recorded_images() / "20025";
  convert(checkpoint, {"-o", model});
  const auto says = [&](int status, const Arguments& arguments, const char* problem) {
    const Outcome outcome = with_status(status, run(GOLDCREST_READ_PROGRAM, arguments));
    EXPECT_NE(outcome.err.find(problem), std::string::npos) << outcome.err;
    return outcome.out;
  };
  const std::string line = says(0, {model, good}, "");
  EXPECT_EQ(lines_of(line).size(), 1u);
  EXPECT_EQ(says(3, {model, good, bad, "missing.png", good}, "print.jpg: has colours"), line + "\n\n" + line);
  says(1, {converted_model("g2p"), good}, "takes no images");
  says(2, {model}, "IMAGE");
  folder.write("lines.tsv", "good.png\ttext\n");
  for (const Arguments& options : {Arguments{"--evaluate", folder.path() / "lines.tsv"}, Arguments{"--pack", "all"}}) {
    const Outcome refused = convert(checkpoint, {"-o", model, options[0], options[1]});
    EXPECT_NE(with_status(1, refused).err.find("reads images"), std::string::npos) << refused.err;
  }
}

TEST(Read, ThePagesCommandsReadALine) {
  const TemporaryFolder folder;
  std::filesystem::create_directory_symlink(recorded_images() / "20025", folder.path() / "trocr-small-printed");
  std::filesystem::create_symlink(recorded_images() / "files/grey.png", folder.path() / "line.png");
  const std::string path = convert_program().parent_path(), reader = GOLDCREST_READ_PROGRAM;
  const std::vector<std::string> commands = commands_of("converter/dialects/IMAGES.md");
  ASSERT_EQ(commands.size(), 2u);
  for (const std::string& command : commands) {
    const std::string places = path + ":" + reader.substr(0, reader.rfind('/'));
    const Outcome outcome =
        run("/bin/sh", {"-c", "PATH=\"" + places + ":$PATH\" " + command}, {.folder = folder.path()});
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_EQ(outcome.out.empty(), false) << command;
  }
}
}  // namespace
}  // namespace goldcrest::test
