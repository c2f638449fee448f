// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert from end to end on the shipped checkpoints.
#include <nlohmann/json.hpp>
#include "convert/support/arena_formula.h"
#include "convert/support/sample_folder.h"
#include "host/model_memory.h"
#include "programs/checkpoint_copy.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Convert = InFolder;

const Arguments kTasks = {"g2p", "enfr"};

std::string inspect(const std::filesystem::path& model, const Arguments& options = {}) {
  return with_status(0, run(inspect_program(), concat({model}, options))).out;
}

// Returns the rest of the line after `label`.
std::string field(const std::string& text, const std::string& label) {
  for (const std::string& line : lines_of(text)) {
    const size_t at = line.find(label);
    if (at != std::string::npos) return line.substr(at + label.size());
  }
  ADD_FAILURE() << "no " << label << " in\n" << text;
  return {};
}

TEST_F(Convert, TheSameBytesHoweverItIsCalled) {
  for (const std::string& task : kTasks) {
    const TemporaryFolder fresh;
    const std::string expected = read_file(converted_model(task));
    const std::filesystem::path checkpoint = checkpoint_folder(task), output = fresh / "model.gcst";
    const std::pair<std::string, std::filesystem::path> calls[] = {{checkpoint, {}}, {task, checkpoint.parent_path()},
        {task + "/", checkpoint.parent_path()}, {".", checkpoint}, {checkpoint / "model.safetensors", {}}};
    for (const auto& [name, from] : calls) {
      const Outcome outcome = run(convert_program(), {name, "-o", output}, {.folder = from});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_TRUE(read_file(output) == expected) << name << " from " << from;
      EXPECT_TRUE(has(outcome.out, "written      " + output.string() + "\n"));
    }
    EXPECT_EQ(files_in(fresh.path()), 1u);
  }
}

TEST_F(Convert, JsonHasEveryField) {
  for (const std::string& task : kTasks) {
    const TemporaryFolder fresh;
    const nlohmann::json json = convert_json(checkpoint_folder(task), {"-o", fresh / "model.gcst"});
    for (const char* key : {"checkpoint", "output", "dialect", "checkpoint_sha256", "encoder", "decoder", "tensors",
             "sections", "file_bytes", "self_test_lines", "limits", "arena", "warnings"})
      EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json.at("file_bytes"), std::filesystem::file_size(fresh / "model.gcst"));
    EXPECT_EQ(json.at("self_test_lines"), 3);
    EXPECT_EQ(json.at("warnings"), nlohmann::json::array());
    EXPECT_EQ(json.at("encoder").at("d_model"), task == "g2p" ? 128 : 256);
    EXPECT_EQ(json.at("decoder").at("layers"), 2);
    EXPECT_EQ(json.at("encoder").at("style"), task == "g2p" ? "relu, post-norm, final norm" : "silu, post-norm");
    uint64_t tensor_bytes = 0, section_bytes = 0;
    for (const nlohmann::json& tensor : json.at("tensors")) {
      tensor_bytes += tensor.at("bytes").get<uint64_t>();
      if (!tensor.at("sqnr_db").is_null()) {
        EXPECT_GT(tensor.at("sqnr_db").get<double>(), 30.0) << tensor;
      }
    }
    for (const auto& [name, bytes] : json.at("sections").items()) section_bytes += bytes.get<uint64_t>();
    EXPECT_EQ(tensor_bytes + json.at("sections").at("Tokenizer").get<uint64_t>(), section_bytes);
    EXPECT_LT(section_bytes, json.at("file_bytes").get<uint64_t>());
    const std::string inspected = inspect(fresh / "model.gcst");
    EXPECT_TRUE(has(inspected, "sha256 " + json.at("checkpoint_sha256").get<std::string>()));
  }
}

