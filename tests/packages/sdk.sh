#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the example of a generated package by its ecosystem's own build system, and looks at the result:
#   esp_idf    for ESP-IDF's target linux, with each place of the model; runs it. `compote component pack` packs the component.
#   pico_sdk   for the board pico2; picotool reads the UF2, which fits flash and RAM
#   zephyr     for GOLDCREST_ZEPHYR_BOARD [native_sim/native/64]; runs it if the board is native
# Leaves with 77 and a sentence without IDF_PATH, PICO_SDK_PATH or ZEPHYR_BASE. ESP-IDF needs its exported environment (or
# IDF_PYTHON_ENV_PATH) and libbsd; Pico SDK needs picotool (picotool_DIR, or among the programs).
# Usage: sdk.sh esp_idf|pico_sdk|zephyr BUILD WORK
set -euo pipefail
ecosystem=$1 build=$(cd "$2" && pwd)
fail() { echo "sdk.sh $ecosystem: $*" >&2; exit 1; }
skip() { echo "sdk.sh $ecosystem: skipped: $*"; exit 77; }
case $ecosystem in
  esp_idf) [ -n "${IDF_PATH:-}" ] || skip "IDF_PATH does not name an ESP-IDF" ;;
  pico_sdk) [ -n "${PICO_SDK_PATH:-}" ] || skip "PICO_SDK_PATH does not name a Pico SDK" ;;
  zephyr) [ -n "${ZEPHYR_BASE:-}" ] || skip "ZEPHYR_BASE does not name a Zephyr" ;;
  *) fail "usage: sdk.sh esp_idf|pico_sdk|zephyr BUILD WORK" ;;
esac
rm -rf "$3"
mkdir -p "$3"
work=$(cd "$3" && pwd)
cmake --build "$build" --target goldcrest_packages > "$work/packages.log" 2>&1 || { cat "$work/packages.log" >&2; exit 1; }
cp -r "$build/packages/${ecosystem/_/-}/goldcrest" "$work/goldcrest"

# The words that a program's output has, without the ecosystem's own lines.
check_words() {
  local found
  found=$(printf '%s\n' "$1" | tr -d '\r' | grep -E '^[a-z]+: [A-Z0-9 ]+$' || true)
  [ "$found" = 'goldcrest: G OW1 L D K R EH2 S T
bird: B ER1 D
singing: S IH1 NG IH0 NG
forest: F AO1 R AH0 S T
straightforward: S T R EY1 T F AO2 R W ER0 D' ] || fail "the program prints: $1"
}

esp_idf() {
  local python=python3 place example out
  [ -z "${IDF_PYTHON_ENV_PATH:-}" ] || { python=$IDF_PYTHON_ENV_PATH/bin/python && PATH=$IDF_PYTHON_ENV_PATH/bin:$PATH; }
  echo '#include <bsd/string.h>' | cc -E -x c - > /dev/null 2>&1 || skip "ESP-IDF's target linux needs libbsd (package libbsd-dev)"
  for place in IN_RODATA MAPPED IN_RAM; do
    example=$work/$place/goldcrest/examples/pronounce
    mkdir "$work/$place"
    cp -r "$work/goldcrest" "$work/$place"
    echo "CONFIG_EXAMPLE_MODEL_$place=y" >> "$example/sdkconfig.defaults"
    cd "$example"
    { "$python" "$IDF_PATH/tools/idf.py" --preview set-target linux && "$python" "$IDF_PATH/tools/idf.py" build; } > "$work/$place.log" 2>&1 ||
      { tail -40 "$work/$place.log" >&2; fail "not built"; }
    grep -qx "CONFIG_EXAMPLE_MODEL_$place=y" sdkconfig || fail "the model is not $place"
    out=$(timeout 10 build/pronounce.elf || true)  # FreeRTOS does not end
    check_words "$out"
    echo "sdk.sh esp_idf: model $place: built for linux, and run"
  done
  command -v compote > /dev/null || skip "the component was not packed, because compote is not installed (PyPI idf-component-manager)"
  cd "$work/goldcrest"
  compote component pack --name goldcrest --dest-dir "$work/pack" > "$work/pack.log" 2>&1 || { cat "$work/pack.log" >&2; fail "not packed"; }
  tar -tzf "$work"/pack/goldcrest_[0-9.]*[0-9].tgz > "$work/pack.txt" || fail "no archive in $work/pack"
  grep -q 'idf_component.yml' "$work/pack.txt" && grep -q 'examples/pronounce/main/main.c' "$work/pack.txt" &&
    grep -q 'source/decoding/beam.cc' "$work/pack.txt" || fail "the archive lacks files"
  echo "sdk.sh esp_idf: $(basename "$work"/pack/goldcrest_[0-9.]*[0-9].tgz): $(wc -l < "$work/pack.txt") entries"
}

pico_sdk() {
  local picotool options=()
  command -v arm-none-eabi-g++ > /dev/null || skip "arm-none-eabi-g++ is not installed"
  if [ -n "${picotool_DIR:-}" ]; then
    options=(-Dpicotool_DIR="$picotool_DIR")
    picotool=$picotool_DIR/../../../bin/picotool
  else
    picotool=$(command -v picotool) || skip "picotool is not installed, and picotool_DIR names none"
  fi
  cmake -G Ninja -S "$work/goldcrest/examples/pronounce" -B "$work/build" -DCMAKE_BUILD_TYPE=Release "${options[@]}" > "$work/build.log" 2>&1 &&
    cmake --build "$work/build" >> "$work/build.log" 2>&1 || { tail -40 "$work/build.log" >&2; fail "not built"; }
  "$picotool" info -a "$work/build/pronounce.uf2" > "$work/info.txt" || fail "picotool does not read the UF2"
  grep -E 'family ID|name:|binary (start|end)|target chip|image type|sdk version|pico_board' "$work/info.txt" | sort -u
  grep -q 'target chip: *RP2350' "$work/info.txt" || fail "picotool finds no program for RP2350"
  # 0x10000000 is the beginning of flash.
  local end
  end=$(sed -n 's/^ *binary end: *\(0x[0-9a-f]*\).*/\1/p' "$work/info.txt")
  [ $((end - 0x10000000)) -le $((4 << 20)) ] || fail "$((end - 0x10000000)) bytes of flash; expected at most 4 MiB"
  arm-none-eabi-size "$work/build/pronounce.elf" | tail -1 | awk '{ ram = $2 + $3; print "sdk.sh pico_sdk: " $1 + $2 " bytes of flash, " ram " of RAM"; exit ram > 520 * 1024 }' ||
    fail "more than 520 kB of RAM"
}

zephyr() {
  local board=${GOLDCREST_ZEPHYR_BOARD:-native_sim/native/64}
  cmake -G Ninja -S "$work/goldcrest/samples/pronounce" -B "$work/build" -DBOARD="$board" > "$work/build.log" 2>&1 &&
    cmake --build "$work/build" >> "$work/build.log" 2>&1 || { tail -40 "$work/build.log" >&2; fail "not built for $board"; }
  case $board in
    native*) check_words "$(timeout 10 "$work/build/zephyr/zephyr.exe" || true)" ;;
    *) echo "sdk.sh zephyr: not run on $board" ;;
  esac
  echo "sdk.sh zephyr: built for $board"
}

"$ecosystem"
