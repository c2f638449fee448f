// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include "report.h"
#include "sources/values/json_text.h"
#include "spec/format_text.h"

namespace bench {
namespace {
using goldcrest::converter::format_text;
using goldcrest::converter::Value;
using goldcrest::converter::write_json;

Value timing_json(const Timing& timing) {
  return {{"median_s", timing.median_s}, {"fastest_s", timing.fastest_s}, {"repetitions", timing.repetitions},
      {"spread", timing.spread}};
}

Value roofline_json(const Roofline& roofline) {
  return {{"seconds", roofline.seconds()}, {"limit", roofline.limit()}, {"macs", roofline.macs},
      {"bytes", roofline.bytes}, {"macs_per_s", roofline.macs_per_s}, {"bytes_per_s", roofline.bytes_per_s},
      {"compute_s", roofline.compute_s()}, {"memory_s", roofline.memory_s()}};
}

Value record_json(const Record& record) {
  Value json;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const KernelWork& work = record.kernels[slot];
    json[slot_name(slot)] = {{"seconds", work.seconds}, {"again_s", work.again_s}, {"calls", work.calls},
        {"macs", work.macs}, {"bytes", work.bytes}, {"exponentials", work.exponentials}};
  }
  json["rest_s"] = record.rest_s;
  json["spread"] = record.spread;
  return json;
}

Value parts_json(const Parts& parts) {
  return {{"seconds", parts.seconds()}, {"matrices_s", parts.matrices_s}, {"exponentials_s", parts.exponentials_s},
      {"attention_s", parts.attention_s}, {"rows_s", parts.rows_s}, {"choice_s", parts.choice_s}};
}

Value case_json(const Settings& settings, const Report& report, const Case& measured) {
  const Speed& speed = measured.speed;
  Value json = {{"beam_size", speed.beam_size}, {"batch", speed.batch}, {"arena_bytes", speed.arena_bytes},
      {"encode", timing_json(speed.encode)}, {"run", timing_json(speed.run)}, {"tokens_per_s", speed.tokens_per_s},
      {"decode_tokens_per_s", speed.decode_tokens_per_s}, {"position_s", speed.position_s},
      {"streamed_bytes_per_s", per_second(report.position_bytes, speed.position_s)}};
  if (settings.audio_seconds > 0) json["real_time_factor"] = real_time_factor(settings, speed);
  if (measured.against) {
    json["against"] = {{"kernels", measured.against->kernels}, {"run", timing_json(measured.against->run)},
        {"ratio", measured.against->ratio}, {"ratio_spread", measured.against->spread}};
  }
  if (measured.bound) {
    json["bound"] = {{"tokens_per_s", measured.bound->tokens_per_s},
        {"share", speed.tokens_per_s / measured.bound->tokens_per_s}, {"encode", roofline_json(measured.bound->encode)},
        {"decode", roofline_json(measured.bound->decode)}, {"encode_share", encode_share(measured)},
        {"decode_share", decode_share(measured, report.target_tokens)}};
    if (measured.bound->parts_tokens_per_s > 0) {
      json["bound"]["parts"] = {{"tokens_per_s", measured.bound->parts_tokens_per_s},
          {"share", speed.tokens_per_s / measured.bound->parts_tokens_per_s},
          {"encode", parts_json(measured.bound->encode_parts)}, {"decode", parts_json(measured.bound->decode_parts)}};
    }
  }
  if (measured.work)
    json["kernels"] = {{"encode", record_json(measured.work->encode)}, {"decode", record_json(measured.work->decode)}};
  return json;
}

Value open_json(const Report& report, const OpenCost& open) {
  return {{"full", timing_json(open.full)},
      {"full_bytes_per_s", per_second(report.model.file_bytes, open.full.median_s)},
      {"structure", timing_json(open.structure)}, {"first_token", timing_json(open.first_token)},
      {"first_sentence", timing_json(open.first_sentence)}, {"peak_resident_bytes", open.peak_resident_bytes}};
}

Value length_json(const LengthCost& cost) {
  return {{"beam_size", cost.beam_size}, {"short_tokens", cost.short_tokens},
      {"short_position_s", cost.short_position.median_s}, {"short_position_spread", cost.short_position.spread},
      {"long_tokens", cost.long_tokens}, {"long_position_s", cost.long_position.median_s},
      {"long_position_spread", cost.long_position.spread},
      {"ratio", cost.long_position.median_s / cost.short_position.median_s}};
}

Value breakdown_json(const Breakdown& breakdown) {
  Value json;
  const auto add = [&](const std::string& what, const Timing& timing) {
    json[what + "_s"] = timing.median_s;
    json[what + "_spread"] = timing.spread;
  };
  const auto add_layers = [&](const std::string& what, const std::vector<Timing>& layers) {
    for (const Timing& timing : layers) {
      json[what + "_s"].push_back(timing.median_s);
      json[what + "_spread"].push_back(timing.spread);
    }
  };
  add("encoder_embed", breakdown.embed);
  add_layers("encoder_layer", breakdown.encoder_layer);
  add("decoder_memory", breakdown.memory);
  if (breakdown.candidates) add("candidates", *breakdown.candidates);
  add_layers("decoder_layer", breakdown.decoder_layer);
  add("output", breakdown.output);
  return json;
}

Value machine_json(const MachineSpeeds& machine) {
  Value json = {{"macs_per_s", machine.macs.per_s}, {"macs_spread", machine.macs.spread},
      {"exponentials_per_s", machine.exponentials.per_s}, {"exponentials_spread", machine.exponentials.spread},
      {"attention_over_linear", machine.attention.value}, {"attention_over_linear_spread", machine.attention.spread},
      {"integer_attention_over_linear", machine.integer_attention.value},
      {"integer_attention_over_linear_spread", machine.integer_attention.spread}};
  for (const MachineSpeeds::Reading& reading : machine.readings) {
    json["reading"].push_back(
        {{"bytes", reading.bytes}, {"bytes_per_s", reading.speed.per_s}, {"spread", reading.speed.spread}});
  }
  return json;
}

Value spreads_json(const Report& report) {
  const std::vector<double> spreads = spreads_of(report);
  const auto n_large =
      std::count_if(spreads.begin(), spreads.end(), [](double spread) { return spread > kLargeSpread; });
  return {{"timings", spreads.size()}, {"large", n_large},
      {"largest", spreads.empty() ? 0 : *std::max_element(spreads.begin(), spreads.end())}};
}
}  // namespace

