// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using Text = fmt::memory_buffer;

constexpr double kMega = 1e6, kGiga = 1e9;

double per_second(uint64_t bytes, double seconds) { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }

// Bytes of decoder weights per second, at one read for each position of the batch.
double streamed_per_s(const Report& report, const Speed& speed) {
  return per_second(report.decoder_bytes, speed.position_s);
}

void append_head(Text& text, const Settings& settings, const Report& report) {
  const goldcrest_info& model = report.model;
  fmt::format_to(std::back_inserter(text),
                 "{}: {:.2f} MB, encoder {} x {}/{}, decoder {} x {}/{}, vocabularies {} and {}, kernels {}\n"
                 "{} source tokens, {} target tokens forced, medians of at least {} runs and {} s\n",
                 settings.model, static_cast<double>(model.file_bytes) / kMega, model.encoder_layers,
                 model.encoder_d_model, model.encoder_d_ff, model.decoder_layers, model.decoder_d_model,
                 model.decoder_d_ff, model.source_vocab_size, model.target_vocab_size, report.kernels,
                 settings.source_tokens, settings.target_tokens, settings.patience.repetitions,
                 settings.patience.seconds);
}

void append_open(Text& text, const Report& report, const OpenCost& open) {
  const auto row = [&](const char* what, const Timing& timing) {
    fmt::format_to(std::back_inserter(text), "  {:<38}{:>9.3f} ms{:>9.2f} GB/s\n", what, timing.median_s * 1e3,
                   per_second(report.model.file_bytes, timing.median_s) / kGiga);
  };
  fmt::format_to(std::back_inserter(text), "\nopening, file in the page cache\n");
  row("full verification", open.full);
  row("structure verification", open.structure);
  fmt::format_to(std::back_inserter(text), "  {:<38}{:>9.3f} ms\n  {:<38}{:>9.2f} MB\n", "to the first token, full",
                 open.first_token.median_s * 1e3, "peak resident memory, mapped pages too",
                 static_cast<double>(open.peak_resident_bytes) / kMega);
}

void append_speeds(Text& text, const Report& report) {
  fmt::format_to(std::back_inserter(text), "\n{:>6}{:>7}{:>13}{:>12}{:>13}{:>16}{:>15}{:>14}\n", "beam", "batch",
                 "encode ms", "tokens/s", "decode tok/s", "us a position", "weights GB/s", "arena bytes");
  for (const Speed& speed : report.speeds) {
    fmt::format_to(std::back_inserter(text), "{:>6}{:>7}{:>13.3f}{:>12.0f}{:>13.0f}{:>16.1f}{:>15.2f}{:>14}\n",
                   speed.beam_size, speed.batch, speed.encode.median_s * 1e3, speed.tokens_per_s,
                   speed.decode_tokens_per_s, speed.position_s * 1e6, streamed_per_s(report, speed) / kGiga,
                   speed.arena_bytes);
  }
}

void append_lengths(Text& text, const Report& report) {
  fmt::format_to(std::back_inserter(text), "\ncost of a position by the length of the target, batch 1\n");
  for (const LengthCost& cost : report.lengths) {
    fmt::format_to(std::back_inserter(text), "  beam {}: {:.1f} us at {} tokens, {:.1f} us at {}, ratio {:.3f}\n",
                   cost.beam_size, cost.short_position_s * 1e6, cost.short_tokens, cost.long_position_s * 1e6,
                   cost.long_tokens, cost.long_position_s / cost.short_position_s);
  }
}

void append_breakdown(Text& text, const Breakdown& breakdown) {
  fmt::format_to(std::back_inserter(text), "\ngreedy, batch 1, step by step\n  encoder {:.1f} us\n",
                 breakdown.encode_s * 1e6);
  for (size_t layer = 0; layer < breakdown.layer_s.size(); ++layer) {
    fmt::format_to(std::back_inserter(text), "  decoder layer {} {:.2f} us a position\n", layer,
                   breakdown.layer_s[layer] * 1e6);
  }
  fmt::format_to(std::back_inserter(text), "  output layer and choice {:.2f} us a position\n",
                 breakdown.output_s * 1e6);
}

