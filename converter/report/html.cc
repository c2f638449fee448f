// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"
#include <algorithm>
#include <array>
#include <cmath>
#include "base/align.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr std::array<const char*, 4> kPhases = {"fixed", "text", "encode", "decode"};

// The buffers of a phase as rectangles; `scale` is their width for a byte.
std::string rectangles(const MemoryMap& map, uint32_t phase, uint64_t from, double scale) {
  std::string svg;
  uint64_t at = from;
  size_t n = 0;
  for (const goldcrest_buffer& buffer : map.buffers) {
    if (buffer.phase != phase || buffer.bytes == 0) continue;
    svg += format_text("<rect x={:.1f} width={:.1f} height=26 class={}{}><title>{}: {} bytes</title></rect>",
        static_cast<double>(at) * scale, std::max(0.6, static_cast<double>(buffer.bytes) * scale - 0.6),
        phase == 0 ? "f" : "b", n++ % 3, escape_html(buffer.name), grouped(buffer.bytes));
    at += buffer.bytes;
  }
  return svg;
}

// Returns the phase's largest buffers as text: "decoder.self.keys 260 kB, ...".
std::string largest_buffers(const MemoryMap& map, uint32_t phase) {
  std::vector<goldcrest_buffer> buffers = map.buffers;
  std::erase_if(buffers, [&](const goldcrest_buffer& buffer) { return buffer.phase != phase || buffer.bytes == 0; });
  std::ranges::stable_sort(buffers, std::greater(), &goldcrest_buffer::bytes);
  std::vector<std::string> names;
  for (const goldcrest_buffer& buffer : buffers) {
    if (names.size() == 4) break;
    names.push_back(format_text("{} {}", escape_html(buffer.name), short_bytes(buffer.bytes)));
  }
  return names.empty() ? "nothing" : join_text(names, ", ");
}

uint64_t phase_bytes(const goldcrest_memory& memory, uint32_t phase) {
  const uint64_t bytes[] = {memory.fixed_bytes, memory.text_bytes, memory.encode_bytes, memory.decode_bytes};
  return bytes[phase];
}

// A letter of the formula that a user chooses, with its value and the largest one of the slider.
struct Letter {
  const char* name;
  const char* meaning;
  uint32_t value, most;
};
}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string shortened_html(std::string_view text, size_t most) {
  if (text.size() <= most) return escape_html(text);
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xC0) == 0x80) --most;
  return escape_html(text.substr(0, most)) + "&hellip;";
}

