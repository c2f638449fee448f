// SPDX-License-Identifier: Apache-2.0
// The report as one HTML page without external files: the verdict, samples, loss by layer, memory, and the rest. Its
// one script evaluates the arena's formula for the sliders.
#include <algorithm>
#include <cmath>
#include "report/report.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMostSamples = 20, kMostText = 400, kMostTensors = 120, kMostLayers = 60, kMostChecks = 6000;

struct LayerBar {
  std::string name;
  uint64_t bytes = 0;
  const TensorRecord* worst = nullptr;  // absent: the layer has no int8 tensor
};

std::vector<LayerBar> layer_bars(const Report& report) {
  std::vector<LayerBar> bars;
  for (const TensorRecord& tensor : report.tensors) {
    auto bar = std::ranges::find(bars, tensor.group, &LayerBar::name);
    if (bar == bars.end()) bar = bars.insert(bars.end(), {tensor.group});
    bar->bytes += tensor.bytes;
    if (tensor.sqnr_db && (bar->worst == nullptr || *tensor.sqnr_db < *bar->worst->sqnr_db)) bar->worst = &tensor;
  }
  return bars;
}

constexpr double kMuchNoise = 2;  // in percent; models whose texts int8 keeps have less

// The noise of rounding, in percent of the weights' own root mean square.
double noise_percent(const TensorRecord& tensor) { return 100 * std::pow(10.0, -*tensor.sqnr_db / 20); }

std::string tile(const std::string& name, const std::string& verdict, const std::string& more) {
  return format_text("<div><span class=s>{}</span><b>{}</b><span class=s>{}</span></div>", name, verdict, more);
}

std::string loss_tile(const Report& report) {
  if (!report.evaluation) return tile("int8 costs", "not measured", verdict(report));
  const double n = static_cast<double>(std::max<size_t>(1, report.evaluation->lines.size()));
  return tile(report.evaluation->engine_name + " costs",
      format_text("{:.1f} % identical", 100.0 * static_cast<double>(report.evaluation->identical) / n),
      verdict(report));
}

std::string board_tile(const Report& report) {
  if (report.boards.empty()) return tile("Board", "not asked for", "convert with --board NAME, or with --board all");
  std::vector<std::string> fitting, others;
  for (const BoardFit& fit : report.boards) {
    std::string name = escape_html(fit.name);
    if (!fit.fits && fit.limits_that_fit) name += format_text(" (fits with {})", escape_html(*fit.limits_that_fit));
    (fit.fits ? fitting : others).push_back(name);
  }
  const std::string verdict = others.empty()    ? "<span class=good>fits</span>"
                              : fitting.empty() ? "<span class=bad>does not fit</span>"
                                                : format_text("fits {} of {}", fitting.size(), report.boards.size());
  std::string more = join_text(fitting, ", ");
  if (!others.empty()) more += format_text("{}not {}", fitting.empty() ? "" : "; ", join_text(others, ", "));
  return tile("Board", verdict, more);
}

std::string verdict_html(const Report& report) {
  const goldcrest_memory& memory = report.memory.memory;
  const std::string arena = format_text("{} bytes, for {}", memory.arena_bytes, limits_text(memory.limits));
  std::string html = "<div class=tiles>" +
                     tile("File", short_bytes(report.file_bytes),
                         format_text("{} bytes{}", grouped(report.file_bytes),
                             report.int8_bytes != report.file_bytes ? "; in int8 " + grouped(report.int8_bytes) : "")) +
                     tile("Arena", short_bytes(memory.arena_bytes), arena) + loss_tile(report) + board_tile(report) +
                     "</div>\n";
  for (const std::string& warning : report.spec->warnings)
    html += format_text("<p class=bad>Warning: {}</p>\n", escape_html(warning));
  return html;
}

std::string sample_html(const Report& report, const EvaluatedLine& line) {
  const EvaluationLine& given = report.evaluation_lines[line.line];
  std::string html =
      format_text("<div class=sample><p class=s>line {}{}</p><dl><dt>source</dt><dd>{}</dd>", given.number,
          line.identical ? std::string(": identical") : format_text(": loses {:.1f} points of chrF", line.loss),
          shortened_html(given.source, kMostText));
  if (!given.references.empty())
    html += format_text("<dt>reference</dt><dd>{}</dd>", shortened_html(given.references.front(), kMostText));
  html += format_text("<dt>float32</dt><dd>{}</dd>", shortened_html(line.float32.text, kMostText));
  if (!line.identical) {
    html += format_text(
        "<dt>{}</dt><dd class=bad>{}</dd>", report.evaluation->engine_name, shortened_html(line.int8.text, kMostText));
  }
  return html + "</dl></div>\n";
}

