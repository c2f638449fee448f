// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert --accuracy and --matrices on the shipped checkpoints.
#include <nlohmann/json.hpp>
#include "convert/support/sample_folder.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Convert = InFolder;

TEST_F(Convert, FineInputsOfMatricesByName) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p"), output = folder / "model.gcst";
  const auto fine = [&](const std::string& what) {
    return convert_json(checkpoint, {"-o", output, "--matrices", what}).at("fine_inputs");
  };
  const nlohmann::json all = fine("all=near"), decoder = fine("decoder=near");
  EXPECT_EQ(all.at("more_work"), 1.0);
  EXPECT_EQ(all.at("matrices").back(), "projection");
  EXPECT_EQ(all.at("matrices").front(), "encoder.layers.0.self_attention.query_key_value");
  const auto n_of_encoder = [](const nlohmann::json& json) {
    return std::ranges::count_if(json.at("matrices"), [](const std::string& name) { return name.starts_with("enc"); });
  };
  EXPECT_GT(n_of_encoder(all), 0);
  EXPECT_EQ(n_of_encoder(decoder), 0);
  const std::vector<std::string> of_decoder = decoder.at("matrices");
  std::vector<std::string> others;  // the decoder's, but without fine inputs
  for (const std::string name : all.at("matrices"))
    if (!name.starts_with("enc") && std::ranges::find(of_decoder, name) == of_decoder.end()) others.push_back(name);
  EXPECT_EQ(others, (std::vector<std::string>{
                        "decoder.layers.0.cross_attention.key_value", "decoder.layers.1.cross_attention.key_value"}))
      << "computed once a source, not at each position";
  EXPECT_EQ(fine("decoder.layers.*.feed_forward.*=near,projection=near").at("matrices"),
      nlohmann::json({"decoder.layers.0.feed_forward.in", "decoder.layers.0.feed_forward.out",
          "decoder.layers.1.feed_forward.in", "decoder.layers.1.feed_forward.out", "projection"}));
  const auto scored = [](const Arguments& how) { return run(translate_program(), how, {.input = "goldcrest\n"}).out; };
  const std::string plain = scored({converted_model("g2p"), "--scores"});
  EXPECT_NE(scored({output, "--scores"}), plain);
  EXPECT_EQ(scored({output, "--scores", "--coarse"}), plain);
  EXPECT_FALSE(convert_json(checkpoint, {"-o", output, "--accuracy", "int8"}).contains("fine_inputs"));
  EXPECT_TRUE(read_file(output) == read_file(converted_model("g2p")));

  const Outcome unknown =
      with_status(1, convert(checkpoint, {"-o", folder / "other.gcst", "--matrices", "encoder.layers.9.*=near"}));
  EXPECT_TRUE(has(unknown.err, "'encoder.layers.9.*' is no matrix of this model")) << unknown.err;
  EXPECT_TRUE(has(unknown.err, "decoder.layers.*.cross_attention.key_value")) << unknown.err;
  for (const char* bad : {"auto=0", "auto=1.5", "auto=nan", "auto=half", "auto0.5"})
    EXPECT_EQ(convert(checkpoint, {"-o", folder / "other.gcst", "--accuracy", bad}).status, 2) << bad;
  EXPECT_EQ(convert(checkpoint, {"--accuracy", "near", "--weights", "float32"}).status, 2);
  EXPECT_EQ(convert(checkpoint / "config.json", {"--shape", "--accuracy", "near", "--weights", "float32"}).status, 2);
  EXPECT_EQ(convert(checkpoint / "config.json", {"--shape", "--accuracy", "auto"}).status, 2);
  EXPECT_EQ(convert(output, {"--accuracy", "near"}).status, 2);
  EXPECT_EQ(files_in(folder.path()), 1u);
}

