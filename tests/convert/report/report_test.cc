// SPDX-License-Identifier: Apache-2.0
// The three forms of the report have the same contents; its HTML page loads nothing, and runs its own script only.
#include "report/report.h"
#include "convert/support/shipped_model.h"
#include "file/write.h"
#include "report/engine_session.h"
#include "sources/values/json_text.h"
#include "spec/format_text.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
constexpr const char* kHostileName = "</pre><script>alert('1')</script> & \"more\"";

// A report of g2p with one evaluated line; every text of a user or a checkpoint is hostile.
Report make_report() {
  const test::ShippedModel& model = test::shipped_model("g2p");
  static ModelSpec spec = model.spec;
  spec.warnings = {kHostileName};
  Report report;
  report.checkpoint = report.output = kHostileName;
  report.spec = &spec;
  report.info = EngineSession(model.image.span(), {}, "g2p").info();
  report.tensors = model.payload.tensors;
  report.tensors[0].name = kHostileName;
  report.sections = {{"Weights", 12}, {"Parameters", 34}};
  report.file_bytes = model.image.size();
  report.self_test_lines = 3;
  report.memory = map_memory(model.image.span(), {}, "g2p");
  report.evaluation_lines = {{kHostileName, {"a b"}, 7}};
  EvaluatedLine line;
  line.float32.text = "a b";
  line.int8.text = kHostileName;
  line.loss = 12.5;
  Evaluation& evaluation = report.evaluation.emplace();
  evaluation.lines = {line};
  evaluation.token_agreement = 0.75;
  evaluation.lines_with_references = 1;
  evaluation.float32 = Quality{48.061, 64.02, 8.97, 66.87};
  evaluation.int8 = Quality{48.13, 64.01, 9.01, 66.99};
  evaluation.most_lost = {0};
  return report;
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++n;
  return n;
}

TEST(Report, TextHasEveryTensorAndTheArena) {
  const Report report = make_report();
  const std::string text = report_text(report);
  for (const TensorRecord& tensor : report.tensors)
    EXPECT_EQ(text.find(tensor.name) != std::string::npos, true) << tensor.name;
  EXPECT_TRUE(has(text, std::to_string(report.memory.memory.arena_bytes) + " bytes for S = 64"));
  EXPECT_TRUE(has(text, arena_formula(report.memory)));
  EXPECT_TRUE(has(text, "encoder  3 layers, d_model 128, d_ff 512, 4 heads, vocabulary 31, 64 positions"));
  EXPECT_TRUE(has(text, "decoder relu, post-norm, final norm"));
  EXPECT_TRUE(has(text, "BLEU 48.13"));
  EXPECT_TRUE(has(text, "float32"));
}

TEST(Report, TellsTheRulesAndWhatTheyNeed) {
  Report report = make_report();
  EXPECT_FALSE(has(report_text(report), "\nrules "));
  EXPECT_FALSE(report_json(report).contains("rules"));
  ModelSpec spec = *report.spec;
  spec.generation.rules = {.renormalize = true,
      .force_end = false,
      .early_stopping = GOLDCREST_STOP_FULL,
      .length_penalty_kind = GOLDCREST_LENGTH_WU,
      .no_repeat_ngram = 3,
      .max_extra_tokens = 50,
      .max_length_factor = 2.5f,
      .repetition_penalty = 1.5f,
      .more_end_ids = {7},
      .biases = {{4, -1.0f}, {6, 2.0f}}};
  const FileImage image = assemble(build_payload(spec, {}), {});
  report.spec = &spec;
  report.info = EngineSession(image.span(), {}, "g2p").info();
  const std::string rules[] = {"soft-max of what may be chosen", "no forced end", "early stopping",
      "length penalty of ((5 + n) / 6)", "no 3-gram twice", "at most 50 tokens more than the source",
      "at most 2.5 times the source's tokens", "repetition penalty 1.5", "1 more end ids", "2 biased ids"};
  EXPECT_TRUE(has(
      report_text(report), format_text("\nrules    {} (the engine needs GOLDCREST_SEARCH)\n", join_text(rules, ", "))));
  EXPECT_EQ(report_json(report)["rules"], Value(std::vector<std::string>(std::begin(rules), std::end(rules))));
}

