// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <vector>
#include "report.h"
#include "spec/format_text.h"

namespace bench {
namespace {
using goldcrest::converter::format_text;
using Text = std::string;

constexpr double kMega = 1e6, kGiga = 1e9;

std::string percent(double spread) { return format_text("{:.1f} %", 100 * spread); }

void append_head(Text& text, const Settings& settings, const Report& report) {
  const goldcrest_info& model = report.model;
  text += format_text(
      "{}: {:.2f} MB, encoder {} x {}/{}, decoder {} x {}/{}, vocabularies {} and {}, kernels {}\n"
      "{} source tokens, {} target tokens forced, threads {}, medians of at least {} runs and {} s\n"
      "spread: the range of a time's middle half, over its median\n"
      "a target position reads {:.2f} MB of weights\n",
      settings.model, static_cast<double>(model.file_bytes) / kMega, model.encoder_layers, model.encoder_d_model,
      model.encoder_d_ff, model.decoder_layers, model.decoder_d_model, model.decoder_d_ff, model.source_vocab_size,
      model.target_vocab_size, report.kernels, settings.source_tokens, settings.target_tokens, report.threads,
      settings.patience.repetitions, settings.patience.seconds, static_cast<double>(report.position_bytes) / kMega);
}

void append_open(Text& text, const Report& report, const OpenCost& open) {
  const auto append = [&](const char* what, const Timing& timing) {
    text += format_text("  {:<38}{:>9.3f} ms, spread {:>7}", what, timing.median_s * 1e3, percent(timing.spread));
  };
  const auto append_verification = [&](const char* what, const Timing& timing) {
    append(what, timing);
    text += format_text("{:>9.2f} GB/s\n", per_second(report.model.file_bytes, timing.median_s) / kGiga);
  };
  text += format_text("\nopening, file in the page cache\n");
  append_verification("full verification", open.full);
  append_verification("structure verification", open.structure);
  append("to the first token, full verification", open.first_token);
  text += format_text("\n");
  append("to the first sentence", open.first_sentence);
  text += format_text("\n  {:<38}{:>9.2f} MB\n", "peak resident memory, mapped pages too",
      static_cast<double>(open.peak_resident_bytes) / kMega);
}

void append_speeds(Text& text, const Report& report) {
  text += format_text("\n{:>6}{:>7}{:>13}{:>9}{:>12}{:>9}{:>13}{:>16}{:>15}{:>14}\n", "beam", "batch", "encode ms",
      "spread", "tokens/s", "spread", "decode tok/s", "us a position", "weights GB/s", "arena bytes");
  for (const Case& measured : report.cases) {
    const Speed& speed = measured.speed;
    text += format_text("{:>6}{:>7}{:>13.3f}{:>9}{:>12.0f}{:>9}{:>13.0f}{:>16.1f}{:>15.2f}{:>14}\n", speed.beam_size,
        speed.batch, speed.encode.median_s * 1e3, percent(speed.encode.spread), speed.tokens_per_s,
        percent(speed.run.spread), speed.decode_tokens_per_s, speed.position_s * 1e6,
        per_second(report.position_bytes, speed.position_s) / kGiga, speed.arena_bytes);
  }
}

// Appends the seconds of computing for a second of sound.
void append_sound(Text& text, const Settings& settings, const Report& report) {
  text += format_text("\n{:.1f} s of sound, encoding included\n{:>6}{:>7}{:>12}{:>9}{:>18}\n", settings.audio_seconds,
      "beam", "batch", "ms", "spread", "real-time factor");
  for (const Case& measured : report.cases) {
    const Speed& speed = measured.speed;
    text += format_text("{:>6}{:>7}{:>12.2f}{:>9}{:>18.4f}\n", speed.beam_size, speed.batch, speed.run.median_s * 1e3,
        percent(speed.run.spread), real_time_factor(settings, speed));
  }
}

void append_comparisons(Text& text, const Report& report) {
  const std::string& theirs = report.cases[0].against->kernels;
  text += format_text("\n{} over {}, in turns\n{:>6}{:>7}{:>20}{:>20}{:>8}{:>9}\n", report.kernels, theirs, "beam",
      "batch", "tokens/s", "with " + theirs, "ratio", "spread");
  for (const Case& measured : report.cases) {
    const Comparison& against = *measured.against;
    const double theirs_per_s = measured.speed.batch * report.target_tokens / against.run.median_s;
    text += format_text("{:>6}{:>7}{:>20.0f}{:>20.0f}{:>8.2f}{:>9}\n", measured.speed.beam_size, measured.speed.batch,
        theirs_per_s * against.ratio, theirs_per_s, against.ratio, percent(against.spread));
  }
}

void append_bounds(Text& text, const Report& report) {
  text += format_text(
      "\nwhat the machine allows: encoding and decoding, each the longer of its multiply-accumulates at the "
      "peak\nand its bytes at the speed of reading as much as one pass or position does\n"
      "{:>6}{:>7}{:>16}{:>10}{:>9}  {:<40}{:<40}\n",
      "beam", "batch", "bound tokens/s", "reached", "spread", "encoding us, bound (limit), reached",
      "a position us, bound (limit), reached");
  for (const Case& measured : report.cases) {
    if (!measured.bound) continue;
    const Speed& speed = measured.speed;
    const Bound& bound = *measured.bound;
    const double positions = report.target_tokens;
    const auto part = [](double seconds, const Roofline& limit, double parts, double share) {
      return format_text(
          "{:.1f}, {:.1f} ({}), {:.1f} %", seconds * 1e6, limit.seconds() / parts * 1e6, limit.limit(), 100 * share);
    };
    text += format_text("{:>6}{:>7}{:>16.0f}{:>8.1f} %{:>9}  {:<40}{:<40}\n", speed.beam_size, speed.batch,
        bound.tokens_per_s, 100 * speed.tokens_per_s / bound.tokens_per_s, percent(speed.run.spread),
        part(speed.encode.median_s, bound.encode, 1, encode_share(measured)),
        part(speed.position_s, bound.decode, positions, decode_share(measured, report.target_tokens)));
  }
}

// Appends the floor of each case by parts, and the share of it that is reached.
void append_parts(Text& text, const Report& report) {
  text += format_text(
      "\nfloor by parts, us: matrices at the machine's peak or its speed of reading, exponentials at its speed; "
      "attention, rows (norms,\nquantization, embedding) and choice (top tokens, merging, reorder, calls) as with all "
      "operands in the caches\n{:>6}{:>7}  {:<12}{:>12}{:>14}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}\n",
      "beam", "batch", "", "matrices", "exponentials", "attention", "rows", "choice", "floor", "taken", "reached");
  for (const Case& measured : report.cases) {
    if (!measured.bound || measured.bound->parts_tokens_per_s == 0) continue;
    const Speed& speed = measured.speed;
    const Bound& bound = *measured.bound;
    const auto append = [&](const char* what, const Parts& parts, double passes, double taken_s) {
      const double floor_s = parts.seconds() / passes;
      text += format_text("{:>6}{:>7}  {:<12}{:>12.2f}{:>14.2f}", speed.beam_size, speed.batch, what,
          parts.matrices_s * 1e6 / passes, parts.exponentials_s * 1e6 / passes);
      text += format_text("{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}{:>8.1f} %\n", parts.attention_s * 1e6 / passes,
          parts.rows_s * 1e6 / passes, parts.choice_s * 1e6 / passes, floor_s * 1e6, taken_s * 1e6,
          taken_s > 0 ? 100 * floor_s / taken_s : 0);
    };
    append("encoding", bound.encode_parts, 1, speed.encode.median_s);
    append("a position", bound.decode_parts, report.target_tokens, speed.position_s);
    text += format_text("{:>6}{:>7}  floor {:.0f} tokens/s, reached {:.1f} %\n", speed.beam_size, speed.batch,
        bound.parts_tokens_per_s, 100 * speed.tokens_per_s / bound.parts_tokens_per_s);
  }
}

// Returns the slots that any case has used. Few files have recurrent layers, or rules that need separate sums.
std::vector<size_t> used_slots(const Report& report) {
  std::vector<size_t> slots;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const bool is_used = std::any_of(report.cases.begin(), report.cases.end(), [=](const Case& measured) {
      return measured.work && measured.work->encode.kernels[slot].calls + measured.work->decode.kernels[slot].calls > 0;
    });
    if (is_used) slots.push_back(slot);
  }
  return slots;
}

// Returns the least seconds for a kernel's arithmetic: its products at the peak speed, then its exponentials.
double arithmetic_s(const KernelWork& work, const MachineSpeeds& machine) {
  return static_cast<double>(work.macs) / machine.macs.per_s +
         static_cast<double>(work.exponentials) / machine.exponentials.per_s;
}

struct KernelsTable {
  Text& text;
  std::vector<size_t> slots;