// The file is as large as without, and needs nothing of the engine. With fine inputs, too, a coarse search has its
// bits.
TEST_F(Convert, CentredKeysCostNothing) {
  const std::filesystem::path checkpoint = checkpoint_folder("enfr"), keys = folder / "keys.gcst";
  const std::filesystem::path all = folder / "all.gcst";
  const nlohmann::json report = convert_json(checkpoint, {"-o", keys, "--matrices", "keys=near"});
  EXPECT_FALSE(report.contains("fine_inputs"));
  EXPECT_EQ(report.at("centred_keys").at("heads"), 32);
  EXPECT_GT(report.at("centred_keys").at("centred"), 8);
  EXPECT_EQ(std::filesystem::file_size(keys), std::filesystem::file_size(converted_model("enfr")));
  EXPECT_EQ(convert_json(checkpoint, {"-o", all, "--accuracy", "near"}).at("centred_keys"), report.at("centred_keys"));
  EXPECT_FALSE(convert_json(checkpoint, {"--matrices", "decoder=near"}).contains("centred_keys"));
  const auto scored = [](const Arguments& how) {
    return run(translate_program(), how, {.input = "We are here.\n"}).out;
  };
  const std::string of_keys = scored({keys, "--scores"});
  EXPECT_NE(of_keys, scored({converted_model("enfr"), "--scores"}));
  EXPECT_NE(of_keys, scored({all, "--scores"}));
  EXPECT_EQ(of_keys, scored({all, "--scores", "--coarse"}));

  const PackedFolders checkpoints(recorded("speech.json"));
  const std::filesystem::path speech = checkpoints.path() / "moonshine";
  const Outcome refused = with_status(1, convert(speech, {"-o", folder / "speech.gcst", "--matrices", "keys=near"}));
  EXPECT_TRUE(has(refused.err, "is a model of speech; --matrices keys")) << refused.err;
  EXPECT_EQ(convert(speech, {"--accuracy", "near"}).status, 0);
}

// More lines are float32's, and the choice and its file are the same each time.
TEST_F(Convert, FineInputsThatTheLinesNeed) {
  std::string lines;
  for (size_t n = 0; const std::string& line : lines_of(read_file(validation_file("enfr"))))
    if (n++ % 7 == 0) lines += line + "\n";
  const std::string few = folder.write("few", lines);
  const auto evaluated = [&](const Arguments& how, const std::string& file) {
    const Arguments common = {"-o", folder / file, "--beam-size", "1", "--evaluate", few};
    return convert_json(checkpoint_folder("enfr"), concat(common, how));
  };
  const Arguments cost = {"--accuracy", "auto=0.4"};
  const nlohmann::json all = evaluated({"--accuracy", "near"}, "all.gcst"), chosen = evaluated(cost, "auto.gcst");
  const nlohmann::json keys = evaluated({"--matrices", "keys=near"}, "keys.gcst");
  const nlohmann::json none = evaluated({"--accuracy", "int8"}, "none.gcst");
  const auto identical = [](const nlohmann::json& of) {
    return of.at("evaluation").at("identical_lines").get<size_t>();
  };
  EXPECT_EQ(all.at("fine_inputs").at("identical_before"), identical(keys)) << "their keys are centred, too";
  EXPECT_EQ(chosen.at("fine_inputs").at("identical_before"), identical(none));
  EXPECT_GT(identical(all), identical(keys));
  EXPECT_GE(identical(chosen), identical(none));

  const nlohmann::json& fine = chosen.at("fine_inputs");
  EXPECT_EQ(fine.at("ranking").size(), all.at("fine_inputs").at("matrices").size());
  EXPECT_EQ(fine.at("lines"), 100);
  double sum = 0;
  size_t n_chosen = 0;
  for (const nlohmann::json& matrix : fine.at("ranking")) {
    if (!matrix.at("chosen").get<bool>()) continue;
    sum += matrix.at("more_work").get<double>();
    ++n_chosen;
  }
  EXPECT_EQ(n_chosen, fine.at("matrices").size());
  EXPECT_NEAR(sum, fine.at("more_work").get<double>(), 1e-12);
  EXPECT_LE(sum, 0.4);
  EXPECT_GT(sum, 0.3);
  evaluated(cost, "again.gcst");
  EXPECT_TRUE(read_file(folder / "auto.gcst") == read_file(folder / "again.gcst"));
}

