// SPDX-License-Identifier: Apache-2.0
// The resampler against ideal sines: tones that both rates have keep amplitude and time, higher ones are gone. Its
// samples are the same for all pieces and on every machine.
#include "goldcrest/resample.h"
#include "base/crc32c.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kOutHz = 16000;
constexpr uint32_t kRates[] = {
    8000, 11025, 12000, 16000, 22050, 24000, 32000, 37800, 44100, 48000, 88200, 96000, 191999, 192000};
constexpr double kAmplitude = 30000;

std::vector<int16_t> tone(double hz, uint32_t rate, double seconds) {
  std::vector<int16_t> samples(static_cast<size_t>(seconds * rate));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double angle = 2 * 3.14159265358979323846 * hz * static_cast<double>(i) / rate;
    samples[i] = static_cast<int16_t>(std::lround(kAmplitude * std::sin(angle)));
  }
  return samples;
}

// Resamples in pieces of at most `most_in` samples, read at most `most_out` at a time.
std::vector<int16_t> resample(
    const std::vector<int16_t>& samples, uint32_t in_hz, uint32_t out_hz, size_t most_in, size_t most_out) {
  goldcrest_resampler resampler;
  EXPECT_EQ(goldcrest_resample_begin(&resampler, in_hz, out_hz), GOLDCREST_OK);
  std::vector<int16_t> out, block(most_out);
  const auto take = [&](size_t n_out) {
    out.insert(out.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n_out));
    return n_out;
  };
  for (size_t at = 0; at < samples.size();) {
    size_t n = std::min(most_in, samples.size() - at);
    const size_t wanted = n;
    const size_t n_out = take(goldcrest_resample(&resampler, samples.data() + at, &n, block.data(), most_out));
    EXPECT_TRUE(n == wanted || n_out == most_out);
    at += n;
  }
  while (take(goldcrest_resample(&resampler, nullptr, nullptr, block.data(), most_out)) > 0) {
  }
  return out;
}

// Returns how far the middle of a resampled tone is from `amplitude` times the ideal one, in dB of the tone.
double error_db(double hz, uint32_t rate, double amplitude) {
  const std::vector<int16_t> out = resample(tone(hz, rate, 0.25), rate, kOutHz, 1000, 777);
  double sum = 0;
  const size_t begin = out.size() / 5, end = out.size() - begin;
  for (size_t i = begin; i < end; ++i) {
    const double angle = 2 * 3.14159265358979323846 * hz * static_cast<double>(i) / kOutHz;
    const double error = out[i] - amplitude * std::sin(angle);
    sum += error * error;
  }
  return 10 * std::log10(sum / static_cast<double>(end - begin) / (kAmplitude * kAmplitude / 2) + 1e-30);
}

TEST(Resample, KeepsTonesThatBothRatesHave) {
  for (const uint32_t rate : kRates) {
    const double highest = std::min(7000.0, 0.9 * std::min(rate, kOutHz) / 2);
    for (const double hz : {50.0, 97.0, 440.0, 1000.0, 2500.5, 3400.0, 0.8 * highest, 0.97 * highest, highest})
      if (hz <= highest) {
        EXPECT_LE(error_db(hz, rate, kAmplitude), -60) << rate << " Hz, tone " << hz;
      }
  }
}

TEST(Resample, RemovesTonesThatTheLowerRateHasNot) {
  for (const uint32_t rate : kRates) {
    for (const double hz :
        {8100.0, 8800.0, 9000.0, 9500.5, 10000.0, 12345.0, 15999.0, 16001.0, 20000.0, 31000.0, 47000.0, 90000.0})
      if (hz < rate / 2.0) {
        EXPECT_LE(error_db(hz, rate, 0), -60) << rate << " Hz, tone " << hz;
      }
  }
}

std::vector<int16_t> noise(size_t n) {
  Rng rng(3);
  std::vector<int16_t> samples(n);
  for (int16_t& sample : samples) sample = static_cast<int16_t>(32767 * rng.uniform());
  return samples;
}

TEST(Resample, HasTheSameSamplesForAllPiecesAndMachines) {
  std::vector<int16_t> joined;
  for (const uint32_t rate : kRates) {
    const std::vector<int16_t> samples = noise(3001), whole = resample(samples, rate, kOutHz, 10000, 10000);
    EXPECT_EQ(whole.size(), (uint64_t{3001} * kOutHz + rate - 1) / rate) << rate;
    EXPECT_EQ(resample(samples, rate, kOutHz, 1, 3), whole) << rate;
    EXPECT_EQ(resample(samples, rate, kOutHz, 97, 1), whole) << rate;
    joined.insert(joined.end(), whole.begin(), whole.end());
  }
  EXPECT_EQ(crc32c(0, joined.data(), joined.size() * sizeof(int16_t)), 1645848495u);
  EXPECT_EQ(resample(noise(500), kOutHz, kOutHz, 1000, 1000), noise(500));
  EXPECT_EQ(resample({}, 44100, kOutHz, 9, 9), std::vector<int16_t>());
  EXPECT_EQ(resample({7}, 8000, 48000, 9, 9).size(), 6u);
  const std::vector<int16_t> loud(1000, -32768), louder = resample(loud, 44100, kOutHz, 1000, 1000);
  EXPECT_LE(louder[200], -32760);
}

