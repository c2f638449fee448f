#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release twice, with equal sums, and uses its archives. The programs run where only the unpacked archive
# exists (as root: in a root of its own), those for Arm under qemu-user. CMake and pkg-config find the library. The
# archives with XNNPACK (presets release-xnnpack, raspberry-pi-xnnpack) are tested if its sources can be had: in the
# folder GOLDCREST_XNNPACK_SOURCES, or from its repository. Tests the wheels where toolchains/wheels.sh builds them.
# Usage: release.sh WORK_FOLDER SOURCE_DIR
set -euo pipefail
. "$(dirname "$0")/common.sh"
work=$(fresh_folder "$1") source=$2
spdx_checksum() { echo "PackageChecksum: SHA256: $(sha256sum "$1" | cut -d' ' -f1)"; }

# has_notices BILL NOTICES: the packages of the bill, which are not ours, have a notice each.
has_notices() {
  sed -n 's/^PackageName: //p' "$1" | grep -v goldcrest | while read -r package; do
    grep -qxF "==== $package" "$2" || fail "$1: $package has no notice"
  done
}

mkdir "$work/bin"
printf '#!/bin/sh\necho arm64\n' > "$work/bin/dpkg"
chmod +x "$work/bin/dpkg"
refusal=$(PATH="$work/bin:$PATH" bash "$source/toolchains/release.sh" 2>&1) && fail "another machine built a release"
[ "$refusal" = "release.sh: this machine is arm64; expected amd64, which builds for the others" ] ||
  fail "refused by: $refusal"

refusal=$(GITHUB_REF_NAME=v9.9 bash "$source/toolchains/release.sh" --publish 2>&1) && fail "v9.9 was published"
grep -q "^release.sh: the tag is 'v9.9'; expected v" <<< "$refusal" || fail "refused by: $refusal"

options=() xnnpack=(amd64-xnnpack arm64-xnnpack)
repository=$(sed -n 's/^ *GIT_REPOSITORY //p' "$source/toolchains/modules/xnnpack.cmake")
if [ -z "${GOLDCREST_XNNPACK_SOURCES:-}" ] && ! timeout 60 git ls-remote "$repository" HEAD > /dev/null 2>&1; then
  echo "release.sh: the archives with XNNPACK are left out, its sources cannot be had"
  options=(--no-xnnpack) xnnpack=()
fi
wheels=(amd64 arm64 armhf) status=0
bash "$source/toolchains/wheels.sh" "$work/sdist" sdist > "$work/sdist.log" || status=$?
if [ $status -eq 77 ]; then
  cat "$work/sdist.log"
  options+=(--no-wheels) wheels=()
elif [ $status -ne 0 ]; then
  fail "no source distribution: $(cat "$work/sdist.log")"
fi
for run in 1 2; do
  logged "$work/release.log" bash "$source/toolchains/release.sh" "${options[@]}"
  # libevent has functions that the server does not call.
  if grep 'warning:' "$work/release.log" | grep -v 'statically linked'; then fail "the build is not silent"; fi
  cp "$source/build/release/SHA256SUMS" "$work/sums$run"