TEST_F(Convert, TheArenaIsTheFormulaAndTheEnginesNumber) {
  Rng rng(61);
  for (int i = 0; i < 12; ++i) {
    const TemporaryFolder fresh;
    const std::string& task = kTasks[i % 3 == 0 ? 1 : 0];
    goldcrest_limits limits = {.max_source_tokens = rng.between(1, 64),
        .max_source_bytes = rng.between(1, 1000),
        .max_target_tokens = rng.between(1, 64),
        .beam_size = rng.between(1, 16),
        .batch = rng.between(1, 8)};
    limits.n_best = rng.between(1, limits.beam_size);
    limits.encoder_rows = rng.between(1, 64);
    limits.threads = 1;
    const Arguments common = {"--max-source", std::to_string(limits.max_source_tokens), "--max-source-bytes",
        std::to_string(limits.max_source_bytes), "--max-target", std::to_string(limits.max_target_tokens),
        "--beam-size", std::to_string(limits.beam_size), "--batch", std::to_string(limits.batch), "--encoder-rows",
        std::to_string(limits.encoder_rows)};
    const Arguments own = {"-o", fresh / "model.gcst", "--n-best", std::to_string(limits.n_best)};
    const nlohmann::json json = convert_json(checkpoint_folder(task), concat(own, common));
    const auto bytes = json.at("arena").at("bytes").get<uint64_t>();
    const auto formula = json.at("arena").at("formula").get<std::string>();
    EXPECT_EQ(ArenaFormula(formula).evaluate(limits), bytes);
    EXPECT_EQ(json.at("limits").at("n_best"), limits.n_best);
    EXPECT_EQ(json.at("limits").at("encoder_rows"), limits.encoder_rows);

    MappedFile model;
    ASSERT_EQ(model.open(fresh / "model.gcst"), "");
    EXPECT_EQ(goldcrest_arena_bytes(model.bytes(), model.size(), &limits), static_cast<int64_t>(bytes));
    Arguments map = common;
    map.push_back("--map");
    const std::string inspected = inspect(fresh / "model.gcst", map);
    EXPECT_TRUE(field(inspected, "arena        ").starts_with(std::to_string(bytes) + " ")) << inspected;
    EXPECT_TRUE(has(inspected, formula)) << inspected;
    // The conversion's limits are the file's defaults, except for the batch, which is always asked for.
    const std::string defaults = inspect(fresh / "model.gcst", {"--batch", std::to_string(limits.batch)});
    EXPECT_TRUE(field(defaults, "arena        ").starts_with(std::to_string(bytes) + " ")) << defaults;
  }
}

TEST_F(Convert, AnotherProcessorGetsAnotherOrderOfTheSameWeights) {
  for (const std::string& task : kTasks) {
    const TemporaryFolder fresh;
    const std::filesystem::path model = fresh / "helium.gcst";
    convert_json(checkpoint_folder(task), {"-o", model, "--cpu", "cortex-m55"});
    EXPECT_FALSE(read_file(model) == read_file(converted_model(task)));
    const std::string hash = field(inspect(model), "weights hash ");
    EXPECT_EQ(hash.size(), 16u);
    EXPECT_EQ(hash, field(inspect(converted_model(task)), "weights hash "));
    inspect(model, {"--self-test"});
    std::string input;
    const std::vector<GoldenLine> golden = golden_lines(task);
    for (size_t i = 0; i < golden.size(); i += golden.size() / 10) input += golden[i].text + "\n";
    const RunOptions how = {.input = input};
    EXPECT_EQ(run(translate_program(), {model, "--scores"}, how).out,
        run(translate_program(), {converted_model(task), "--scores"}, how).out);
  }
}

TEST_F(Convert, NameLicenceAndAttributionOfTheCommandLine) {
  convert_json(checkpoint_folder("g2p"), {"-o", folder / "model.gcst", "--name", "my model", "--license", "CC0-1.0",
                                             "--attribution", "by Élodie, \"quoted\""});
  const std::string inspected = inspect(folder / "model.gcst");
  EXPECT_EQ(field(inspected, "name         "), "my model");
  EXPECT_EQ(field(inspected, "licence      "), "CC0-1.0");
  EXPECT_EQ(field(inspected, "attribution  "), "by Élodie, \"quoted\"");
}

TEST_F(Convert, TheSelfTestOfTheUsersLines) {
  const std::string lines = folder.write("lines", "abaco\tAE1 B\n\nwren\nfinch\ngoldcrest\nfirecrest\n");
  const nlohmann::json json =
      convert_json(checkpoint_folder("g2p"), {"-o", folder / "model.gcst", "--self-test", lines});
  EXPECT_EQ(json.at("self_test_lines"), 4);  // the first four lines
  inspect(folder / "model.gcst", {"--self-test"});
  EXPECT_FALSE(read_file(folder / "model.gcst") == read_file(converted_model("g2p")));
}

