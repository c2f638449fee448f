#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release in build/release/. It has an archive each for amd64, arm64 and armhf: static programs (the
# converter only for amd64), C library, headers, CMake and pkg-config files, the list of linked packages and their
# notices. For amd64 and arm64 there is another with XNNPACK linked statically. It also has the source folder, the
# packages of other ecosystems but Debian's (toolchains/packages/README.md), the examples' models, the list of linked
# packages of each wheel and each archive with programs (NAME.spdx), and SHA-256 sums. Python's source distribution and
# wheels come with them (toolchains/wheels.sh), which need Debian 12. The same commit and tools give the same bytes.
# Usage: bash toolchains/release.sh [--no-xnnpack] [--no-wheels]
#        bash toolchains/release.sh --publish   makes a GitHub release of the files in build/release/, for the tag
#                                               GITHUB_REF_NAME, by the program gh
# XNNPACK's sources are fetched, or come from the folders xnnpack, cpuinfo, pthreadpool and fxdiv of
# GOLDCREST_XNNPACK_SOURCES, which must have the pinned commits (toolchains/modules/xnnpack.cmake).
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release.sh: $*" >&2; exit 1; }

version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
goldcrest=goldcrest-$version
if [ "$*" = --publish ]; then
  [ "${GITHUB_REF_NAME:-}" = "v$version" ] || fail "the tag is '${GITHUB_REF_NAME:-}'; expected v$version"
  cd build/release
  sha256sum --quiet -c SHA256SUMS
  mapfile -t files < <(cut -c 67- SHA256SUMS)
  exec gh release create "$GITHUB_REF_NAME" --verify-tag --title "Goldcrest $version" \
    --notes-file ../../toolchains/release.md "${files[@]}" SHA256SUMS
fi

builds=(amd64:release:build/release/build:g++
  arm64:raspberry-pi:build/raspberry-pi:aarch64-linux-gnu-g++
  armhf:raspberry-pi-32:build/raspberry-pi-32:arm-linux-gnueabihf-g++)
xnnpack=1 wheels=1
for option in "$@"; do
  case $option in
    --no-xnnpack) xnnpack=0 ;;
    --no-wheels) wheels=0 ;;
    *) echo "usage: bash toolchains/release.sh [--no-xnnpack] [--no-wheels] | --publish" >&2; exit 2 ;;
  esac
done
if [ $xnnpack = 1 ]; then
  builds+=(amd64-xnnpack:release-xnnpack:build/release/build-xnnpack:g++
    arm64-xnnpack:raspberry-pi-xnnpack:build/release/build-xnnpack-arm64:aarch64-linux-gnu-g++)
fi
xnnpack_sources=() sources=${GOLDCREST_XNNPACK_SOURCES:-}
if [ -n "$sources" ]; then
  xnnpack_sources=("-DFETCHCONTENT_SOURCE_DIR_XNNPACK=$sources/xnnpack")
  for part in cpuinfo pthreadpool fxdiv; do xnnpack_sources+=("-D${part^^}_SOURCE_DIR=$sources/$part"); done
fi

