#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the example of a generated package by its ecosystem's own build system, and looks at the result:
#   esp_idf     for ESP-IDF's target linux, with each place of the model; runs it. compote packs the component.
#   pico_sdk    for the board pico2; picotool reads the UF2, which fits flash and RAM
#   zephyr      for GOLDCREST_ZEPHYR_BOARD [native_sim/native/64], by west if it knows the workspace; runs it if native
#   arduino     by arduino-builder, which finds libraries as Arduino's editor does, and runs it. The core is a stand-in
#               for the PC: it shows that the library fits Arduino's builder, not that Arduino's cores work.
#   platformio  `pio pkg pack`, and the README's commands whose platforms are installed; runs the one for this machine
#   cmsis_pack  the zip command of its README
# Leaves with 77 and a sentence without IDF_PATH, PICO_SDK_PATH or ZEPHYR_BASE, or the program. ESP-IDF needs its
# environment (or IDF_PYTHON_ENV_PATH) and libbsd; Pico SDK needs picotool (picotool_DIR, or among the programs).
# Usage: sdk.sh esp_idf|pico_sdk|zephyr|arduino|platformio|cmsis_pack BUILD WORK
set -euo pipefail
ecosystem=$1 name="sdk.sh $1"
. "$(dirname "$0")/common.sh"
case $ecosystem in
  esp_idf) [ -n "${IDF_PATH:-}" ] || skip "IDF_PATH does not name an ESP-IDF" ;;
  pico_sdk) [ -n "${PICO_SDK_PATH:-}" ] || skip "PICO_SDK_PATH does not name a Pico SDK" ;;
  zephyr) [ -n "${ZEPHYR_BASE:-}" ] || skip "ZEPHYR_BASE does not name a Zephyr" ;;
  arduino) needs arduino-builder ;;
  platformio) needs pio "PyPI platformio" ;;
  cmsis_pack) needs zip ;;
  *) fail "usage: sdk.sh esp_idf|pico_sdk|zephyr|arduino|platformio|cmsis_pack BUILD WORK" ;;