std::string samples_html(const Report& report) {
  if (!report.evaluation) {
    return "<h2>Samples</h2><p>None: the conversion had no lines. With --evaluate LINES this page compares float32 and "
           "int8 on your own text.</p>\n";
  }
  const Evaluation& evaluation = *report.evaluation;
  std::string html = format_text("<h2>Samples</h2><p>{} of {} lines identical, token agreement {:.2f} %.{}</p>\n",
      evaluation.identical, evaluation.lines.size(), 100.0 * evaluation.token_agreement,
      evaluation.failed.empty() ? "" : format_text(" {} more lines failed.", evaluation.failed.size()));
  if (evaluation.float32 && evaluation.int8) {
    html += format_text("<table><tr><th></th><th>BLEU</th><th>chrF</th><th>{} error, %</th><th>exact, %</th></tr>",
        evaluation.counts_characters ? "character" : "word");
    for (const auto& [name, quality] :
        {std::pair(std::string("float32"), *evaluation.float32), std::pair(evaluation.engine_name, *evaluation.int8)}) {
      html += format_text(
          "<tr><td>{}</td><td class=n>{:.2f}</td><td class=n>{:.2f}</td><td class=n>{:.2f}</td><td "
          "class=n>{:.2f}</td></tr>",
          name, quality.bleu, quality.chrf, quality.word_error_rate, quality.exact_match);
    }
    html += "</table>\n";
  }
  html +=
      evaluation.most_lost.empty() ? "<p>No line loses anything.</p>" : "<p>The lines that lose most come first.</p>";
  size_t n = 0;
  for (; n < std::min(kMostSamples, evaluation.most_lost.size()); ++n)
    html += sample_html(report, evaluation.lines[evaluation.most_lost[n]]);
  for (size_t i = 0; i < evaluation.lines.size() && n < std::min<size_t>(kMostSamples, 8); ++i) {
    if (!evaluation.lines[i].identical) continue;
    html += sample_html(report, evaluation.lines[i]);
    ++n;
  }
  if (report.shortlist) html += format_text("<p>{}</p>\n", escape_html(to_text(*report.shortlist)));
  return html;
}

std::string layers_html(const Report& report) {
  if (report.is_shape) return "<h2>Loss by layer</h2><p>Not known: a shape has no weights.</p>\n";
  const std::vector<LayerBar> bars = layer_bars(report);
  const TensorRecord* worst = nullptr;
  for (const LayerBar& bar : bars)
    if (bar.worst != nullptr && (worst == nullptr || *bar.worst->sqnr_db < *worst->sqnr_db)) worst = bar.worst;
  if (worst == nullptr) return "<h2>Loss by layer</h2><p>None: all weights are float32.</p>\n";
  const double full = std::max(kMuchNoise, noise_percent(*worst));
  std::string html = format_text(
      "<h2>Loss by layer</h2><p>The bar is the rounding noise of the layer's worst matrix, as a share of its weights; "
      "a full bar is {:.2g} %. From 0.5 to 1 % is usual, and above {} % a bar is red. The largest is <b{}>{}</b> in "
      "{}: its noise is {:.2f} % of its weights ({:.1f} dB below them). One scale serves a row, so a row with a few "
      "weights far above the others loses most.</p>\n"
      "<div class=\"row s\"><span>layer</span><span class=n>bytes</span><span class=n>noise</span></div>\n",
      full, kMuchNoise, noise_percent(*worst) > kMuchNoise ? " class=bad" : "", escape_html(worst->name),
      escape_html(worst->group), noise_percent(*worst), *worst->sqnr_db);
  for (size_t i = 0; i < std::min(kMostLayers, bars.size()); ++i) {
    const LayerBar& bar = bars[i];
    const bool is_bad = bar.worst != nullptr && noise_percent(*bar.worst) > kMuchNoise;
    html += format_text("<div class=row><span>{}</span><span class=n>{}</span><span class=\"n{}\">{}</span>{}</div>\n",
        escape_html(bar.name), grouped(bar.bytes), is_bad ? " bad" : "",
        bar.worst != nullptr ? format_text("{:.2f} %", noise_percent(*bar.worst)) : "float32",
        bar.worst != nullptr ? bar_svg(noise_percent(*bar.worst) / full, is_bad) : "");
  }
  if (bars.size() > kMostLayers)
    html += format_text("<p class=s>{} more layers: see --json.</p>\n", bars.size() - kMostLayers);
  return html;
}

std::string memory_html(const Report& report) {
  std::string html =
      "<h2>Memory</h2><p>The arena is the fixed buffers and the largest phase. All strips are drawn to the same scale; "
      "point at a part to see its name.</p>\n" +
      arena_svg(report.memory);
  if (!report.growth.empty())
    html += "<p>Its growth over the target tokens, in one scale for all numbers of beams:</p>\n" +
            growth_svg(report.growth);
  return html + arena_sliders(report.memory, report.info);
}

