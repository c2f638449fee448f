// SPDX-License-Identifier: Apache-2.0
// CTranslate2's model.bin: every type and version of its layout, and every damage with its message.
#include "convert/support/read_container.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/input_file.h"
#include "support/ctranslate2_model.h"

namespace goldcrest::converter { namespace {
using namespace test;
using CTranslate2Binary = InFolder;

const NamedTensor kMatrix = {"encoder/a/weight", {2, 3}, {1, 2, 3, -4, 5, 6}};
const NamedTensor kBias = {"encoder/a/bias", {2}, {-1, 0.5f}};

CTranslate2Model model() {
  CTranslate2Model model = {.variables = {variable(kMatrix), variable(kBias), scalar("encoder/n", kInt16, 4)},
      .aliases = {{"decoder/a/weight", "encoder/a/weight"}, {"decoder/b/weight", "decoder/a/weight"}}};
  return model;
}

std::unique_ptr<TensorSource> open_file(const std::filesystem::path& path) {
  return open_ctranslate2(std::make_unique<const InputFile>(path));
}

std::unique_ptr<TensorSource> open(const TemporaryFolder& folder, const std::string& bytes) {
  return open_file(folder.write("model.bin", bytes));
}

std::string model_message(const std::string& bytes) {
  static const TemporaryFolder folder;
  return message_of_reading(open_file, folder.write("model.bin", bytes));
}

TEST_F(CTranslate2Binary, ReadsEveryFloatAndItsAliases) {
  for (const CTranslate2Type type : {kFloat32, kFloat16, kBfloat16}) {
    CTranslate2Model changed = model();
    changed.set(variable(kMatrix, type));
    const auto source = open(folder, changed.bytes());
    EXPECT_EQ(source->names(),
        (std::vector<std::string>{"encoder/a/weight", "encoder/a/bias", "decoder/a/weight", "decoder/b/weight"}));
    for (const char* name : {"encoder/a/weight", "decoder/a/weight", "decoder/b/weight"}) {
      const Tensor tensor = source->load(name);
      EXPECT_EQ(tensor.name, name);
      EXPECT_EQ(tensor.shape, kMatrix.shape);
      EXPECT_EQ(tensor.values, kMatrix.values);  // their values need few bits
      EXPECT_TRUE(tensor.stored_scale.empty());
      EXPECT_EQ(source->stored_name(name), kMatrix.name);
    }
    EXPECT_EQ(source->load(kBias.name).values, kBias.values);
    EXPECT_FALSE(source->has("encoder/n"));
    expect_error([&] { source->load("nothing"); }, {"variable \"nothing\" is missing"});
  }
}

TEST_F(CTranslate2Binary, ScalarsAndTextsAreSettings) {
  CTranslate2Model changed = model();
  changed.variables = {scalar("a", kInt8, 1), scalar("b", kInt16, -1), scalar("c", kInt32, 70000),
      scalar("d", kFloat32, 1), scalar("e", kFloat16, 0.5f), text_variable("f", "<unk>")};
  changed.aliases = {{"g", "a"}};
  const auto source = open(folder, changed.bytes());
  EXPECT_TRUE(source->names().empty());
  EXPECT_EQ(source->settings(), (Value{{"binary_version", 6}, {"spec", "TransformerSpec"}, {"revision", 7}, {"a", 1},
                                    {"b", -1}, {"c", 70000}, {"d", 1.0}, {"e", 0.5}, {"f", "<unk>"}, {"g", 1}}));
}

TEST_F(CTranslate2Binary, Int8RowsKeepTheirScales) {
  CTranslate2Model changed = model();
  changed.variables = int8_variables({"a/weight", {3, 2}, {0.31f, -0.2f, 0, 0, 5, 1e-30f}});
  changed.aliases = {{"b/weight", "a/weight"}};
  for (const uint32_t version : {2u, 3u, 4u, 5u, 6u}) {
    changed.version = version;
    const auto source = open(folder, changed.bytes());
    EXPECT_EQ(source->names().size(), version < 3 ? 1u : 2u);
    const float first = 1 / (127.0f / 0.31f), last = 1 / (127.0f / 5);
    for (const std::string& name : source->names()) {
      const Tensor tensor = source->load(name);
      EXPECT_EQ(tensor.stored_scale, (std::vector<float>{first, 1, last}));
      EXPECT_EQ(tensor.values, (std::vector<float>{127 * first, -82 * first, 0, 0, 127 * last, 0}));
    }
  }
}

TEST_F(CTranslate2Binary, OneScaleAndNone) {
  CTranslate2Model changed = model();
  changed.variables = {variable({"a/weight", {2, 1}, {4, -2}}, kInt8), variable({"a/weight_scale", {1}, {4}}),
      variable({"b/weight", {2, 1}, {500, -250}}, kInt16), variable({"c/weight", {2, 1}, {500, -250}}, kInt16),
      scalar("c/weight_scale", kFloat32, 250), variable({"d/weight", {2, 1}, {5, -2}}, kInt16),
      scalar("d/weight_scale", kFloat32, 2), variable({"ids", {2, 1}, {5, -2}}, kInt8)};
  changed.aliases = {};
  const auto source = open(folder, changed.bytes());
  EXPECT_EQ(source->names(), (std::vector<std::string>{"a/weight", "b/weight", "c/weight", "d/weight", "ids"}));
  EXPECT_EQ(source->load("d/weight").values, (std::vector<float>{2.5f, -1}));
  EXPECT_EQ(source->load("a/weight").stored_scale, std::vector<float>{0.25f});
  EXPECT_EQ(source->load("a/weight").values, (std::vector<float>{1, -0.5f}));
  EXPECT_EQ(source->load("b/weight").values, (std::vector<float>{500 * (1 / 1000.0f), -250 * (1 / 1000.0f)}));
  EXPECT_EQ(source->load("c/weight").values, (std::vector<float>{2, -1}));
  EXPECT_TRUE(source->load("c/weight").stored_scale.empty());
  EXPECT_EQ(source->load("ids").values, (std::vector<float>{5, -2}));
}

// A variable with a scale's name is an ordinary tensor if it follows floats.
TEST_F(CTranslate2Binary, FloatsHaveNoScale) {
  CTranslate2Model changed = model();
  changed.variables = {variable({"a/weight", {2, 1}, {3, 4}}), variable({"a/weight_scale", {1}, {4}})};
  changed.aliases = {};
  const auto source = open(folder, changed.bytes());
  EXPECT_EQ(source->names(), (std::vector<std::string>{"a/weight", "a/weight_scale"}));
  EXPECT_EQ(source->load("a/weight").values, (std::vector<float>{3, 4}));
}

// Training made these rows almost zero; no file has a scale that small.
TEST_F(CTranslate2Binary, RowsBelowEveryScaleAreZeros) {
  CTranslate2Model changed = model();
  changed.variables = int8_variables({"a/weight", {2, 2}, {1e-20f, -1e-20f, 2, 1}});
  changed.aliases = {};
  const Tensor tensor = open(folder, changed.bytes())->load("a/weight");
  EXPECT_EQ(tensor.stored_scale, (std::vector<float>{1, 1 / 63.5f}));
  EXPECT_EQ(tensor.values[0], 0);
  EXPECT_EQ(tensor.values[1], 0);
  EXPECT_EQ(tensor.values[2], 127 * (1 / 63.5f));
}

// The model with another integer at this place.
std::string with_field(size_t at, uint64_t value, size_t bytes) {
  std::string changed = model().bytes();
  std::memcpy(changed.data() + at, &value, bytes);
  return changed;
}

TEST_F(CTranslate2Binary, SaysWhatIsDamaged) {
  // u32 version, u16 16 and "TransformerSpec", u32 revision, u32 variables; then the first variable.
  constexpr size_t kSpec = 4, kCount = 26, kName = 30, kAxes = kName + 19, kType = kAxes + 9, kBytes = kType + 1;
  const std::string first = ": variable \"encoder/a/weight\": ";
  EXPECT_EQ(model_message(model().bytes()), "no error");
  for (const uint32_t version : {0u, 1u, 7u, 0xFFFFFFFFu}) {
    EXPECT_EQ(model_message(with_field(0, version, 4)),
        format_text(": is of binary version {}, expected 2 to 6; convert the model again with a CTranslate2 of these",
            version));
  }
  EXPECT_EQ(model_message(with_field(kSpec, 0, 2)),
      ": the specification's name has 0 bytes, expected 2 to 1024: it is damaged");
  EXPECT_EQ(model_message(with_field(kSpec, 5, 2)), ": the specification's name does not end in NUL: it is damaged");
  EXPECT_EQ(model_message(with_field(kCount, 0xFFFFFFFF, 4)),
      ": claims to hold 4294967295 variables, more than the 192 bytes after it can: it is truncated or damaged");
  EXPECT_EQ(model_message(with_field(kCount, 2, 4)),
      ": claims to hold 1852112906 aliases, more than the 96 bytes after it can: it is truncated or damaged");
  EXPECT_EQ(model_message(with_field(kName, 0xFFFF, 2)),
      ": the name of variable 0 has 65535 bytes, expected 2 to 1024: it is damaged");
  EXPECT_EQ(model_message(with_field(kAxes, 9, 1)), first + "has 9 axes, expected at most 8: it is damaged");
  EXPECT_EQ(model_message(with_field(kAxes + 1, 0xFFFFFFFF, 4)),
      first + "has 24 bytes, but its shape [4294967295, 3] needs 51539607540: it is damaged");
  EXPECT_EQ(model_message(with_field(kType, 6, 1)),
      first + "has the type 6, expected 0 (float32), 1 (int8), 2 (int16), 3 (int32), 4 (float16) or 5 (bfloat16)");
  EXPECT_EQ(
      model_message(with_field(kType, 4, 1)), first + "has 24 bytes, but its shape [2, 3] needs 12: it is damaged");
  EXPECT_EQ(
      model_message(with_field(kBytes, 20, 4)), first + "has 20 bytes, but its shape [2, 3] needs 24: it is damaged");
  EXPECT_EQ(model_message(model().bytes() + "x"), ": has 1 bytes after its last variable: it is damaged");
  CTranslate2Model changed = model();
  changed.variables[0].shape = {0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF};
  EXPECT_EQ(model_message(changed.bytes()), first +
                                                "has 24 bytes, but its shape [2147483647, 2147483647, 2147483647] "
                                                "needs more than any file has: it is damaged");
  changed.variables[0] = {"encoder/a/weight", kInt8, {1000, 1000}, std::string(1000 * 1000, '\0')};
  changed.variables = {changed.variables[0]};
  EXPECT_EQ(model_message(changed.bytes().substr(0, 500)),
      first + "has 1000000 bytes at byte 63 of a file of 500: it is truncated or damaged; download it again");
  changed = model();
  changed.version = 3;
  std::string old = changed.bytes();
  old[kType] = 8;
  EXPECT_EQ(model_message(old), first + "has elements of 8 bytes, expected 1 (int8), 2 (int16) or 4 (float32)");
}

// Tests the last good value of each bound, and the next.
TEST_F(CTranslate2Binary, Bounds) {
  const std::string head = model().bytes().substr(0, 26);  // up to the number of variables
  const auto claiming = [&](uint32_t n, size_t bytes, const std::string& before) {
    return model_message(before + std::string(reinterpret_cast<const char*>(&n), 4) + std::string(bytes, '\0'));
  };
  const std::string nameless = ": the name of variable 0 has 0 bytes, expected 2 to 1024: it is damaged";
  EXPECT_EQ(claiming(100'000, 900'009, head), nameless);
  EXPECT_EQ(claiming(100'001, 900'009, head),
      ": claims to hold 100001 variables, more than the 900009 bytes after it can: it is truncated or damaged");
  EXPECT_EQ(claiming(1, 9, head), nameless);
  EXPECT_EQ(claiming(1, 8, head),
      ": claims to hold 1 variables, more than the 8 bytes after it can: it is truncated or damaged");
  const std::string empty = head + std::string(4, '\0');
  EXPECT_EQ(claiming(1, 6, empty), ": alias 0 has 0 bytes, expected 2 to 1024: it is damaged");
  EXPECT_EQ(claiming(1, 5, empty),
      ": claims to hold 1 aliases, more than the 5 bytes after it can: it is truncated or damaged");
  CTranslate2Model changed = model();
  changed.variables[0] = variable({std::string(1023, 'a'), {1, 1, 1, 1, 1, 1, 2, 3}, kMatrix.values});
  changed.aliases = {};
  EXPECT_EQ(model_message(changed.bytes()), "no error");
  changed.variables[0].name += "a";
  EXPECT_EQ(
      model_message(changed.bytes()), ": the name of variable 0 has 1025 bytes, expected 2 to 1024: it is damaged");
  changed.variables[0].name = "a";
  EXPECT_EQ(model_message(changed.bytes()), "no error");
  changed.variables[0].name = "";
  EXPECT_EQ(model_message(changed.bytes()), ": the name of variable 0 has 1 bytes, expected 2 to 1024: it is damaged");
  changed.variables[0] = text_variable("t", std::string(1024, 'a'));
  EXPECT_EQ(model_message(changed.bytes()), "no error");
  changed.variables = {variable({"a/weight", {1, 1}, {3}}, kInt8), variable({"a/weight_scale", {1}, {0x1p-16f}})};
  EXPECT_EQ(open(folder, changed.bytes())->load("a/weight").values, std::vector<float>{3 * 0x1p16f});
  changed.variables[1] = variable({"a/weight_scale", {1}, {0x1p47f}});
  EXPECT_EQ(open(folder, changed.bytes())->load("a/weight").values, std::vector<float>{3 * 0x1p-47f});
  changed.variables[1] = variable({"a/weight_scale", {1}, {std::nextafter(0x1p47f, INFINITY)}});
  EXPECT_EQ(open(folder, changed.bytes())->load("a/weight").values, std::vector<float>{0});
}

// Before version 4 the width stands for the type.
TEST_F(CTranslate2Binary, OldTypes) {
  CTranslate2Model changed = model();
  changed.version = 3;
  changed.variables = {
      variable(kBias), variable({"n", {2}, {300, -2}}, kInt16), variable({"ids", {2, 1}, {5, -2}}, kInt8)};
  changed.aliases = {};
  const auto source = open(folder, changed.bytes());
  EXPECT_EQ(source->load(kBias.name).values, kBias.values);
  EXPECT_EQ(source->load("n").values, (std::vector<float>{300, -2}));
  EXPECT_EQ(source->load("ids").values, (std::vector<float>{5, -2}));
  for (const char width : {'\0', '\3', '\5'}) {
    std::string bytes = changed.bytes();
    bytes[30 + 2 + kBias.name.size() + 1 + 1 + 4] = width;
    EXPECT_EQ(model_message(bytes),
        format_text(
            ": variable \"encoder/a/bias\": has elements of {} bytes, expected 1 (int8), 2 (int16) or 4 (float32)",
            int{width}));
  }
}

TEST_F(CTranslate2Binary, SaysWhatDoesNotBelongTogether) {
  const std::string first = ": variable \"encoder/a/weight\": ";
  CTranslate2Model changed = model();
  changed.variables[1].name = "encoder/a/weight";
  EXPECT_EQ(model_message(changed.bytes()), first + "appears twice: it is damaged");
  changed = model();
  changed.aliases[0].first = "encoder/a/bias";
  EXPECT_EQ(model_message(changed.bytes()), ": variable \"encoder/a/bias\": appears twice: it is damaged");
  changed = model();
  changed.aliases[1].second = "nowhere";
  EXPECT_EQ(model_message(changed.bytes()),
      ": variable \"decoder/b/weight\": is an alias of \"nowhere\", which is missing: it is damaged");
  changed = model();
  changed.variables.push_back(scalar("decoder/x", kFloat32, INFINITY));
  EXPECT_EQ(model_message(changed.bytes()), ": variable \"decoder/x\": is inf, expected a finite number");
  changed.variables.back() = {"t", kInt8, {1025}, std::string(1025, 'a')};
  EXPECT_EQ(model_message(changed.bytes()), ": variable \"t\": is a text of 1025 bytes, expected at most 1024");
}

TEST_F(CTranslate2Binary, SaysWhatIsWrongWithIntegers) {
  const std::string first = ": variable \"encoder/a/weight\": ", scale = ": variable \"encoder/a/weight_scale\": ";
  CTranslate2Model changed = model();
  changed.variables = int8_variables(kMatrix);
  changed.variables[0].data[4] = '\x80';
  EXPECT_EQ(model_message(changed.bytes()), first + "byte 4 is -128, expected -127 to 127: it is damaged");
  changed.variables = int8_variables(kMatrix);
  for (const float value : {0.0f, -1.0f, 1e-9f, INFINITY}) {
    changed.variables[1] = variable({"encoder/a/weight_scale", {2}, {1, value}});
    EXPECT_EQ(model_message(changed.bytes()),
        scale + format_text("has the value {}, expected finite numbers of at least 2^-16", value));
  }
  changed.variables[1] = variable({"encoder/a/weight_scale", {3}, {1, 1, 1}});
  EXPECT_EQ(model_message(changed.bytes()),
      scale + "has the shape [3], expected floats, one, or one per row for \"encoder/a/weight\" of the shape [2, 3]");
  changed.variables[1] = variable({"encoder/a/weight_scale", {2}, {1, 1}}, kInt8);
  EXPECT_EQ(model_message(changed.bytes()),
      scale + "has the shape [2], expected floats, one, or one per row for \"encoder/a/weight\" of the shape [2, 3]");
  changed.variables.pop_back();
  EXPECT_EQ(model_message(changed.bytes()), first + "is int8, and its scale \"encoder/a/weight_scale\" is missing");
  changed.variables = {variable(kMatrix, kInt16), variable({"encoder/a/weight_scale", {2}, {1, 1}})};
  EXPECT_EQ(model_message(changed.bytes()),
      scale + "has the shape [2], expected floats, one for \"encoder/a/weight\" of the shape [2, 3]");
}

TEST_F(CTranslate2Binary, SurvivesDamage) {
  CTranslate2Model whole = model();
  const std::vector<CTranslate2Variable> int8 = int8_variables({"c/weight", {2, 2}, {1, 2, 3, 4}});
  whole.variables.insert(whole.variables.end(), int8.begin(), int8.end());
  whole.variables.push_back(text_variable("unk_token", "<unk>"));
  expect_damage_survived(whole.bytes(), model_message);
}
}}  // namespace goldcrest::converter