  template <typename Seconds> void append(const std::string& what, const Seconds& slot_seconds) const {
    text += format_text("{:<36}", what);
    for (const size_t slot : slots) text += format_text("{:>14.2f}", slot_seconds(slot) * 1e6);
  }

  // Appends the mean work of this many passes. machine: null if its speeds were not measured.
  void append(const std::string& what, const Record& record, double passes, const MachineSpeeds* machine) const {
    append(what, [&](size_t slot) { return record.kernels[slot].seconds / passes; });
    text += format_text("{:>14.2f}{:>9}\n", record.rest_s * 1e6 / passes, percent(record.spread));
    append("                 called again", [&](size_t slot) { return record.kernels[slot].again_s / passes; });
    text += format_text("\n");
    if (machine == nullptr) return;
    append("       only products, exponentials",
        [&](size_t slot) { return arithmetic_s(record.kernels[slot], *machine) / passes; });
    text += format_text("\n");
  }
};

// Appends two limits that are nearer than the machine's: the kernels with all their operands in the caches, and only
// their products and exponentials. Both leave out everything between the calls.
void append_nearer_limits(Text& text, const Report& report, const Case& measured, const MachineSpeeds* machine) {
  const auto append = [&](const char* what, const auto& slot_seconds) {
    double seconds = 0;
    for (const Record* record : {&measured.work->encode, &measured.work->decode})
      for (const KernelWork& work : record->kernels) seconds += slot_seconds(work);
    const double tokens_per_s = measured.speed.batch * report.target_tokens / seconds;
    text += format_text(
        "{:>6}{:>7}  {}: {:.0f} tokens/s", measured.speed.beam_size, measured.speed.batch, what, tokens_per_s);
    if (measured.bound)
      text += format_text(", {:.1f} % of the bound", 100 * tokens_per_s / measured.bound->tokens_per_s);
    text += format_text("\n");
  };
  append("all calls again", [](const KernelWork& work) { return work.again_s; });
  if (machine != nullptr)
    append("products and exponentials", [=](const KernelWork& work) { return arithmetic_s(work, *machine); });
}

void append_kernels(Text& text, const Report& report) {
  text += format_text(
      "\nby kernel, us; again: each call a second time, with what it touches in the caches\n{:>6}{:>7}{:23}", "beam",
      "batch", "");
  const KernelsTable table = {text, used_slots(report)};
  for (const size_t slot : table.slots) text += format_text("{:>14}", slot_name(slot));
  text += format_text("{:>14}{:>9}\n", "the rest", "spread");
  const MachineSpeeds* const machine = report.machine ? &*report.machine : nullptr;
  for (const Case& measured : report.cases) {
    if (!measured.work) continue;
    const auto name = [&](const char* part) {
      return format_text("{:>6}{:>7}  {}", measured.speed.beam_size, measured.speed.batch, part);
    };
    table.append(name("encoding"), measured.work->encode, 1, machine);
    table.append(name("a position"), measured.work->decode, static_cast<double>(report.target_tokens), machine);
    append_nearer_limits(text, report, measured, machine);
  }
}

void append_lengths(Text& text, const Report& report) {
  text += format_text("\ncost of a position by the length of the target, batch 1\n");
  for (const LengthCost& cost : report.lengths) {
    text += format_text("  beam {}: {:.1f} us (spread {}) at {} tokens, {:.1f} us (spread {}) at {}, ratio {:.3f}\n",
        cost.beam_size, cost.short_position.median_s * 1e6, percent(cost.short_position.spread), cost.short_tokens,
        cost.long_position.median_s * 1e6, percent(cost.long_position.spread), cost.long_tokens,
        cost.long_position.median_s / cost.short_position.median_s);
  }
}

void append_breakdown(Text& text, const Breakdown& breakdown) {
  const auto append = [&](const std::string& what, const Timing& timing) {
    text += format_text("  {:<40}{:>10.2f} us, spread {:>7}\n", what, timing.median_s * 1e6, percent(timing.spread));
  };
  text += format_text("\ngreedy, batch 1, step by step\n");
  append("source embeddings", breakdown.embed);
  for (size_t layer = 0; layer < breakdown.encoder_layer.size(); ++layer)
    append(format_text("encoder layer {}", layer), breakdown.encoder_layer[layer]);
  append("keys and values for cross-attention", breakdown.memory);
  if (breakdown.candidates) append("candidates of the shortlist", *breakdown.candidates);
  for (size_t layer = 0; layer < breakdown.decoder_layer.size(); ++layer)
    append(format_text("decoder layer {}, a position", layer), breakdown.decoder_layer[layer]);
  append("output layer and choice, a position", breakdown.output);
}

void append_machine(Text& text, const Report& report, const MachineSpeeds& machine) {
  text += format_text(
      "\n{}\n", report.threads == 1 ? "one core reads" : format_text("{} threads together read", report.threads));
  for (const MachineSpeeds::Reading& reading : machine.readings) {
    text += format_text("  {:>8.2f} GB/s, spread {:>7}, from {:.2f} MB{}\n", reading.speed.per_s / kGiga,
        percent(reading.speed.spread), static_cast<double>(reading.bytes) / kMega,
        reading.bytes == report.position_bytes ? ", the weights of one position" : "");
  }
  text += format_text(
      "and multiplies {:.1f} billion int8 pairs a second, spread {}, the best of {}'s linear layers in its caches\n"
      "one core sums {:.2f} billion exponentials a second, spread {}\n"
      "attention to {} keys takes {:.2f} times as long as a linear layer of as many multiply-accumulates, spread {}; "
      "with integer weights {:.2f}, spread {}\n",
      machine.macs.per_s / kGiga, percent(machine.macs.spread), report.kernels, machine.exponentials.per_s / kGiga,
      percent(machine.exponentials.spread), Machine::kAttentionKeys, machine.attention.value,
      percent(machine.attention.spread), machine.integer_attention.value, percent(machine.integer_attention.spread));
}
}  // namespace

std::string report_text(const Settings& settings, const Report& report) {
  Text text;
  append_head(text, settings, report);
  if (report.open) append_open(text, report, *report.open);
  if (!report.cases.empty()) append_speeds(text, report);
  if (!report.cases.empty() && settings.audio_seconds > 0) append_sound(text, settings, report);
  if (!report.cases.empty() && report.cases[0].against) append_comparisons(text, report);
  if (report.machine) append_machine(text, report, *report.machine);
  if (report.machine && !report.cases.empty()) append_bounds(text, report);
  if (report.machine && !report.cases.empty() && report.threads == 1) append_parts(text, report);
  if (!report.cases.empty() && report.cases[0].work) append_kernels(text, report);
  if (report.breakdown) append_breakdown(text, *report.breakdown);
  if (!report.lengths.empty()) append_lengths(text, report);
  return text + spread_warning(report);
}
}  // namespace bench
