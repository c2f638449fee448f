// SPDX-License-Identifier: Apache-2.0
// Errors that goldcrest-convert finds before it reads a weight: each test compares the whole message and checks that no
// work was done.
#include <gtest/gtest.h>
#include <unistd.h>

#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

// Expects the status and exactly this message, before the first word of progress.
void refuse(const Arguments& arguments, int status, const std::string& message) {
  const Outcome outcome = run(convert_program(), arguments);
  EXPECT_EQ(outcome.status, status) << message;
  EXPECT_EQ(outcome.err, "goldcrest-convert: " + message + "\n");
  EXPECT_EQ(outcome.out, "");
}

size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

TEST(ConvertPreflight, PlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "kept");
  const std::string path = folder.path(), g2p = checkpoint_folder("g2p");
  for (const std::string option : {"-o", "--report"}) {
    refuse({g2p, option, path}, 1, path + ": is a directory; give the name of a file");
    refuse(
        {g2p, option, path + "/none/model.gcst"}, 1,
        path + "/none/model.gcst: opening the directory failed: No such file or directory; the file was not written");
    refuse({g2p, option, file + "/model.gcst"}, 1,
           file + "/model.gcst: opening the directory failed: Not a directory; the file was not written");
    refuse({g2p, option, "/dev/null"}, 1, "/dev/null: is not a regular file; give another name");
  }
  refuse({g2p, "--emit-c", file}, 1, file + ": " + file + " is not a directory; give another name");
  refuse({g2p, "--emit-c", file + "/a"}, 1, file + "/a: " + file + " is not a directory; give another name");
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0555});
    refuse({g2p, "-o", path + "/model.gcst"}, 1,
           path + "/model.gcst: creating a file in the directory failed: Permission denied; the file was not written");
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
  EXPECT_EQ(folder.read("file"), "kept");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(ConvertPreflight, NothingThatIsReadIsWrittenOver) {
  const CheckpointCopy copy("g2p");
  const TemporaryFolder folder;
  const std::string path = copy.path(), weights = copy.file("model.safetensors"), config = copy.file("config.json");
  const std::string model = folder / "model.gcst", lines = folder.write("lines", "wren\n");
  std::filesystem::copy_file(converted_model("g2p"), model);
  refuse({path, "-o", weights}, 2,
         weights + ": belongs to the checkpoint, and -o would overwrite it; give another name");
  refuse({path, "--report", config}, 2,
         config + ": belongs to the checkpoint, and --report would overwrite it; give another name");
  refuse({weights, "-o", weights}, 2, weights + ": is an input, and -o would overwrite it; give another name");
  refuse({model, "-o", model}, 2, model + ": is an input, and -o would overwrite it; give another name");
  refuse({path, "--evaluate", lines, "-o", lines}, 2,
         lines + ": is an input, and -o would overwrite it; give another name");
  refuse({path, "--self-test", lines, "--report", lines}, 2,
         lines + ": is an input, and --report would overwrite it; give another name");
  refuse({path, "-o", model, "--report", model}, 2,
         model + ": is named by -o and by --report; give one of them another name");
  EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
  EXPECT_TRUE(read_file(weights) == read_file(checkpoint_folder("g2p") / "model.safetensors"));
  // A model of an earlier run in the checkpoint's folder is no part of the checkpoint.
  EXPECT_EQ(run(convert_program(), {"-q", path, "-o", copy.file("a.gcst")}).status, 0);
  EXPECT_EQ(run(convert_program(), {"-q", path, "-o", copy.file("a.gcst")}).status, 0);
}

TEST(ConvertPreflight, OptionsThatContradict) {
  const std::string g2p = checkpoint_folder("g2p");
  refuse({g2p, "-o", "-"}, 2, "-o -: a model goes to a file, not to standard output; give its name");
  refuse({g2p, "--weights", "float32", "--cpu", "cortex-m55"}, 2,
         "--cpu cortex-m55 orders int8 weights, but float32 weights have a fixed order; leave out --cpu or --weights");
  refuse({g2p, "--beam", "2", "--n-best", "3"}, 1, g2p + ": --n-best is 3; expected 1 to 2, the beam size");
  refuse({g2p, "--encoder-rows", "2000"}, 1, g2p + ": --encoder-rows is 2000; expected 1 to 1024, the engine's bound");
}

