// SPDX-License-Identifier: Apache-2.0
// The reader of sound: each kind of file is read right, or refused by its name with the command that converts it.
#include "host/speech/wav.h"
#include "programs/wave.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// The results of a reader for a file of these bytes.
struct Heard {
  std::string refusal, problem;
  Samples samples;
};

Heard hear(const std::string& bytes, const std::string& name = "") {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::tmpfile());
  std::fwrite(bytes.data(), 1, bytes.size(), file.get());
  std::rewind(file.get());
  host::WavReader reader;
  Heard heard;
  heard.refusal = reader.open(file.get(), name, kRate);
  Samples block(3);
  for (size_t n = block.size(); heard.refusal.empty() && n == block.size();) {
    n = reader.read(block.data(), block.size());
    heard.samples.insert(heard.samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  }
  heard.problem = reader.problem();
  return heard;
}

const Samples kSamples = {0, 1, -1, 32767, -32768, 256, -257};

// Each sample in `width` bytes, with `low` in the bytes below it.
std::string widened(size_t width, uint8_t low = 0) {
  std::string bytes;
  for (const int16_t sample : kSamples) bytes += std::string(width - 2, static_cast<char>(low)) + bytes_of({sample});
  return bytes;
}

template <typename Float> std::string floats(const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) {
    const Float number = static_cast<Float>(value);
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes.append(raw, sizeof number);
  }
  return bytes;
}

std::vector<double> unit_values() {
  std::vector<double> values;
  for (const int16_t sample : kSamples) values.push_back(sample / 32768.0);
  return values;
}