esac
make_packages "$2" "$3"
cp -r "$build/packages/${ecosystem/_/-}"/* "$work"

# Prints the package's commands, which its README has as indented lines, without comments.
commands_of_readme() { sed -n 's/^    //p' "$work/goldcrest/README.md" | sed 's/ *#.*$//'; }

# The words that a program's output has, without the ecosystem's own lines.
check_words() {
  local found
  found=$(printf '%s\n' "$1" | tr -d '\r' | grep -E '^[a-z]+: [A-Z0-9 ]+$' || true)
  [ "$found" = "$words" ] || fail "the program prints: $1"
}

esp_idf() {
  local python=python3 place example out
  [ -z "${IDF_PYTHON_ENV_PATH:-}" ] || PATH=$IDF_PYTHON_ENV_PATH/bin:$PATH python=$IDF_PYTHON_ENV_PATH/bin/python
  echo '#include <bsd/string.h>' | cc -E -x c - > /dev/null 2>&1 || skip "ESP-IDF's target linux needs libbsd-dev"
  for place in IN_RODATA MAPPED IN_RAM; do
    example=$work/$place/goldcrest/examples/pronounce
    mkdir "$work/$place"
    cp -r "$work/goldcrest" "$work/$place"
    echo "CONFIG_EXAMPLE_MODEL_$place=y" >> "$example/sdkconfig.defaults"
    cd "$example"
    logged "$work/$place.log" "$python" "$IDF_PATH/tools/idf.py" --preview set-target linux
    logged "$work/$place.log" "$python" "$IDF_PATH/tools/idf.py" build
    grep -qx "CONFIG_EXAMPLE_MODEL_$place=y" sdkconfig || fail "the model is not $place"
    out=$(timeout 10 build/pronounce.elf || true)  # FreeRTOS does not end
    check_words "$out"
    echo "sdk.sh esp_idf: model $place: built for linux, and run"
  done
  needs compote "the component was not packed; PyPI idf-component-manager"
  cd "$work/goldcrest"
  logged "$work/pack.log" compote component pack --name goldcrest --dest-dir "$work/pack"
  tar -tzf "$work"/pack/goldcrest_[0-9.]*[0-9].tgz > "$work/pack.txt" || fail "no archive in $work/pack"
  grep -q 'idf_component.yml' "$work/pack.txt" && grep -q 'examples/pronounce/main/main.c' "$work/pack.txt" &&
    grep -q 'source/decoding/search/beam.cc' "$work/pack.txt" || fail "the archive lacks files"
  echo "sdk.sh esp_idf: $(basename "$work"/pack/goldcrest_[0-9.]*[0-9].tgz): $(wc -l < "$work/pack.txt") entries"
}

pico_sdk() {
  local picotool options=()
  needs arm-none-eabi-g++
  if [ -n "${picotool_DIR:-}" ]; then
    options=(-Dpicotool_DIR="$picotool_DIR")
    picotool=$picotool_DIR/../../../bin/picotool
  else
    picotool=$(command -v picotool) || skip "picotool is not installed, and picotool_DIR names none"
  fi
  cmake_build "$work/build" all -S "$work/goldcrest/examples/pronounce" -DCMAKE_BUILD_TYPE=Release "${options[@]}"
  "$picotool" info -a "$work/build/pronounce.uf2" > "$work/info.txt" || fail "picotool does not read the UF2"
  grep -E 'family ID|name:|binary (start|end)|target chip|image type|sdk version|pico_board' "$work/info.txt" | sort -u
  grep -q 'target chip: *RP2350' "$work/info.txt" || fail "picotool finds no program for RP2350"
  # 0x10000000 is the beginning of flash.
  local end
  end=$(sed -n 's/^ *binary end: *\(0x[0-9a-f]*\).*/\1/p' "$work/info.txt")
  [ $((end - 0x10000000)) -le $((4 << 20)) ] || fail "$((end - 0x10000000)) bytes of flash; expected at most 4 MiB"
  arm-none-eabi-size "$work/build/pronounce.elf" | tail -1 |
    awk '{ print "sdk.sh pico_sdk: " $1 + $2 " bytes of flash, " $2 + $3 " of RAM"; exit $2 + $3 > 520 * 1024 }' ||
    fail "more than 520 kB of RAM"
}

zephyr() {
  local board=${GOLDCREST_ZEPHYR_BOARD:-native_sim/native/64} by=cmake
  cd "$work/goldcrest"
  if west topdir > /dev/null 2>&1; then
    by=west
    logged "$work/build.log" west build -b "$board" -d "$work/build" samples/pronounce
  else
    cmake_build "$work/build" all -S samples/pronounce -DBOARD="$board"
  fi
  case $board in
    native*) check_words "$(timeout 10 "$work/build/zephyr/zephyr.exe" || true)" ;;
    *) echo "sdk.sh zephyr: not run on $board" ;;
  esac
  echo "sdk.sh zephyr: built by $by for $board"
}

