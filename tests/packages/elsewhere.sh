#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The source folder on other systems than Linux:
#   macos   all engine files compile and link for 64-bit Arm macOS, with Clang and Apple's symbols of PyPI's ziglang
#           0.13.0. The program is not run.
#   wine    the same for x86-64 Windows with MinGW; under Wine each kernel table of this CPU passes the self-test
# Leaves with 77 and a sentence if a program is missing. GOLDCREST_ZIG is the command of zig [python3 -m ziglang].
# Usage: elsewhere.sh macos|wine BUILD WORK. Env: JOBS [2]
set -euo pipefail
system=$1 name="elsewhere.sh $1"
. "$(dirname "$0")/common.sh"
zig=${GOLDCREST_ZIG:-python3 -m ziglang}
case $system in
  macos) [ "$($zig version 2> /dev/null)" = 0.13.0 ] || skip "ziglang 0.13.0 is not installed (PyPI)" ;;
  wine)
    wine=$(command -v wine64 wine /usr/lib/wine/wine64 | head -1) || true
    [ -n "$wine" ] || skip "wine64 is not installed"
    needs x86_64-w64-mingw32-g++ ;;
  *) fail "usage: elsewhere.sh macos|wine BUILD WORK" ;;
esac
make_packages "$2" "$3"
cp -r "$build/goldcrest_sources" "$work/sources"
cp -r "$build/packages/cmsis-pack/goldcrest/examples/pronounce" "$work/example"
cd "$work/sources"

# compile_list COMMAND LIST: an object of each line of LIST, which is a file and its flags; nothing may be printed.
compile_list() {
  mkdir "$work/objects"
  awk -v compiler="$1" -v out="$work/objects" '{ print compiler, $0, "-c -o", out "/" NR ".o" }' "$2" > "$work/commands"
  logged "$work/compile.log" xargs -P "${JOBS:-2}" -d '\n' -n 1 sh -c < "$work/commands"
  [ "$(find "$work/objects" -name '*.o' | wc -l)" -eq "$(wc -l < "$2")" ] || fail "objects are missing"
}

macos() {
  # zig names a CPU and its features in another way, and armv8.2 does not imply crc there.
  sed 's/-march=armv8\(\.2\)\?-a+/-mcpu=generic+crc+/' sources-aarch64.txt > "$work/list"
  export ZIG_LOCAL_CACHE_DIR=$work/zig ZIG_GLOBAL_CACHE_DIR=$work/zig
  compile_list "$zig c++ -target aarch64-macos -O2 -w @flags.txt" "$work/list"
  # shellcheck disable=SC2086
  $zig cc -target aarch64-macos -O1 -w -Iinclude "$work"/{example/*.c,objects/*.o} -o "$work/program" || fail "no link"
  local header
  header=$(od -A n -t x4 -N 8 "$work/program" | tr -d ' \n')
  [ "$header" = feedfacf0100000c ] || fail "not a Mach-O program for arm64: $header"
  echo "elsewhere.sh macos: $(wc -l < "$work/list") files, linked for arm64 macOS: $(wc -c < "$work/program") bytes"
}

wine() {
  cat > "$work/tables.c" << 'END'
#include <stdio.h>

#include "model_g2p_small.h"

static _Alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_SMALL_ARENA_BYTES];

int main(void) {
  const char *name;
  for (uint32_t i = 0; (name = goldcrest_kernels_at(i)) != NULL; ++i) {
    goldcrest_detail detail = {"", -1};
    const goldcrest_config config = {
        .model = model_g2p_small, .model_bytes = MODEL_G2P_SMALL_BYTES, .arena = arena, .arena_bytes = sizeof arena,
        .limits = MODEL_G2P_SMALL_LIMITS, .kernels = name, .detail = &detail};
    goldcrest_engine *engine;
    int status = goldcrest_init(&engine, &config);
    if (status >= 0) status = goldcrest_self_test(engine, &detail);
    char phonemes[128];
    if (status >= 0) status = (int)goldcrest_translate(engine, "goldcrest", 9, phonemes, sizeof phonemes);
    if (status < 0) return printf("%s: %s: %s\n", name, goldcrest_status_string(status), detail.message), 1;
    printf("%s %s\n", name, phonemes);
  }
  return 0;
}
END
  compile_list "x86_64-w64-mingw32-g++ -O2 -w @flags.txt" sources-x86_64.txt
  x86_64-w64-mingw32-gcc -O1 -w -Iinclude -I"$work/example" "$work/tables.c" "$work/example/model_g2p_small.c" \
    "$work/objects"/*.o -o "$work/tables.exe" || fail "not linked"
  export WINEPREFIX=$work/prefix WINEDEBUG=-all
  timeout 300 "$wine" "$work/tables.exe" > "$work/tables.txt" 2> "$work/wine.log" ||
    { cat "$work/wine.log" "$work/tables.txt" >&2; fail "a self-test failed"; }
  tr -d '\r' < "$work/tables.txt" > "$work/found"
  # Linux asks the same CPU.
  "$build/tests/kernels/list_kernels" | sed 's/ .*//; s/$/ G OW1 L D K R EH2 S T/' > "$work/expected"
  diff "$work/expected" "$work/found" || fail "other tables or phonemes than on Linux"
  echo "elsewhere.sh wine: self-tests passed: $(cut -d' ' -f1 "$work/found" | tr '\n' ' ')"
}

"$system"
