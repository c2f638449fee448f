#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the README's pictures from the measured data next to this script. Usage: bash examples/pictures/draw.sh [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}

# Colours follow the reader's light or dark theme. Text is large enough for a screen of 400 pixels.
style='<style>text{font:16px sans-serif;fill:#1f2328}.s{fill:#59636e;font-size:15px}.a{fill:#8c959f}.b{fill:#0969da}
.c{fill:#1a7f37}.o{fill:none;stroke:#8c959f}@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.s{fill:#9198a1}.a{fill:#656c76}
.b{fill:#4493f8}.c{fill:#3fb950}.o{stroke:#656c76}}</style>'

awk -F, -v style="$style" '
  function size(bytes) { return bytes >= 1e6 ? sprintf("%.1f MB", bytes / 1e6) : sprintf("%.0f kB", bytes / 1e3) }
  function bar(class, bytes, label) {
    y += 24
    text = text sprintf("<rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%.1f\" height=\"18\"/>\n", class, y, bytes * scale)
    text = text sprintf("<text class=\"s\" x=\"%.1f\" y=\"%d\">%s</text>\n", bytes * scale + 8, y + 14, label)
  }
  /^#/ { next }
  {
    y += 40
    scale = 300 / $2
    text = text sprintf("<text x=\"0\" y=\"%d\">%s</text>\n", y, $1)
    y -= 14
    bar("a", $2, size($2) " checkpoint, float32")
    bar("b", $3, size($3) " file, int8")
    bar("c", $4, size($4) " arena; " $5 ": " size($6) " RAM")
    y += 18
  }
  END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 600 %d\" role=\"img\" ", y + 20
    printf "aria-label=\"Bytes of each model: checkpoint, file, arena\">\n%s\n%s</svg>\n", style, text
  }' "$here/memory.csv" >"$out/memory.svg"

awk -F, -v style="$style" '
  /^# shape/ { for (i = 2; i <= NF; ++i) name[i] = $i }
  /^#/ { next }
  {
    y += 34
    text = text sprintf("<text x=\"0\" y=\"%d\">%s</text>\n", y + 15, $1)
    for (i = 2; i <= NF; ++i) {
      text = text sprintf("<rect class=\"b\" x=\"70\" y=\"%d\" width=\"%.1f\" height=\"18\"/>\n", y, $i * 50)
      text = text sprintf("<text class=\"s\" x=\"%.1f\" y=\"%d\">%sx, %s</text>\n", 70 + $i * 50 + 8, y + 14, $i, name[i])
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