void append_bandwidth(Text& text, const Report& report, const Bandwidth& bandwidth) {
  fmt::format_to(
      std::back_inserter(text),
      "\none core reads {:.2f} GB/s from {} MB and {:.2f} GB/s from {:.2f} MB, the weights of one position\n",
      bandwidth.memory_per_s / kGiga, bandwidth.memory_bytes >> 20, bandwidth.streamed_per_s / kGiga,
      static_cast<double>(bandwidth.streamed_bytes) / kMega);
  for (const Speed& speed : report.speeds) {
    fmt::format_to(std::back_inserter(text), "  beam {}, batch {}: {:.1f} % of it\n", speed.beam_size, speed.batch,
                   100 * streamed_per_s(report, speed) / bandwidth.streamed_per_s);
  }
}

Json timing_json(const Timing& timing) {
  return {{"median_s", timing.median_s}, {"fastest_s", timing.fastest_s}, {"repetitions", timing.repetitions}};
}

Json speed_json(const Report& report, const Speed& speed) {
  Json json = {{"beam_size", speed.beam_size},
               {"batch", speed.batch},
               {"arena_bytes", speed.arena_bytes},
               {"encode", timing_json(speed.encode)},
               {"run", timing_json(speed.run)},
               {"tokens_per_s", speed.tokens_per_s},
               {"decode_tokens_per_s", speed.decode_tokens_per_s},
               {"position_s", speed.position_s},
               {"streamed_bytes_per_token", report.decoder_bytes / speed.batch},
               {"streamed_bytes_per_s", streamed_per_s(report, speed)}};
  if (report.bandwidth) json["bandwidth_share"] = streamed_per_s(report, speed) / report.bandwidth->streamed_per_s;
  return json;
}

Json open_json(const Report& report, const OpenCost& open) {
  return {{"full", timing_json(open.full)},
          {"full_bytes_per_s", per_second(report.model.file_bytes, open.full.median_s)},
          {"structure", timing_json(open.structure)},
          {"first_token", timing_json(open.first_token)},
          {"peak_resident_bytes", open.peak_resident_bytes}};
}

Json length_json(const LengthCost& cost) {
  return {{"beam_size", cost.beam_size},
          {"short_tokens", cost.short_tokens},
          {"short_position_s", cost.short_position_s},
          {"long_tokens", cost.long_tokens},
          {"long_position_s", cost.long_position_s},
          {"ratio", cost.long_position_s / cost.short_position_s}};
}

}  // namespace

std::string report_text(const Settings& settings, const Report& report) {
  Text text;
  append_head(text, settings, report);
  if (report.open) append_open(text, report, *report.open);
  if (!report.speeds.empty()) append_speeds(text, report);
  if (!report.lengths.empty()) append_lengths(text, report);
  if (report.breakdown) append_breakdown(text, *report.breakdown);
  if (report.bandwidth) append_bandwidth(text, report, *report.bandwidth);
  return fmt::to_string(text);
}

std::string report_json(const Settings& settings, const Report& report) {
  Json json = {{"version", GOLDCREST_VERSION},
               {"model", settings.model},
               {"file_bytes", report.model.file_bytes},
               {"weights_hash", fmt::format("{:016x}", report.model.weights_hash)},
               {"kernels", report.kernels},
               {"source_tokens", settings.source_tokens},
               {"target_tokens", settings.target_tokens},
               {"seed", settings.seed},
               {"streamed_bytes_per_position", report.decoder_bytes}};
  if (report.open) json["open"] = open_json(report, *report.open);
  for (const Speed& speed : report.speeds) json["speed"].push_back(speed_json(report, speed));
  for (const LengthCost& cost : report.lengths) json["length"].push_back(length_json(cost));
  if (report.breakdown) {
    json["breakdown"] = {{"encode_s", report.breakdown->encode_s},
                         {"decoder_layer_s", report.breakdown->layer_s},
                         {"output_s", report.breakdown->output_s}};
  }
  if (report.bandwidth) {
    json["bandwidth"] = {{"memory_bytes", report.bandwidth->memory_bytes},
                         {"memory_bytes_per_s", report.bandwidth->memory_per_s},
                         {"streamed_bytes", report.bandwidth->streamed_bytes},
                         {"streamed_bytes_per_s", report.bandwidth->streamed_per_s}};
  }
  return json.dump(2) + "\n";
}

}  // namespace bench
