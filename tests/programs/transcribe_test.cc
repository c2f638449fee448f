// SPDX-License-Identifier: Apache-2.0
// goldcrest-transcribe. Its parts without a model: the gate, the cuts at pauses, words of two runs. The program itself
// with small random models.
#include <csignal>
#include <nlohmann/json.hpp>
#include <numeric>
#include "convert/support/sample_folder.h"
#include "host/speech/utterances.h"
#include "listen_firmware/voice_gate.h"
#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "programs/wave.h"
#include "support/test.h"
#include "support/voice_tensors.h"
#include "transcribe/transcript.h"

namespace goldcrest::test { namespace {
const std::string kClip = GOLDCREST_SOURCE_DIR "/tests/data/speech/ask.wav";

// Noise of an amplitude for some seconds.
Samples noise(double seconds, double amplitude, Rng* rng) {
  Samples samples(static_cast<size_t>(seconds * kRate));
  for (int16_t& sample : samples) sample = static_cast<int16_t>(amplitude * rng->uniform());
  return samples;
}

void append(const Samples& more, Samples* samples) { samples->insert(samples->end(), more.begin(), more.end()); }

// Syllables: noise whose amplitude swells four times a second.
Samples speech(double seconds, Rng* rng) {
  Samples samples = noise(seconds, 8000, rng);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double swell = std::sin(3.14159265 * 4 * static_cast<double>(i) / kRate);
    samples[i] = static_cast<int16_t>(samples[i] * swell * swell);
  }
  return samples;
}

// The samples times `factor`, plus `offset`, clipped.
Samples changed(const Samples& samples, double factor, int offset) {
  Samples out;
  for (const int16_t sample : samples)
    out.push_back(static_cast<int16_t>(std::clamp(static_cast<int>(sample * factor) + offset, -32768, 32767)));
  return out;
}

TEST(Gate, SilenceHumAndSteadyNoiseAreNoSpeech) {
  Rng rng(1);
  Samples hum(2 * kRate);
  for (size_t i = 0; i < hum.size(); ++i)
    hum[i] = static_cast<int16_t>(5000 * std::sin(6.2831853 * 50 * static_cast<double>(i) / kRate));
  for (const Samples& samples : {Samples(kRate, 0), Samples(kRate, 3000), Samples(), Samples(100, 9), hum,
           noise(2, 20, &rng), noise(2, 20000, &rng)}) {
    EXPECT_FALSE(has_speech(samples.data(), samples.size(), kRate));
    const Samples clipped = changed(samples, 200, 0);
    EXPECT_FALSE(has_speech(clipped.data(), clipped.size(), kRate));
  }
  const Samples spoken = speech(2, &rng);
  EXPECT_TRUE(has_speech(spoken.data(), spoken.size(), kRate));
}

// Returns the halves of each utterance that the gate of listen_firmware finds.
std::vector<uint32_t> gated(const Samples& samples) {
  voice_gate gate = {.max_halves = kMaxHalves};
  gate_utterance heard = {};
  std::vector<uint32_t> found;
  for (size_t i = 0; i + kHalfSamples <= samples.size(); i += kHalfSamples) {
    if (!gate_add(&gate, &heard, samples.data() + i)) continue;
    found.push_back(heard.n_halves);
    heard.n_halves = 0;
  }
  return found;
}

TEST(Gate, OfFirmwareEndsUtterancesAtPausesAndAtTheLongest) {
  Rng rng(5);
  const Samples quiet = noise(1, 20, &rng);
  for (const Samples& samples :
      {Samples(2 * kRate, 0), Samples(2 * kRate, 3000), noise(4, 20, &rng), noise(4, 20000, &rng)})
    EXPECT_EQ(gated(samples), std::vector<uint32_t>());
  Samples spoken = quiet;
  append(speech(1, &rng), &spoken);
  append(quiet, &spoken);
  append(speech(7, &rng), &spoken);
  append(quiet, &spoken);
  const std::vector<uint32_t> found = gated(spoken);
  ASSERT_EQ(found.size(), 4u);
  const uint32_t second = kRate / kHalfSamples;
  EXPECT_TRUE(found[0] >= second + kPauseHalves && found[0] <= second + 3 + kHalvesBefore + kPauseHalves) << found[0];
  EXPECT_EQ(found[1], uint32_t{kMaxHalves});
  EXPECT_EQ(found[2], uint32_t{kMaxHalves});
  EXPECT_LT(found[3], uint32_t{kMaxHalves});
}

std::vector<Utterance> cut(const Samples& samples, size_t max_samples, bool at_pauses, size_t block) {
  UtteranceCutter cutter({kRate, max_samples, at_pauses});
  for (size_t i = 0; i < samples.size(); i += block)
    cutter.push(samples.data() + i, std::min(block, samples.size() - i));
  cutter.finish();
  std::vector<Utterance> utterances;
  for (Utterance utterance; cutter.next(&utterance);) utterances.push_back(std::move(utterance));
  return utterances;
}

// A recording of speech that a microphone spoils: an offset next to which it is quiet, or clipping.
std::vector<Samples> spoiled_speech() {
  const std::string bytes = read_file(kClip).substr(44);
  Samples clip(bytes.size() / 2);
  std::memcpy(clip.data(), bytes.data(), 2 * clip.size());
  std::vector<Samples> all = {clip};
  for (const int offset : {500, -500, 3000, 20000}) all.push_back(changed(clip, 1.0 / 16, offset));
  for (const int factor : {10, 40, 100, 400, 3000}) all.push_back(changed(clip, factor, 0));
  return all;
}

TEST(Gate, HearsSpeechWithAnOffsetAndClippedSpeech) {
  for (const Samples& spoken : spoiled_speech()) {
    const int16_t rest = spoken[0];
    EXPECT_TRUE(has_speech(spoken.data(), spoken.size(), kRate)) << rest;
    // A pause with the same offset around it.
    const int16_t middle = static_cast<int16_t>(std::abs(rest) < 500 ? 0 : rest);
    Samples samples(kRate, middle);
    append(spoken, &samples);
    append(Samples(kRate, middle), &samples);
    EXPECT_EQ(gated(samples).size(), 1u) << rest;
    const std::vector<Utterance> utterances = cut(samples, 30 * kRate, true, 1000);
    ASSERT_EQ(utterances.size(), 1u) << rest;
    EXPECT_GT(utterances[0].samples.size(), 3 * spoken.size() / 4) << rest;
  }
}

TEST(Cutter, CutsAtPausesAndKeepsWhatIsSpoken) {
  Rng rng(2);
  Samples samples = noise(1.5, 20, &rng);
  append(speech(2, &rng), &samples);
  append(noise(1, 20, &rng), &samples);
  append(speech(1, &rng), &samples);
  append(noise(3, 20, &rng), &samples);
  for (const size_t block : {size_t{160}, size_t{1000}, samples.size()}) {
    const std::vector<Utterance> utterances = cut(samples, 30 * kRate, true, block);
    ASSERT_EQ(utterances.size(), 2U) << block;
    const double begins[] = {1.5, 4.5}, ends[] = {3.5, 5.5};
    for (size_t i = 0; i < 2; ++i) {
      const Utterance& utterance = utterances[i];
      const double begin = static_cast<double>(utterance.begin) / kRate;
      const double end = begin + static_cast<double>(utterance.samples.size()) / kRate;
      EXPECT_TRUE(begin > begins[i] - 0.5 && begin <= begins[i] + 0.05) << begin;
      EXPECT_TRUE(end >= ends[i] - 0.05 && end < ends[i] + 0.4) << end;
      EXPECT_TRUE(std::equal(utterance.samples.begin(), utterance.samples.end(),
          samples.begin() + static_cast<std::ptrdiff_t>(utterance.begin)));
    }
  }
}

TEST(Cutter, ALongClipIsCutWhereItIsQuietAndNothingIsLost) {
  Rng rng(3);
  Samples samples;
  for (int i = 0; i < 10; ++i) {
    append(speech(2.6, &rng), &samples);
    append(noise(0.4, 20, &rng), &samples);
  }
  samples.resize(samples.size() + 77, 5);
  for (const bool at_pauses : {false, true}) {
    Samples joined;
    for (const Utterance& utterance : cut(samples, 8 * kRate, at_pauses, 4096)) {
      EXPECT_LE(utterance.samples.size(), 8 * kRate + kRate / 50);
      EXPECT_EQ(utterance.begin, joined.size());
      append(utterance.samples, &joined);
      const double end = std::fmod(static_cast<double>(joined.size()) / kRate, 3.0);
      EXPECT_TRUE(joined.size() == samples.size() || (end > 2.6 && end < 3.0)) << end;
    }
    EXPECT_EQ(joined, samples);
  }
}

TEST(AgreedWords, AreWholeWordsOrCharacters) {
  EXPECT_EQ(agreed_words("", "Ask not"), "");
  EXPECT_EQ(agreed_words("Ask not", "Ask not"), "Ask not");
  EXPECT_EQ(agreed_words("Ask not", "Ask not what"), "Ask not");
  EXPECT_EQ(agreed_words("Ask not", "Ask nothing"), "Ask");
  EXPECT_EQ(agreed_words("Ask not.", "Ask not what"), "Ask");
  EXPECT_EQ(agreed_words("As not", "Ask not"), "");
  EXPECT_EQ(agreed_words("So, as not", "So, ask not"), "So,");
  EXPECT_EQ(agreed_words("\u6771\u4eac", "\u6771\u4eb0"), "\u6771");  // they differ in the last byte
  EXPECT_EQ(agreed_words("\u6771", "\u6771\u4eb0"), "\u6771");
}

Outcome run_model(const std::string& model, const Arguments& options, const std::string& input = "") {
  return run(transcribe_program(), concat({model}, options), {.input = input});
}

std::string transcribe(const std::string& model, const Arguments& options, const std::string& input = "") {
  return with_status(0, run_model(model, options, input)).out;
}

// Returns the path of the model of a changed checkpoint.
std::string changed_model(const std::filesystem::path& checkpoint, const Arguments& options = {}) {
  static const TemporaryFolder models;
  std::string model = models / (std::to_string(files_in(models.path())) + ".gcst");
  EXPECT_EQ(convert(checkpoint, concat({"-o", model}, options)).status, 0);
  return model;
}
// The same of the random Whisper with a value in its generation_config.json.
std::string changed_whisper(const std::string& key, const converter::Value& value, const Arguments& options = {}) {
  const FolderCopy checkpoint(random_speech_checkpoint("whisper"));
  checkpoint.set("generation_config.json", key, value);
  return changed_model(checkpoint.path(), options);
}

// Writes a detector and returns its path. weights: tensors, places in them, values there; others are 0.
std::string detector_of(const std::string& name, const std::vector<std::tuple<std::string, size_t, float>>& weights) {
  std::vector<NamedTensor> tensors = random_detector(1);
  for (NamedTensor& tensor : tensors) {
    if (tensor.name != "model.stft.forward_basis_buffer") std::ranges::fill(tensor.values, 0.0f);
    for (const auto& [part, at, value] : weights)
      if (tensor.name == "model." + part) tensor.values[at] = value;
  }
  const std::string path = testing::TempDir() + name;
  std::ofstream file(path, std::ios::binary);
  write_safetensors(file, tensors, converter::ElementType::kF32);
  return path;
}

// A detector that gives every sound this probability.
std::string constant_detector(const std::string& name, float probability) {
  return detector_of(name, {{"decoder.decoder.2.bias", 0, std::log(probability / (1 - probability))}});
}

std::vector<nlohmann::json> utterances_of(
    const std::string& model, const Arguments& options, const std::string& input) {
  std::vector<nlohmann::json> found;
  for (const std::string& line : lines_of(transcribe(model, concat(options, {"--json"}), input)))
    found.push_back(nlohmann::json::parse(line));
  return found;
}

TEST(Transcribe, ADetectorAndLoudnessMustBothHearSpeech) {
  const std::string silent = random_speech_model("moonshine", {"--voice", constant_detector("never", 0.1f)}),
                    open = random_speech_model("moonshine", {"--voice", constant_detector("ever", 0.9f)}),
                    doubtful = random_speech_model("moonshine", {"--voice", constant_detector("perhaps", 0.4f)});
  const std::string quiet(3 * 2 * kRate, '\0'), speech = read_file(kClip).substr(44);
  const std::string sound = quiet + speech + quiet;
  EXPECT_TRUE(utterances_of(silent, {}, sound).empty());
  EXPECT_TRUE(utterances_of(doubtful, {}, sound).empty());
  EXPECT_FALSE(utterances_of(silent, {"--no-voice"}, sound).empty());
  const std::vector<nlohmann::json> heard = utterances_of(open, {}, sound);
  ASSERT_FALSE(heard.empty());
  const double end = 3 + static_cast<double>(speech.size()) / 2 / kRate;
  EXPECT_NEAR(heard.front().at("start").get<double>(), 3, 0.2);
  EXPECT_NEAR(heard.back().at("end").get<double>(), end, 0.5);
}

TEST(Transcribe, AnAnswerNeedsLessThanAFirstUtterance) {
  // It measures the mean of the samples: 0.05 for 0, 0.66 to 0.7 for 2000, 0.9 for 8000.
  const std::string detector =
      detector_of("mean", {{"encoder.0.reparam_conv.weight", 1, 0.09626f}, {"encoder.1.reparam_conv.weight", 1, 1},
                              {"encoder.2.reparam_conv.weight", 1, 1}, {"encoder.3.reparam_conv.weight", 1, 1},
                              {"decoder.rnn.bias_ih", 0, 20}, {"decoder.rnn.bias_ih", 128, -20},
                              {"decoder.rnn.bias_ih", 384, 20}, {"decoder.rnn.weight_ih", 256 * 128, 1},
                              {"decoder.decoder.2.weight", 0, 6.84f}, {"decoder.decoder.2.bias", 0, -3}});
  const std::string model = random_speech_model("moonshine", {"--voice", detector});
  using Parts = std::vector<std::pair<int, int>>;  // means of samples (below 0: of a loud sound with mean 0), steps
  const auto starts = [&](const Parts& parts) {
    Samples sound;
    for (const auto& [mean, steps] : parts)
      for (int i = 0; i < steps * 512; ++i)
        sound.push_back(static_cast<int16_t>(i % 2 == 0 ? mean : mean < 0 ? -mean : mean + mean / 10));
    std::vector<double> found;  // steps
    for (const nlohmann::json& heard : utterances_of(model, {"--no-guards"}, bytes_of(sound)))
      found.push_back(heard.at("start").get<double>() * kRate / 512);
    return found;
  };
  const auto count = [&](const Parts& parts) { return starts(parts).size(); };
  const std::pair rest(0, 40), spoken(8000, 10), answer(2000, 5);
  EXPECT_EQ(count({rest, answer, rest}), 0u);
  EXPECT_EQ(count({rest, spoken, rest, answer, rest}), 2u);
  EXPECT_EQ(count({rest, spoken, rest, {2000, 4}, rest}), 1u);
  EXPECT_EQ(count({rest, spoken, {0, 200}, answer, rest}), 1u);
  EXPECT_EQ(count({rest, {2000, 9}, rest}), 0u);
  EXPECT_EQ(count({rest, {2000, 10}, rest}), 1u);
  // A noise and a pause come before an utterance; clear or long speech is a word, and so is what goes on.
  EXPECT_NEAR(starts({rest, {8000, 2}, {0, 5}, spoken, rest}).at(0), 46, 0.01);
  EXPECT_NEAR(starts({rest, {2000, 5}, {0, 5}, spoken, rest}).at(0), 49, 0.01);
  EXPECT_NEAR(starts({rest, spoken, rest, {2000, 5}, {0, 5}, spoken, rest}).at(1), 99, 0.01);
  EXPECT_NEAR(starts({rest, {2000, 6}, {0, 5}, spoken, rest}).at(0), 39, 0.01);
  EXPECT_NEAR(starts({rest, {8000, 3}, {0, 5}, spoken, rest}).at(0), 39, 0.01);
  EXPECT_NEAR(starts({rest, {2000, 2}, {0, 4}, spoken, rest}).at(0), 39, 0.01);
  EXPECT_NEAR(starts({rest, {2000, 2}, {-3000, 5}, spoken, rest}).at(0), 39, 0.01);
}

TEST(Transcribe, UnlikelyTextsAreMarkedAndDropped) {
  const std::string model = random_speech_model("moonshine"), clip = read_file(kClip);
  const std::vector<nlohmann::json> all = utterances_of(model, {}, clip);
  ASSERT_FALSE(all.empty());
  for (const nlohmann::json& heard : all) {  // random weights are never sure
    EXPECT_TRUE(heard.at("uncertain").get<bool>());
    EXPECT_LT(heard.at("avg_logprob").get<double>(), -1);
  }
  EXPECT_EQ(utterances_of(model, {}, clip), all);
  EXPECT_TRUE(utterances_of(model, {"--drop-uncertain"}, clip).empty());
  for (const nlohmann::json& heard : utterances_of(model, {"--no-guards"}, clip))
    EXPECT_FALSE(heard.at("uncertain").get<bool>());
}

TEST(Transcript, ShowsSubtitlesUntilTheNextSegment) {
  TranscribeArguments arguments;
  arguments.format = Format::kSrt;
  Transcript transcript(arguments, kRate, false);
  const Utterance window = {0, Samples(8 * kRate), 0, 8 * kRate};
  Transcription made;
  made.n_heard = 6 * kRate;
  for (const double begin : {1.0, 5.0})  // 20 characters a second take longer than the words
    made.segments.push_back(
        {begin, begin + 0.5, "", {}, {{" Twenty characters in one line", begin, begin + 0.5, 1, 1}}});
  testing::internal::CaptureStdout();
  transcript.add("", window, made);
  const std::string shown = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(has(shown, "00:00:01,000 --> 00:00:02,450")) << shown;
  EXPECT_TRUE(has(shown, "00:00:04,550 --> 00:00:06,000")) << shown;
}

TEST(Transcribe, TheLikeliestOfSeveralSamplesCounts) {
  const CheckpointCopy checkpoint(random_speech_checkpoint("moonshine"));
  checkpoint.edit_tensors([](std::vector<NamedTensor>& tensors) {  // the search is in doubt, a sample is not
    for (NamedTensor& tensor : tensors)
      if (tensor.name == "model.decoder.norm.weight") std::ranges::fill(tensor.values, 3.0f);
  });
  const std::string model = changed_model(checkpoint.path()), clip = read_file(kClip);
  const nlohmann::json one = utterances_of(model, {}, clip).at(0);
  const nlohmann::json five = utterances_of(model, {"--best-of", "5"}, clip).at(0);
  for (const nlohmann::json& heard : {one, five}) EXPECT_NEAR(heard.at("temperature").get<double>(), 0.2, 1e-6);
  EXPECT_GT(five.at("avg_logprob").get<double>(), one.at("avg_logprob").get<double>());
  EXPECT_EQ(utterances_of(model, {"--best-of", "5", "--words"}, clip).at(0).at("text"), five.at("text"));
}

TEST(Transcribe, ATaskAtRunTimeIsThatOfTheCheckpoint) {
  const std::string open = random_speech_model("whisper"), translator = changed_whisper("task", "translate");
  const std::string translated = transcribe(translator, {kClip});
  EXPECT_NE(translated, transcribe(open, {kClip}));
  EXPECT_EQ(transcribe(open, {kClip, "--translate"}), translated) << "in the language that it hears";
  for (const char* code : {"en", "fr", "haw"})
    EXPECT_EQ(transcribe(open, {kClip, "--translate", "--language", code}),
        transcribe(translator, {kClip, "--language", code}));
  const Outcome none = with_status(1, run_model(random_speech_model("moonshine"), {kClip, "--translate"}));
  EXPECT_TRUE(has(none.err, "--translate: the file has no entry <|translate|>"));
}

TEST(Transcribe, WordsThatTheFileForcesAreText) {
  const auto ids = nlohmann::json::parse(read_file(random_speech_checkpoint("whisper") / "vocab.json"));
  const std::vector<std::vector<int>> prompt = {{1, 261}, {2, 264}, {3, ids["Q"]}, {4, ids["q"]}};
  const std::string forced = changed_whisper("forced_decoder_ids", prompt);
  EXPECT_EQ(transcribe(forced, {kClip, "--no-guards"}).substr(0, 2), "Qq");
  const std::string lines = transcribe(forced, {kClip, "--no-guards", "--words", "--json"});
  const auto heard = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(heard["language"], "fr");
  EXPECT_EQ(heard["words"][0]["word"].get<std::string>().substr(0, 2), "Qq");
}

// A random model cannot follow a prompt, but its text is another one, and has nothing of it.
TEST(Transcribe, AWhisperReadsAPromptFirst) {
  const std::string model = random_speech_model("whisper"), plain = transcribe(model, {kClip});
  const std::string prompted = transcribe(model, {kClip, "--prompt", "Q"});
  EXPECT_NE(prompted, plain);
  // The clip's first window follows no other.
  const std::string following = transcribe(model, {kClip, "--condition-on-previous-text", "--no-guards"});
  EXPECT_NE(following, transcribe(model, {kClip, "--no-guards"}));
  EXPECT_EQ(following.substr(0, following.find(' ')), plain.substr(0, plain.find(' ')));
  const Outcome none = with_status(1, run_model(random_speech_model("moonshine"), {kClip, "--prompt", "Q"}));
  EXPECT_TRUE(has(none.err, "--prompt: the file has no entry <|startofprev|>"));
}

// Two utterances, as a microphone's program writes them.
std::string spoken_twice() {
  const std::string clip = read_file(kClip).substr(44), silence(32000, '\0');
  return silence + clip + silence + clip + silence;
}

// An English Whisper's vocabulary has the languages too, but no prompt of it names one.
TEST(Transcribe, AnEnglishModelTakesItsOwnLanguageOnly) {
  const std::string english = changed_whisper("is_multilingual", false);
  EXPECT_EQ(transcribe(english, {kClip, "--language", "en"}), transcribe(english, {kClip}));
  for (const Arguments& option : {Arguments{"--language", "fr"}, Arguments{"--translate"}})
    EXPECT_EQ(run_model(english, concat({kClip}, option)).status, 1) << option[0];
}

// Each clip that speaks a phrase has its text; other speech has none. Random weights cannot tell, so the phrases are
// what the model hears.
TEST(Transcribe, OnlyPhrasesAreHeard) {
  for (const char* family : {"moonshine", "whisper"}) {
    const std::string model = random_speech_model(family),
                      list = testing::TempDir() + family + std::string("_phrases.txt");
    std::ofstream(list) << "stop\n\nturn on the light\n";
    const std::string heard = transcribe(model, {kClip, "--phrases", list});  // random weights cannot tell
    EXPECT_TRUE(heard == "stop\n" || heard == "turn on the light\n" || heard == "\n") << heard;
    std::ofstream(list) << "stop\n" << std::string("a\0b", 3) << "\n";
    EXPECT_TRUE(has(with_status(1, run_model(model, {kClip, "--phrases", list})).err, "line 2: "));
    std::ofstream(list, std::ios::trunc) << "\n";
    EXPECT_TRUE(has(run_model(model, {kClip, "--phrases", list}).err, "is empty; expected one text a line"));
    EXPECT_TRUE(has(run_model(model, {kClip, "--phrases", "none.txt"}).err, "none.txt: cannot be read"));
  }
}

TEST(Transcribe, KeyTermsNeedAGreedySearch) {
  const std::string model = random_speech_model("moonshine"), list = testing::TempDir() + "terms.txt";
  std::ofstream(list) << "EcoBee\nKüche\n";
  // No term is one id, and none begins by chance: nothing changes.
  EXPECT_EQ(transcribe(model, {kClip, "--key-terms", list, "--no-guards"}), transcribe(model, {kClip, "--no-guards"}));
  const Outcome refused = run_model(model, {kClip, "--key-terms", list, "--beam-size", "2"});
  EXPECT_TRUE(refused.status == 1 && has(refused.err, "--key-terms: follows a greedy search")) << refused.err;
}

// Where a text is like a term, it is spelled as the term, unless that is much less likely.
TEST(Transcribe, ATextIsSpelledAsTheTermThatItIsLike) {
  std::vector<int> others;  // a text has letters only
  const auto entries = nlohmann::json::parse(read_file(random_speech_checkpoint("whisper") / "vocab.json"));
  for (const auto& [entry, id] : entries.items())
    if (entry.size() > 1 || !std::isalpha(entry[0])) others.push_back(id);
  const std::string list = testing::TempDir() + "like.txt", model = changed_whisper("suppress_tokens", others);
  std::string text;
  for (const std::string& file : {changed_whisper("suppress_tokens", others, {"--timestamps"}), model}) {
    text = utterances_of(file, {kClip, "--no-guards"}, "").at(0).at("text");
    ASSERT_GE(text.size(), file == model ? 20u : 18u);
    for (const size_t n_other : {1u, 8u}) {
      std::string term = text;
      for (size_t i = 0; i < n_other; ++i) term[i] = term[i] == 'x' ? 'y' : 'x';
      std::ofstream(list) << term << "\n";
      const nlohmann::json spelled =
          utterances_of(file, {kClip, "--no-guards", "--key-terms", list, "--words"}, "").at(0);
      EXPECT_EQ(spelled.at("text"), n_other == 1 ? term : text);
      EXPECT_EQ(spelled.at("words").at(0).at("word"), spelled.at("text"));
    }
  }
  // A term's next id gets a bonus: others are chosen after the letters that the text has.
  std::ofstream terms(list);
  for (char letter = 'a'; letter <= 'z'; ++letter)
    if (letter != text[1]) terms << text[0] << letter << "\n";
  terms.close();
  const std::string biased = utterances_of(model, {kClip, "--no-guards", "--key-terms", list}, "").at(0).at("text");
  EXPECT_EQ(biased[0], text[0]);
  EXPECT_NE(biased, text);
}

// A file with ids that stand for times cuts a clip into segments itself; the ids are no text.
TEST(Transcribe, AFileWithTimesTellsThem) {
  const std::vector<int> suppressed = {3, 4};
  const std::string timed = changed_whisper("suppress_tokens", suppressed, {"--timestamps"}),
                    plain = changed_whisper("suppress_tokens", suppressed);
  const std::vector<nlohmann::json> segments = utterances_of(timed, {kClip, "--words"}, "");
  ASSERT_FALSE(segments.empty());
  double before = 0;
  for (const nlohmann::json& segment : segments) {
    EXPECT_TRUE(before <= segment.at("start") && segment.at("start") <= segment.at("end")) << segment;
    before = segment.at("start");
    for (const int id : segment.at("tokens")) EXPECT_LT(id, 269) << "the first id of a time";
  }
  EXPECT_LE(segments.back().at("end").get<double>(), 2.06);
  // Standard input is cut at pauses, and its texts are those of a file without times.
  EXPECT_EQ(transcribe(timed, {}, spoken_twice()), transcribe(plain, {}, spoken_twice()));
  const Outcome refused = convert(random_speech_checkpoint("moonshine"), {"-o", plain, "--timestamps"});
  EXPECT_TRUE(refused.status != 0 && has(refused.err, "--timestamps: the model has no entries that stand for times"));
}

TEST(Transcribe, ALanguageAtRunTimeIsThatOfTheFile) {
  const std::string open = random_speech_model("whisper");
  std::vector<std::string> texts;
  for (const char* code : {"en", "fr", "haw"}) {
    const std::string fixed = random_speech_model("whisper", {"--language", code});
    texts.push_back(transcribe(fixed, {kClip}));
    EXPECT_EQ(transcribe(open, {kClip, "--language", code}), texts.back()) << code;
    EXPECT_EQ(transcribe(fixed, {kClip, "--language", "en"}), texts[0]) << code;
  }
  EXPECT_NE(texts[0], texts[1]);
  for (const auto& [name, i] : std::vector<std::pair<const char*, size_t>>{
           {"english", 0}, {"French", 1}, {"<|haw|>", 2}, {"HAWAIIAN", 2}, {"FR", 1}}) {
    EXPECT_EQ(transcribe(open, {kClip, "--language", name}), texts[i]) << name;
    EXPECT_EQ(transcribe(random_speech_model("whisper", {"--language", name}), {kClip}), texts[i]) << name;
  }
  std::vector<double> sums;
  for (const auto& [names, n] :
      std::vector<std::pair<const char*, size_t>>{{"en,fr", 2}, {"french,en", 2}, {"haw,fr,en", 3}}) {
    const std::vector<nlohmann::json> heard = utterances_of(open, {kClip, "--language", names}, "");
    ASSERT_FALSE(heard.empty());
    const std::string chosen = heard[0].at("language");
    const double probability = heard[0].at("language_probability");
    EXPECT_TRUE(probability >= 1.0 / static_cast<double>(n) - 1e-4 && probability <= 1) << names;
    EXPECT_EQ(heard[0].at("tokens"), utterances_of(open, {kClip, "--language", chosen}, "")[0].at("tokens")) << names;
    if (n == 2) sums.push_back(probability);
  }
  EXPECT_EQ(sums[0], sums[1]) << "the order does not matter";
  const Outcome german = run_model(open, {kClip, "--language", "german"});
  EXPECT_TRUE(has(german.err, R"(--language "german": the model's languages are "en", "fr", "haw")")) << german.err;
  const Outcome unknown = with_status(1, run_model(open, {kClip, "--language", "fx"}));
  EXPECT_TRUE(has(unknown.err, R"(--language "fx": the model's languages are "en", "fr", "haw"; did you mean "fr"?)"));
  const Outcome none = with_status(1, run_model(random_speech_model("moonshine"), {kClip, "--language", "fr"}));
  EXPECT_TRUE(has(none.err, R"(--language "fr": the model's language is not stated)"));
}

TEST(Transcribe, LiveTextEndsAsTheUsualOne) {
  for (const char* family : {"moonshine", "whisper"}) {
    const std::string model = random_speech_model(family);
    const std::string usual = transcribe(model, {}, spoken_twice());
    EXPECT_GE(lines_of(usual).size(), 2u) << family;
    std::string finals;
    size_t n_partial = 0;
    for (const std::string& line : lines_of(transcribe(model, {"--live"}, spoken_twice())))
      line.starts_with("... ") ? void(++n_partial) : void(finals += line + "\n");
    EXPECT_EQ(finals, usual) << family;
    size_t n_objects = 0;
    for (const std::string& line : lines_of(transcribe(model, {"--live", "--json"}, spoken_twice())))
      n_objects += nlohmann::json::parse(line).contains("partial") ? 1 : 0;
    EXPECT_EQ(n_objects, n_partial) << family;
  }
  EXPECT_EQ(transcribe(random_speech_model("moonshine"), {"--live"}, std::string(64000, '\0')), "");
  EXPECT_EQ(run(transcribe_program(), {"model", "clip.wav", "--live"}).status, 2);
  EXPECT_EQ(run(transcribe_program(), {"model", "--srt", "--live"}).status, 2);
}

TEST(Transcribe, SaysNothingOfNoiseAndWarnsOfShortWindows) {
  Rng rng(6);
  const std::string steady = bytes_of(noise(2, 9000, &rng));
  EXPECT_EQ(transcribe(random_speech_model("moonshine"), {}, steady), "");
  const Outcome warned = with_status(0, run_model(random_speech_model("whisper"), {kClip}));
  EXPECT_TRUE(has(warned.err, "Whisper repeats itself in windows of fewer than 750, 15 s"));
}

TEST(Transcribe, AllFormatsHaveTheSameUtterances) {
  const std::string model = random_speech_model("moonshine");
  std::vector<std::string> texts = lines_of(transcribe(model, {}, spoken_twice()));
  std::string times, words;
  size_t n = 0;
  for (const std::string& line : lines_of(transcribe(model, {"--json", "--words"}, spoken_twice()))) {
    const nlohmann::json object = nlohmann::json::parse(line);
    const double begin = object.at("start"), end = object.at("end");
    const std::string text = object.at("text");
    ASSERT_LT(n, texts.size());
    EXPECT_EQ(text, texts[n++]);
    EXPECT_TRUE(begin < end && end < 8) << begin << " " << end;
    EXPECT_FALSE(object.at("tokens").empty());
    const auto print = [](double first, double last, const std::string& what) {
      char both[60];
      std::snprintf(both, sizeof both, "[%.2f --> %.2f] ", first, last);
      return both + what;
    };
    times += print(begin, end, text + "\n");
    std::string joined;
    for (const nlohmann::json& word : object.at("words")) {
      const std::string of_word = word.at("word");
      char sure[20];
      std::snprintf(sure, sizeof sure, " (%.2f)\n", word.at("probability").get<double>());
      words += print(word.at("start"), word.at("end"), of_word.substr(of_word[0] == ' ' ? 1 : 0) + sure);
      EXPECT_TRUE(begin <= word.at("start") && word.at("start") <= word.at("end") && word.at("end") <= end);
      joined += of_word;
    }
    EXPECT_EQ(joined.substr(joined.find_first_not_of(' ')), text);
  }
  EXPECT_EQ(n, texts.size());
  EXPECT_EQ(transcribe(model, {"--timestamps"}, spoken_twice()), times);
  EXPECT_EQ(transcribe(model, {"--words"}, spoken_twice()), words);
}

// WebVTT has SubRip's subtitles in its own way of writing; all words are in them.
TEST(Transcribe, SubtitlesHaveAllWords) {
  for (const char* family : {"moonshine", "whisper"}) {
    const std::string model = random_speech_model(family), srt = transcribe(model, {"--srt"}, spoken_twice());
    std::string vtt = transcribe(model, {"--vtt"}, spoken_twice());
    ASSERT_TRUE(vtt.starts_with("WEBVTT\n\n1\n00:00:")) << vtt;
    vtt.erase(0, 8);
    std::string shown, said;
    for (const auto& [from, to] : {std::pair{"&lt;", "<"}, {"&amp;", "&"}})
      for (size_t at = 0; (at = vtt.find(from, at)) != vtt.npos; ++at) vtt.replace(at, std::strlen(from), to);
    const std::vector<std::string> lines = lines_of(srt);
    double before = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(" --> ") == std::string::npos) continue;
      int minutes[2], milliseconds[2];
      double seconds[2];
      ASSERT_EQ(std::sscanf(lines[i].c_str(), "00:%d:%lf,%d --> 00:%d:%lf,%d", &minutes[0], &seconds[0],
                    &milliseconds[0], &minutes[1], &seconds[1], &milliseconds[1]),
          6);
      const double begin = seconds[0] + milliseconds[0] / 1e3, end = seconds[1] + milliseconds[1] / 1e3;
      EXPECT_TRUE(before <= begin && begin <= end && end < begin + 7.001) << lines[i];
      before = end;
      std::string with_points = lines[i];
      std::ranges::replace(with_points, ',', '.');
      EXPECT_TRUE(has(vtt, with_points)) << with_points;
      for (++i; i < lines.size() && !lines[i].empty(); ++i) shown += lines[i];
    }
    for (const nlohmann::json& heard : utterances_of(model, {}, spoken_twice())) said += heard.at("text");
    std::erase(shown, ' ');
    std::erase(said, ' ');
    EXPECT_EQ(shown, said) << family;
  }
}