std::string short_bytes(uint64_t bytes) {
  const double number = static_cast<double>(bytes);
  if (bytes < 1000) return format_text("{} bytes", bytes);
  if (bytes < 100'000) return format_text("{:.1f} kB", number / 1e3);
  if (bytes < 1'000'000) return format_text("{:.0f} kB", number / 1e3);
  return format_text("{:.2f} MB", number / 1e6);
}

std::string grouped(uint64_t number) {
  std::string text = format_text("{}", number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string bar_svg(double share, bool is_marked) {
  return format_text(
      "<svg class=bar viewBox=\"0 0 100 10\" preserveAspectRatio=none aria-hidden=true><rect class={} width={:.2f} "
      "height=10></rect></svg>",
      is_marked ? "worst" : "b0", std::clamp(100 * share, 0.3, 100.0));
}

std::string arena_svg(const MemoryMap& map) {
  const goldcrest_memory& memory = map.memory;
  const uint64_t whole = memory.fixed_bytes + std::max({memory.text_bytes, memory.encode_bytes, memory.decode_bytes});
  const double scale = 1000.0 / static_cast<double>(std::max<uint64_t>(1, whole));
  std::string html;
  for (uint32_t phase = 1; phase < kPhases.size(); ++phase) {
    const uint64_t bytes = phase_bytes(memory, phase);
    html += format_text(
        "<div class=strip><p><b>{}</b> {}, and {} fixed</p><svg viewBox=\"0 0 1000 26\" preserveAspectRatio=none "
        "role=img aria-label=\"{} of {} bytes\">{}{}</svg><p class=s>largest: {}</p></div>\n",
        kPhases[phase], short_bytes(bytes), short_bytes(memory.fixed_bytes), grouped(memory.fixed_bytes + bytes),
        grouped(whole), rectangles(map, 0, 0, scale), rectangles(map, phase, memory.fixed_bytes, scale),
        largest_buffers(map, phase));
  }
  return html + format_text("<p class=s>fixed, largest: {}</p>\n", largest_buffers(map, 0));
}

std::string growth_svg(const std::vector<ArenaGrowth>& growth) {
  uint64_t largest = 1;
  uint32_t longest = 1;
  for (const ArenaGrowth& curve : growth) {
    for (const uint64_t bytes : curve.bytes) largest = std::max(largest, bytes);
    for (const uint32_t tokens : curve.target_tokens) longest = std::max(longest, tokens);
  }
  std::string html = "<div class=many>";
  for (const ArenaGrowth& curve : growth) {
    std::string points;
    for (size_t i = 0; i < curve.bytes.size(); ++i) {
      points += format_text("{:.1f},{:.1f} ", 140.0 * curve.target_tokens[i] / longest,
          64 - 60.0 * static_cast<double>(curve.bytes[i]) / static_cast<double>(largest));
    }
    const uint64_t last = curve.bytes.empty() ? 0 : curve.bytes.back();
    html += format_text(
        "<figure><svg viewBox=\"0 0 142 66\" role=img aria-label=\"arena with {0} beams\"><path class=axis "
        "d=\"M0 1V65H142\"></path><polyline points=\"{1}\"></polyline></svg><figcaption>{2}: {3} at "
        "{4} tokens</figcaption></figure>",
        curve.beam_size, points,
        curve.beam_size == 1 ? std::string("greedy") : format_text("{} beams", curve.beam_size), short_bytes(last),
        curve.target_tokens.empty() ? 0 : curve.target_tokens.back());
  }
  return html + "</div>\n";
}

std::string arena_sliders(const MemoryMap& map, const goldcrest_info& info) {
  const goldcrest_limits& limits = map.memory.limits;
  const std::string formula = arena_formula(map);
  const Letter letters[] = {{"S", "source tokens", limits.max_source_tokens, info.max_source_positions},
      {"C", "bytes of a source text", limits.max_source_bytes, std::max(limits.max_source_bytes, 4096u)},
      {"T", "target tokens", limits.max_target_tokens, info.max_target_positions}, {"B", "beams", limits.beam_size, 16},
      {"N", "sentences at a time", limits.batch, std::max(limits.batch, 32u)},
      {"R", "encoder rows at a time", limits.encoder_rows, std::max(limits.encoder_rows, info.max_source_positions)},
      {"P", "threads", limits.threads, std::max(limits.threads, 8u)}};
  std::string html = "<div class=sliders><p>Try other limits:</p>";
  std::string values;
  for (const Letter& letter : letters) {
    if (letter.value == 0) {
      values += format_text("const {}=0;", letter.name);
      continue;
    }
    html +=
        format_text("<label>{0}<input type=range id=i{1} min=1 max={2} value={3}><output id=o{1}>{3}</output></label>",
            letter.meaning, letter.name, std::max(letter.most, letter.value), letter.value);
    values += format_text("const {0}=v('{0}');", letter.name);
  }
  std::string sums;  // "fixed = ..." becomes a line of the script; the first line is the sum of the others
  for (size_t at = formula.find('\n') + 1; at < formula.size();) {
    const size_t end = formula.find('\n', at);
    sums += format_text("const {};", formula.substr(at, end - at));
    at = end + 1;
  }
  html += format_text("</div><p>Arena: <b><output id=sum>{}</output> bytes</b></p>\n", grouped(map.memory.arena_bytes));
  return html + format_text(
                    "<script>\nconst up64=x=>Math.ceil(x/64)*64,max=Math.max,at=i=>document.getElementById(i),\n"
                    "v=n=>(at('o'+n).value=at('i'+n).value,+at('i'+n).value);\n"
                    "function show(){{{}const L=max(S,T),K={},X={},D={};\n{}\n"
                    "at('sum').value=(fixed+max(text,encode,decode)).toLocaleString('en')}}\n"
                    "document.querySelectorAll('.sliders input').forEach(i=>i.oninput=show);show()\n</script>\n",
                    values, limits.max_candidates == GOLDCREST_NO_SHORTLIST ? 0 : pad16(limits.max_candidates),
                    limits.max_prefix_tokens, limits.max_sampled, sums);
}

const char* const kPageStyle = R"css(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--back:#fff;--panel:#f3f5f7;--line:#d0d7de;
--b0:#2f6fb3;--b1:#5c93cc;--b2:#8ab4de;--f0:#59636e;--f1:#7d8792;--f2:#a3abb4;--worst:#b3261e;--good:#1a6b34}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#a9b4bf;--back:#0d1117;--panel:#161b22;--line:#3a424c;
--b0:#4a90d9;--b1:#6da6e2;--b2:#94bfec;--f0:#7d8792;--f1:#98a2ad;--f2:#b6bec7;--worst:#ff8a80;--good:#63d489}}
*{box-sizing:border-box}h1{font-size:1.5rem;margin:.3rem 0}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:var(--ink);
background:var(--back);overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);break-after:avoid}
p{margin:.4rem 0}.s{color:var(--soft);font-size:.87rem}.bad{color:var(--worst)}.good{color:var(--good)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.7rem}
.tiles div{background:var(--panel);padding:.6rem .8rem;border-radius:.4rem;break-inside:avoid}
.row{display:grid;grid-template-columns:minmax(0,16rem) 6.5rem 5.5rem minmax(0,1fr);gap:0 .8rem;align-items:center}
.row .n,td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
svg{display:block;width:100%}.bar{height:.8rem}.strip svg{height:26px}.tiles b{display:block;font-size:1.25rem}
.b0{fill:var(--b0)}.b1{fill:var(--b1)}.b2{fill:var(--b2)}.f0{fill:var(--f0)}.f1{fill:var(--f1)}.f2{fill:var(--f2)}
rect.worst{fill:var(--worst)}.sliders output{text-align:right}
.many{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;width:142px}figcaption{font-size:.8rem;color:var(--soft)}
.axis{fill:none;stroke:var(--soft)}polyline{fill:none;stroke:var(--b0);stroke-width:2}
.sliders label{display:grid;grid-template-columns:minmax(0,12rem) minmax(0,1fr) 4rem;gap:.8rem}
.sample{border-left:3px solid var(--line);padding-left:.8rem;margin:.8rem 0}
.sample dl{display:grid;grid-template-columns:5.5rem minmax(0,1fr);gap:0 .6rem;margin:0}.sample dt{color:var(--soft)}
.sample dd{margin:0}
table{border-collapse:collapse}td,th{padding:.1rem .8rem .1rem 0;text-align:left;vertical-align:top}
pre{white-space:pre-wrap;background:var(--panel);padding:.6rem .8rem;font-size:.85rem}
@media(max-width:38rem){.row{grid-template-columns:minmax(0,1fr) auto auto}.row svg{grid-column:1/-1}
.sample dl{grid-template-columns:4.6rem minmax(0,1fr)}td,th{padding-right:.4rem}}
@media print{html,body{font-size:11px}body{max-width:none}.sliders,script{display:none}
.sample,.strip,figure{break-inside:avoid}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
)css";
}  // namespace goldcrest::converter
