#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of boards/raspberry-pi/README.md and compares their output with this machine's. Two programs stand
# in for the Pi: `scp` copies into a folder here, `ssh` runs programs of that folder under qemu-user. The host's
# converter is that of the build under test. With `serve` also the static server, which takes some minutes.
# Usage: raspberry_pi.sh 64|32 WORK_FOLDER BUILD_FOLDER [serve]
set -euo pipefail
bits=$1 work=$2 build=$3 serves=${4:-} name="raspberry_pi.sh $1"
cd "$(dirname "$0")/../.."
. tests/common.sh

if [ "$bits" = 64 ]; then
  preset=raspberry-pi emulator='qemu-aarch64 -cpu cortex-a72' table=arm_neon machine=arm64
else
  preset=raspberry-pi-32 emulator='qemu-arm -cpu cortex-a15' table=arm_neon32 machine=armhf
fi
rm -rf "$work"
mkdir -p "$work/bin" "$work/pi"
cat > "$work/bin/scp" <<END
#!/bin/sh
[ "\$1" = -r ] && [ "\${3#pi:}" != "\$3" ] && exec cp -r "\$2" "$work/pi/\${3#pi:}"
END
cat > "$work/bin/ssh" <<END
#!/bin/sh
[ "\$1" = pi ] && shift && cd "$work/pi" && exec $emulator "\$@"
END
chmod +x "$work/bin/scp" "$work/bin/ssh"

sed -n 's/^    //p' boards/raspberry-pi/README.md |
  sed "s|raspberry-pi|$preset|g; s|build/quickstart/|$build/|g" > "$work/commands"
n=0
while read -r command; do
  echo "+ $command"
  n=$((n + 1)) out=$work/$n.out
  PATH="$work/bin:$PATH" bash -c "$command" < /dev/null > "$out" 2> "$work/$n.err" ||
    { cat "$out" "$work/$n.err" >&2; fail "failed: $command"; }
  case $command in
    *--preset*) ! grep -E 'warning|note:' "$out" "$work/$n.err" || fail "the build is not silent" ;;
    *goldcrest-translate*)
      cmp "$out" <(echo goldcrest | "$build/examples/goldcrest-translate" "$work/pi/goldcrest/g2p.gcst") ||
        fail "the text differs from this machine's" ;;
    *goldcrest-inspect*) grep "^self-test    passed with kernels $table\$" "$out" || fail "no self-test with $table" ;;
    *golden_hash*) cmp "$out" "$build/tests/kernels/golden/g2p.hash" || fail "the hash differs from this machine's" ;;
    *goldcrest-bench*) grep "$table" "$out" || fail "no figures of $table" ;;
  esac
  # The page must quote the output.
  case $command in
    *goldcrest-translate* | *golden_hash*)
      grep -qF "\`$(cat "$out")\`" boards/raspberry-pi/README.md || fail "the page does not quote: $(cat "$out")" ;;
  esac
done < "$work/commands"
[ "$n" -eq 9 ] || fail "$n commands, expected 9"

if [ "$bits" = 64 ]; then
  program="$emulator $work/pi/goldcrest/goldcrest-translate"
  bash tests/pictures.sh . "$build/converter/goldcrest-convert" "$program" 'A Raspberry Pi'
fi

# The random models of speech too.
for task in speech speech_whisper; do
  files=$build/tests/kernels/golden/$task
  $emulator "$work/pi/goldcrest/golden_speech" --compare "$files.gcst" "$files.raw" "$files"
done

# The server, where Debian's libevent for the Pi can be had, answers with the texts of this machine's programs.
export GOLDCREST_SYSROOT=$work-libevent
if [ -n "$serves" ] && bash toolchains/sysroot.sh "$GOLDCREST_SYSROOT" $machine converter; then
  cmake --preset $preset -D "CMAKE_PREFIX_PATH=$GOLDCREST_SYSROOT/usr" > "$work/log"
  cmake --build build/$preset --target goldcrest-serve > "$work/log" || fail "no server: $(cat "$work/log")"
  cp build/$preset/bin/goldcrest-serve "$work/pi/goldcrest"
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$work/pi/goldcrest/goldcrest-serve" > "$work/bin/goldcrest-serve"
  chmod +x "$work/bin/goldcrest-serve"
  ln -s "$build"/examples/goldcrest-{transcribe,translate} "$work/bin"
  python3 tests/programs/serve_clients.py . "$work/bin" "$build/converter/goldcrest-convert" || fail "the server"
  served=serve
fi
for program in translate inspect bench transcribe ${served:-}; do
  file="$work/pi/goldcrest/goldcrest-$program"
  if readelf -l "$file" | grep INTERP; then fail "$program is not static"; fi
  grep -q "Class: *ELF$bits\$" <<< "$(readelf -h "$file")" || fail "$program is not for $bits bits"
done
