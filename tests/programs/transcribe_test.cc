// SPDX-License-Identifier: Apache-2.0
// goldcrest-transcribe. Its parts without a model: WAV files, raw samples, the gate, the cuts at pauses, words of two
// runs. The program itself with small random models.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "listen_firmware/voice_gate.h"
#include "programs/models.h"
#include "support/rng.h"
#include "transcribe/sample_reader.h"
#include "transcribe/transcript.h"
#include "transcribe/utterances.h"

namespace goldcrest::test {
namespace {

using Samples = std::vector<int16_t>;

constexpr uint32_t kRate = 16000;

std::string u16(uint32_t value) { return {static_cast<char>(value), static_cast<char>(value >> 8)}; }
std::string u32(uint32_t value) { return u16(value) + u16(value >> 16); }

std::string bytes_of(const Samples& samples) {
  std::string bytes;
  for (const int16_t sample : samples) bytes += u16(static_cast<uint16_t>(sample));
  return bytes;
}

std::string chunk(const std::string& tag, const std::string& content) {
  return tag + u32(static_cast<uint32_t>(content.size())) + content + std::string(content.size() % 2, '\0');
}

struct Wave {
  uint32_t kind = 1, channels = 1, rate = kRate, frame_bytes = 2, bits = 16;
  std::string format_tail, before_data;