// A second matrix for each of the named ones, float32 attention, and the same bits as before in a coarse search.
TEST_F(Convert, SecondMatricesByName) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p"), output = folder / "model.gcst";
  const auto refined = [&](const std::string& what) {
    return convert_json(checkpoint, {"-o", output, "--matrices", what});
  };
  const auto scored = [](const Arguments& how) { return run(translate_program(), how, {.input = "goldcrest\n"}).out; };
  const std::string plain = scored({converted_model("g2p"), "--scores"});
  const auto bytes = [](const std::filesystem::path& file) { return std::filesystem::file_size(file); };

  const nlohmann::json all = refined("all=weights");
  const nlohmann::json& chosen = all.at("fine_inputs");
  EXPECT_EQ(chosen.at("matrices").size(), 0u);
  EXPECT_EQ(chosen.at("fine_attention"), nlohmann::json({"encoder", "decoder"}));
  EXPECT_EQ(chosen.at("second_matrices").front(), "encoder.layers.0.self_attention.query_key_value");
  const uint64_t more = bytes(output) - bytes(converted_model("g2p"));
  EXPECT_GE(more, chosen.at("second_bytes").get<uint64_t>());
  EXPECT_LT(more, chosen.at("second_bytes").get<uint64_t>() + 4096);
  EXPECT_NE(scored({output, "--scores"}), plain);

  const nlohmann::json some = refined("decoder.layers.*.feed_forward.out=weights,projection=weights").at("fine_inputs");
  EXPECT_FALSE(some.contains("fine_attention"));
  const auto& names = some.at("second_matrices");
  for (const char* name : {"decoder.layers.0.feed_forward.out", "decoder.layers.1.feed_forward.out", "projection"})
    EXPECT_TRUE(std::ranges::find(names, name) != names.end()) << name;
  EXPECT_NE(scored({output, "--scores"}), plain);
  EXPECT_EQ(scored({output, "--scores", "--coarse"}), plain);
  const std::string of_n16k4 = scored({output, "--scores"});
  EXPECT_EQ(convert(output, {"-o", folder / "other.gcst", "--cpu", "cortex-m55"}).status, 0);
  EXPECT_EQ(scored({folder / "other.gcst", "--scores"}), of_n16k4) << "in another layout";
  EXPECT_FALSE(convert_json(checkpoint, {"-o", output, "--accuracy", "int8"}).contains("fine_inputs"));
  EXPECT_TRUE(read_file(output) == read_file(converted_model("g2p")));

  const Outcome unknown =
      with_status(1, convert(checkpoint, {"-o", folder / "none.gcst", "--matrices", "projections=exact"}));
  EXPECT_TRUE(has(unknown.err, "--matrices: 'projections' is no matrix of this model")) << unknown.err;
  EXPECT_TRUE(has(unknown.err, "encoder.attention")) << unknown.err;
  EXPECT_EQ(convert(checkpoint, {"--accuracy", "exact", "--weights", "float32"}).status, 2);
  EXPECT_EQ(convert(output, {"--matrices", "all=weights"}).status, 2);
}

// Integer weights of attention: by default for speech, else on request, and never together with 16-bit keys.
TEST_F(Convert, IntegerAttention) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p"), output = folder / "model.gcst";
  const auto has_integers = [&](const std::filesystem::path& input, const Arguments& options) {
    return has(with_status(0, convert(input, concat({"-o", output}, options))).out,
        "weights are integers of 14 bits; engines without them refuse the file");
  };
  EXPECT_FALSE(has_integers(checkpoint, {"--attention", "float"}));
  EXPECT_TRUE(read_file(output) == read_file(converted_model("g2p")));
  EXPECT_TRUE(has_integers(checkpoint, {"--attention", "integer"}));
  const auto scored = [](const std::filesystem::path& file) {
    return run(translate_program(), {file, "--scores"}, {.input = "goldcrest\n"}).out;
  };
  EXPECT_NE(scored(output), scored(converted_model("g2p")));
  const Outcome fine = with_status(1, convert(checkpoint, {"--attention", "integer", "--accuracy", "exact"}));
  EXPECT_TRUE(has(fine.err, "--attention integer: queries, keys and values of this file have 16 bits")) << fine.err;
  EXPECT_EQ(convert(checkpoint, {"--attention", "integer", "--weights", "float32"}).status, 2);
  const Outcome many =
      with_status(1, convert(checkpoint_folder("g2p-bytes"), {"--attention", "integer", "--max-positions", "131073"}));
  EXPECT_TRUE(has(many.err, "--attention integer: the model has 131073 positions")) << many.err;

  const std::filesystem::path speech = random_speech_checkpoint("moonshine");
  EXPECT_TRUE(has_integers(speech, {}));
  for (const Arguments& options :
      {Arguments{"--attention", "float"}, Arguments{"--accuracy", "exact"}, Arguments{"--weights", "float32"}})
    EXPECT_FALSE(has_integers(speech, options)) << options[1];
}