// The tail of an extensible format: valid bits, channel mask, the kind, the rest of its GUID.
std::string extension(uint32_t kind, uint32_t valid_bits) {
  return u16(22) + u16(valid_bits) + u32(4) + u16(kind) + std::string("\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);
}

// An RF64 file whose chunk ds64 says how long the samples are.
std::string rf64(const std::string& tag, uint64_t data_bytes) {
  const std::string sizes = little_endian(0, 8) + little_endian(data_bytes, 8) + little_endian(0, 8) + u32(0);
  return tag + u32(0xFFFFFFFF) + "WAVE" + chunk("ds64", sizes) + chunk("fmt ", Wave().format()) + "data" +
         u32(0xFFFFFFFF) + bytes_of(kSamples);
}

struct Readable {
  const char* name;
  std::string file;
  Samples samples = kSamples;
};

std::vector<Readable> readable_files() {
  const std::string pcm = bytes_of(kSamples), list = chunk("LIST", "INFOodd"), half = bytes_of({0, 1, -1});
  const std::string rest = bytes_of({32767, -32768, 256, -257});
  const Samples mean = {15, -32768, 32767, 0};
  const Samples pairs = {10, 20, -32768, -32768, 32767, 32767, -1, 0};
  return {
      {"16 bits", Wave().file(pcm)},
      {"a longer format", Wave{.format_tail = u16(0)}.file(pcm)},
      {"a format of 40 bytes", Wave{.format_tail = std::string(24, '\0')}.file(pcm)},
      {"other chunks first", Wave{.before_data = list + chunk("bext", std::string(5000, 'x'))}.file(pcm)},
      {"other chunks behind", Wave{.after_data = list + chunk("id3 ", "abc") + "junk"}.file(pcm)},
      {"extensible", Wave{.kind = 0xFFFE, .format_tail = extension(1, 16)}.file(pcm)},
      {"extensible, 20 of 24 bits", Wave{.kind = 0xFFFE, .bits = 24, .format_tail = extension(1, 20)}.file(widened(3))},
      {"extensible, float",
          Wave{.kind = 0xFFFE, .bits = 32, .format_tail = extension(3, 32)}.file(floats<float>(unit_values()))},
      {"8 bits", Wave{.bits = 8}.file(std::string("\x80\xFF\x00\x81\x7F", 5)), {0, 32512, -32768, 256, -256}},
      {"8 bits, an odd number, a chunk behind", Wave{.bits = 8, .after_data = list}.file("\x81"), {256}},
      {"12 bits", Wave{.bits = 12}.file(pcm)},
      {"20 bits", Wave{.bits = 20}.file(widened(3))},
      {"24 bits", Wave{.bits = 24}.file(widened(3))},
      {"24 bits are rounded", Wave{.bits = 24}.file(widened(3, 0x81)), {1, 2, 0, 32767, -32767, 257, -256}},
      {"32 bits", Wave{.bits = 32}.file(widened(4))},
      {"32 bits are rounded", Wave{.bits = 32}.file(widened(4, 0x7F))},
      {"float of 32 bits", Wave{.kind = 3, .bits = 32}.file(floats<float>(unit_values()))},
      {"float of 64 bits", Wave{.kind = 3, .bits = 64}.file(floats<double>(unit_values()))},
      {"floats out of range",
          Wave{.kind = 3, .bits = 32}.file(
              floats<float>({2, -2, HUGE_VAL, -HUGE_VAL, std::numeric_limits<float>::quiet_NaN()})),
          {32767, -32768, 32767, -32768, 0}},
      {"stereo", Wave{.channels = 2}.file(pairs), mean},
      {"stereo, 8 bits", Wave{.channels = 2, .bits = 8}.file(std::string("\x80\x82\xFF\xFF", 4)), {256, 32512}},
      {"stereo, float", Wave{.kind = 3, .channels = 2, .bits = 32}.file(floats<float>({0.5, 0, -1, -1})),
          {8192, -32768}},
      {"6 channels",
          Wave{.channels = 6}.file(Samples{6, 0, 0, 0, 0, 0, -32768, -32768, -32768, -32768, -32768, -32768}),
          {1, -32768}},
      {"8 channels, 24 bits", Wave{.channels = 8, .bits = 24}.file(std::string(21, '\0') + std::string("\0\0\x10", 3)),
          {512}},
      {"RF64", rf64("RF64", 2 * kSamples.size())},
      {"BW64 with a chunk behind", rf64("BW64", 2 * kSamples.size()) + list},
      {"RF64 without a size", rf64("RF64", 0)},
      {"RF64 of 16 bits without ds64", "RF64" + sized_wave(kSamples, 0xFFFFFFFF).substr(4)},
      {"size 0", sized_wave(kSamples, 0)},
      {"size 0, two samples", sized_wave({5, 6}, 0), {5, 6}},
      {"size 7FFF0000", sized_wave(kSamples, 0x7FFF0000)},
      {"size 7FFFFF00", sized_wave(kSamples, 0x7FFFFF00)},
      {"size 80000000", sized_wave(kSamples, 0x80000000)},
      {"size FFFFFFFF", sized_wave(kSamples, 0xFFFFFFFF)},
      {"RIFF's own size 0", "RIFF" + u32(0) + Wave().file(pcm).substr(8)},
      {"an empty recording", Wave().file(""), {}},
      {"an empty recording, a chunk behind", Wave{.after_data = list}.file(""), {}},
      {"two chunks of samples", Wave{.after_data = chunk("data", rest)}.file(half)},
      {"a chunk between samples", Wave{.after_data = list + chunk("data", rest)}.file(half)},
      {"an empty chunk of samples first", Wave{.before_data = chunk("data", "")}.file(pcm)},
  };
}

TEST(Clips, EachWavFileIsReadRight) {
  const std::vector<Readable> files = readable_files();
  for (const Readable& each : files) {
    for (const char* name : {"", "clip.wav"}) {
      const Heard heard = hear(each.file, name);
      EXPECT_EQ(heard.refusal + heard.problem, "") << each.name;
      EXPECT_EQ(heard.samples, each.samples) << each.name;
    }
  }
}

TEST(Clips, StandardInputMayBeRawSamples) {
  EXPECT_EQ(hear(bytes_of(kSamples)).samples, kSamples);
  EXPECT_TRUE(hear("").samples.empty());
  EXPECT_EQ(hear("").refusal, "");
  EXPECT_EQ(hear(u16(7)).samples, Samples{7});
  // FF Fx is an ordinary sample, here with all that a frame's first header has.
  for (const int16_t first : {int16_t{-1025}, int16_t{-3585}, int16_t{-3073}}) {
    Samples samples(5000, 9);
    samples[0] = first;
    samples[1] = 0x64;
    EXPECT_EQ(hear(bytes_of(samples)).samples, samples);
  }
  Rng rng(8);
  for (int i = 0; i < 300; ++i) {
    Samples samples(4000);
    for (int16_t& sample : samples) sample = static_cast<int16_t>(rng.bits());
    samples[0] = static_cast<int16_t>(0xE0FF | rng.bits());
    EXPECT_EQ(hear(bytes_of(samples)).refusal, "");
  }
}

std::string frames(const std::string& header, size_t frame_bytes) {
  const std::string frame = header + std::string(frame_bytes - header.size(), '\x55');
  return frame + frame + frame;
}

struct Refused {
  const char* name;  // a part of the message
  std::string file;
};

std::vector<Refused> other_files() {
  const std::string pcm = bytes_of(Samples(3000, 7));
  return {{"numbers begin with the high byte (RIFX)", "RIFX" + Wave().file(pcm).substr(4)},
      {"an AIFF file", std::string("FORM\0\0\x10\0AIFFCOMM", 16) + pcm},
      {"an AIFF file", std::string("FORM\0\0\x10\0AIFCFVER", 16) + pcm},
      {"a FLAC file", std::string("fLaC\0\0\0\x22", 8) + pcm}, {"an Ogg file", std::string("OggS\0\2", 6) + pcm},
      {"an ID3 tag", std::string("ID3\4\0\0\0\0\0\x0A", 10) + std::string(10, '\0') + Wave().file(pcm)},
      {"an MPEG-4 file", std::string("\0\0\0\34ftypM4A ", 12) + pcm},
      {"an MPEG-4 file", std::string("\0\0\0\40ftypisom", 12) + pcm},
      {"a Matroska or WebM file", "\x1A\x45\xDF\xA3" + pcm}, {"a Wave64 file", "riff\x2E\x91\xCF\x11" + pcm},
      {"a Windows Media file", "\x30\x26\xB2\x75\x8E\x66\xCF\x11" + pcm}, {"an AU file", ".snd" + pcm},
      {"a CAF file", "caff" + pcm}, {"an AMR file", "#!AMR\n" + pcm}, {"a WavPack file", "wvPK" + pcm},
      {"an MP3 file", frames("\xFF\xFB\x90\x64", 417) + pcm},                 // MPEG 1, 128 kbit/s, 44.1 kHz
      {"an MP3 file", frames("\xFF\xFB\x94\x64", 384) + pcm},                 // 48 kHz
      {"an MP3 file", frames("\xFF\xF3\x48\xC4", 144) + pcm},                 // MPEG 2, 32 kbit/s, 16 kHz
      {"an MP3 file", frames(std::string("\xFF\xE3\x18\xC4", 4), 72) + pcm},  // MPEG 2.5, 8 kbit/s, 8 kHz
      {"an MP3 file", frames(std::string("\xFF\xFD\xA4\0", 4), 576) + pcm},   // layer 2, 192 kbit/s, 48 kHz
      {"an AAC file (ADTS)", frames(std::string("\xFF\xF1\x50\x80\x17\x1F\xFC", 7), 184) + pcm},
      {"a RIFF file, but not of kind WAVE", "RIFF" + u32(4) + "AVI "},
      {"format 2 (ADPCM)", Wave{.kind = 2, .bits = 4}.file(pcm)},
      {"format 6 (A-law)", Wave{.kind = 6, .bits = 8}.file(pcm)},
      {"format 7 (mu-law)", Wave{.kind = 7, .bits = 8}.file(pcm)},
      {"format 17 (IMA ADPCM)", Wave{.kind = 0x11, .bits = 4}.file(pcm)},
      {"format 49 (GSM 6.10)", Wave{.kind = 0x31, .bits = 0}.file(pcm)},
      {"format 85 (MP3)", Wave{.kind = 0x55, .bits = 0}.file(pcm)},
      {"format 65534 with", Wave{.kind = 0xFFFE}.file(pcm)}, {"format 3 with 16 bits", Wave{.kind = 3}.file(pcm)},
      {"format 1 with 40 bits", Wave{.bits = 40}.file(pcm)}, {"format 1 with 0 bits", Wave{.bits = 0}.file(pcm)},
      {"0 channels in frames of 2 bytes", Wave{.channels = 0, .frame_bytes = 2}.file(pcm)},
      {"65535 channels in frames of 2 bytes", Wave{.channels = 65535, .frame_bytes = 2}.file(pcm)},
      {"1 channels in frames of 4 bytes", Wave{.bits = 24, .frame_bytes = 4}.file(pcm)},
      {"has 0 samples a second", Wave{.rate = 0}.file(pcm)},
      {"has 7999 samples a second; expected 8000 to 192000", Wave{.rate = 7999}.file(pcm)},
      {"has 192001 samples a second", Wave{.rate = 192001}.file(pcm)},
      {"two chunks \"fmt \"", Wave{.before_data = chunk("fmt ", Wave().format())}.file(pcm)},
      {"\"data\" comes before its chunk \"fmt \"", "RIFF" + u32(4) + "WAVE" + chunk("data", "ab")},
      {"has 14 bytes; expected 16 or more", "RIFF" + u32(4) + "WAVE" + chunk("fmt ", std::string(14, '\1'))},
      {"without a chunk \"data\"", "RIFF" + u32(4) + "WAVE" + chunk("fmt ", Wave().format())}};
}

TEST(Clips, OtherFilesAreRefusedByName) {
  for (const Refused& each : other_files()) {
    const std::string piped = hear(each.file).refusal, named = hear(each.file, "it's a clip.x").refusal;
    EXPECT_TRUE(has(piped, each.name)) << each.name << ": " << piped;
    EXPECT_TRUE(has(named, each.name)) << each.name << ": " << named;
    EXPECT_TRUE(piped.ends_with("; put this in front: ffmpeg -i - -ar 16000 -ac 1 -c:a pcm_s16le -f wav - |")) << piped;
    EXPECT_TRUE(
        named.ends_with(R"(: ffmpeg -i 'it'\''s a clip.x' -ar 16000 -ac 1 -c:a pcm_s16le 'it'\''s a clip.x.wav')"))
        << named;
  }
  // A clip that is given by name must be a WAV file.
  EXPECT_TRUE(has(hear(bytes_of(kSamples), "a.raw").refusal, "raw samples go to standard input"));
  EXPECT_NE(hear("# A page\n", "README.md").refusal, "");
  EXPECT_EQ(hear("", "a.wav").refusal, "is empty; expected a WAV file");
  // ffmpeg takes what is in front of a colon for a protocol, and a dash for an option.
  for (const char* name : {"12:30.m4a", "-.m4a"})
    EXPECT_TRUE(has(hear("x", name).refusal, "ffmpeg -i 'file:" + std::string(name)));
  EXPECT_EQ(hear(Wave{.after_data = Wave().file(kSamples)}.file(kSamples)).problem,
      "a second WAV file follows, which is not read");
}

TEST(Clips, NoCutFileIsTakenForAWholeOne) {
  const std::string file = Wave().file(kSamples), header = file.substr(0, file.size() - 2 * kSamples.size());
  for (size_t n = 4; n < header.size(); ++n) EXPECT_NE(hear(file.substr(0, n)).refusal, "") << n;
  for (size_t n = header.size(); n < file.size(); ++n) {
    const Heard heard = hear(file.substr(0, n));
    EXPECT_EQ(heard.refusal, "") << n;
    EXPECT_NE(heard.problem, "") << n;
    EXPECT_EQ(heard.samples.size(), (n - header.size()) / 2) << n;
  }
  EXPECT_EQ(hear(std::string(3, 'a')).problem, "the samples end inside one of them");
}

TEST(Clips, OtherRatesAreResampled) {
  Rng rng(2);
  Samples samples(30011);
  for (int16_t& sample : samples) sample = static_cast<int16_t>(20000 * rng.uniform());
  for (const uint32_t rate : {8000u, 11025u, 22050u, 44100u, 48000u, 192000u}) {
    goldcrest_resampler resampler;
    ASSERT_EQ(goldcrest_resample_begin(&resampler, rate, kRate), GOLDCREST_OK);
    Samples expected(2 * samples.size());
    size_t n = samples.size();
    size_t n_out = goldcrest_resample(&resampler, samples.data(), &n, expected.data(), expected.size());
    n_out += goldcrest_resample(&resampler, nullptr, nullptr, expected.data() + n_out, expected.size() - n_out);
    expected.resize(n_out);
    const Heard heard = hear(Wave{.rate = rate}.file(samples));
    EXPECT_EQ(heard.refusal + heard.problem, "");
    EXPECT_EQ(heard.samples, expected) << rate;
    const std::string cut = Wave{.rate = rate}.file(samples);
    EXPECT_NE(hear(cut.substr(0, cut.size() - 10)).problem, "") << rate;
  }
}
}}  // namespace goldcrest::test