TEST(Transcribe, SaysThatALimitCutAText) {
  const auto said = [](const std::string& model, const Arguments& options) {
    return with_status(0, run_model(model, concat({kClip}, options)));
  };
  const std::string whisper = random_speech_model("whisper"), moonshine = random_speech_model("moonshine");
  const Outcome cut = said(whisper, {"--max-target", "8", "--json"});
  EXPECT_TRUE(has(cut.err,
      kClip + ": warning: the text of 0.04 to 0.86 s ends too early: cut at 8 tokens; raise --max-target, up to 24\n"));
  for (const std::string& line : lines_of(cut.out)) EXPECT_EQ(nlohmann::json::parse(line).at("cut"), true) << line;
  const Outcome fast = said(moonshine, {"--json"});
  EXPECT_TRUE(has(fast.err, "tokens; speech is rarely so fast; if it is, convert the model with a higher --ids-per-"));
  EXPECT_TRUE(has(fast.out, "\"cut\":true"));
  const Outcome endless = said(random_speech_model("moonshine", {"--ids-per-second", "0"}), {"--json"});
  EXPECT_TRUE(has(endless.err, "cut at 32 tokens; the model writes no more, so give it less at once"));
  testing::internal::CaptureStdout();
  TranscribeArguments arguments;
  arguments.format = Format::kJson;
  Transcription made = {.segments = {{0, 1, "Yes.", {}, {}}}};
  Utterance second = {0, std::vector<int16_t>(kRate), 0, kRate};
  Transcript(arguments, kRate, false).add("a.wav", second, made);
  EXPECT_TRUE(has(testing::internal::GetCapturedStdout(), "\"cut\":false"));
}