// With a second matrix for every matrix, and fine inputs and attention, the lines are float32's.
TEST_F(Convert, RefinedFilesHaveFloat32sLines) {
  std::string lines;
  for (size_t n = 0; const std::string& line : lines_of(read_file(validation_file("enfr"))))
    if (n++ % 7 == 0) lines += line + "\n";
  const nlohmann::json all = convert_json(checkpoint_folder("enfr"),
      {"-o", folder / "all.gcst", "--accuracy", "exact", "--beam-size", "1", "--evaluate", folder.write("few", lines)});
  const nlohmann::json& evaluation = all.at("evaluation");
  EXPECT_GE(evaluation.at("identical_lines").get<double>(), 0.995 * evaluation.at("lines").get<double>());
  EXPECT_LT(all.at("fine_inputs").at("identical_before"), evaluation.at("identical_lines"));
}

// --metric kl, and --pack auto, which chooses by it.
TEST_F(Convert, MeasuresAndBoundsTheDivergence) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p"), output = folder / "model.gcst";
  std::string words;
  for (size_t n = 0; const std::string& line : lines_of(read_file(validation_file("g2p"))))
    if (n++ % 25 == 0) words += line + "\n";
  const std::string lines = folder.write("words", words);
  nlohmann::json report;
  const auto divergence = [&](const Arguments& options) {
    report = convert_json(checkpoint, concat({"-o", output, "--evaluate", lines, "--metric", "kl"}, options));
    return report.at("evaluation").at("divergence").get<double>();
  };
  EXPECT_LT(divergence({"--weights", "float32"}), 1e-4);
  const double of_int8 = divergence({});
  const nlohmann::json identical = report.at("evaluation").at("identical_lines");
  const double of_packed = divergence({"--pack", "all", "--calibrate", lines});
  EXPECT_EQ(report.at("fine_inputs").at("identical_in_int8"), identical);
  EXPECT_LT(report.at("evaluation").at("identical_lines"), identical);
  EXPECT_GT(of_int8, 0.01);
  EXPECT_LT(of_int8, 0.06);
  EXPECT_GT(of_packed, 0.3);
  const size_t packed_bytes = read_file(output).size();
  const Outcome lost = convert(checkpoint, {"--evaluate", lines, "--metric", "kl", "--max-loss", "0.001"});
  EXPECT_EQ(lost.status, 4);
  EXPECT_TRUE(has(lost.err, "thousandths of a nat an id, more than --max-loss 0.001")) << lost.err;

  const auto choice = [&](const std::string& bound) {
    return convert_json(checkpoint, {"-o", output, "--pack", bound, "--calibrate", lines})
        .at("fine_inputs")
        .at("packed");
  };
  const nlohmann::json some = choice("auto=0.2");
  const std::string file = read_file(output);
  EXPECT_GT(some.at("matrices").size(), 3u);
  EXPECT_LT(some.at("matrices").size(), 27u);
  EXPECT_LE(some.at("rise").get<double>(), 0.2);
  EXPECT_GT(some.at("rise").get<double>(), 0.12);
  EXPECT_TRUE(choice("auto=0.2") == some && read_file(output) == file) << "the same choice each time";
  (void)choice("auto=1000");
  EXPECT_EQ(read_file(output).size(), packed_bytes) << "all";
  const Outcome none = with_status(
      0, convert(checkpoint_folder("g2p-small"), {"-o", output, "--pack", "auto=0.000001", "--calibrate", lines}));
  EXPECT_TRUE(has(none.err, "warning: --pack auto=1e-06: one matrix of 4 bits is too much; all have 8")) << none.err;
  EXPECT_TRUE(read_file(output) == read_file(converted_model("g2p-small")));
  EXPECT_EQ(convert(checkpoint, {"--pack", "auto=-1"}).status, 2);
  EXPECT_EQ(convert(checkpoint, {"--pack", "auto,projection"}).status, 2);
  EXPECT_EQ(convert(checkpoint / "config.json", {"--shape", "--pack", "auto"}).status, 2);
}