TEST(Report, JsonHasTheSameFigures) {
  const Report report = make_report();
  const Value json = parse_json(write_json(report_json(report)), kSettingsDepth, "report");
  EXPECT_EQ(json["arena"]["bytes"], report.memory.memory.arena_bytes);
  EXPECT_EQ(json["arena"]["formula"], arena_formula(report.memory));
  EXPECT_EQ(json["file_bytes"], report.file_bytes);
  EXPECT_EQ(json["sections"], (Value{{"Weights", 12}, {"Parameters", 34}}));
  ASSERT_EQ(json["tensors"].size(), report.tensors.size());
  for (size_t i = 0; i < report.tensors.size(); ++i) {
    const Value& tensor = json["tensors"][i];
    EXPECT_EQ(tensor["name"], report.tensors[i].name);
    EXPECT_EQ(tensor["bytes"], report.tensors[i].bytes);
    EXPECT_EQ(tensor["shape"], Value::list({report.tensors[i].rows, report.tensors[i].columns}));
    EXPECT_EQ(tensor["sqnr_db"].is_null(), !report.tensors[i].sqnr_db.has_value());
  }
  EXPECT_EQ(json["warnings"][0], kHostileName);
  EXPECT_EQ(json["evaluation"]["int8"]["bleu"], 48.13);
  EXPECT_EQ(json["evaluation"]["most_lost"][0]["line"], 7);
  EXPECT_EQ(json["evaluation"]["most_lost"][0]["loss"], 12.5);
}

// The page without its own script.
std::string without_script(std::string html) {
  const size_t begin = html.find("<script>"), end = html.find("</script>");
  EXPECT_NE(begin, std::string::npos);
  return begin == std::string::npos ? html : html.erase(begin, end + 9 - begin);
}

TEST(Report, HtmlNeedsNothingElseAndEscapesEverything) {
  const std::string html = report_html(make_report());
  EXPECT_EQ(count(html, "<script"), 1u);
  for (const char* word :
      {"http:", "https:", "//", "src=", "href=", "url(", "@import", "<link", "onerror", "innerHTML"})
    EXPECT_FALSE(has(html, word)) << word;
  EXPECT_FALSE(has(html, "alert('1')</script>"));
  const std::string page = without_script(html);
  // In warning, source, int8's translation, checkpoint and the tensor's name, and in three commands to go on with.
  EXPECT_GE(count(page, "&lt;/pre&gt;&lt;script&gt;alert('1')&lt;/script&gt; &amp; &quot;more&quot;") +
                count(page, "&lt;/pre&gt;&lt;script&gt;alert('\\''1'\\'')&lt;/script&gt; &amp; &quot;more&quot;"),
      8u);
  for (const char* tag : {"table", "pre", "h1", "h2", "tr", "td", "th", "p", "div", "dl", "dt", "dd", "svg", "rect",
           "label", "output", "figure", "details", "span", "b"}) {
    const std::string name = tag;
    EXPECT_EQ(count(page, "<" + name + ">") + count(page, "<" + name + " "), count(page, "</" + name + ">")) << tag;
  }
}