TEST_F(Convert, TheHtmlReportStandsAlone) {
  convert_json(checkpoint_folder("g2p"), {"--report", folder / "report.html"});
  const std::string html = read_file(folder / "report.html");
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  for (const char* word : {"http:", "https:", "src=", "href=", "url(", "<script ", "@import"})
    EXPECT_FALSE(has(html, word)) << word;
  EXPECT_LT(html.size(), 60'000u);
  EXPECT_TRUE(has(html, "<pre>goldcrest-convert ") && has(html, "report.html --json</pre>")) << "the page's command";
  EXPECT_TRUE(has(html, "<figcaption>8 beams: "));
  EXPECT_TRUE(has(html, "transformer.encoder.layers.0.linear1.weight"));
  EXPECT_TRUE(has(html, "arena = fixed + max(text, encode, decode)"));
  EXPECT_EQ(files_in(folder.path()), 1u);  // without -o the converter writes no model
  // Few of the page's target lengths hold a prefix of 40 ids.
  convert_json(checkpoint_folder("g2p"), {"--report", folder / "prefix.html", "--max-prefix", "40"});
  EXPECT_TRUE(has(read_file(folder / "prefix.html"), "<figcaption>8 beams: "));
}

// Golden lines on which int8 gives float32's result, or does not: `SOURCE TAB REFERENCE`.
std::string evaluation_lines(bool identical) {
  std::vector<GoldenLine> golden = golden_lines("g2p");
  golden.resize(300);
  std::string input, lines;
  for (const GoldenLine& line : golden) input += line.text + "\n";
  const Outcome outcome = translate("g2p", {"--tokens"}, input);
  const std::vector<std::string> ids = lines_of(outcome.out);
  EXPECT_EQ(ids.size(), golden.size());
  size_t n = 0;
  for (size_t i = 0; i < golden.size() && n < 5; ++i) {
    if ((ids[i] == ids_text(golden[i].greedy)) != identical) continue;
    lines += golden[i].text + "\tAH0 B\n";
    ++n;
  }
  EXPECT_GT(n, 1u);
  return lines;
}

TEST_F(Convert, EvaluationBoundsTheLoss) {
  const std::string same = folder.write("same", evaluation_lines(true)),
                    other = folder.write("other", evaluation_lines(false));
  for (const char* metric : {"tokens", "lines", "bleu", "chrf", "wer", "exact"}) {
    const nlohmann::json json = convert_json(checkpoint_folder("g2p"),
        {"-o", folder / "model.gcst", "--evaluate", same, "--max-loss", "0", "--metric", metric});
    const nlohmann::json& evaluation = json.at("evaluation");
    EXPECT_EQ(evaluation.at("lines"), 5);
    EXPECT_EQ(evaluation.at("identical_lines"), 5);
    EXPECT_EQ(evaluation.at("token_agreement"), 1.0);
    EXPECT_NEAR(evaluation.at("identical_interval").at(0).get<double>(), 0.5655, 1e-4);
    EXPECT_EQ(evaluation.at("identical_interval").at(1), 1.0);
    EXPECT_NEAR(evaluation.at("chrf").get<double>(), 100, 1e-9);
    EXPECT_EQ(evaluation.at("failed"), 0);
    EXPECT_EQ(evaluation.at("float32"), evaluation.at("int8"));
    EXPECT_EQ(evaluation.at("most_lost"), nlohmann::json::array());
    EXPECT_TRUE(std::filesystem::remove(folder / "model.gcst"));
  }
  for (const char* metric : {"tokens", "lines"}) {
    const Outcome outcome = with_status(
        4, convert(checkpoint_folder("g2p"),
               {"-o", folder / "model.gcst", "--json", "--evaluate", other, "--max-loss", "0.5", "--metric", metric}));
    EXPECT_TRUE(has(outcome.err, "more than --max-loss 0.5")) << outcome.err;
    const nlohmann::json evaluation = nlohmann::json::parse(outcome.out).at("evaluation");
    EXPECT_EQ(evaluation.at("identical_lines"), 0);
    EXPECT_LT(evaluation.at("token_agreement"), 0.995);
    EXPECT_FALSE(std::filesystem::exists(folder / "model.gcst"));
  }
  const Outcome kept =
      with_status(0, convert(checkpoint_folder("g2p"),
                         {"-o", folder / "model.gcst", "--evaluate", other, "--max-loss", "100", "--metric", "lines"}));
  EXPECT_TRUE(has(kept.out, "max-loss     int8 lost 100.000 points, within --max-loss 100\n")) << kept.out;
  EXPECT_EQ(
      convert(checkpoint_folder("g2p"), {"--evaluate", other, "--max-loss", "nan", "--metric", "lines"}).status, 4);
}

TEST_F(Convert, CheckPassesOnTheGoldenSamples) {
  for (const std::string& task : kTasks) {
    const SampleFolder samples(task, 80);
    const Outcome outcome = with_status(
        0, convert(checkpoint_folder(task), {"--check", samples.path(), "--report", folder / "report.html"}));
    const std::string html = read_file(folder / "report.html");
    EXPECT_TRUE(has(html, "(--check).</p><pre>encoder.embed ") && has(html, " lines equal, 0 ties\n")) << html;
    EXPECT_TRUE(has(outcome.out, "encoder.layers.0 ")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "lines equal")) << outcome.out;
  }
}