done
cmp "$work/sums1" "$work/sums2" || fail "a second run gives different bytes"
cd "$source/build/release"
sha256sum --quiet -c SHA256SUMS
bills=$((3 + ${#xnnpack[@]} + ${#wheels[@]} + 1))  # of programs, wheels and the npm package
packages=(esp-idf pico-sdk platformio zephyr npm)  # npm is among the bills; two more are zip files
expected=$((2 + ${#packages[@]} - 1 + 2 + bills + (${#wheels[@]} > 0 ? 1 : 0) + bills))
[ "$(wc -l < SHA256SUMS)" -eq $expected ] || fail "expected $expected archives, wheels and lists"
[ "$expected" -eq "$(find . -maxdepth 1 -type f ! -name SHA256SUMS | wc -l)" ] || fail "files without a sum"
for machine in "${wheels[@]}"; do
  case $machine in amd64) tag=x86_64 ;; arm64) tag=aarch64 ;; armhf) tag=armv7l ;; esac
  [ -f goldcrest_transformer-*-py3-none-manylinux_2_34_$tag.whl ] || fail "no wheel for $machine: $(ls)"
  python3 -m zipfile -e goldcrest_transformer-*_$tag.whl "$work/wheel-$machine"
  cmp goldcrest_transformer-*_$tag.spdx "$work/wheel-$machine"/*.dist-info/sboms/linked.spdx || fail "another $tag.spdx"
  [ "$(stat -c %s goldcrest_transformer-*_$tag.whl)" -le 3000000 ] || fail "the wheel for $machine has more than 3 MB"
done

# The packages of other ecosystems: the generator's files.
version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' "$source/CMakeLists.txt")
mkdir "$work/packages"
for ecosystem in "${packages[@]}"; do
  mkdir "$work/packages/$ecosystem"
  tar -xzf "goldcrest-$version-$ecosystem.tar.gz" -C "$work/packages/$ecosystem"
done
python3 -m zipfile -e "goldcrest-$version-arduino.zip" "$work/packages/arduino"
python3 -m zipfile -e "Goldcrest.goldcrest.$version.pack" "$work/packages/cmsis-pack/goldcrest"
npm=$work/packages/npm/goldcrest
mv "$npm/NOTICES" "$work/npm_notices"
bill=goldcrest-$version-npm.spdx
grep -qx "$(spdx_checksum "$npm/goldcrest.wasm")" "$bill" || fail "npm: the module has no entry"
has_notices "$bill" "$work/npm_notices"
grep -qx 'PackageName: wasi-libc' "$bill" || fail "npm: wasi-libc is not named"
for build in build build-wasm; do
  for folder in "$build"/packages/*; do
    diff -r "$folder" "$work/packages/$(basename "$folder")" || fail "$folder: its archive has other files"
  done
done
for archive in goldcrest-*-{linux-*,sources,models}.tar.gz; do tar -xzf "$archive" -C "$work"; done
cd "$work"
for folder in goldcrest-*; do mv "$folder" "$(sed -E 's/goldcrest-[0-9.]+-(linux-)?//' <<< "$folder")"; done
[ -f sources/Makefile ] || fail "no source folder"
if grep -rlF -e "$source" -e "$HOME/" amd64 arm64 armhf "${xnnpack[@]}" "${wheels[@]/#/wheel-}" sources models packages
then fail "paths of this machine are in the archives"; fi

if command -v npm > /dev/null; then
  mkdir npm
  (cd npm && npm_config_cache=$work/npm_cache npm install --offline --silent --no-audit --no-fund \
    "$source/build/release/goldcrest-$version-npm.tar.gz")
  echo "import { load } from 'goldcrest-transformer'; import { readFileSync } from 'node:fs';
    console.log((await load(readFileSync('../models/g2p.gcst'))).translate('goldcrest'));" > npm/program.mjs
  [ "$(cd npm && node program.mjs)" = 'G OW1 L D K R EH2 S T' ] || fail "npm: another text"
else
  echo "release.sh: the npm archive was not installed, because npm is not installed"
fi

# The two commands of the archive's page.
run() {
  if [ "$(id -u)" -eq 0 ]; then chroot amd64 "/$1" "${@:2}"; else (cd amd64 && env -i "./$1" "${@:2}"); fi
}
cp -r "$source/examples/models/g2p" amd64/CHECKPOINT
sed -n 's/^    //p' amd64/README.md | sed 's|bin/goldcrest|run bin/goldcrest|; s|Your text|goldcrest|' > commands
[ "$(wc -l < commands)" -eq 2 ] || fail "expected two commands, found: $(cat commands)"
text='G OW1 L D K R EH2 S T'
. ./commands > output
[ "$(tail -1 output)" = "$text" ] || { cat output; fail "expected the text $text"; }
cmp amd64/model.gcst models/g2p.gcst || fail "the archive's model differs"

python3 "$source/tests/programs/serve_clients.py" "$source" amd64/bin amd64/bin/goldcrest-convert
for machine in "arm64:qemu-aarch64:aarch64-linux-gnu-gcc" "armhf:qemu-arm:arm-linux-gnueabihf-gcc"; do
  IFS=: read -r folder emulator compiler <<< "$machine"
  emulated="$emulator $folder/bin/goldcrest"
  [ "$(echo goldcrest | $emulated-translate models/g2p.gcst)" = "$text" ] || fail "$folder: the text differs"
  out=$($emulated-inspect models/enfr.gcst --self-test) && grep -q '^self-test    passed' <<< "$out" ||
    fail "$folder: no self-test"
  out=$($emulated-transcribe models/g2p.gcst 2>&1 < /dev/null) && fail "$folder: a text model is taken for speech"
  grep -q "models/g2p.gcst" <<< "$out" || fail "$folder: goldcrest-transcribe says: $out"
  out=$($emulated-bench --list-kernels) && grep -q arm_neon <<< "$out" || fail "$folder: no kernels"
  flags=$(PKG_CONFIG_PATH=$folder/lib/pkgconfig pkg-config --cflags --libs goldcrest)
  $compiler -static "$source/tests/link/c_link_test.c" $flags -o c_link_test && $emulator ./c_link_test ||
    fail "$folder: the library"
done

# The wheels: their lists have every file's sum, and their programs give the text. The converter writes the same bytes.
for machine in "${wheels[@]}"; do
  info=$(echo wheel-$machine/*.dist-info) programs=wheel-$machine/goldcrest/goldcrest_programs
  bill=$info/sboms/linked.spdx
  python3 - "wheel-$machine" << 'END' || fail "$machine: RECORD has another sum, or a file is not in it"
import base64, csv, hashlib, pathlib, sys

folder = pathlib.Path(sys.argv[1])
record = next(folder.glob("*.dist-info/RECORD"))
sums = {name: (digest, size) for name, digest, size in csv.reader(record.read_text().splitlines())}
for file in filter(pathlib.Path.is_file, folder.rglob("*")):
    data = file.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    found = ("", "") if file == record else ("sha256=" + digest, str(len(data)))
    assert sums.pop(str(file.relative_to(folder))) == found, file
assert not sums, sums
END
  [ "$(du -sb --apparent-size wheel-$machine | cut -f 1)" -le 8000000 ] || fail "$machine: more than 8 MB installed"
  grep -qx 'License-File: NOTICES' "$info/METADATA" || fail "$machine: no notices"
  case $machine in
    amd64) emulator='' ;;
    arm64) emulator='qemu-aarch64 -L /usr/aarch64-linux-gnu' ;;
    armhf) emulator='qemu-arm -L /usr/arm-linux-gnueabihf' ;;
  esac
  chmod +x $programs
  $emulator $programs convert --quiet "$source/examples/models/g2p" -o wheel.gcst > /dev/null
  cmp wheel.gcst models/g2p.gcst || fail "$machine: the wheel's converter writes other bytes"
  [ "$(echo goldcrest | $emulator $programs translate wheel.gcst)" = "$text" ] || fail "$machine: another text"
  for file in $programs wheel-$machine/goldcrest/libgoldcrest.so; do
    grep -qx "$(spdx_checksum $file)" "$bill" || fail "$file has no entry"
  done
  for package in libssl libyaml-cpp zlib1g libfmt nlohmann-json3 libeigen3 libflatbuffers; do
    grep -qx "Relationship: SPDXRef-goldcrest-programs STATIC_LINK SPDXRef-$package-dev" "$bill" ||
      fail "$machine: $package-dev is not named"
  done
  has_notices "$bill" "$info/licenses/NOTICES"
done

# XNNPACK's kernels give the same text, here and in Debian 13's emulator (Debian 12's emulates no /proc/cpuinfo).
for folder in "${xnnpack[@]}"; do
  emulator=''
  if [ "$folder" = arm64-xnnpack ]; then
    bash "$source/toolchains/sysroot.sh" "$source/build/xnnpack_sysroots/arm64" arm64 xnnpack
    emulator=$source/build/xnnpack_sysroots/arm64/usr/bin/qemu-aarch64
  fi
  for kernels in xnnpack fastest; do
    found=$(echo goldcrest | $emulator "$folder/bin/goldcrest-translate" models/g2p.gcst --kernels $kernels)
    [ "$found" = "$text" ] || fail "$folder: $kernels: another text: $found"
  done
  if readelf -l "$folder/bin/goldcrest-translate" | grep INTERP; then fail "$folder: it is not static"; fi
  bill=$folder/share/doc/goldcrest/linked.spdx
  for part in XNNPACK cpuinfo pthreadpool FXdiv; do
    for program in goldcrest-translate goldcrest-bench; do
      grep -qx "Relationship: SPDXRef-$program STATIC_LINK SPDXRef-$part" "$bill" || fail "$program lacks $part"
    done
    grep -A 2 -x "PackageName: $part" "$bill" | grep -qxE 'PackageVersion: [0-9a-f]{40}' || fail "$part has no commit"
    grep -A 12 -x "==== $part" "$folder/share/doc/goldcrest/NOTICES" | grep -q Copyright || fail "$part has no licence"
  done
  ! grep "goldcrest-inspect STATIC_LINK SPDXRef-XNNPACK" "$bill" || fail "$folder: XNNPACK is in goldcrest-inspect"
done

# Links the library into a program, by CMake and by pkg-config.
project=(-S "$source/tests/consumers/project" -DCMAKE_BUILD_TYPE=Release -DCHECKPOINT="$work/amd64/CHECKPOINT")
cmake_build program all "${project[@]}" -DCMAKE_PREFIX_PATH="$work/amd64"
grep -q "$work/amd64/bin/goldcrest-convert" program/build.ninja || fail "the build uses another converter"
program/program
if [ ${#xnnpack[@]} -gt 0 ]; then
  cmake_build program_xnnpack all "${project[@]}" -DXNNPACK=ON -DCMAKE_PREFIX_PATH="$work/amd64-xnnpack"
  program_xnnpack/program
fi
flags=$(PKG_CONFIG_PATH=amd64/lib/pkgconfig pkg-config --cflags --libs goldcrest)
gcc "$source/tests/link/c_link_test.c" $flags -o c_link_test && ./c_link_test || fail "the library by pkg-config"

# Everything that is linked must have its entry and its notice.
for folder in amd64 arm64 armhf "${xnnpack[@]}"; do
  bill=$folder/share/doc/goldcrest/linked.spdx
  for program in "$folder"/bin/*; do
    grep -qx "$(spdx_checksum "$program")" "$bill" || fail "$program has no entry"
    for package in libc6-dev libstdcxx-; do
      grep -q "^Relationship: SPDXRef-$(basename "$program") STATIC_LINK SPDXRef-$package" "$bill" ||
        fail "$program: $package is not named"
    done
  done
  has_notices "$bill" "$folder/share/doc/goldcrest/NOTICES"
done
grep -q "^Relationship: SPDXRef-goldcrest-convert STATIC_LINK SPDXRef-libssl-dev" \
  amd64/share/doc/goldcrest/linked.spdx || fail "OpenSSL is not named"
for package in libyaml-cpp-dev libflatbuffers-dev; do
  [ "$(grep "STATIC_LINK SPDXRef-$package$" {amd64,arm64,armhf}/share/doc/goldcrest/linked.spdx)" = \
    "amd64/share/doc/goldcrest/linked.spdx:Relationship: SPDXRef-goldcrest-convert STATIC_LINK SPDXRef-$package" ] ||
    fail "$package is not in the converter, or in another program"
done