TEST(ConvertPreflight, FilesOfTheChecksThatAreNotThere) {
  const TemporaryFolder folder;
  const std::string g2p = checkpoint_folder("g2p"), none = folder / "none", lines = folder.write("lines", "wren\n");
  refuse({g2p, "--self-test", none}, 1, none + ": cannot be read");
  refuse({g2p, "--evaluate", none}, 1,
         none + ": cannot be opened for reading; expected lines of source [TAB reference]...");
  refuse({g2p, "--check", none}, 1,
         none + "/results.jsonl: is missing; --check takes the folder that examples/export_nn_transformer.py writes");
  refuse({g2p, "--evaluate", lines, "--max-loss", "1", "--metric", "chrf"}, 1,
         "--metric chrf: the lines of " + lines + " have no references");
}

TEST(ConvertPreflight, FilesOfTheVocabulary) {
  const TemporaryFolder folder;
  const std::string g2p = checkpoint_folder("g2p"), none = folder / "none", empty = folder.write("empty", "\n\t1\n");
  const std::string lines = folder.write("lines", "wren\nfinch\nwren\n");
  refuse({g2p, "--keep-vocabulary", none}, 1, none + ": cannot be opened for reading; expected one piece a line");
  refuse({g2p, "--keep-vocabulary", empty}, 1, empty + ": no pieces; expected one per line");
  refuse({g2p, "--keep-vocabulary-of", none}, 1,
         none + ": cannot be opened for reading; expected lines of source [TAB reference]...");
  refuse({g2p, "--make-shortlist", none}, 1,
         none + ": cannot be opened for reading; expected lines of source [TAB reference]...");
  refuse({g2p, "--make-shortlist", lines}, 1,
         lines + ": 2 different sources; --make-shortlist needs 10, since every tenth is held out");
  refuse({g2p, "--keep-vocabulary", lines, "-o", lines}, 2,
         lines + ": is an input, and -o would overwrite it; give another name");
  const std::string ten = folder.write("ten", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  refuse({g2p, "--make-shortlist", ten, "--report", ten}, 2,
         ten + ": is an input, and --report would overwrite it; give another name");
  refuse({g2p, "--keep-vocabulary", lines, "--evaluate", lines, "--ids"}, 2,
         "--ids: a trimmed vocabulary has new ids; leave out --ids or --keep-vocabulary");
  const std::string model = converted_model("g2p").string();
  refuse({model, "--keep-vocabulary", lines}, 2,
         model + ": --keep-vocabulary works on a checkpoint, not on a .gcst file; give the checkpoint");
}

TEST(ConvertMetadata, TheCommandLinesIsRefusedAndTheCheckpointsCleaned) {
  for (const std::string option : {"--name", "--license", "--attribution"}) {
    const Outcome escape = run(convert_program(), {checkpoint_folder("g2p"), option, "a\x1b[31m\nb"});
    EXPECT_EQ(escape.status, 2);
    EXPECT_NE(escape.err.find("'a\\x1b[31m\\x0ab' has control characters or is not UTF-8; expected one line of text"),
              std::string::npos)
        << escape.err;
    const Outcome bytes = run(convert_program(), {checkpoint_folder("g2p"), option, "\xff"});
    EXPECT_NE(bytes.err.find("'\\xff' has control characters or is not UTF-8; expected one line of text"),
              std::string::npos)
        << bytes.err;
    const Outcome length = run(convert_program(), {checkpoint_folder("g2p"), option, std::string(1025, 'x')});
    EXPECT_NE(length.err.find("the text has 1025 bytes, expected at most 1024"), std::string::npos) << length.err;
  }
  const CheckpointCopy copy("g2p");
  const TemporaryFolder folder;
  copy.set("config.json", "attribution", "me\x1b]0;title\x07\nname         another");
  const Outcome outcome = run(convert_program(), {"-q", copy.path(), "-o", folder / "model.gcst"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE((outcome.out + outcome.err)
                .find("the checkpoint's attribution has control characters, bytes that are not UTF-8 or more than 1024 "
                      "bytes; the file has \"me\uFFFD]0;title\uFFFD\uFFFDname         another\""),
            std::string::npos)
      << outcome.out;
  const Outcome inspected = run(inspect_program(), {folder / "model.gcst"});
  EXPECT_NE(inspected.out.find("\nattribution  me\uFFFD]0;title\uFFFD\uFFFDname         another\n"), std::string::npos);
}

}  // namespace
}  // namespace goldcrest::test