// Writes a file into the test's folder and returns its path.
std::string clip_file(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(Transcribe, ReadsAClipWhoseHeaderDoesNotKnowItsSize) {
  const std::string model = random_speech_model("moonshine"), text = transcribe(model, {kClip});
  std::string clip = read_file(kClip);
  const std::string piped = transcribe(model, {}, clip);
  for (const uint32_t size : {0u, 0x7FFF0000u, 0xFFFFFFFFu}) {
    clip.replace(40, 4, u32(size));
    EXPECT_EQ(transcribe(model, {}, clip), piped) << size;
    EXPECT_EQ(transcribe(model, {clip_file("sizes.wav", clip)}), text) << size;
  }
  EXPECT_EQ(transcribe(model, {clip_file("empty.wav", Wave().file(""))}), "\n");
  EXPECT_EQ(transcribe(model, {}, Wave().file("")), "");
  const Outcome cut = with_status(3, run_model(model, {clip_file("cut.wav", read_file(kClip).substr(0, 50000))}));
  EXPECT_GT(cut.out.size(), 1u);
  EXPECT_TRUE(has(cut.err, "14044 bytes of samples more than the file has"));
}

TEST(Transcribe, RefusesOtherFilesOrLetsFfmpegConvertThem) {
  const std::string model = random_speech_model("moonshine"), raw = read_file(kClip).substr(44);
  const std::string flac = "fLaC" + raw, path = clip_file("it's.flac", flac);
  const Outcome named = with_status(3, run_model(model, {path}));
  const Outcome piped = with_status(3, run_model(model, {}, flac));
  EXPECT_EQ(named.out + piped.out, "");
  EXPECT_TRUE(has(named.err, "it's.flac: a FLAC file; expected a WAV file"));
  EXPECT_TRUE(has(piped.err, "standard input: a FLAC file"));
  const auto without = [&](const std::string& clip) {
    return run("/usr/bin/env", {"PATH=/nowhere", transcribe_program(), model, clip, "--ffmpeg"});
  };
  EXPECT_EQ(without(kClip).out, transcribe(model, {kClip}));  // needs none
  EXPECT_EQ(without(path).status, 3);
  EXPECT_TRUE(has(without(path).err, "ffmpeg cannot be started: No such file or directory; install"));
  if (run("/bin/sh", {"-c", "command -v ffmpeg"}).status != 0) {
    GTEST_SKIP() << "no ffmpeg";
  }
  const std::string aiff = clip_file("it's.aiff", "");
  ASSERT_EQ(run("/bin/sh", {"-c", "exec ffmpeg -v error -y -i \"$0\" \"$1\"", kClip, aiff}).status, 0);
  EXPECT_EQ(transcribe(model, {aiff, "--ffmpeg"}), transcribe(model, {kClip}));
  const Outcome broken = with_status(3, run_model(model, {path, "--ffmpeg"}));
  EXPECT_TRUE(has(broken.err, "--ffmpeg: ffmpeg ended with status "));
  // The command of the message can be pasted.
  const Outcome message = run_model(model, {aiff});
  const std::string command = message.err.substr(message.err.find("ffmpeg -i"));
  ASSERT_EQ(run("/bin/sh", {"-c", "rm -f \"$0\"; " + command, aiff + ".wav"}).status, 0) << command;
  EXPECT_EQ(transcribe(model, {aiff + ".wav"}), transcribe(model, {kClip}));
}

TEST(Transcribe, AnInterruptPrintsWhatWasHeardSoFar) {
  const std::string model = random_speech_model("moonshine");
  {  // while somebody speaks
    Dialogue program(transcribe_program(), {model});
    const std::string clip = read_file(kClip).substr(44);
    program.write(clip + std::string(48000, '\0'));
    program.read_line();
    program.write(clip + clip);  // when this returns, a pipe's 64 KiB are left at most
    kill(program.process(), SIGINT);
    EXPECT_NE(program.read_line(), "");
    EXPECT_EQ(program.finish(), 128 + SIGINT);
  }
  std::string hours = read_file(kClip).substr(44);
  for (int i = 0; i < 9; ++i) hours += hours;
  Dialogue program(transcribe_program(), {model, kClip, clip_file("long.wav", Wave().file(hours)), kClip});
  EXPECT_EQ(program.read_line() + "\n", transcribe(model, {kClip}));
  kill(program.process(), SIGINT);
  program.read_line();
  EXPECT_THROW(program.read_line(), std::runtime_error);  // the third clip is not begun
  EXPECT_EQ(program.finish(), 128 + SIGINT);
}

TEST(Transcribe, TimesAndNumbersOfSeveralClipsGoOn) {
  const std::string model = random_speech_model("moonshine");
  const std::string once = transcribe(model, {kClip, "--srt"});
  EXPECT_EQ(lines_of(once).at(0), "1");
  const std::vector<std::string> lines = lines_of(transcribe(model, {kClip, kClip, "--srt"}));
  ASSERT_EQ(lines.size(), 2 * lines_of(once).size());
  EXPECT_EQ(lines[4], "2");
  EXPECT_EQ(lines[1].substr(0, 7), "00:00:0");
  EXPECT_GE(std::stod(lines[5].substr(6, 2)), 2);  // the clip has 2 s
  const std::vector<std::string> times = lines_of(transcribe(model, {kClip, kClip, "--timestamps"}));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(std::stod(times[1].substr(1)) - std::stod(times[0].substr(1)), 2, 0.005);
  const std::vector<std::string> objects = lines_of(transcribe(model, {kClip, kClip, "--json"}));
  EXPECT_EQ(objects.at(0), objects.at(1));
}

TEST(Transcribe, RefusesSecondsThatAreNoNumber) {
  for (const char* seconds : {"nan", "-nan", "NaN(7)", "inf"}) {
    const Outcome outcome = with_status(2, run(transcribe_program(), {"model", kClip, "--max-seconds", seconds}));
    EXPECT_TRUE(has(outcome.err, "--max-seconds"));
  }
}

// Each piece of this vocabulary from 100 on is a number and a character that ends a line somewhere, or a NUL or DEL.
TEST(Transcribe, AGeneratedLineEndIsASpace) {
  const FolderCopy copy(random_speech_checkpoint("whisper"));
  nlohmann::json vocabulary = nlohmann::json::parse(read_file(copy.path() / "vocab.json")), renamed;
  const std::vector<std::string> ends = {"Ċ", "Ā", "ġ", "Âħ", "âĢ¨", "âĢ©", "č"};
  for (const auto& [piece, id] : vocabulary.items())
    renamed[id < 100 || id > 257 ? piece : std::to_string(id.get<size_t>()) + ends[id.get<size_t>() % 7]] = id;
  std::ofstream(copy.path() / "vocab.json") << renamed;
  const std::string model = changed_model(copy.path());
  const std::string kept = transcribe(model, {kClip, "--keep-controls"}), text = transcribe(model, {kClip});
  EXPECT_GT(lines_of(kept).size(), 5u);
  EXPECT_EQ(lines_of(text).size(), 1u);
  std::string spaces;
  for (const std::string& line : lines_of(kept)) spaces += line + ' ';
  for (const std::string end : {"\r", "\u0085", "\u2028", "\u2029", "\x7f"})
    for (size_t at = 0; (at = spaces.find(end, at)) != std::string::npos;) spaces.replace(at, end.size(), " ");
  spaces.back() = '\n';
  EXPECT_EQ(text, spaces);
  size_t n = 0;
  for (const std::string& line : lines_of(transcribe(model, {kClip, "--json"}))) {
    EXPECT_GE(nlohmann::json::parse(line).at("text").get<std::string>().find_first_of("\n\r\xe2"), 3u);
    for (const char* end : {"\u2028", "\u2029", "\u0085", "\x7f"}) EXPECT_FALSE(has(line, end));
    ++n;
  }
  EXPECT_EQ(lines_of(transcribe(model, {kClip, "--srt"})).size(), 4 * n);
  EXPECT_EQ(lines_of(transcribe(model, {kClip, "--timestamps"})).size(), n);
}
}}  // namespace goldcrest::test