std::string next_html(const Report& report) {
  return format_text("<h2>Go on</h2><pre>{}\n</pre>\n", escape_html(join_text(next_commands(report), "\n")));
}

std::string origin_html(const Report& report) {
  const ModelSpec& spec = *report.spec;
  std::string html = report.is_shape
                         ? format_text("<h2>Origin</h2><p>The shape {} ({}), without weights.</p>\n",
                               escape_html(report.checkpoint), escape_html(spec.dialect))
                         : format_text("<h2>Origin</h2><p>From {} ({}), sha256 {}.</p>\n",
                               escape_html(report.checkpoint), escape_html(spec.dialect), spec.checkpoint_sha256);
  html += format_text("<p>Licence: {}. Attribution: {}.</p>\n",
      spec.license.empty() ? "the checkpoint names none (--license)" : escape_html(spec.license),
      spec.attribution.empty() ? "none" : escape_html(spec.attribution));
  html += report.check.empty()
              ? "<p>Not checked against samples of the model's own framework (--check).</p>\n"
              : format_text(
                    "<p class=good>The float32 reference agrees with the samples of {} (--check).</p><pre>{}</pre>\n",
                    escape_html(report.check), shortened_html(report.check_results, kMostChecks));
  html += format_text("<p>The file tests itself with {} lines.</p>\n", report.self_test_lines);
  if (!report.date.empty()) html += format_text("<p>Made on {} by</p>\n", report.date);
  if (!report.command.empty()) html += format_text("<pre>{}</pre>\n", escape_html(report.command));
  html += format_text("<pre>{}</pre>\n", escape_html(describe_architecture(report.info)));
  if (report.deviation) html += format_text("<h2>Norms</h2><pre>{}</pre>", escape_html(to_text(*report.deviation)));
  if (report.trimmed) html += format_text("<h2>Vocabulary</h2><pre>{}</pre>", escape_html(to_text(*report.trimmed)));
  if (report.centred_keys)
    html += format_text("<h2>Keys</h2><pre>{}</pre>", escape_html(to_text(*report.centred_keys)));
  if (report.fine && report.info.weight_bits == 8)
    html += format_text("<h2>Accuracy</h2><pre>{}{}</pre>", escape_html(accuracy_text(*report.fine)),
        report.fine->any() ? escape_html(to_text(*report.fine)) : "");
  if (report.shortlist_from_text)
    html += format_text("<h2>Shortlist</h2><pre>{}</pre>", escape_html(to_text(*report.shortlist_from_text)));
  if (spec.lexicon) html += format_text("<p>{}</p>", escape_html(describe_lexicon(spec)));
  if (spec.shortlist) html += format_text("<p>{}</p>", escape_html(describe_shortlist(spec)));
  return html;
}

std::string tensors_html(const Report& report) {
  std::vector<const TensorRecord*> tensors;
  for (const TensorRecord& tensor : report.tensors) tensors.push_back(&tensor);
  const bool is_cut = tensors.size() > kMostTensors;
  std::string title = "Tensors";
  if (is_cut) {
    std::ranges::stable_sort(tensors, {}, [](const TensorRecord* tensor) { return tensor->sqnr_db.value_or(1e9); });
    tensors.resize(kMostTensors);
    title =
        format_text("The {} tensors with the lowest SQNR of {}; --json has all", kMostTensors, report.tensors.size());
  }
  std::string html = format_text(
      "<details><summary>{}</summary><table><tr><th>tensor</th><th>shape</th><th>bytes</th><th>SQNR, dB</th></tr>\n",
      title);
  for (const TensorRecord* tensor : tensors) {
    html += format_text("<tr><td>{}</td><td class=n>{}&times;{}</td><td class=n>{}</td><td class=n>{}</td></tr>\n",
        escape_html(tensor->name), tensor->rows, tensor->columns, tensor->bytes,
        tensor->sqnr_db && !report.is_shape ? format_text("{:.1f}", *tensor->sqnr_db) : "float32");
  }
  return html + "</table></details>\n";
}

std::string title_of(const Report& report) {
  if (!report.spec->name.empty()) return report.spec->name;
  return report.output.empty() ? report.checkpoint : report.output;
}
}  // namespace

std::string report_html(const Report& report) {
  const std::string title = escape_html(title_of(report));
  return format_text(
             "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
             "content=\"width=device-width\"><title>{0}</title><style>{1}</style>\n<h1>{0}</h1>\n",
             title, kPageStyle) +
         verdict_html(report) + samples_html(report) + layers_html(report) + tensors_html(report) +
         memory_html(report) + next_html(report) + origin_html(report) +
         format_text("<h2>Formula</h2><p class=s>{}</p><pre>{}</pre></html>\n",
             escape_html(formula_legend(report.memory.memory.limits)), escape_html(arena_formula(report.memory)));
}
}  // namespace goldcrest::converter
