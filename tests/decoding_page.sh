#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of engine/DECODING.md ("    $ COMMAND") and compares what they print with the indented lines below
# them. Then runs the test programs that the page names and compares the percentages of the tables above them. Last runs
# the commands of pages that name models of the reader's, with small ones.
# Usage: decoding_page.sh SOURCE BUILD WORK
set -euo pipefail
. "$(dirname "$0")/common.sh"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
cd "$(fresh_folder "$3")"
ln -s "$source/examples" examples
PATH=$build/converter:$build/examples:$PATH
page=$source/engine/DECODING.md n=0

# Prints each command and the lines that it must print, each set ends with a line "--".
sections_of() {
  awk '/^    \$ / { if (open) print "--"; print substr($0, 7); open = 1; next }
       open && /^    / { print substr($0, 5); next }
       open { print "--"; open = 0 }' "$page"
}

while read -r command; do
  wanted=""
  while read -r line && [ "$line" != -- ]; do wanted+=$line$'\n'; done
  printed=$(bash -euo pipefail -c "$command" && echo .) || fail "failed: $command"
  [ -z "$wanted" ] || [ "${printed%.}" = "$wanted" ] || fail "$command: printed '${printed%.}', the page says '$wanted'"
  n=$((n + 1))
done < <(sections_of)
[ "$n" -ge 6 ] || fail "only $n commands are found"

# table_before TEXT: prints the page's last table before TEXT.
table_before() {
  awk -v wanted="$1" '/^\|/ { table = table $0 "\n" }
    index($0, wanted) { printf "%s", table; exit }
    !/^\|/ && $0 != "" { table = "" }' "$page"
}

# Each inline command of a test program prints the percentages of the table before it.
while read -r test_command; do
  printed=$(bash -euo pipefail -c "$build$test_command") || fail "failed: $test_command"
  while read -r percentage; do
    grep -qF "$percentage" <<<"$printed" || fail "$test_command does not print $percentage"
    n=$((n + 1))
  done < <(table_before "$test_command" | grep -oE '[0-9.]+ %')
done < <(grep -oE '`build/host/tests/[^`]*`' "$page" | sed 's/`build\/host//; s/`//')
[ "$n" -ge 15 ] || fail "only $n commands and figures are found"

head -n 70 "$source/tests/data/g2p/valid.tsv" | tee lines.tsv held_out.tsv | cut -f 1 | tee lines.txt >sources.txt
printf '%s\n' a b c d e AA1 K S >pieces.txt
echo '<p>Where is the <b>station</b>?</p>' >page.html
models=examples/models golden=$build/tests/kernels/golden
# run_page PAGE SED: runs a page's commands that build nothing, changed by sed.
run_page() {
  while read -r command; do
    bash -euo pipefail -c "$command" >printed 2>&1 || fail "$1: failed: $command: $(<printed)"
    n=$((n + 1))
  done < <(python3 "$source/tests/pages.py" "$source/$1" |
    sed "/^cmake/d; s|build/[a-z/]*goldcrest|goldcrest|; s|build/||; $2")
}
run_page converter/README.md "s|MODEL|$models/g2p-small|"
run_page converter/dialects/MARIAN.md "s|FOLDER|$golden/student|"
run_page converter/dialects/NN_TRANSFORMER.md "s|model.pt|$models/g2p/model.safetensors|"
run_page examples/README.md ''
goldcrest-convert -q "$golden/speech" -o moonshine.gcst --max-seconds 2
run_page examples/bench/README.md 's|--measure|--seconds 0.01 --repetitions 1 &|'
[ "$n" -ge 50 ] || fail "only $n commands and figures are found"

# tests/data/README.md: this version of SentencePiece makes the same files again.
if [ "$(spm_train --version 2>&1)" = 'sentencepiece 0.1.97' ]; then
  ln -s "$source/tests/data/enfr" enfr
  sed -n '/^    FB01/,/^$/s/^    //p' "$source/tests/data/README.md" >rules.tsv
  bash -euo pipefail <(python3 "$source/tests/pages.py" "$source/tests/data/README.md") 2>printed || fail "$(<printed)"
  for model in *.model; do cmp "$model" "$source/tests/data/$model" || fail "$model is another"; n=$((n + 1)); done
fi
echo "decoding_page: $n commands and figures"
