// SPDX-License-Identifier: Apache-2.0
#include "fuzz/packed_corpus.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Inputs = std::vector<std::string>;
using PackedCorpus = InFolder;

const std::string kHeader =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Inputs of a fuzz target, one a line in hexadecimal: ";

// Returns the reason why the text is refused, without the path, or an empty string.
std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.write("corpus", text);
  try {
    read_corpus(file);
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
    return message.substr(file.string().size() + 2);
  }
  return "";
}

TEST_F(PackedCorpus, ComesBackInOrderAndEachInputOnce) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  write_corpus(folder / "corpus", {"b", "\xff", every_byte, "", std::string(1, '\0'), "b", "a", "ab"});
  EXPECT_EQ(read_corpus(folder / "corpus"), (Inputs{"", std::string(1, '\0'), every_byte, "a", "ab", "b", "\xff"}));
}

TEST_F(PackedCorpus, IsTheTextThatItsPageShows) {
  write_corpus(folder / "corpus", {"\x01", {"\x00\xff", 2}, ""});
  EXPECT_EQ(folder.read("corpus"), kHeader + "3\n\n00ff\n01\n");
}

TEST_F(PackedCorpus, MayBeEmpty) {
  write_corpus(folder / "corpus", {});
  EXPECT_EQ(folder.read("corpus"), kHeader + "0\n");
  EXPECT_EQ(read_corpus(folder / "corpus"), Inputs{});
}

TEST_F(PackedCorpus, DamageIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(kHeader + "2\n00ff\n01\n"), "");
  EXPECT_EQ(refusal(""), "line 1: found the file's end, expected \"# SPDX-License-Identifier: Apache-2.0\"");
  EXPECT_EQ(refusal("00ff\n"), "line 1: found \"00ff\", expected \"# SPDX-License-Identifier: Apache-2.0\"");
  const std::string expected =
      ", expected \"# Inputs of a fuzz target, one a line in hexadecimal: \" and the number of inputs";
  EXPECT_EQ(refusal(kHeader.substr(0, kHeader.find('\n') + 1)), "line 2: found \"\"" + expected);
  for (const std::string count : {"", "x", "-1", "+2", "02", "2 ", "99999999999999999999"}) {
    const std::string line = kHeader.substr(kHeader.find('\n') + 1) + count;
    EXPECT_EQ(refusal(kHeader + count + "\n00ff\n01\n"), "line 2: found \"" + line + "\"" + expected);
  }
  EXPECT_EQ(refusal(kHeader + "3\n00ff\n01\n"), "line 2: found 2 inputs after the line, expected 3");
  EXPECT_EQ(refusal(kHeader + "1\n00ff\n01\n"), "line 2: found 2 inputs after the line, expected 1");
  EXPECT_EQ(refusal(kHeader + "2\n00ff\n01"), "line 4, column 3: found the file's end, expected a line break");
  EXPECT_EQ(refusal(kHeader + "2\n00ff\n010\n"), "line 4, column 3: found one digit of a byte, expected two");
  EXPECT_EQ(
      refusal(kHeader + "2\n00fF\n01\n"), "line 3, column 4: found \"F\", expected a digit from 0 to 9 or a to f");
  EXPECT_EQ(
      refusal(kHeader + "2\n00ff\r\n01\r\n"), "line 3, column 5: found \"?\", expected a digit from 0 to 9 or a to f");
  for (const char* lines : {"01\n00ff\n", "01\n01\n", "\n\n"}) {
    EXPECT_EQ(refusal(kHeader + "2\n" + lines),
        "line 4: found an input that does not follow the one before, expected ascending order");
  }
}

TEST_F(PackedCorpus, EveryCutIsRefused) {
  const std::string whole = kHeader + "2\n00ff\n01\n";
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(refusal(whole.substr(0, n)), "") << n << " bytes";
}

TEST_F(PackedCorpus, AFileThatIsNotThereIsNamed) {
  try {
    read_corpus(folder / "corpus");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), (folder / "corpus").string() + ": cannot be opened");
  }
}

// Uses the program as tests/fuzz.sh does.
TEST_F(PackedCorpus, TheProgramUnpacksAndPacksTheSame) {
  std::filesystem::create_directory(folder / "inputs");
  write_corpus(folder / "corpus", {"", "b", "a", "ab"});
  const std::string program = "'" PACK_CORPUS "' ", at = " '" + folder.path().string();
  ASSERT_EQ(std::system((program + "unpack" + at + "/corpus'" + at + "/inputs'").c_str()), 0);
  EXPECT_EQ(folder.read("inputs/3"), "");
  EXPECT_EQ(folder.read("inputs/5"), "ab");
  ASSERT_EQ(std::system((program + "pack" + at + "/inputs'" + at + "/again'").c_str()), 0);
  EXPECT_EQ(folder.read("again"), folder.read("corpus"));
  EXPECT_NE(std::system((program + "unpack" + at + "/inputs/5'" + at + "/inputs' 2>/dev/null").c_str()), 0);
  EXPECT_NE(std::system((program + "pack" + at + "/corpus'" + at + "/again' 2>/dev/null").c_str()), 0);
}
}}  // namespace goldcrest::test
