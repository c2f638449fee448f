// SPDX-License-Identifier: Apache-2.0
// Reads the sources for a compiler as text; tests/consumers compiles and runs them.
#include "file/emit_c.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

goldcrest_memory memory() {
  goldcrest_memory memory = {};
  memory.arena_bytes = 640;
  memory.main_bytes = 512;
  memory.scratch_bytes = uint64_t{1} << 33;
  memory.limits = {25, 200, 33, 4, 5, 3, 2, 1, 0, 0, 0, 6};
  return memory;
}

std::vector<uint8_t> bytes() {
  std::vector<uint8_t> bytes(320);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  return bytes;
}

// Returns the value of a #define.
std::string macro(const std::string& header, const std::string& name) {
  const std::string start = "#define " + name + " ";
  const size_t at = header.find(start);
  if (at == std::string::npos) return "absent";
  return header.substr(at + start.size(), header.find('\n', at) - at - start.size());
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(EmitC, NamesAreIdentifiers) {
  EXPECT_EQ(c_name("g2p"), "model_g2p");
  EXPECT_EQ(c_name("opus-mt-en-fr v2.1"), "model_opus_mt_en_fr_v2_1");
  EXPECT_EQ(c_name("*/ int x; /*"), "model____int_x____");
  EXPECT_EQ(c_name("\xc3\xa9t\xc3\xa9"), "model___t__");
  for (const char* name : {"", "///", "\xc3\xa9"}) test::expect_error([&] { c_name(name); }, {"--name"}, name);
}

TEST(EmitC, SectionNamesAreOnesThatAnAssemblerTakes) {
  for (const char* name : {".rodata", ".flash_2.model"}) check_section_name(name);
  for (const char* name : {"", "a b", ".x,\"aw\"", "x\n.data", "x)"}) {
    test::expect_error([&] { check_section_name(name); }, {"not a section name"}, name);
  }
}

TEST(EmitC, TheHeaderHasEveryNumber) {
  const test::TemporaryFolder folder;
  emit_c(folder / "new" / "folder", {"model_g2p", "", false}, bytes(), memory());
  const std::string header = folder.read("new/folder/model_g2p.h");
  const std::pair<const char*, const char*> values[] = {{"MAX_SOURCE_TOKENS", "25u"},
                                                        {"MAX_SOURCE_BYTES", "200u"},
                                                        {"MAX_TARGET_TOKENS", "33u"},
                                                        {"BEAM_SIZE", "4u"},
                                                        {"BATCH", "5u"},
                                                        {"N_BEST", "3u"},
                                                        {"ENCODER_ROWS", "2u"},
                                                        {"THREADS", "1u"},
                                                        {"ARENA_BYTES", "640u"},
                                                        {"MAIN_BYTES", "512u"},
                                                        {"SCRATCH_BYTES", "8589934592ull"},
                                                        {"STACK_BYTES", "GOLDCREST_STACK_BYTES"},
                                                        {"BYTES", "320u"}};
  for (const auto& [name, value] : values) {
    EXPECT_EQ(macro(header, std::string("MODEL_G2P_") + name), value) << header;
  }
  EXPECT_EQ(macro(header, "MODEL_G2P_LIMITS"),
            "{MODEL_G2P_MAX_SOURCE_TOKENS, MODEL_G2P_MAX_SOURCE_BYTES, MODEL_G2P_MAX_TARGET_TOKENS, "
            "MODEL_G2P_BEAM_SIZE, MODEL_G2P_BATCH, MODEL_G2P_N_BEST, MODEL_G2P_ENCODER_ROWS, MODEL_G2P_THREADS, "
            "MODEL_G2P_INSPECTION, MODEL_G2P_ALIGNMENT_LAYERS, MODEL_G2P_MAX_CANDIDATES, "
            "MODEL_G2P_MAX_PREFIX_TOKENS}");
  EXPECT_NE(header.find("extern const unsigned char model_g2p[MODEL_G2P_BYTES];"), std::string::npos);
}

TEST(EmitC, AssemblerAndFileOrAnArray) {
  const test::TemporaryFolder folder;
  const std::vector<uint8_t> model = bytes();
  const auto written = emit_c(folder / "S", {"model_x", "", false}, model, memory());
  EXPECT_EQ(written, (std::vector{folder / "S/model_x.gcst", folder / "S/model_x.S", folder / "S/model_x.h"}));
  EXPECT_EQ(files_in(folder / "S"), 3u);
  EXPECT_EQ(folder.read("S/model_x.gcst"), std::string(model.begin(), model.end()));
  const std::string assembler = folder.read("S/model_x.S");
  for (const char* line : {".section .rodata.model_x, \"a\", %progbits", ".balign 64", ".incbin \"model_x.gcst\""}) {
    EXPECT_NE(assembler.find(line), std::string::npos) << assembler;
  }

  emit_c(folder / "C", {"model_x", ".flash", true}, model, memory());
  EXPECT_EQ(files_in(folder / "C"), 2u);
  const std::string array = folder.read("C/model_x.c");
  EXPECT_NE(array.find("__attribute__((section(\".flash\")))"), std::string::npos);
  EXPECT_NE(array.find("__attribute__((aligned(GOLDCREST_ALIGN)))"), std::string::npos);
  std::istringstream numbers(array.substr(array.find('{') + 1));
  std::vector<uint8_t> values;
  unsigned value = 0;
  char comma = 0;
  while (numbers >> value >> comma) values.push_back(static_cast<uint8_t>(value));
  EXPECT_EQ(values, model);
}

TEST(EmitC, AFolderThatCannotBeMade) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("file", "x");
  test::expect_error([&] { emit_c(file, {"model_x", "", false}, bytes(), memory()); }, {file.string()});
  test::expect_error(
      [&] {
        emit_c(file / "below", {"model_x", "", false}, bytes(), memory());
      },
      {"creating the directory"});
}

}  // namespace
}  // namespace goldcrest::converter
