// SPDX-License-Identifier: Apache-2.0
// WAV: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0, 1991, chapter 3. RF64 and BW64:
// EBU Tech 3306 and ITU-R BS.2088. Frames of MP3: ISO/IEC 11172-3 and 13818-3, 2.4.2.3; of ADTS: ISO/IEC 13818-7, 6.2.
#include "host/speech/wav.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

namespace goldcrest::host {
namespace {
constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
constexpr uint32_t kMostChannels = 64;
// Programs that write to a pipe cannot know a length: ffmpeg and sox write the largest one, arecord about half of it.
constexpr uint32_t kUnknownLength = 0x7FFF0000;
// Chunks that may follow an empty chunk of samples.
constexpr const char* kChunkTags[] = {"LIST", "INFO", "id3 ", "ID3 ", "bext", "fact", "cue ", "smpl", "inst", "iXML",
    "_PMX", "JUNK", "PAD ", "axml", "chna", "data"};
constexpr const char* kCut = "the file ends inside its WAV header";

uint16_t u16(const uint8_t* bytes) { return static_cast<uint16_t>(bytes[0] | bytes[1] << 8); }
uint32_t u32(const uint8_t* bytes) { return u16(bytes) | static_cast<uint32_t>(u16(bytes + 2)) << 16; }
uint64_t u64(const uint8_t* bytes) { return u32(bytes) | static_cast<uint64_t>(u32(bytes + 4)) << 32; }
bool is_tag(const uint8_t* bytes, const char* tag) { return std::memcmp(bytes, tag, 4) == 0; }
bool is_riff(const uint8_t* bytes) { return is_tag(bytes, "RIFF") || is_tag(bytes, "RF64") || is_tag(bytes, "BW64"); }

// The beginning of a kind of file.
struct Beginning {
  size_t at;
  std::string_view bytes;
  const char* name;
};

constexpr Beginning kBeginnings[] = {{0, "RIFX", "a WAV file whose numbers begin with the high byte (RIFX)"},
    {0, "FORM", "an AIFF file"}, {0, "fLaC", "a FLAC file"}, {0, "OggS", "an Ogg file"},
    {0, "ID3", "a file that begins with an ID3 tag, as MP3 files do"}, {4, "ftyp", "an MPEG-4 file (m4a, mp4)"},
    {0, "\x1A\x45\xDF\xA3", "a Matroska or WebM file"}, {0, "riff\x2E\x91\xCF\x11", "a Wave64 file"},
    {0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11", "a Windows Media file"}, {0, ".snd", "an AU file"},
    {0, "caff", "a CAF file"}, {0, "#!AMR", "an AMR file"}, {0, "wvPK", "a WavPack file"},
    {0, "MAC ", "a Monkey's Audio file"}, {0, "NIST_1A", "a NIST SPHERE file"}};

// Formats of WAV files that are refused.
constexpr struct {
  uint16_t kind;
  const char* name;
} kFormatNames[] = {{2, " (ADPCM)"}, {6, " (A-law)"}, {7, " (mu-law)"}, {0x11, " (IMA ADPCM)"}, {0x31, " (GSM 6.10)"},
    {0x50, " (MPEG)"}, {0x55, " (MP3)"}, {0xFF, " (AAC)"}};

// Returns the bytes of the MPEG frame whose header of 6 bytes this is; 0: it is none.
size_t frame_bytes_of(const uint8_t* header) {
  constexpr uint16_t kKilobits[5][14] = {{32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
      {32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
      {32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
      {32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
      {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};
  constexpr uint32_t kRates[] = {44100, 48000, 32000};
  if (header[0] != 0xFF || header[1] < 0xE0) return 0;
  const uint32_t version = header[1] >> 3 & 3, layer = 4 - (header[1] >> 1 & 3);
  const uint32_t bits = header[2] >> 4, rate = header[2] >> 2 & 3, padding = header[2] >> 1 & 1;
  if (layer == 4) {  // ADTS
    const size_t n = static_cast<size_t>((header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5);
    return version >= 2 && (header[2] >> 2 & 15) < 13 && n >= 7 ? n : 0;
  }
  if (version == 1 || bits == 0 || bits == 15 || rate == 3) return 0;
  const bool is_first = version == 3;  // MPEG 1
  const uint32_t row = is_first ? layer - 1 : layer == 1 ? 3 : 4;
  const uint32_t hz = kRates[rate] >> (is_first ? 0 : version == 2 ? 1 : 2), bps = 1000u * kKilobits[row][bits - 1];
  if (layer == 1) return (12 * bps / hz + padding) * 4;
  return (layer == 3 && !is_first ? 72 : 144) * bps / hz + padding;
}

// Returns a sample as 32 bits.
int32_t sample_of(const uint8_t* bytes, bool is_float, size_t width) {
  if (is_float) {
    double value = 0;
    float narrow = 0;
    std::memcpy(width == 4 ? static_cast<void*>(&narrow) : &value, bytes, width);
    if (width == 4) value = static_cast<double>(narrow);
    if (std::isnan(value)) return 0;
    return static_cast<int32_t>(std::min(std::max(value * 2147483648.0, -2147483648.0), 2147483647.0));
  }
  if (width == 1) return static_cast<int32_t>(static_cast<uint32_t>(bytes[0] ^ 0x80) << 24);
  uint32_t value = 0;
  for (size_t i = 0; i < width; ++i) value |= static_cast<uint32_t>(bytes[i]) << (32 - 8 * (width - i));
  return static_cast<int32_t>(value);
}

// Rounds to nearest, and halves towards zero.
int16_t mean_of_frame(const uint8_t* frame, bool is_float, size_t width, size_t channels) {
  int64_t sum = 0;
  for (size_t c = 0; c < channels; ++c) sum += sample_of(frame + c * width, is_float, width);
  const int64_t mean = sum / static_cast<int64_t>(channels);
  const int64_t rounded = mean < 0 ? -((0x7FFF - mean) >> 16) : (mean + 0x7FFF) >> 16;
  return static_cast<int16_t>(std::min<int64_t>(rounded, INT16_MAX));
}

std::string rate_problem(uint32_t rate, uint32_t sample_rate) {
  return "has " + std::to_string(rate) + " samples a second; expected 8000 to 192000, of which the model's " +
         std::to_string(sample_rate) + " can be made";
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// A name as ffmpeg takes it for that of a file.
std::string file_name(const std::string& name) {
  return name.find(':') != name.npos || name[0] == '-' ? "file:" + name : name;
}

std::string conversion(const std::string& name, uint32_t sample_rate) {
  std::string command;
  const std::vector<std::string> arguments = ffmpeg_arguments(name, name.empty() ? "" : name + ".wav", sample_rate);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_name = !name.empty() && (i == 2 || i + 1 == arguments.size());
    command += (i > 0 ? " " : "") + (is_name ? quoted(arguments[i]) : arguments[i]);
  }
  return name.empty() ? "; put this in front: " + command + " |" : "; this makes a file that is read: " + command;
}
}  // namespace

std::vector<std::string> ffmpeg_arguments(const std::string& name, const std::string& output, uint32_t sample_rate) {
  std::vector<std::string> arguments = {"ffmpeg", "-i", name.empty() ? "-" : file_name(name), "-ar",
      std::to_string(sample_rate), "-ac", "1", "-c:a", "pcm_s16le"};
  if (output.empty()) arguments.insert(arguments.end(), {"-f", "wav"});
  arguments.push_back(output.empty() ? "-" : file_name(output));
  return arguments;
}

std::string FrameConverter::begin(uint32_t rate, uint32_t width, uint32_t channels, uint32_t sample_rate) {
  if (width < 1 || width > 4 || channels < 1 || channels > kMostChannels)
    return std::to_string(width) + " bytes a sample in " + std::to_string(channels) +
           " channels; expected 1 to 4 bytes, 1 to 64 channels";
  width_ = width;
  channels_ = channels;
  part_.clear();
  resamples_ = rate != sample_rate;
  if (!resamples_ || goldcrest_resample_begin(&resampler_, rate, sample_rate) == GOLDCREST_OK) return "";
  return rate_problem(rate, sample_rate);
}

void FrameConverter::resample(const int16_t* from, size_t n, std::vector<int16_t>* samples) {
  int16_t out[1024];
  for (size_t n_out = 1; n > 0 || (from == nullptr && n_out > 0);) {
    size_t n_in = n;
    n_out = goldcrest_resample(&resampler_, from, &n_in, out, std::size(out));
    samples->insert(samples->end(), out, out + n_out);
    n -= n_in;
    if (from != nullptr) from += n_in;
  }
}

void FrameConverter::push(const uint8_t* bytes, size_t n, std::vector<int16_t>* samples) {
  const size_t frame = width_ * channels_;
  part_.insert(part_.end(), bytes, bytes + n);
  std::vector<int16_t> made;
  for (size_t i = 0; i + frame <= part_.size(); i += frame)
    made.push_back(mean_of_frame(&part_[i], false, width_, channels_));
  part_.erase(part_.begin(), part_.begin() + static_cast<std::ptrdiff_t>(made.size() * frame));
  if (made.empty()) return;
  if (resamples_) return resample(made.data(), made.size(), samples);
  samples->insert(samples->end(), made.begin(), made.end());
}

void FrameConverter::finish(std::vector<int16_t>* samples) {
  part_.clear();
  if (resamples_) resample(nullptr, 0, samples);
}

size_t WavReader::take(void* bytes, size_t n) {
  const size_t before = std::min(ahead_.size(), n);
  std::copy_n(ahead_.begin(), before, static_cast<uint8_t*>(bytes));
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(before));
  return before + (n > before ? std::fread(static_cast<uint8_t*>(bytes) + before, 1, n - before, file_) : 0);
}

// Returns whether the next n bytes exist; then ahead_ has them.
bool WavReader::fill_ahead(size_t n) {
  const size_t before = ahead_.size();
  if (before < n) {
    ahead_.resize(n);
    ahead_.resize(before + std::fread(ahead_.data() + before, 1, n - before, file_));
  }
  return ahead_.size() >= n;
}

// Reads bytes away, because a pipe cannot seek.
bool WavReader::skip(uint64_t n) {
  uint8_t block[4096];
  while (n > 0) {
    const size_t part = static_cast<size_t>(std::min<uint64_t>(n, sizeof(block)));
    if (take(block, part) != part) return false;
    n -= part;
  }
  return true;
}

std::string WavReader::open(std::FILE* file, const std::string& name, uint32_t sample_rate) {
  *this = WavReader();
  file_ = file;
  sample_rate_ = sample_rate;
  fill_ahead(12);
  if (std::ferror(file_) != 0) return std::string("cannot be read: ") + std::strerror(errno);
  std::string problem;
  if (ahead_.size() >= 4 && is_riff(ahead_.data())) {
    uint8_t header[12];
    if (take(header, 12) != 12) return kCut;
    bool is_found = false;
    problem = is_tag(header + 8, "WAVE") ? find_data(&is_found) : "a RIFF file, but not of kind WAVE";
    if (problem == kCut || (problem.empty() && is_found)) return problem;
    if (problem.empty() && format_.channels == 0) return kCut;
    if (problem.empty()) problem = "a WAV file without a chunk \"data\"";
  } else {
    problem = kind_of_file();
    if (problem.empty() && name.empty()) {
      format_ = {sample_rate, kPcm, 1, 2, 16};
      bytes_left_ = UINT64_MAX;
      return "";
    }
    if (ahead_.empty()) return "is empty; expected a WAV file";
    problem = problem.empty() ? "begins like no file of sound; expected a WAV file (raw samples go to standard input)"
                              : problem + "; expected a WAV file";
  }
  return problem + conversion(name, sample_rate_);
}

// Returns what the file is by its first bytes; an empty string if they say nothing.
std::string WavReader::kind_of_file() {
  const std::string_view begin(reinterpret_cast<const char*>(ahead_.data()), ahead_.size());
  for (const Beginning& known : kBeginnings)
    if (begin.size() > known.at && begin.substr(known.at, known.bytes.size()) == known.bytes) return known.name;
  // FF Fx is an ordinary sample, so the next frame must begin where this one's length says.
  const size_t n = begin.size() < 6 ? 0 : frame_bytes_of(ahead_.data());
  if (n == 0 || !fill_ahead(n + 6)) return "";
  const uint8_t* next = ahead_.data() + n;
  const bool is_same = next[1] == ahead_[1] && ((next[2] ^ ahead_[2]) & 0x0C) == 0 && frame_bytes_of(next) > 0;
  return is_same ? (ahead_[1] & 6) == 0 ? "an AAC file (ADTS)" : "an MP3 file" : "";
}

// Reads chunks up to the next one that has samples. Without one, *is_found is false at the end of the file.
std::string WavReader::find_data(bool* is_found) {
  uint8_t header[8];
  const bool is_first = !has_more_chunks_;
  while (take(header, 8) == 8) {
    const uint32_t chunk_bytes = u32(header + 4);
    uint64_t n_left = uint64_t{chunk_bytes} + chunk_bytes % 2;
    if (is_tag(header, "data")) {
      if (format_.channels == 0) return "a WAV file whose chunk \"data\" comes before its chunk \"fmt \"";
      begin_data(chunk_bytes);
      *is_found = true;
      return "";
    }
    if (is_tag(header, "fmt ")) {
      if (format_.channels != 0) return "a WAV file with two chunks \"fmt \"";
      std::string problem = read_format(chunk_bytes);
      if (problem.empty()) problem = check_format();
      if (!problem.empty()) return problem;
      continue;
    }
    if (!is_first && is_riff(header)) return "a second WAV file follows, which is not read";
    if (is_tag(header, "ds64") && chunk_bytes >= 16) {
      uint8_t sizes[16];
      if (take(sizes, 16) != 16) return kCut;
      long_data_bytes_ = u64(sizes + 8);
      n_left -= 16;
    }
    if (!skip(n_left)) return is_first ? kCut : "";
  }
  return "";
}

// Begins the samples of a chunk. A size of 0, or of about 2^31 and more, is of a program that did not know it.
void WavReader::begin_data(uint32_t chunk_bytes) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 62;
  const bool is_long = chunk_bytes == UINT32_MAX && long_data_bytes_ > 0 && long_data_bytes_ < kMostBytes;
  bytes_left_ = is_long ? long_data_bytes_ : chunk_bytes < kUnknownLength ? chunk_bytes : UINT64_MAX;
  if (chunk_bytes == 0) {
    const bool has_tag = fill_ahead(8) && std::any_of(std::begin(kChunkTags), std::end(kChunkTags),
                                              [&](const char* tag) { return is_tag(ahead_.data(), tag); });
    if (!ahead_.empty() && !has_tag) bytes_left_ = UINT64_MAX;
  }
  is_padded_ = bytes_left_ % 2 != 0;
  has_more_chunks_ = bytes_left_ != UINT64_MAX;
}

std::string WavReader::read_format(uint32_t chunk_bytes) {
  uint8_t bytes[40] = {};
  const uint32_t known = std::min<uint32_t>(chunk_bytes, sizeof(bytes));
  if (chunk_bytes < 16)
    return "a WAV file whose chunk \"fmt \" has " + std::to_string(chunk_bytes) + " bytes; expected 16 or more";
  if (take(bytes, known) != known || !skip(uint64_t{chunk_bytes} - known + chunk_bytes % 2)) return kCut;
  format_ = {u32(bytes + 4), u16(bytes), u16(bytes + 2), u16(bytes + 12), u16(bytes + 14)};
  if (format_.kind == kExtensible && known == sizeof(bytes)) format_.kind = u16(bytes + 24);
  return "";
}

std::string WavReader::check_format() {
  const Format& f = format_;
  const uint32_t width = (f.bits + 7u) / 8;
  const bool is_read =
      (f.kind == kPcm && width >= 1 && width <= 4) || (f.kind == kFloat && (f.bits == 32 || f.bits == 64));
  if (!is_read) {
    const char* name = "";
    for (const auto& known : kFormatNames) name = known.kind == f.kind ? known.name : name;
    return "a WAV file of format " + std::to_string(f.kind) + name + " with " + std::to_string(f.bits) +
           " bits a sample; expected PCM (format 1) of up to 32 bits, or float (format 3) of 32 or 64";
  }
  if (f.channels == 0 || f.channels > kMostChannels || f.frame_bytes != width * f.channels) {
    return "a WAV file with " + std::to_string(f.channels) + " channels in frames of " + std::to_string(f.frame_bytes) +
           " bytes; expected 1 to 64 channels of " + std::to_string(width) + " bytes each";
  }
  resamples_ = f.rate != sample_rate_;
  if (!resamples_ || goldcrest_resample_begin(&resampler_, f.rate, sample_rate_) == GOLDCREST_OK) return "";
  return rate_problem(f.rate, sample_rate_);
}

// Reads up to n samples of the file's rate.
size_t WavReader::read_frames(int16_t* samples, size_t n) {
  const size_t frame_bytes = format_.frame_bytes;
  size_t n_read = 0;
  while (n_read < n) {
    if (bytes_left_ == 0) {
      bool is_found = false;
      if (has_more_chunks_ && skip(is_padded_ ? 1 : 0)) {
        const std::string problem = find_data(&is_found);
        if (problem_.empty()) problem_ = problem;
      }
      if (!is_found) has_more_chunks_ = false;
      if (!is_found) break;
      continue;
    }
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(uint64_t{n - n_read} * frame_bytes, bytes_left_));
    bytes_.resize(wanted);
    const size_t found = take(bytes_.data(), wanted);
    if (std::ferror(file_) != 0) problem_ = std::string("cannot be read: ") + std::strerror(errno);
    if (found < wanted && bytes_left_ != UINT64_MAX && problem_.empty()) {
      problem_ =
          "the WAV header says " + std::to_string(bytes_left_ - found) + " bytes of samples more than the file has";
    }
    if (found % frame_bytes != 0 && problem_.empty()) problem_ = "the samples end inside one of them";
    const size_t width = frame_bytes / format_.channels;
    for (size_t i = 0; i + frame_bytes <= found; i += frame_bytes)
      samples[n_read++] = mean_of_frame(&bytes_[i], format_.kind == kFloat, width, format_.channels);
    if (found < wanted) {
      bytes_left_ = 0;
      has_more_chunks_ = false;
    } else if (bytes_left_ != UINT64_MAX) {
      bytes_left_ -= found;
    }
  }
  return n_read;
}

size_t WavReader::read(int16_t* samples, size_t n) {
  if (!resamples_) return read_frames(samples, n);
  size_t n_made = 0;
  while (n_made < n) {
    if (n_used_ == waiting_.size() && !has_ended_) {
      waiting_.resize(1024);
      waiting_.resize(read_frames(waiting_.data(), waiting_.size()));
      n_used_ = 0;
      has_ended_ = waiting_.empty();
    }
    size_t n_in = waiting_.size() - n_used_;
    const int16_t* from = has_ended_ ? nullptr : waiting_.data() + n_used_;
    const size_t n_out = goldcrest_resample(&resampler_, from, &n_in, samples + n_made, n - n_made);
    if (has_ended_ && n_out == 0) break;
    n_used_ += has_ended_ ? 0 : n_in;
    n_made += n_out;
  }
  return n_made;
}

std::string read_wav(const std::string& path, uint32_t sample_rate, std::vector<int16_t>* samples) {
  constexpr size_t kMost = size_t{1} << 29, kBlock = 1 << 16;
  samples->clear();
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::string("cannot be read: ") + std::strerror(errno);
  WavReader reader;
  std::string problem = reader.open(file, path, sample_rate);
  for (size_t n = kBlock; problem.empty() && n == kBlock;) {
    const size_t before = samples->size();
    samples->resize(before + kBlock);
    n = reader.read(samples->data() + before, kBlock);
    samples->resize(before + n);
    problem = samples->size() > kMost ? "has more than 536870912 samples" : reader.problem();
  }
  std::fclose(file);
  return problem;
}
}  // namespace goldcrest::host