// Four bits: the size, the twin of eight bits, the order for another processor, and the same bytes each time.
TEST_F(Convert, WeightsOfFourBits) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p"), packed = folder / "4.gcst",
                              wide = folder / "8.gcst";
  std::string words;
  for (const std::string& line : lines_of(read_file(validation_file("g2p"))))
    if (words.size() < 3000) words += line + "\n";
  const std::string lines = folder.write("words", words);
  const nlohmann::json report = convert_json(checkpoint, {"-o", packed, "--pack", "linear", "--calibrate", lines});
  const nlohmann::json& found = report.at("fine_inputs").at("packed");
  EXPECT_EQ(found.at("matrices").size(), 26u) << "all but the output layer and the tables";
  EXPECT_NEAR(found.at("bytes").get<double>() / found.at("int8_bytes").get<double>(), 4.25 / 8, 1e-9);
  const auto bytes = [](const std::filesystem::path& file) {
    return static_cast<double>(std::filesystem::file_size(file));
  };
  EXPECT_LT(bytes(packed), 0.6 * bytes(converted_model("g2p")));
  EXPECT_EQ(report.at("int8_file_bytes").get<double>(), bytes(converted_model("g2p")));
  const std::string shape =
      convert(checkpoint / "config.json", {"--shape", "--pack", "linear", "--board", "rpi-pico2"}).out;
  EXPECT_TRUE(has(shape, " (int8: 12")) << shape;
  EXPECT_TRUE(has(shape, "Cortex-M7                        1.34x           slower, 0.84x")) << shape;
  EXPECT_EQ(convert(packed, {"-o", wide, "--pack", "none"}).status, 0);
  EXPECT_EQ(bytes(wide), bytes(converted_model("g2p")));
  const auto scored = [](const std::filesystem::path& file) {
    return run(translate_program(), {file, "--scores"}, {.input = "goldcrest\n"}).out;
  };
  EXPECT_EQ(scored(packed), scored(wide));
  EXPECT_TRUE(has(run(inspect_program(), {packed, "--self-test"}).out, "self-test    passed"));

  const std::filesystem::path again = folder / "again.gcst", m55 = folder / "m55.gcst";
  convert_json(checkpoint, {"-o", again, "--pack", "linear", "--calibrate", lines, "--cpu", "cortex-m55"});
  EXPECT_EQ(convert(packed, {"-o", m55, "--cpu", "cortex-m55"}).status, 0);
  EXPECT_TRUE(read_file(again) == read_file(m55));
  EXPECT_EQ(scored(m55), scored(wide));
  convert_json(checkpoint, {"-o", again, "--pack", "linear"});
  EXPECT_FALSE(read_file(again) == read_file(packed)) << "made-up sources fit other weights";
  EXPECT_TRUE(
      convert_json(checkpoint / "config.json", {"--shape", "--pack", "all"}).at("fine_inputs").contains("packed"));

  const auto refusal = [&](const std::filesystem::path& input, const Arguments& options) {
    const Outcome outcome = convert(input, options);
    return std::to_string(outcome.status) + " " + outcome.err;
  };
  EXPECT_TRUE(has(refusal(checkpoint, {"--pack", "linears"}), "1 goldcrest-convert: "));
  EXPECT_TRUE(has(refusal(checkpoint, {"--pack", "linears"}), "--pack: 'linears' is no matrix of this model"));
  EXPECT_TRUE(
      has(refusal(checkpoint, {"--pack", "all", "--calibrate", folder.write("none", "\n")}), "no line for --cal"));
  EXPECT_TRUE(has(refusal(checkpoint, {"--pack", "all", "--calibrate", folder.write("one", "a\n")}), "one: 1 line"));
  EXPECT_TRUE(has(refusal(checkpoint, {"--pack", "all", "--accuracy", "exact"}), "weights of 16; choose one"));
  const std::string unknown = folder.write("ids", "1 2\n5 99999\n");
  EXPECT_TRUE(has(refusal(checkpoint, {"--pack", "all", "--ids", "--calibrate", unknown}), "ids:2: "));
  EXPECT_EQ(convert(checkpoint, {"--pack", "all", "--weights", "float32"}).status, 2);
  EXPECT_EQ(convert(packed, {"--pack", "all"}).status, 2);
  EXPECT_EQ(convert(checkpoint, {"--calibrate", lines}).status, 2);
  EXPECT_EQ(convert(packed, {"--board", "rpi-pico2"}).status, 0);
  EXPECT_EQ(refusal(random_speech_checkpoint("moonshine"), {"--pack", "linear"}).substr(0, 2), "1 ");
}
}}  // namespace goldcrest::test
