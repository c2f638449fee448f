#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the pictures from the measured data next to this script. Usage: bash examples/pictures/draw.sh [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}

# Colours follow the reader's light or dark theme. Text is large enough for a screen of 400 pixels.
style='<style>text{font:16px sans-serif;fill:#1f2328}.h{font-weight:bold}.s{fill:#59636e;font-size:15px}
.a{fill:#8c959f}.b{fill:#0969da}.o{fill:none;stroke:#8c959f}@media(prefers-color-scheme:dark){text{fill:#f0f6fc}
.s{fill:#9198a1}.a{fill:#656c76}.b{fill:#4493f8}.o{stroke:#656c76}}</style>'

awk -F, -v style="$style" '
  function bar(class, bytes, label) {
    width = bytes * 200 / largest
    text = text sprintf("<rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%.1f\" height=\"18\"/>\n", class, y, width)
    text = text sprintf("<text class=\"s\" x=\"%.1f\" y=\"%d\">%s</text>\n", width + 8, y + 14, label)
  }
  /^#/ { next }
  largest == "" {
    largest = $3
    bar("a", $3, sprintf("your checkpoint, float32: %.1f MB", $3 / 1e6))
    y += 26
    bar("b", $4, sprintf("model.gcst, int8: %.1f MB", $4 / 1e6))
    y += 30
  }
  {
    text = text sprintf("<rect class=\"o\" x=\"1\" y=\"%d\" width=\"598\" height=\"84\"/>\n", y)
    text = text sprintf("<text class=\"h\" x=\"12\" y=\"%d\">%s</text>\n", y + 24, $1)
    text = text sprintf("<text x=\"12\" y=\"%d\">%s</text>\n", y + 48, $6)
    size = sprintf("file or flash %.1f MB, RAM %.2f MB, kernels %s", $4 / 1e6, $5 / 1e6, $2)
    text = text sprintf("<text class=\"s\" x=\"12\" y=\"%d\">%s</text>\n", y + 72, size)
    y += 94
  }
  END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 %d\" role=\"img\" ", y
    printf "aria-label=\"One checkpoint, one file, and the same line on three machines\">\n%s\n%s</svg>\n", style, text
  }' "$here/machines.csv" >"$out/machines.svg"

awk -F, -v style="$style" '
  /^# shape/ { for (i = 2; i <= NF; ++i) name[i] = $i }
  /^#/ { next }
  {
    y += 34
    text = text sprintf("<text x=\"0\" y=\"%d\">%s</text>\n", y + 15, $1)
    for (i = 2; i <= NF; ++i) {
      width = $i * 50
      text = text sprintf("<rect class=\"b\" x=\"70\" y=\"%d\" width=\"%.1f\" height=\"18\"/>\n", y, width)
      text = text sprintf("<text class=\"s\" x=\"%.1f\" y=\"%d\">%sx, %s</text>\n", width + 78, y + 14, $i, name[i])
      y += 22
    }
    y -= 10
  }
  END {
    height = y + 20
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 %d\" role=\"img\" ", height
    printf "aria-label=\"Speed compared with CTranslate2 int8\">\n%s\n", style
    printf "<text x=\"0\" y=\"18\">Tokens a second, times CTranslate2 int8 (line: equal)</text>\n%s", text
    printf "<path class=\"o\" d=\"M120 28V%d\"/>\n</svg>\n", height - 8
  }' "$here/speed.csv" >"$out/speed.svg"
