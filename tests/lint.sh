#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tools over the sources: clang-format, clang-tidy on the files that the preset `host` compiles, cppcheck on all
# shipped files. Prints the findings and their number, and fails if there are any.
# Words that take two readings are counted against a budget, which only falls (tests/words.pl), and so is what makes the
# code heavy (tests/weight.pl).
# Usage: bash tests/lint.sh [words|weight|format|tidy|cppcheck]... (none: all)
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folders=(engine converter boards examples tests)
findings=0
words_budget=0

# If there are fewer findings than the budget, lower the budget to their number.
check_words() {
  local n
  perl tests/words.pl >"$work/words"
  n=$(wc -l <"$work/words")
  echo "lint: words: $n findings, budget $words_budget"
  if [ "$n" -gt "$words_budget" ]; then
    cat "$work/words"
    findings=$((findings + n - words_budget))
  fi
}

check_weight() {
  local n=0
  perl tests/weight.pl || n=1
  echo "lint: weight: $n findings"
  findings=$((findings + n))
}

# report NAME FILE: the findings of a tool. Each has at least one line and begins with its file and line.
report() {
  local n
  n=$({ grep -E '^[^ ]+:[0-9]+:([0-9]+:)? (error|warning|performance|portability)' "$2" || true; } | sort -u | wc -l)
  [ "$n" -eq 0 ] || cat "$2"
  echo "lint: $1: $n findings"
  findings=$((findings + n))
}

# Other versions format differently, so there is only one: clang-format-14, which may have another name.
check_format() {
  local program
  for program in clang-format-14 clang-format; do
    if grep -q 'version 14\.' <<< "$("$program" --version 2>/dev/null)"; then
      find "${folders[@]}" -regex '.*\.\(cc\|h\|hpp\|c\)' -print0 |
        xargs -0 "$program" --dry-run -Werror 2>"$work/format" || true
      report "$program" "$work/format"
      return
    fi
  done
  echo "lint: format: not checked, because this machine has no clang-format 14"
}

# tidy_one FILE [FLAGS...]: without flags, uses those of the preset `host`. Each file has its own output, so that
# several processes do not mix theirs.
tidy_one() {
  local file=$1 name=${1//\//_}
  shift
  [ $# -eq 0 ] || set -- -- -std=gnu++17 -I engine -I engine/include "$@"
  "$clang_tidy" -p build/host --quiet "$file" "$@" >"$work/tidy/$name" 2>"$work/tidy_errors/$name" || true
}

# Files that the preset `host` does not compile: clang compiles for every machine and needs only newlib's headers.
tidy_foreign() {
  local library
  library=$(echo /usr/include/newlib/c++/*/)
  local headers=(-nostdinc++ -isystem "$library" -isystem "${library}arm-none-eabi" -isystem /usr/include/newlib)
  local arm32=(--target=armv7a-none-eabihf "${headers[@]}") arm64=(--target=aarch64-none-elf "${headers[@]}")
  tidy_one engine/kernels/arm/neon32.cc "${arm32[@]}" -mfpu=neon
  local name
  for name in neon neon_a53; do tidy_one engine/kernels/arm/$name.cc "${arm64[@]}" -march=armv8-a+crc; done
  for name in dotprod dotprod_a55; do tidy_one engine/kernels/arm/$name.cc "${arm64[@]}" -march=armv8.2-a+dotprod; done
  tidy_one engine/kernels/arm/i8mm.cc "${arm64[@]}" -march=armv8.2-a+dotprod+i8mm
  tidy_one engine/kernels/cortexm/dsp.cc --target=armv7em-none-eabihf -mcpu=cortex-m7 -O2 "${headers[@]}"
  tidy_one engine/kernels/cortexm/helium.cc --target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55 -O2 "${headers[@]}"
  tidy_one engine/kernels/riscv/rvv.cc --target=riscv64-unknown-elf -march=rv64gcv "${headers[@]}"
  tidy_one engine/kernels/riscv/scalar.cc --target=riscv32-unknown-elf -march=rv32imafc "${headers[@]}"
  tidy_one engine/kernels/select_static.cc --target=armv7em-none-eabihf -mcpu=cortex-m7 "${headers[@]}"
  for name in choice layer_walk parts prepare table; do
    tidy_one "engine/backends/xnnpack/$name.cc" -DGOLDCREST_FLOAT32
  done
  local wasm=(--target=wasm32-unknown-unknown -msimd128 -D__IEEE_LITTLE_ENDIAN "${headers[@]}")
  tidy_one engine/kernels/wasm/simd128.cc "${wasm[@]}"
  tidy_one examples/web/module.cc "${wasm[@]}"
}

check_tidy() {
  clang_tidy=clang-tidy-14
  command -v "$clang_tidy" >/dev/null || clang_tidy=clang-tidy
  cmake --preset host -DGOLDCREST_QUICK_BUILD=OFF >/dev/null  # which names each source in compile_commands.json
  cmake --build --preset host --target goldcrest_schema >/dev/null
  mkdir "$work/tidy" "$work/tidy_errors"
  export -f tidy_one
  export clang_tidy work
  grep -oP '"file": "\K[^"]+' build/host/compile_commands.json | sed "s|^$PWD/||" | sort -u >"$work/tidy_files"
  xargs -P "$(nproc)" -I FILE bash -c 'tidy_one FILE' <"$work/tidy_files"
  tidy_foreign
  # A finding in a header comes from every file that includes it. A file that does not compile is a finding.
  cat "$work/tidy"/* | sed "s|^$PWD/||" >"$work/tidy_found"
  report "$clang_tidy" "$work/tidy_found"
  if grep -h '^Error while processing' "$work/tidy_errors"/* | grep . && [ "$findings" -eq 0 ]; then exit 1; fi
}

# Each version finds different things; these are Debian 12's and 13's. Every build is GCC's or passes for it, so the
# configurations without its name, and Clang's few lines, are not checked apart.
check_cppcheck() {
  if ! grep -qE '^Cppcheck 2\.(10|17)' <<< "$(cppcheck --version 2>/dev/null)"; then
    echo "lint: cppcheck: not checked, because this machine has neither version 2.10 nor 2.17"
    return
  fi
  cppcheck -j "$(nproc)" -D__GNUC__=12 -U__clang__ --force --inline-suppr --quiet \
    --enable=warning,performance,portability --suppressions-list=tests/cppcheck_suppressions.txt \
    --template='{file}:{line}: {severity}: {message} [{id}]' \
    -I . -I engine -I engine/include -I converter -I examples engine converter examples boards 2>"$work/cppcheck"
  report cppcheck "$work/cppcheck"
}

[ $# -gt 0 ] || set -- words weight format tidy cppcheck
for tool in "$@"; do
  case "$tool" in
    words | weight | format | tidy | cppcheck) "check_$tool" ;;
    *) echo "usage: bash tests/lint.sh [words|weight|format|tidy|cppcheck]..." >&2; exit 2 ;;
  esac
done
echo "lint: $findings findings in all"
[ "$findings" -eq 0 ]