  std::string format() const {
    return u16(kind) + u16(channels) + u32(rate) + u32(rate * frame_bytes) + u16(frame_bytes) + u16(bits) + format_tail;
  }
  std::string file(const std::string& data) const {
    const std::string content = "WAVE" + chunk("fmt ", format()) + before_data + chunk("data", data);
    return "RIFF" + u32(static_cast<uint32_t>(content.size())) + content;
  }
};

// The results of a reader for a file of these bytes.
struct Heard {
  std::string refusal, problem;
  Samples samples;
};

Heard hear(const std::string& bytes) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::tmpfile());
  std::fwrite(bytes.data(), 1, bytes.size(), file.get());
  std::rewind(file.get());
  SampleReader reader;
  Heard heard;
  heard.refusal = reader.open(file.get(), kRate);
  Samples block(3);
  for (size_t n = block.size(); heard.refusal.empty() && n == block.size();) {
    n = reader.read(block.data(), block.size());
    heard.samples.insert(heard.samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  }
  heard.problem = reader.problem();
  return heard;
}

const Samples kSamples = {0, 1, -1, 32767, -32768, 256, -257};

TEST(SampleReader, ReadsWavFilesAndRawSamples) {
  Wave extensible;
  extensible.kind = 0xFFFE;
  extensible.format_tail = u16(22) + u16(16) + u32(4) + u16(1) + std::string(14, '\7');
  Wave others;
  others.before_data = chunk("LIST", "odd") + chunk("bext", std::string(5000, 'x'));
  for (const std::string& file : {Wave().file(bytes_of(kSamples)), extensible.file(bytes_of(kSamples)),
                                  others.file(bytes_of(kSamples)), bytes_of(kSamples)}) {
    const Heard heard = hear(file);
    EXPECT_EQ(heard.refusal + heard.problem, "");
    EXPECT_EQ(heard.samples, kSamples);
  }
  EXPECT_TRUE(hear("").samples.empty());
  EXPECT_EQ(hear(u16(7)).samples, Samples{7});
}

TEST(SampleReader, ChannelsBecomeTheirMean) {
  Wave stereo;
  stereo.channels = 2;
  stereo.frame_bytes = 4;
  EXPECT_EQ(hear(stereo.file(bytes_of({10, 20, -32768, -32768, 32767, 32767}))).samples, (Samples{15, -32768, 32767}));
}

TEST(SampleReader, ALengthThatNobodyKnewIsTheRest) {
  std::string file = Wave().file(bytes_of(kSamples));
  for (const uint32_t length : {0xFFFFFFFFu, 0x7FFFFFFFu, 0x7FFFFF00u}) {
    file.replace(file.size() - 2 * kSamples.size() - 4, 4, u32(length));
    const Heard heard = hear(file);
    EXPECT_EQ(heard.refusal + heard.problem, "");
    EXPECT_EQ(heard.samples, kSamples);
  }
}

TEST(SampleReader, RefusesWhatItCannotRead) {
  const auto refusal = [](const auto& change) {
    Wave wave;
    change(wave);
    return hear(wave.file(bytes_of(kSamples))).refusal;
  };
  const auto expect = [&](const auto& change, const std::string& part) {
    const std::string message = refusal(change);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect([](Wave& wave) { wave.rate = 44100; }, "has 44100 samples a second; the model takes 16000; ");
  expect([](Wave& wave) { wave.rate = 44100; }, "ffmpeg -i CLIP -ar 16000 -ac 1");
  expect([](Wave& wave) { wave.kind = 3; }, "format 3 with 16 bits");
  expect([](Wave& wave) { wave.bits = 24; }, "format 1 with 24 bits");
  expect([](Wave& wave) { wave.channels = 0; }, "0 channels in frames of 2 bytes");
  expect([](Wave& wave) { wave.channels = 65535; }, "65535 channels in frames of 2 bytes");
  expect([](Wave& wave) { wave.before_data = chunk("fmt ", wave.format()); }, "two chunks \"fmt \"");
  expect([](Wave& wave) { wave.before_data = chunk("data", ""); }, "");
  EXPECT_EQ(hear("RIFF" + u32(4) + "AVI ").refusal, "a RIFF file, but not of kind WAVE");
  EXPECT_EQ(hear("RIFF" + u32(4) + "WAVE" + chunk("data", "ab")).refusal,
            "a WAV file whose chunk \"data\" comes before its chunk \"fmt \"");
  EXPECT_EQ(hear("RIFF" + u32(4) + "WAVE" + chunk("fmt ", std::string(14, '\1'))).refusal,
            "a WAV file whose chunk \"fmt \" has 14 bytes; expected 16 or more");
  EXPECT_EQ(hear("RIFF" + u32(4) + "WAVE" + chunk("fmt ", Wave().format())).refusal,
            "a WAV file without a chunk \"data\"");
}

TEST(SampleReader, NoCutFileIsTakenForAWholeOne) {
  const std::string file = Wave().file(bytes_of(kSamples)), header = file.substr(0, file.size() - 2 * kSamples.size());
  for (size_t n = 4; n < header.size(); ++n) EXPECT_NE(hear(file.substr(0, n)).refusal, "") << n;
  for (size_t n = header.size(); n < file.size(); ++n) {
    const Heard heard = hear(file.substr(0, n));
    EXPECT_EQ(heard.refusal, "") << n;
    EXPECT_NE(heard.problem, "") << n;
    EXPECT_EQ(heard.samples.size(), (n - header.size()) / 2) << n;
  }
  EXPECT_EQ(hear(std::string(3, 'a')).problem, "the samples end inside one of them");
}

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

TEST(Gate, SilenceHumAndSteadyNoiseAreNoSpeech) {
  Rng rng(1);
  Samples hum(2 * kRate);
  for (size_t i = 0; i < hum.size(); ++i) {
    hum[i] = static_cast<int16_t>(5000 * std::sin(6.2831853 * 50 * static_cast<double>(i) / kRate));
  }
  for (const Samples& samples : {Samples(kRate, 0), Samples(kRate, 3000), Samples(), Samples(100, 9), hum,
                                 noise(2, 20, &rng), noise(2, 20000, &rng)}) {
    EXPECT_FALSE(has_speech(samples.data(), samples.size(), kRate));
  }
  const Samples spoken = speech(2, &rng);
  EXPECT_TRUE(has_speech(spoken.data(), spoken.size(), kRate));
}

// Returns the halves of each utterance that the gate of listen_firmware finds.
std::vector<uint32_t> gated(const Samples& samples) {
  voice_gate gate = {};
  gate.max_halves = kMaxHalves;
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
  UtteranceCutter cutter(kRate, max_samples, at_pauses);
  for (size_t i = 0; i < samples.size(); i += block)
    cutter.push(samples.data() + i, std::min(block, samples.size() - i));
  cutter.finish();
  std::vector<Utterance> utterances;
  for (Utterance utterance; cutter.next(&utterance);) utterances.push_back(std::move(utterance));
  return utterances;
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

const std::string kClip = GOLDCREST_SOURCE_DIR "/tests/data/speech/ask.wav";

std::string transcribe(const std::string& model, Arguments options, const std::string& input = "") {
  options.insert(options.begin(), model);
  const Outcome outcome = run(transcribe_program(), options, {.input = input});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
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
  const Outcome unknown = run(transcribe_program(), {open, kClip, "--language", "fx"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_TRUE(has(unknown.err, R"(--language "fx": the model's languages are "en", "fr", "haw"; did you mean "fr"?)"));
  const Outcome none = run(transcribe_program(), {random_speech_model("moonshine"), kClip, "--language", "fr"});
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(has(none.err, R"(--language "fr": the model's language is not stated)"));
}

// Two utterances, as a microphone's program writes them.
std::string spoken_twice() {
  const std::string clip = read_file(kClip).substr(44), silence(32000, '\0');
  return silence + clip + silence + clip + silence;
}

TEST(Transcribe, LiveTextEndsAsTheUsualOne) {
  for (const char* family : {"moonshine", "whisper"}) {
    const std::string model = random_speech_model(family);
    const std::string usual = transcribe(model, {}, spoken_twice());
    EXPECT_GE(lines_of(usual).size(), 2u) << family;
    std::string finals;
    size_t n_partial = 0;
    for (const std::string& line : lines_of(transcribe(model, {"--live"}, spoken_twice()))) {
      line.starts_with("... ") ? void(++n_partial) : void(finals += line + "\n");
    }
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
  const Outcome warned = run(transcribe_program(), {random_speech_model("whisper"), kClip});
  EXPECT_EQ(warned.status, 0);
  EXPECT_TRUE(has(warned.err, "Whisper repeats itself in windows of fewer than 750, 15 s"));
}

TEST(Transcribe, AllFormatsHaveTheSameUtterances) {
  const std::string model = random_speech_model("moonshine");
  std::vector<std::string> texts = lines_of(transcribe(model, {}, spoken_twice()));
  std::string times, subtitles;
  size_t n = 0;
  const auto clock = [](double seconds) {
    char text[40];
    std::snprintf(text, sizeof text, "00:00:%06.3f", seconds);
    text[8] = ',';
    return std::string(text);
  };
  for (const std::string& line : lines_of(transcribe(model, {"--json"}, spoken_twice()))) {
    const nlohmann::json object = nlohmann::json::parse(line);
    const double begin = object.at("begin"), end = object.at("end");
    const std::string text = object.at("text");
    ASSERT_LT(n, texts.size());
    EXPECT_EQ(text, texts[n++]);
    EXPECT_TRUE(begin < end && end < 8) << begin << " " << end;
    char both[60];
    std::snprintf(both, sizeof both, "[%.2f --> %.2f] ", begin, end);
    times += both + text + "\n";
    subtitles += std::to_string(n) + "\n" + clock(begin) + " --> " + clock(end) + "\n" + text + "\n\n";
  }
  EXPECT_EQ(n, texts.size());
  EXPECT_EQ(transcribe(model, {"--timestamps"}, spoken_twice()), times);
  EXPECT_EQ(transcribe(model, {"--srt"}, spoken_twice()), subtitles);
}

}  // namespace
}  // namespace goldcrest::test
