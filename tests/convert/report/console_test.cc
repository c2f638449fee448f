// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"
#include "convert/support/formula_samples.h"
#include "convert/support/native_folder.h"
#include "evaluate/check.h"
#include "file/build.h"
#include "host/printable.h"
#include "report/engine_session.h"
#include "spec/format_text.h"

namespace goldcrest::converter { namespace {
// A screen that keeps its text, and a clock that the test sets.
struct Screen {
  std::string shown;
  double now = 100;
  size_t columns = 80;

  ProgressScreen of(bool terminal) {
    return {terminal, columns, [this](std::string_view text) { shown += text; }, [this] { return now; }};
  }
  std::string take() { return std::exchange(shown, ""); }
};

TEST(Progress, ElsewhereALineAStageAndOneEveryTenSeconds) {
  Screen screen;
  Progress progress(screen.of(false));
  progress.stage(
      "loading a\x1b"
      "b");
  EXPECT_EQ(screen.take(),
      "loading a\\x1b"
      "b\n");
  progress.at(1, 3);
  screen.now += 9.9;
  progress.at(2, 3);
  EXPECT_EQ(screen.take(), "");
  progress.stage("evaluating");
  screen.now += 10;
  progress.at(64, 960);
  progress.at(128, 960);
  screen.now += 10;
  progress.counter()(320, 960);
  progress.finish();
  EXPECT_EQ(screen.take(), "evaluating\nevaluating: 64 of 960 (6 %)\nevaluating: 320 of 960 (33 %)\n");
}

TEST(Progress, OnATerminalABarThatIsWrittenOver) {
  Screen screen;
  {
    Progress progress(screen.of(true));
    progress.stage("quantizing");
    EXPECT_EQ(screen.take(), "\rquantizing ...\x1b[K");
    progress.at(1, 4);  // too soon after the last line
    EXPECT_EQ(screen.take(), "");
    screen.now += 0.2;
    progress.at(2, 4);
    EXPECT_EQ(screen.take(), "\rquantizing [###############               ]  50 %\x1b[K");
    screen.now += 0.2;
    progress.at(2, 4);  // the line has not changed
    EXPECT_EQ(screen.take(), "");
    screen.now += 0.2;
    progress.at(9, 4);
    EXPECT_EQ(screen.take(), "\rquantizing [##############################] 100 %\x1b[K");
  }
  EXPECT_EQ(screen.take(), "\r\x1b[K");
}

TEST(Progress, NoLineIsWiderThanTheTerminal) {
  Screen screen = {.columns = 20};
  Progress progress(screen.of(true));
  progress.stage("loading /a/very/long/path");
  EXPECT_EQ(screen.take(), "\rloading /a/very ...\x1b[K");
  screen.now += 1;
  progress.at(1, 2);
  EXPECT_EQ(screen.take(), "\rloading /a/ve  50 %\x1b[K");
}

TEST(Progress, QuietShowsNothing) {
  Progress progress(standard_error_screen(true));
  progress.stage("loading");
  progress.at(1, 2);
  progress.finish();
}

// Text from patterns, and patterns that do not compile.

using Kind = FormatValue::Kind;

// Returns whether a pattern with values of these kinds compiles.
template <Kind... kKinds> consteval bool compiles(const char* pattern) {
  const Kind kinds[] = {kKinds..., Kind::kText};
  return fits_values(pattern, kinds, sizeof...(kKinds));
}

static_assert(compiles<>("none {{}}"));
static_assert(compiles<Kind::kText>("{}"));
static_assert(compiles<Kind::kText, Kind::kUnsigned>("{0} {1:>7} {0}"));
static_assert(compiles<Kind::kText, Kind::kSigned>("{:>{}}"));
static_assert(!compiles<>("{}"), "a value too few");
static_assert(!compiles<Kind::kText, Kind::kText>("{}"), "a value too many");
static_assert(!compiles<Kind::kText>("{"), "a brace that is left open");
static_assert(!compiles<>("}"), "a brace that closes nothing");
static_assert(!compiles<Kind::kUnsigned>("{:.2f}"), "an integer as a decimal fraction");
static_assert(!compiles<Kind::kDouble>("{:x}"), "a fraction in hexadecimal");
static_assert(!compiles<Kind::kUnsigned>("{:s}"), "an integer as a text");

TEST(FormatText, WritesEveryKind) {
  EXPECT_EQ(format_text("{} {} {} {}", true, 'c', int8_t{-5}, UINT64_MAX), "true c -5 18446744073709551615");
  EXPECT_EQ(format_text("{} {} {}", "text", std::string("string"), std::string_view("view")), "text string view");
  EXPECT_EQ(format_text("{} {} {:.2f}", 0.1f, 0.1, 2.0 / 3), "0.1 0.1 0.67");  // 0.1f has a float's digits
  EXPECT_EQ(format_text("{:016x} {:#x} {:>5}|{:<4}|{:02}", uint64_t{255}, 16u, 7, "ab", 3),
      "00000000000000ff 0x10     7|ab  |03");
  EXPECT_EQ(format_text("{1} {0} {1}", "a", 2), "2 a 2");
  EXPECT_EQ(format_text("{:>{}}", "a", 3), "  a");
  EXPECT_EQ(format_text("{{}} 100 %"), "{} 100 %");
}

TEST(JoinText, PutsASeparatorBetween) {
  EXPECT_EQ(join_text(std::vector<int>{}, ", "), "");
  EXPECT_EQ(join_text(std::vector<int>{1, -2, 3}, ", "), "1, -2, 3");
  EXPECT_EQ(join_text(std::vector<std::string>{"a", "", "b"}, "|"), "a||b");
}

TEST(Printable, TextStaysAndControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("by Élodie, 東京 \U0001F426"), "by Élodie, 東京 \U0001F426");
  EXPECT_EQ(printable("a\x1b[31mb\r\n\tc\x7f"), "a\\x1b[31mb\\x0d\\x0a\\x09c\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\u0080\u009b\u00a0"), "\\xc2\\x80\\xc2\\x9b\u00a0");  // C1 controls, which some terminals obey
  EXPECT_EQ(printable("a\u202eb\u2028c\u2066"),
      "a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8c\\xe2\\x81\\xa6");  // these turn the direction of text
  EXPECT_EQ(printable_lines("one\x1b\ntwo\r\n"), "one\\x1b\ntwo\\x0d\n");
  EXPECT_TRUE(is_printable("Élodie"));
  EXPECT_FALSE(is_printable("a\nb"));
}