// Tones from `lowest` to `highest` Hz, one in each of 40 equal steps of the logarithm, with random phases.
std::vector<int16_t> tones(double lowest, double highest, uint32_t rate) {
  constexpr int kTones = 40;
  Rng rng(rate);
  std::vector<double> sum(rate);
  for (int i = 0; i <= kTones; ++i) {
    const double hz = lowest * std::pow(highest / lowest, static_cast<double>(i) / kTones);
    const double phase = 3.14159265358979323846 * static_cast<double>(rng.uniform());
    for (size_t t = 0; t < sum.size(); ++t)
      sum[t] += std::sin(2 * 3.14159265358979323846 * hz * static_cast<double>(t) / rate + phase);
  }
  const double largest =
      std::abs(*std::max_element(sum.begin(), sum.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  std::vector<int16_t> samples;
  for (const double value : sum) samples.push_back(static_cast<int16_t>(std::lround(value * kAmplitude / largest)));
  return samples;
}

// The samples of `sox -D` at 16 kHz; none without sox.
std::vector<int16_t> resample_by_sox(const std::vector<int16_t>& samples, uint32_t rate) {
  const TemporaryFolder folder;
  const std::string in = (folder / "in.raw").string(), out = (folder / "out.raw").string(),
                    raw = "-t raw -e signed -b 16 -c 1 -r ";
  folder.write("in.raw", std::string(reinterpret_cast<const char*>(samples.data()), 2 * samples.size()));
  const std::string command = "sox -D " + raw + std::to_string(rate) + " " + in + " " + raw + "16000 " + out;
  if (std::system(command.c_str()) != 0) return {};
  std::ifstream stream(out, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  std::vector<int16_t> found(bytes.size() / 2);
  std::memcpy(found.data(), bytes.data(), 2 * found.size());
  return found;
}

// Returns the power of the difference of the middles of two clips, in dB of `signal`'s.
double difference_db(const std::vector<int16_t>& a, const std::vector<int16_t>& b, const std::vector<int16_t>& signal) {
  double sum = 0, whole = 0;
  const size_t n = std::min(a.size(), b.size());
  for (size_t i = n / 8; i < n - n / 8; ++i) sum += std::pow(a[i] - b[i], 2);
  for (size_t i = signal.size() / 8; i < signal.size() - signal.size() / 8; ++i) whole += std::pow(signal[i], 2);
  return 10 * std::log10(sum / whole * static_cast<double>(signal.size()) / static_cast<double>(n) + 1e-30);
}

TEST(Exhaustive, DISABLED_ResamplesAsSoxDoes) {
  for (const uint32_t rate : kRates) {
    const std::vector<int16_t> kept = tones(50, std::min(7000.0, 0.45 * rate), rate);
    const std::vector<int16_t> by_sox = resample_by_sox(kept, rate);
    if (by_sox.empty()) {
      GTEST_SKIP() << "sox cannot be run";
    }
    const double kept_db = difference_db(resample(kept, rate, kOutHz, 1000, 777), by_sox, kept);
    EXPECT_LE(kept_db, -60) << rate;
    if (rate <= 20000) continue;
    const std::vector<int16_t> gone = tones(9000, 0.49 * rate, rate);
    const std::vector<int16_t> left = resample(gone, rate, kOutHz, 1000, 777);
    const double gone_db = difference_db(left, std::vector<int16_t>(left.size()), gone);
    EXPECT_LE(gone_db, -60) << rate;
    std::printf("%6u Hz: %.1f dB from sox -D, %.1f dB left above 9 kHz\n", rate, kept_db, gone_db);
  }
}

TEST(Resample, RefusesOtherRates) {
  goldcrest_resampler resampler;
  EXPECT_EQ(goldcrest_resample_begin(nullptr, 16000, 16000), GOLDCREST_ERROR_ARGUMENT);
  for (const auto& [in_hz, out_hz] : {std::pair{7999u, 16000u}, {192001u, 16000u}, {16000u, 0u}, {0u, 16000u},
           {16000u, 192001u}, {192000u, 15999u}, {4294967295u, 16000u}})
    EXPECT_EQ(goldcrest_resample_begin(&resampler, in_hz, out_hz), GOLDCREST_ERROR_ARGUMENT) << in_hz;
}
}}  // namespace goldcrest::test
