// SPDX-License-Identifier: Apache-2.0
// The report as one HTML page without scripts or external files: a bar for each layer, tables for the rest.
#include <algorithm>

#include "report/report.h"
#include "spec/error.h"

namespace goldcrest::converter {

namespace {

std::string escape(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

struct LayerBar {
  std::string name;
  uint64_t bytes = 0;
  double worst_sqnr_db = 1e9;
};

std::vector<LayerBar> layer_bars(const Report& report) {
  std::vector<LayerBar> bars;
  for (const TensorRecord& tensor : report.tensors) {
    auto bar = std::ranges::find(bars, tensor.group, &LayerBar::name);
    if (bar == bars.end()) bar = bars.insert(bars.end(), {tensor.group});
    bar->bytes += tensor.bytes;
    if (tensor.sqnr_db) bar->worst_sqnr_db = std::min(bar->worst_sqnr_db, *tensor.sqnr_db);
  }
  return bars;
}

// Green above 45 dB, red below 30 dB.
int hue(double sqnr_db) { return static_cast<int>(std::clamp((sqnr_db - 30.0) * 8.0, 0.0, 120.0)); }

std::string bars_html(const Report& report) {
  const std::vector<LayerBar> bars = layer_bars(report);
  uint64_t largest = 1;
  for (const LayerBar& bar : bars) largest = std::max(largest, bar.bytes);
  std::string html =
      "<h2>Layers</h2><p>Length: bytes. Colour: the lowest signal-to-quantization-noise ratio in the layer.</p><table>";
  for (const LayerBar& bar : bars) {
    const bool quantized = bar.worst_sqnr_db < 1e9;
    html += format_text(
        "<tr><td>{}</td><td class=n>{}</td><td class=n>{}</td><td class=w><div "
        "style=\"width:{:.1f}%;background:{}\"></div></td></tr>\n",
        escape(bar.name), bar.bytes, quantized ? format_text("{:.1f} dB", bar.worst_sqnr_db) : "float32",
        100.0 * static_cast<double>(bar.bytes) / static_cast<double>(largest),
        quantized ? format_text("hsl({},60%,55%)", hue(bar.worst_sqnr_db)) : "#999");
  }
  return html + "</table>";
}

std::string tensors_html(const Report& report) {
  std::string html = "<h2>Tensors</h2><table><tr><th>tensor<th>shape<th>bytes<th>SQNR, dB</tr>";
  for (const TensorRecord& tensor : report.tensors) {
    html += format_text("<tr><td>{}</td><td class=n>{} &times; {}</td><td class=n>{}</td><td class=n>{}</td></tr>\n",
                        escape(tensor.name), tensor.rows, tensor.columns, tensor.bytes,
                        tensor.sqnr_db ? format_text("{:.1f}", *tensor.sqnr_db) : "float32");
  }
  return html + "</table>";
}

std::string evaluation_html(const Report& report) {
  const Evaluation& evaluation = *report.evaluation;
  std::string html = format_text("<h2>Evaluation</h2><p>{} of {} lines identical, token agreement {:.2f} %</p>",
                                 evaluation.identical, evaluation.lines.size(), 100.0 * evaluation.token_agreement);
  if (evaluation.float32 && evaluation.int8) {
    html += "<table><tr><th><th>BLEU<th>chrF<th>word error, %<th>exact match, %</tr>";
    for (const auto& [name, quality] : {std::pair(std::string("float32"), *evaluation.float32),
                                        std::pair(evaluation.engine_name, *evaluation.int8)}) {
      html += format_text(
          "<tr><td>{}</td><td class=n>{:.2f}</td><td class=n>{:.2f}</td><td class=n>{:.2f}</td><td "
          "class=n>{:.2f}</td></tr>",
          name, quality.bleu, quality.chrf, quality.word_error_rate, quality.exact_match);
    }
    html += "</table>";
  }
  html += format_text("<h3>Lines that lost most</h3><table><tr><th>line<th>loss<th>source<th>float32<th>{}</tr>",
                      evaluation.engine_name);
  constexpr size_t kMaxLines = 50;
  for (size_t i = 0; i < std::min(kMaxLines, evaluation.most_lost.size()); ++i) {
    const EvaluatedLine& line = evaluation.lines[evaluation.most_lost[i]];
    const EvaluationLine& given = report.evaluation_lines[line.line];
    html +=
        format_text("<tr><td class=n>{}</td><td class=n>{:.1f}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    given.number, line.loss, escape(given.source), escape(line.float32.text), escape(line.int8.text));
  }
  return html + "</table>";
}

}  // namespace

std::string report_html(const Report& report) {
  const goldcrest_memory& memory = report.memory.memory;
  std::string html = format_text(
      "<!doctype html><html lang=en><meta charset=utf-8><title>{0}</title><style>"
      "body{{font:15px/1.4 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}}table{{border-collapse:collapse}}"
      "td,th{{padding:.1em .7em .1em 0;text-align:left;vertical-align:top}}.n{{text-align:right;white-space:nowrap}}"
      ".w{{width:22em}}.w div{{height:1em}}pre{{overflow:auto;background:#f4f4f4;padding:.7em}}</style>"
      "<h1>{0}</h1><p>from {1} ({2}), sha256 {3}</p><pre>{4}</pre>"
      "<p>File: {5} bytes. Arena: <b>{6} bytes</b>.</p><h2>Memory</h2><p>{7}</p><pre>{8}</pre><pre>{9}</pre>",
      escape(report.output.empty() ? report.checkpoint : report.output), escape(report.checkpoint),
      escape(report.spec->dialect), report.spec->checkpoint_sha256, escape(describe_architecture(report.info)),
      report.file_bytes, memory.arena_bytes, escape(formula_legend(memory.limits)),
      escape(arena_formula(report.memory)), escape(picture(report.memory)));
  if (report.deviation) html += format_text("<h2>Norms</h2><pre>{}</pre>", escape(to_text(*report.deviation)));
  if (report.trimmed) html += format_text("<h2>Vocabulary</h2><pre>{}</pre>", escape(to_text(*report.trimmed)));
  if (report.shortlist_from_text)
    html += format_text("<h2>Shortlist</h2><pre>{}</pre>", escape(to_text(*report.shortlist_from_text)));
  for (const std::string& warning : report.spec->warnings) html += format_text("<p>Warning: {}</p>", escape(warning));
  if (report.spec->lexicon) html += format_text("<p>{}</p>", escape(describe_lexicon(*report.spec)));
  if (report.spec->shortlist) html += format_text("<p>{}</p>", escape(describe_shortlist(*report.spec)));
  if (report.evaluation) html += evaluation_html(report);
  if (report.shortlist) html += format_text("<p>{}</p>", escape(to_text(*report.shortlist)));
  return html + bars_html(report) + tensors_html(report) + "</html>\n";
}

}  // namespace goldcrest::converter
