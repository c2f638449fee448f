#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens the converter's report in a headless browser, 1280 and 400 pixels wide, light and dark: nothing sticks out, each
# text has a contrast of at least 4.5 to its background, the sliders' script gives the engine's arena. Prints it as PDF.
# Exits with 77 (skipped) without Chromium. Usage: report_page.sh CONVERT_PROGRAM SOURCE WORK
set -euo pipefail
. "$(dirname "$0")/common.sh"
convert=$1 source=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium"
browser=("$browser" --headless --no-sandbox --disable-gpu)
work=$(fresh_folder "$3")

# Tells the frame around the page how its texts and boxes look. A frame can be narrower than a window's 500 pixels.
cat > "$work/look.js" <<'EOF'
const luminance = c => c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const numbers = text => text.match(/[\d.]+/g).map(Number);
const background = e => {
  const colour = numbers(getComputedStyle(e).backgroundColor);
  return colour[3] === 0 ? background(e.parentElement) : colour.slice(0, 3);
};
let least = 99, texts = 0, rects = 0;
for (const e of document.querySelectorAll('body *')) {
  if (e.tagName === 'rect' && e.getBoundingClientRect().width > 0) ++rects;
  const hasText = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (hasText && !['SCRIPT', 'STYLE', 'TITLE'].includes(e.tagName)) {
    const pair = [luminance(numbers(getComputedStyle(e).color).slice(0, 3)), luminance(background(e))];
    least = Math.min(least, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05));
    ++texts;
  }
}
const wide = document.documentElement.scrollWidth;
const sum = () => document.getElementById('sum').value.replaceAll(',', '');
const first = sum();
const beams = document.getElementById('iB');
beams.value = 1; beams.oninput();
parent.postMessage(`LOOK wide ${wide} of ${innerWidth} contrast ${least.toFixed(2)} texts ${texts} rects ${rects} ` +
  `arena ${first} greedy ${sum()}`, '*');
EOF

# look PAGE WIDTH SCHEME ARENA GREEDY: SCHEME is 0 (dark) or 1 (light)
look() {
  local title wide width contrast texts rects arena greedy
  { cat "$1"; echo "<script>"; cat "$work/look.js"; echo "</script>"; } > "$work/looked.html"
  echo "<iframe src=looked.html width=$2 height=900></iframe>
    <script>onmessage = e => document.title = e.data</script>" > "$work/frame.html"
  title=$("${browser[@]}" --virtual-time-budget=5000 "--blink-settings=preferredColorScheme=$3" \
    --dump-dom "file://$work/frame.html" 2> /dev/null | grep -o 'LOOK [^<]*' | head -1)
  echo "$(basename "$1") at $2 pixels, scheme $3: $title"
  read -r _ _ wide _ width _ contrast _ texts _ rects _ arena _ greedy <<< "$title"
  [ "$width" -eq "$2" ] && [ "$wide" -le "$width" ] || fail "the page is wider than the window"
  awk -v c="$contrast" 'BEGIN { exit !(c >= 4.5) }' || fail "a text has a contrast of $contrast"
  [ "$texts" -ge 60 ] && [ "$rects" -ge 30 ] || fail "the page is empty"
  [ "$arena" = "$4" ] && [ "$greedy" = "$5" ] || fail "the sliders give $arena and $greedy; expected $4 and $5"
}

arena_of() { "$convert" "$@" -q | sed -n 's/^arena *\([0-9]*\) bytes.*/\1/p'; }

for task in enfr g2p; do
  checkpoint=$source/examples/models/$task page=$work/$task.html
  sed -n 's/.*"text": "\([^"\\]*\)".*/\1/p' "$source/tests/golden/$task/results.jsonl" | sed -n 1,40p > "$work/lines"
  "$convert" "$checkpoint" -q --board all --evaluate "$work/lines" --report "$page" > /dev/null
  default=$(arena_of "$checkpoint") greedy=$(arena_of "$checkpoint" --beam-size 1)
  for width in 1280 400; do
    for scheme in 0 1; do look "$page" $width $scheme "$default" "$greedy"; done
  done
  "${browser[@]}" "--print-to-pdf=$work/$task.pdf" "file://$page" 2> /dev/null
  [ "$(head -c 5 "$work/$task.pdf")" = "%PDF-" ] && [ "$(wc -c < "$work/$task.pdf")" -ge 20000 ] ||
    fail "the PDF of $task is empty"
done
