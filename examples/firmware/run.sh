#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds one of the example firmwares and runs it in QEMU, with its console on this terminal.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'TEXT'
Usage: bash examples/firmware/run.sh [PROGRAM [BOARD]]
       bash examples/firmware/run.sh --model FOLDER_OR_GCST [BOARD]

Builds one of the example firmwares and runs it in QEMU, with its console on this terminal; Ctrl-D ends it.
--model runs translate_firmware with your own model of text, a checkpoint or a .gcst file, and with the engine's
options that it needs. If its own limits do not fit the board, it gets the largest that do.

  PROGRAM                    what it does                                        BOARD
  pronounce_firmware         says how English words are pronounced (default)     any
  pronounce_small_firmware   the same in 256 KiB of flash and 64 KiB of RAM      any
  pronounce_bytes_firmware   the same with a T5 that reads and writes bytes      any
  translate_firmware         translates English to French                        mps3-an547
  phrases_firmware           answers English with one of ten French phrases      mps3-an547
  superloop                  pronounces between a watchdog's feedings            any
  benchmark_firmware         counts the instructions of each part                any

  BOARD   mps3-an547 (Cortex-M55, default), mps2-an500 (M7), mps2-an505 (M33), mps2-an386 (M4F),
          riscv-virt (RISC-V, rv32imafc), riscv-virt-soft-float (rv32imac)
TEXT
}

# not_known WHAT NAME: ends with the usage.
not_known() {
  echo "run.sh: no $1 is called '$2'" >&2
  usage >&2
  exit 2
}

case "${1:-}" in -h | --help) usage; exit 0 ;; esac
model=''
if [ "${1:-}" = --model ]; then
  [ $# -ge 2 ] || { echo "run.sh: --model needs a checkpoint's folder or a .gcst file" >&2; exit 2; }
  model=$(cd "$OLDPWD" && realpath -e -- "$2") || exit 2
  shift 2
  set -- translate_firmware "$@"
fi
[ $# -le 2 ] || { usage >&2; exit 2; }
program=${1:-pronounce_firmware} board=${2:-mps3-an547}
[[ $program =~ ^(superloop|(pronounce|pronounce_small|pronounce_bytes|translate|phrases|benchmark)_firmware)$ ]] ||
  not_known program "$program"
case "$board" in
  mps3-an547 | mps2-an500 | mps2-an505 | mps2-an386) packages=firmware ;;
  riscv-virt | riscv-virt-soft-float) packages=riscv ;;
  *) not_known "board in QEMU" "$board" ;;
esac
if [[ $program =~ ^(translate|phrases)_firmware$ && $board != mps3-an547 && -z $model ]]; then
  echo "run.sh: $program needs 8 MB for its model, which mps3-an547 has and $board lacks" >&2
  exit 2
fi

# The build's messages go to stderr, only the firmware's to stdout.
bash toolchains/install_packages.sh $packages >&2
folder=build/firmware/$board
options=(-D GOLDCREST_TESTS=OFF -D GOLDCREST_WERROR=OFF)
if [ "$program" = phrases_firmware ]; then
  folder+=_lexicon  # an engine of its own
  options+=(-D GOLDCREST_SHORTLIST=ON)
fi
if [ "$program" = pronounce_bytes_firmware ]; then
  folder+=_layers
  options+=(-D GOLDCREST_LAYERS=ON)
fi
# Use a converter that the quickstart or the tests have built. Bring it up to date, which takes no time if it is.
convert=''
for build in quickstart host; do
  convert=$PWD/build/$build/converter/goldcrest-convert
  if [ -x "$convert" ]; then break; fi
  convert=''
done
if [ -z "$convert" ] && [ -n "$model" ]; then
  echo "run.sh: compiling the converter: about a minute on two cores of 2.6 GHz" >&2
  bash toolchains/install_packages.sh >&2
  cmake --preset quickstart >&2
  build=quickstart convert=$PWD/build/quickstart/converter/goldcrest-convert
fi
if [ -n "$convert" ]; then
  cmake --build "build/$build" --target goldcrest-convert >&2
  options+=(-D GOLDCREST_CONVERT_EXECUTABLE="$convert")
fi

# fit LIMITS...: asks the converter whether the model fits. Its warning names the engine's options.
fit() { said=$("$convert" "$model" --quiet --board "${board%-soft-float}" "$@" 2>&1); }
if [ -n "$model" ]; then
  limits=()
  if ! fit; then
    read -r -a limits <<< "$(sed -n 's/^  fits with //p' <<< "$said")"
    [ ${#limits[@]} -gt 0 ] && fit "${limits[@]}" || { echo "$said" >&2; exit 1; }
    echo "run.sh: with its own limits the model does not fit $board; it gets ${limits[*]}" >&2
  fi
  for option in $(grep -o 'GOLDCREST_[A-Z0-9_]*=ON' <<< "$said" || true); do options+=(-D "$option"); done
  options+=(-D GOLDCREST_TRANSLATE_MODEL="$model"
    -D GOLDCREST_TRANSLATE_LIMITS="$(sed -E 's/--([a-z-]+) ([0-9]+) ?/\1=\2;/g' <<< "${limits[*]:-}")")
  folder+=_own
fi
cmake --preset "$board" -B "$folder" "${options[@]}" >&2
cmake --build "$folder" --target "$program" >&2

if [ -t 0 ]; then
  cmake --build "$folder" --target "run_$program"
else
  # Firmware reads a serial line, which never ends by itself: Ctrl-D ends the input.
  { cat; printf '\004'; } | cmake --build "$folder" --target "run_$program" -- --quiet
fi