TEST_F(Convert, CheckNamesTheFirstLayerThatAWrongConfigChanges) {
  struct Case {
    const char* task;
    const char* setting;
    nlohmann::json value;
    const char* first;  // the first layer that differs
    const char* not_yet;
  };
  const Case cases[] = {{"g2p", "norm_first", true, "encoder.layers.0", "encoder.embed"},
      {"g2p", "activation", "gelu", "encoder.layers.0", "encoder.embed"},
      {"g2p", "decoder_activation", "silu", "decoder.layers.0", "encoder.norm"},
      {"g2p", "nhead", 8, "encoder.layers.0", "encoder.embed"},
      {"g2p", "decoder_nhead", 2, "decoder.layers.0", "encoder.norm"},
      {"g2p", "position_encoding", "sinusoidal_concatenated", "encoder.embed", nullptr},
      {"g2p", "scale_embedding", false, "encoder.embed", nullptr},
      {"g2p", "layer_norm_eps", 1e-2, "encoder.layers.0", "encoder.embed"},
      {"enfr", "activation_function", "relu", "encoder.layers.0", "encoder.embed"},
      {"enfr", "normalize_before", true, "encoder.layers.0", "encoder.embed"},
      {"enfr", "decoder_attention_heads", 8, "decoder.layers.0", "encoder.layers.3"},
      {"enfr", "scale_embedding", false, "encoder.embed", nullptr}};
  for (const Case& c : cases) {
    const CheckpointCopy copy(c.task);
    copy.set("config.json", c.setting, c.value);
    const TemporaryFolder fresh;
    const Outcome outcome = convert(copy.path(), {"-o", fresh / "model.gcst", "--check", golden_folder(c.task)});
    const std::string name = std::string(c.task) + " " + c.setting;
    EXPECT_EQ(outcome.status, 3) << name << outcome.err;
    EXPECT_TRUE(has(outcome.out, std::string("first departure: ") + c.first)) << name << "\n" << outcome.out;
    if (c.not_yet != nullptr) {
      EXPECT_TRUE(has(outcome.out, c.not_yet)) << name;
    }
    EXPECT_EQ(files_in(fresh.path()), 0u) << name;
  }
}

TEST_F(Convert, HelpAndBadUsage) {
  const Outcome help = with_status(0, run(convert_program(), {"--help"}));
  EXPECT_TRUE(has(help.out, "Exit status: 0 done, 1 bad input or failed write, 2 bad usage"));
  EXPECT_EQ(run(convert_program(), {"--version"}).out, "goldcrest-convert " GOLDCREST_VERSION "\n");
  const Arguments bad[] = {{}, {"--no-such-option"}, {"--cpu", "z80"}, {"--beam-size", "many"}, {"--beam-size", "-4"},
      {"--max-source", "99999999999"}, {"--max-loss", "1"}, {"--metric", "bleu"},
      {"--evaluate", "file", "--max-loss", "1", "--metric", "comet"}, {"--alternatives", "|"}};
  for (const Arguments& options : bad) {
    Arguments arguments = options;
    if (!arguments.empty()) arguments.push_back(checkpoint_folder("g2p"));
    const Outcome outcome = run(convert_program(), arguments);
    EXPECT_EQ(outcome.status, 2) << (options.empty() ? "nothing" : options[0]);
    EXPECT_NE(outcome.err, "");
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(has(run(convert_program(), {"--cpu", "z80", "x"}).err, "cortex-m55"));
}
}}  // namespace goldcrest::test