Value host_json(const Host& host) {
  return {{"board", host.board}, {"cpu", host.cpu}, {"architecture", host.architecture}, {"cpus", host.cpus},
      {"clock_hz", host.clock_hz}};
}

Value shape_json(const goldcrest_info& model) {
  return {{"encoder_layers", model.encoder_layers}, {"encoder_d_model", model.encoder_d_model},
      {"encoder_d_ff", model.encoder_d_ff}, {"encoder_heads", model.encoder_heads},
      {"decoder_layers", model.decoder_layers}, {"decoder_d_model", model.decoder_d_model},
      {"decoder_d_ff", model.decoder_d_ff}, {"decoder_heads", model.decoder_heads},
      {"source_vocab_size", model.source_vocab_size}, {"target_vocab_size", model.target_vocab_size},
      {"weight_bits", model.weight_bits}};
}

std::string report_json(const Settings& settings, const Report& report) {
  Value json = {{"schema_version", kSchemaVersion}, {"program", "goldcrest-bench"}, {"version", GOLDCREST_VERSION},
      {"command", report.command}, {"host", host_json(report.host)}, {"compiler", compiler_name()},
      {"model", settings.model}, {"file_bytes", report.model.file_bytes},
      {"weights_hash", format_text("{:016x}", report.model.weights_hash)}, {"shape", shape_json(report.model)},
      {"kernels", report.kernels}, {"threads", report.threads}, {"source_tokens", settings.source_tokens},
      {"target_tokens", settings.target_tokens}, {"audio_seconds", settings.audio_seconds}, {"seed", settings.seed},
      {"streamed_bytes_per_position", report.position_bytes}};
  if (report.open) json["open"] = open_json(report, *report.open);
  for (const Case& measured : report.cases) json["cases"].push_back(case_json(settings, report, measured));
  for (const LengthCost& cost : report.lengths) json["length"].push_back(length_json(cost));
  if (report.breakdown) json["breakdown"] = breakdown_json(*report.breakdown);
  if (report.machine) json["machine"] = machine_json(*report.machine);
  json["spreads"] = spreads_json(report);
  return write_json(json, {2}) + "\n";
}
}  // namespace bench
