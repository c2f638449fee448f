// SPDX-License-Identifier: Apache-2.0
// goldcrest-read: files with the pixels that Pillow reads (tests/peers/images.py --record), and the program itself.
#include <nlohmann/json.hpp>
#include "boards/speech_hash.h"
#include "convert/support/sample_folder.h"
#include "host/picture.h"
#include "programs/models.h"
#include "sources/containers/numpy_array.h"
#include "support/engine_fixture.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using host::Picture;

const std::filesystem::path& recorded_images() {
  static const PackedFolders unpacked(recorded("images.json"));
  return unpacked.path();
}

TEST(Pictures, HavePillowsPixels) {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recorded_images() / "files")) {
    if (entry.path().extension() != ".npy") continue;
    Picture picture;
    const std::filesystem::path file = entry.path().parent_path() / entry.path().stem();
    ASSERT_EQ(read_picture(file, &picture), "") << file;
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
    EXPECT_EQ(read_picture(folder.path() / file, &picture).substr(0, std::strlen(problem)), problem) << left_out;
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
  const Outcome refused = with_status(1, convert(checkpoint, {"-o", model, "--pack", "all"}));
  EXPECT_NE(refused.err.find("reads images"), std::string::npos) << refused.err;
}

// The first images that training measured; a test of all runs where Pillow and the fonts are.
TEST(Read, TheLineReadersCharacterErrorsAreThoseOfFloat32) {
  const std::string lines = GOLDCREST_SOURCE_DIR "/tests/data/lines/lines.tsv";
  const nlohmann::json evaluation =
      convert_json(checkpoint_folder("lines"), {"--evaluate", lines, "--max-loss", "0.3"}).at("evaluation");
  EXPECT_EQ(evaluation.at("lines"), 24);
  EXPECT_EQ(evaluation.at("failed"), 0);
  EXPECT_LE(evaluation.at("float32").at("character_error_rate"), 2);
  EXPECT_GE(evaluation.at("token_agreement"), 0.99);
}

TEST(Read, TheLineReaderHasOneHashOnEveryTable) {
  const std::filesystem::path lines = GOLDCREST_SOURCE_DIR "/tests/data/lines";
  const std::string bytes = read_file(converted_model("lines")), packed = read_file(lines / "packed.raw");
  GuardedBuffer<uint8_t> model(bytes.size());  // with the alignment of a mapped file
  std::copy(bytes.begin(), bytes.end(), model.begin());
  const std::string expected =
      run(GOLDCREST_READ_PROGRAM, {converted_model("lines"), lines / "0.png", lines / "1.png", lines / "2.png"}).out;
  for (uint32_t i = 0; const char* kernels = goldcrest_kernels_at(i); ++i) {
    TestEngine engine({model.get(), model.size()}, {.limits = {.encoder_rows = 1 + i % 5}, .kernels = kernels});
    uint64_t hash = kHashStart;
    std::string texts;
    const auto* const first = reinterpret_cast<const uint8_t*>(packed.data());
    for (const uint8_t* at = first; at != first + packed.size();) {
      Heard found = {};
      ASSERT_GE(begin_to_read(engine.get(), &at, &hash), 0) << engine.detail().message;
      ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
      ASSERT_GE(heard_result(engine.get(), 0, found), 0);
      hash = hash_halves(hash, found.hash);
      texts += std::string(found.text) + "\n";
    }
    EXPECT_EQ(hash, kLinesHash) << kernels;
    EXPECT_EQ(texts, expected) << kernels;
  }
}

TEST(Read, EvaluateRefusesBadListsAndLeavesOutBadImages) {
  const SampleFolder folder;
  const std::filesystem::path images = GOLDCREST_SOURCE_DIR "/tests/data/lines", list = folder.path() / "list";
  const std::string good = images / "0.png";
  const auto says = [&](int status, const std::string& text, Arguments options) {
    folder.write("list", text);
    options.insert(options.begin(), {"--evaluate", list});
    const Outcome outcome = with_status(status, convert(checkpoint_folder("lines"), options));
    return outcome.out + outcome.err;
  };
  const auto expect = [&](const std::string& found, const std::string& part) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  const std::string some = says(0, good + "\t1\nmissing.png\t2\nlist\t3\n", {});
  expect(some, "line 2 left out: " + (folder.path() / "missing.png").string() + ": cannot be read: No such file");
  expect(some, "line 3 left out: " + list.string() + ": is neither PNG nor JPEG");
  expect(some, "character error rate ");
  expect(says(1, read_file(good), {}), "list: is an image; expected a list of them");
  expect(says(1, "\xff\xfe" + std::string("0\0\n\0", 4), {}),
      "list:1: no UTF-8 at byte 1; expected UTF-8. If it is UTF-16");
  expect(says(1, good + "\t1\n", {"--max-loss", "1", "--metric", "wer"}), "--metric wer: cer is for images");
  expect(says(4, good + "\t1\n", {"--max-loss", "-1"}), "lost 0.000 points, more than --max-loss -1");
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
}}  // namespace goldcrest::test
