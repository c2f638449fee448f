// SPDX-License-Identifier: Apache-2.0
// Settings that toolkits save with their tensors, as JSON; and tensors that refer to one place of a file.
#include <gtest/gtest.h>

#include <fstream>

#include "sources/containers/tensor_source.h"
#include "sources/values/json_text.h"
#include "support/checkpoint_writer.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using namespace std::string_literals;
using test::PickleWriter;

// Returns the settings of a checkpoint with one tensor, whose outermost dictionary also has `more`.
std::string settings_with(const std::string& more) {
  const test::TemporaryFolder folder;
  PickleWriter pickle;
  pickle.raw("}(").text("model").raw("}").text("w").tensor({"FloatStorage", "0", 1, 0, {1}, {1}}).raw("s").raw(more);
  std::ofstream stream(folder / "a.pt", std::ios::binary);
  test::ZipWriter zip(stream);
  zip.add({"a/data.pkl", pickle.raw("u").finish()});
  zip.add({"a/data/0", std::string(4, '\0')});
  zip.finish();
  stream.close();
  return write_json(open_tensors(folder / "a.pt")->settings());
}

std::string text(const std::string& value) {
  const std::string pickle = PickleWriter().text(value).finish();
  return pickle.substr(2, pickle.size() - 3);  // without the protocol and the end
}

TEST(SavedSettings, ValuesOfEveryKind) {
  EXPECT_EQ(settings_with(""), "{}");
  EXPECT_EQ(settings_with(text("vocab") + "N" + text("other") + "K\x01" + text("args") + "K\x02"),
            R"({"args":2,"vocab":null})");
  const std::string one = "G\x3f\xf8\0\0\0\0\0\0"s, wide = "\x8a\x09" + std::string(9, '\1');
  EXPECT_EQ(settings_with(text("opt") + "(N\x88\x89K\xffJ\xfe\xff\xff\xff" + one + wide + text("a\"\n") + "](K\1e)t"),
            R"({"opt":[null,true,false,255,-2,1.5,null,"a\"\n",[1],[]]})");
  // The last value of a repeated key wins. Keys that are not texts are dropped, and a tensor becomes null.
  PickleWriter tensor;
  tensor.tensor({"FloatStorage", "0", 1, 0, {1}, {1}});
  const std::string of_tensor = tensor.finish();
  EXPECT_EQ(settings_with(text("cfg") + "}(" + text("b") + "K\1" + "K\7K\7" + text("a") +
                          of_tensor.substr(2, of_tensor.size() - 3) + text("b") + "K\2u"),
            R"({"cfg":{"a":null,"b":2}})");
}

TEST(SavedSettings, ObjectsAreTheirAttributes) {
  EXPECT_EQ(settings_with(text("args") + "cargparse\nNamespace\n)\x81}" + text("heads") + "K\4sb"),
            R"({"args":{"heads":4}})");
  EXPECT_EQ(settings_with(text("opt") + "(ccollections\nOrderedDict\n)R" +
                          "ccollections\ndefaultdict\nctorchtext.vocab\n_default_unk_index\n\x85R" +
                          "ccollections\nCounter\n}" + text("a") + "K\1s\x85R" + "c__builtin__\nset\n](K\1K\2e\x85Rt"),
            R"({"opt":[{},{},{"a":1},[1,2]]})");
}

TEST(SavedSettings, AStateOfTrainingIsPassedOver) {
  const std::string dtype = "cnumpy\ndtype\n" + text("f8") + "K\0K\1\x87R"s + "(K\3" + text("<") + "NNNtb";
  const std::string bytes = "c_codecs\nencode\n" + text("12345678") + text("latin1") + "\x86R";
  EXPECT_EQ(settings_with(text("extra_state") + "}" + text("loss") + "cnumpy.core.multiarray\nscalar\n" + dtype +
                          bytes + "\x86Rs" + text("meter") + "cfairseq.meters\nAverageMeter\n)\x81}" + text("sum") +
                          "K\1sb" + text("place") + "ctorch\ndevice\n" + text("cpu") + "\x85R"),
            "{}");
}

// Lists in lists: a list within twelve others is dropped.
TEST(SavedSettings, DepthIsBounded) {
  const std::string deep = std::string(20, ']') + std::string(19, 'a');
  EXPECT_EQ(settings_with(text("opt") + deep),
            R"({"opt":)" + std::string(13, '[') + "null" + std::string(13, ']') + "}");
}

TEST(TorchZip, TiedTensorsAreOnePlace) {
  const test::TemporaryFolder folder;
  std::ofstream stream(folder / "a.pt", std::ios::binary);
  test::write_torch_zip(stream, {{"a", {2, 2}, {1, 2, 3, 4}}, {"b", {2, 2}, {1, 2, 3, 4}}}, ElementType::kF32,
                        {{"tied", 0}});
  stream.close();
  const auto source = open_tensors(folder / "a.pt");
  EXPECT_EQ(source->stored_name("tied"), "a");
  EXPECT_EQ(source->stored_name("a"), "a");
  EXPECT_EQ(source->stored_name("b"), "b");
}

}  // namespace
}  // namespace goldcrest::converter