TEST(Report, HtmlBeginsWithTheVerdict) {
  const Report report = make_report();
  const std::string html = report_html(report);
  size_t at = 0;
  for (const char* part : {"<title>", "class=tiles", "<h2>Samples</h2>", "<h2>Loss by layer</h2>", "<details>",
           "<h2>Memory</h2>", "<h2>Go on</h2>", "<h2>Origin</h2>", "<h2>Formula</h2>"}) {
    const size_t found = html.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
  EXPECT_TRUE(has(html, format_text("{} bytes, for 64 source and", report.memory.memory.arena_bytes)));
  EXPECT_TRUE(has(html, "exact 66.99 and 66.87 in float32"));
  EXPECT_TRUE(has(html, "<dt>reference</dt><dd>a b</dd><dt>float32</dt><dd>a b</dd><dt>int8</dt>"));
}

TEST(Report, HtmlOffersABoardThatFits) {
  Report report = make_report();
  report.boards = {{.name = "small"}, {.name = "large", .fits = true}};
  EXPECT_TRUE(has(report_html(report), "--emit-c firmware --board large"));
  report.boards.pop_back();
  EXPECT_FALSE(has(report_html(report), "--emit-c"));
  report.boards.clear();
  EXPECT_TRUE(has(report_html(report), "' --board all"));
}

TEST(Report, HtmlHasABarForEachLayerAndMarksNoiseAboveTwoPercent) {
  Report report = make_report();
  EXPECT_EQ(count(report_html(report), "<rect class=worst "), 0u);
  std::set<std::string> groups;
  const TensorRecord* worst = nullptr;
  report.tensors.front().sqnr_db = 20;
  for (const TensorRecord& tensor : report.tensors) {
    groups.insert(tensor.group);
    if (tensor.sqnr_db && (worst == nullptr || *tensor.sqnr_db < *worst->sqnr_db)) worst = &tensor;
  }
  EXPECT_GE(groups.size(), 3u + 2 + 2);
  ASSERT_NE(worst, nullptr);
  const std::string html = report_html(report);
  for (const std::string& group : groups) EXPECT_TRUE(has(html, "<div class=row><span>" + group + "</span>")) << group;
  EXPECT_EQ(count(html, "<rect class=worst width=100.00 "), 1u);
  EXPECT_TRUE(has(html, escape_html(worst->name) + "</b> in " + worst->group));
}

TEST(Report, HtmlSaysWhatIsMissing) {
  Report report = make_report();
  report.evaluation.reset();
  ModelSpec spec = *report.spec;
  spec.license.clear();
  report.spec = &spec;
  const std::string html = report_html(report);
  for (const char* text :
      {"not measured", "--evaluate", "not asked for", "--board", "names none (--license)", "--check"})
    EXPECT_TRUE(has(html, text)) << text;
}

// The strips' buffers fill the plan, and a model of many layers has a page of bounded size.
TEST(Report, HtmlStaysSmall) {
  Report report = make_report();
  const TensorRecord tensor = report.tensors[1];
  for (uint32_t i = 0; i < 2000; ++i) {
    report.tensors.push_back(tensor);
    report.tensors.back().group = format_text("encoder.layers.{}", i / 8);
  }
  const std::string long_text(100'000, 'a');
  report.check = "samples";
  report.check_results = long_text;
  for (uint32_t i = 0; i < 100; ++i) {
    report.evaluation->lines.push_back(report.evaluation->lines[0]);
    report.evaluation->lines.back().int8.text = long_text;
    report.evaluation->most_lost.push_back(i);
  }
  const std::string html = report_html(report);
  EXPECT_LT(html.size(), 60'000u);
  EXPECT_TRUE(has(html, "&hellip;"));
  EXPECT_EQ(count(html, "<title>decoder."), std::ranges::count_if(report.memory.buffers, [](const auto& buffer) {
    return std::string_view(buffer.name).starts_with("decoder.") && buffer.bytes > 0;
  }));
}

TEST(Report, ShowsTenLinesThatDifferAndVerboseAll) {
  Report report = make_report();
  Evaluation& evaluation = *report.evaluation;
  EvaluatedLine equal = evaluation.lines[0], gained = equal;
  equal.identical = true;
  equal.loss = gained.loss = 0;
  evaluation.lines.insert(evaluation.lines.end(), 2, equal);
  evaluation.lines.insert(evaluation.lines.end(), 12, gained);
  evaluation.identical = 2;
  const std::string summary = report_summary(report), text = report_text(report);
  EXPECT_EQ(count(summary, "  float32   a b\n"), 10u);
  EXPECT_EQ(count(summary, "differs, and lost nothing"), 9u);
  EXPECT_EQ(count(summary, "3 more lines differ; --verbose prints all\n"), 1u);
  EXPECT_EQ(count(text, "  float32   a b\n"), 13u);
  EXPECT_EQ(count(text, "more lines differ"), 0u);
}

TEST(Report, NumbersAreShort) {
  EXPECT_EQ(short_bytes(999), "999 bytes");
  EXPECT_EQ(short_bytes(43'264), "43.3 kB");
  EXPECT_EQ(short_bytes(733'952), "734 kB");
  EXPECT_EQ(short_bytes(7'639'104), "7.64 MB");
  EXPECT_EQ(grouped(7'639'104), "7,639,104");
  EXPECT_EQ(grouped(12), "12");
  EXPECT_EQ(shortened_html("\xc3\xa9\xc3\xa9<", 3), "\xc3\xa9&hellip;");
  EXPECT_EQ(shortened_html("a<", 3), "a&lt;");
}

// The engine as the converter uses it: text, batches, and the self-test that is written into the file.

goldcrest_limits text_limits(uint32_t batch) { return {.max_source_bytes = 100, .batch = batch}; }

TEST(EngineSession, TextGoesToIdsAndBack) {
  EngineSession session(test::shipped_model("g2p").image.span(), text_limits(1), "g2p.gcst");
  const std::vector<int32_t> ids = {5, 6, 5, 7, 19, 2};  // tests/golden/g2p, line 1
  EXPECT_EQ(session.encode("abaco"), ids);
  const std::vector<int32_t> tokens = {10, 22, 5, 45, 50, 2};
  EXPECT_EQ(session.decode(tokens), "AH0 B AA1 K OW0");
  EXPECT_EQ(session.decode({}), "");
}

TEST(EngineSession, ErrorsSayWhatAndWhy) {
  const FileImage& image = test::shipped_model("g2p").image;
  EngineSession session(image.span(), text_limits(1), "g2p.gcst");
  test::expect_error([&] { session.encode(std::string(101, 'a')); }, {"source: "});
  goldcrest_limits limits = {.max_target_tokens = 65};
  test::expect_error([&] { EngineSession(image.span(), limits, "g2p.gcst"); }, {"g2p.gcst: ", "max_target_tokens"});
  test::expect_error([&] { EngineSession(image.span().first(image.size() - 64), {}, "g2p.gcst"); }, {"g2p.gcst: "});
}

TEST(EngineTranslator, ABatchGivesWhatEachLineGivesAlone) {
  const FileImage& image = test::shipped_model("g2p").image;
  const std::vector<std::string> sources = {
      "abaco", "goldcrest", "", std::string(90, 'x'), "wren", "finch", "firecrest"};
  EngineSession single(image.span(), text_limits(1), "g2p.gcst");
  const std::vector<Translation> alone = EngineTranslator(single).translate(sources);
  for (const uint32_t batch : {2u, 3u, 16u}) {
    EngineSession session(image.span(), text_limits(batch), "g2p.gcst");
    const std::vector<Translation> together = EngineTranslator(session).translate(sources);
    ASSERT_EQ(together.size(), sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(together[i].tokens, alone[i].tokens) << sources[i];
      EXPECT_EQ(together[i].text, alone[i].text);
      EXPECT_EQ(together[i].error, alone[i].error);
    }
  }
  EXPECT_EQ(alone[0].text, "AH0 B AA1 K OW0");
  EXPECT_TRUE(has(alone[3].error, "source"));  // 90 characters, but 64 positions
  EXPECT_TRUE(alone[3].tokens.empty());
}

TEST(SelfTest, WhatTheConverterWritesTheEnginePasses) {
  const test::ShippedModel& model = test::shipped_model("enfr");
  EngineSession untested(model.image.span(), text_limits(1), "enfr.gcst");
  const std::vector<std::vector<int32_t>> sources = {{541, 147, 0}, {791, 34, 89, 2, 0}, std::vector<int32_t>(129, 5)};
  const std::vector<SelfTestLine> lines = make_self_test(untested, sources, {});
  ASSERT_EQ(lines.size(), 2u);  // the third is too long
  EXPECT_EQ(lines[0].source, (std::vector<uint32_t>{541, 147, 0}));
  EXPECT_EQ(lines[0].target, (std::vector<uint32_t>{1087, 40, 0}));
  EXPECT_NE(lines[0].hash, lines[1].hash);
  const FileImage image = assemble(model.payload, lines);
  EngineSession session(image.span(), {}, "enfr.gcst");
  EXPECT_EQ(goldcrest_self_test(session.engine(), nullptr), GOLDCREST_OK);
}

TEST(SelfTest, RandomSourcesFitTheModel) {
  for (const char* task : {"g2p", "enfr"}) {
    const ModelSpec& spec = test::shipped_model(task).spec;
    for (const uint32_t most : {1u, 2u, 5u, 64u}) {
      const std::vector<std::vector<int32_t>> sources = random_sources(spec, most);
      EXPECT_EQ(sources, random_sources(spec, most));
      EXPECT_EQ(sources.size(), most == 1 ? 0u : 3u) << task << " " << most;  // the end token takes one
      for (const std::vector<int32_t>& source : sources) {
        EXPECT_LE(source.size(), most);
        EXPECT_EQ(source.back(), static_cast<int32_t>(spec.generation.source_suffix.at(0)));
        for (const int32_t id : source) EXPECT_LT(static_cast<uint32_t>(id), spec.encoder.embedding->rows);
      }
    }
  }
}
}}  // namespace goldcrest::converter