TEST(Printable, BytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3");           // cut
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");  // longer than needed
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xe2\x82"
                      "e"),
      "\\xe2\\x82"
      "e");
  EXPECT_EQ(printable("\xf4\x8f\xbf\xbd"), "\xf4\x8f\xbf\xbd");
}

TEST(Printable, MetadataIsCleanedAndCut) {
  EXPECT_EQ(clean_metadata("by Élodie"), "by Élodie");
  EXPECT_EQ(clean_metadata("a\x1b[1m\nb\xff"), "a\uFFFD[1m\uFFFDb\uFFFD");
  EXPECT_EQ(clean_metadata(std::string(2000, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(clean_metadata(std::string(1023, 'x') + "é"), std::string(1023, 'x'));
}

// A model with recurrent layers: --check with samples of Marian's formula, and the self-test of its file.

using namespace test;

constexpr uint32_t kMaxTarget = 9;
const std::vector<std::vector<int32_t>> kSources = {{3, 7, 2, 11, 5, 0}, {0}, {9, 9, 4, 0}};

std::vector<int32_t> greedy_ids(
    const NativeFormula& formula, const std::vector<int32_t>& source, NativeFormula::Trace& trace) {
  std::vector<int32_t> ids;
  NativeFormula::State state = formula.start(source, &trace);
  while (ids.empty() || (ids.back() != 0 && ids.size() < kMaxTarget)) {
    NativeFormula::Row logits = formula.step(ids.empty() ? -1 : ids.back(), state, &trace);
    logits[1] = -1e9;  // <unk> is never chosen
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ids.push_back(ids.size() + 1 == kMaxTarget ? 0 : static_cast<int32_t>(best));  // the end is forced
  }
  return ids;
}

std::vector<test::FormulaSample> samples_of(const NativeFormula& formula) {
  std::vector<test::FormulaSample> samples;
  for (const std::vector<int32_t>& source : kSources) {
    test::FormulaSample& sample = samples.emplace_back();
    sample.source = source;
    sample.greedy = greedy_ids(formula, source, sample.trace);
  }
  return samples;
}

TEST(NativeCheck, FindsWhatIsWrongInARecurrentLayer) {
  NativeFolder checkpoint;
  const test::SampleFolder samples;
  write_samples(samples_of({checkpoint.tensors, checkpoint.shape}), kMaxTarget, samples);
  const CheckReport report = check(Reference(checkpoint.load()), samples.path(), {});
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_EQ(report.tensors.size(), 7 + kSources.size()) << "embeddings, layers and logits";
  ASSERT_EQ(report.searches.size(), 1u);
  EXPECT_EQ(report.searches[0].equal, kSources.size());

  const std::pair<const char*, void (*)(RecurrentSpec&)> mistakes[] = {
      {"decoder.layers.0", [](RecurrentSpec& layer) { std::swap(layer.input.weight, layer.forget.weight); }},
      {"decoder.layers.0",
          [](RecurrentSpec& layer) {
            for (float& bias : layer.forget.bias) bias += 0.1f;
          }},
      {"decoder.layers.1", [](RecurrentSpec& layer) { layer.norm.epsilon = 0.01f; }}};
  for (const auto& [departs, make] : mistakes) {
    ModelSpec spec = checkpoint.load();
    make(*spec.decoder.layers[departs[15] - '0'].recurrent);
    const CheckReport wrong = check(Reference(spec), samples.path(), {});
    ASSERT_NE(wrong.first_departure(), nullptr);
    EXPECT_EQ(wrong.first_departure()->tensor, departs);
  }
}

TEST(NativeCheck, TheSelfTestPassesWithEveryTable) {
  NativeFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  const NativeFormula formula(checkpoint.tensors, checkpoint.shape);
  for (const Weights weights : {Weights::kInt8, Weights::kFloat32}) {
    const Payload payload = build_payload(spec, {.weights = weights, .limits = {.max_target_tokens = kMaxTarget}});
    const FileImage first = assemble(payload, {});
    EngineSession session(first.span(), {}, "student");
    const std::vector<SelfTestLine> lines = make_self_test(session, kSources, {});
    ASSERT_EQ(lines.size(), kSources.size());
    for (size_t i = 0; i < kSources.size() && weights == Weights::kFloat32; ++i) {
      NativeFormula::Trace trace;
      EXPECT_EQ(std::vector<int32_t>(lines[i].target.begin(), lines[i].target.end()),
          greedy_ids(formula, kSources[i], trace));
    }
    const FileImage file = assemble(payload, lines);
    for (uint32_t i = 0; const char* name = goldcrest_kernels_at(i); ++i) {
      setenv("GOLDCREST_KERNELS", name, 1);
      EXPECT_EQ(goldcrest_self_test(EngineSession(file.span(), {}, "student").engine(), nullptr), GOLDCREST_OK) << name;
    }
    unsetenv("GOLDCREST_KERNELS");
  }
}
}}  // namespace goldcrest::converter