machine=$(dpkg --print-architecture)
[ "$machine" = amd64 ] || fail "this machine is $machine; expected amd64, which builds for the others"
bash toolchains/install_packages.sh $([ $wheels = 1 ] && echo release || echo arm)
# In a container the tree may belong to somebody else.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$PWD" log -1 --format=%ct)}
release=$PWD/build/release stage=$PWD/build/release/stage
rm -rf "$stage" "$release"/*.{tar.gz,zip,pack,whl,spdx} "$release/SHA256SUMS"
mkdir -p "$stage"
[ $wheels = 0 ] || bash toolchains/wheels.sh "$release" || fail "no wheels; --no-wheels leaves them out"

# pack NAME [FOLDER]: an archive of a folder, of $stage/NAME if there is no other.
pack() {
  local folder=${2:-$stage/$1}
  tar -C "$(dirname "$folder")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX -c "$(basename "$folder")" | gzip -9n > "$release/$1.tar.gz"
}

# zip_files FILE FOLDER PATH: the files of FOLDER/PATH, with their paths in FOLDER.
zip_files() (
  cd "$2"
  chmod -R u=rwX,go=rX "$3"
  find "$3" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
  find "$3" -type f | LC_ALL=C sort | TZ=UTC zip -X -q -9 "$release/$1" -@
)

for entry in "${builds[@]}"; do
  IFS=: read -r architecture preset build compiler <<< "$entry"
  name=$goldcrest-linux-$architecture
  case $architecture in
    *-xnnpack) cmake --preset "$preset" -Wno-deprecated "${xnnpack_sources[@]}" ;;
    amd64) cmake --preset "$preset" ;;
    *)  # goldcrest-serve links libevent
      export GOLDCREST_SYSROOT=$PWD/build/release/sysroot-$architecture
      bash toolchains/sysroot.sh "$GOLDCREST_SYSROOT" "$architecture" converter
      cmake --preset "$preset" -D "CMAKE_PREFIX_PATH=$GOLDCREST_SYSROOT/usr"
      cmake --build "$build" --target goldcrest-serve ;;
  esac
  cmake --build --preset "$preset"
  cmake --install "$build" --prefix "$stage/$name" --strip > /dev/null
  cp toolchains/release.md "$stage/$name/README.md"
  programs=()
  for file in "$stage/$name"/bin/*; do programs+=("$(basename "$file")" "$file"); done
  bash toolchains/bill.sh "$stage/$name/share/doc/goldcrest" "$name" "$build" "$compiler" "${programs[@]}"
  unset GOLDCREST_SYSROOT
  cp "$stage/$name/share/doc/goldcrest/linked.spdx" "$release/$name.spdx"
  pack "$name"
done

cmake --build build/release/build --target goldcrest_source_folder
cp -r build/release/build/goldcrest_sources "$stage/$goldcrest-sources"
pack "$goldcrest-sources"

# The other ecosystems' packages. Their folders have the names that builds expect.
cmake --build build/release/build --target goldcrest_packages
cmake --preset wasm -B build/release/build-wasm -D GOLDCREST_TESTS=OFF
cmake --build build/release/build-wasm --target goldcrest_packages
packages=$stage/packages
cp -r build/release/build/packages "$packages"
cp -r build/release/build-wasm/packages/npm "$packages"
npm=$packages/npm/goldcrest
bash toolchains/bill.sh "$stage/npm" "$goldcrest-npm" build/release/build-wasm "clang++ --target=wasm32-wasi" \
  goldcrest.wasm "$npm/goldcrest.wasm"
cp "$stage/npm/linked.spdx" "$release/$goldcrest-npm.spdx"
cp "$stage/npm/NOTICES" "$npm"
for system in esp-idf npm pico-sdk platformio zephyr; do pack "$goldcrest-$system" "$packages/$system/goldcrest"; done
zip_files "$goldcrest-arduino.zip" "$packages/arduino" Goldcrest
zip_files "Goldcrest.goldcrest.$version.pack" "$packages/cmsis-pack/goldcrest" .

models=$stage/$goldcrest-models
mkdir "$models"
for model in enfr g2p g2p-small g2p-bytes lines; do
  "$stage/$goldcrest-linux-amd64/bin/goldcrest-convert" -q "examples/models/$model" -o "$models/$model.gcst" > /dev/null
done
cp examples/models/{README.md,LICENSE.cmudict} "$models"
cp examples/models/enfr/README.md "$models/enfr.md"
pack "$(basename "$models")"

rm -r "$stage"
shopt -s nullglob
(cd "$release" && sha256sum -- *.tar.gz *.zip *.pack *.whl *.spdx > SHA256SUMS && cat SHA256SUMS)