arduino() {
  local core=$work/hardware/goldcrest/host sketch=$work/Goldcrest/examples/pronounce/pronounce.ino
  mkdir -p "$core/cores/host" "$work/libraries" "$work/build"
  cp -r "$work/Goldcrest" "$work/libraries"
  cat > "$core/boards.txt" << 'END'
pc.name=This machine
pc.build.core=host
pc.build.board=PC
pc.upload.maximum_size=100000000
END
  cat > "$core/platform.txt" << 'END'
name=Host
version=1.0.0
recipe.c.o.pattern=gcc -Os -c {includes} {source_file} -o {object_file}
recipe.cpp.o.pattern=g++ -std=gnu++17 -Os -fno-exceptions -fno-rtti -c {includes} {source_file} -o {object_file}
recipe.ar.pattern=ar rcs {archive_file_path} {object_file}
recipe.c.combine.pattern=g++ {object_files} {archive_file_path} -o {build.path}/{build.project_name}.elf
recipe.preproc.macros=g++ -std=gnu++17 -w -x c++ -E -CC {includes} {source_file} -o {preprocessed_file_path}
recipe.size.pattern=size {build.path}/{build.project_name}.elf
recipe.size.regex=^\s*([0-9]+)
tools.ctags.path=/usr/bin
tools.ctags.cmd.path={path}/arduino-ctags
tools.ctags.options=-u --language-force=c++ -f - --c++-kinds=svpf --fields=KSTtzns --line-directives
tools.ctags.pattern="{cmd.path}" {options} "{source_file}"
END
  cat > "$core/cores/host/Arduino.h" << 'END'
#include <stdio.h>
struct Console {
  void begin(long) {}
  void print(const char* text) { fputs(text, stdout); }
};
static Console Serial;
static inline void delay(int) {}
void setup();
void loop();
END
  printf '#include "Arduino.h"\nint main() { setup(); loop(); }\n' > "$core/cores/host/main.cpp"
  logged "$work/build.log" arduino-builder -compile -hardware "$work/hardware" -tools /usr/bin \
    -libraries "$work/libraries" -fqbn goldcrest:host:pc -build-path "$work/build" -warnings all "$sketch"
  # The stand-in's name is none of the architectures.
  ! grep -v '^WARNING: library Goldcrest claims to run on (esp32, rp2040, stm32)' "$work/build.log" |
    grep -i warning || fail "warnings"
  check_words "$("$work/build/pronounce.ino.elf")"
  echo "sdk.sh arduino: $(find "$work/build/libraries" -name '*.o' | wc -l) objects, the sketch pronounces"
}

platformio() {
  local core=${PLATFORMIO_CORE_DIR:-$HOME/.platformio} file command environment platform missing=() n=0
  export PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL=1000 PLATFORMIO_SETTING_ENABLE_TELEMETRY=no
  cd "$work/goldcrest"
  if ! pio pkg pack -o "$work/package.tar.gz" . > "$work/pack.log" 2>&1; then
    grep -q 'Could not load SPDX licenses' "$work/pack.log" || { cat "$work/pack.log" >&2; fail "not packed"; }
    missing+=("its list of licences")
    cp -r . "$work/without_license"
    sed -i '/"license"/d' "$work/without_license/library.json"
    logged "$work/pack.log" pio pkg pack -o "$work/package.tar.gz" "$work/without_license"
  fi
  tar -tzf "$work/package.tar.gz" > "$work/files"
  for file in library.json src/decoding/search/beam.cpp examples/pronounce/platformio.ini; do
    grep -qx $file "$work/files" || fail "the package lacks $file"
  done
  while read -r command; do
    n=$((n + 1))
    environment=${command##* -e }
    platform=$(sed -n "/^\[env:${environment%% *}\]/,/^platform/s/^platform = //p" examples/pronounce/platformio.ini)
    [ -n "$platform" ] || fail "platformio.ini does not know: $command"
    if [ ! -d "$core/platforms/$platform" ]; then missing+=("the platform $platform"); continue; fi
    logged "$work/$platform.log" bash -c "$command"
    [ "$platform" != native ] || check_words "$(cat "$work/native.log")"
    echo "sdk.sh platformio: $command"
  done < <(commands_of_readme | grep '^pio run')
  [ "$n" -ge 2 ] || fail "README.md has $n commands"
  echo "sdk.sh platformio: $(wc -l < "$work/files") entries packed"
  [ ${#missing[@]} = 0 ] || skip "what needs $(printf '%s, ' "${missing[@]}")which cannot be had or is not installed"
}

cmsis_pack() {
  local command pack
  cd "$work/goldcrest"
  command=$(sed -n 's/.*`\(zip [^`]*\)`.*/\1/p' README.md)
  pack=$(sed -n 's/.*<release version="\([^"]*\)".*/Goldcrest.goldcrest.\1.pack/p' ./*.pdsc)
  [ -n "$command" ] && [ "${command//VERSION/}" != "$command" ] || fail "README.md has another command: $command"
  command=${command/Goldcrest.goldcrest.VERSION.pack/$pack}
  bash -c "$command" > "$work/zip.log" || fail "failed: $command"
  python3 -m zipfile -e "$pack" "$work/unpacked"
  rm "$pack"
  diff -r . "$work/unpacked" || fail "the pack has other files"
  echo "sdk.sh cmsis_pack: $command"
}

"$ecosystem"
