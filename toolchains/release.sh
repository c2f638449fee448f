#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release in build/release/. It has an archive each for amd64, arm64 and armhf: static programs (the
# converter only for amd64), C library, headers, CMake and pkg-config files, the list of linked packages and their
# notices. For amd64 and arm64 there is another with XNNPACK linked statically. It also has the source folder, the
# examples' models, the list of linked packages of each archive and wheel (NAME.spdx) and SHA-256 sums. Python's source distribution and wheels come with them (toolchains/wheels.sh), which
# need Debian 12. The same commit, compilers and libraries give the same bytes.
# Usage: bash toolchains/release.sh [--no-xnnpack] [--no-wheels]
#        bash toolchains/release.sh --publish   makes a GitHub release of the files in build/release/, for the tag
#                                               GITHUB_REF_NAME, by the program gh
# XNNPACK's sources are fetched, or come from the folders xnnpack, cpuinfo, pthreadpool and fxdiv of
# GOLDCREST_XNNPACK_SOURCES, which must have the pinned commits (toolchains/modules/xnnpack.cmake).
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release.sh: $*" >&2; exit 1; }

version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
if [ "$*" = --publish ]; then
  [ "${GITHUB_REF_NAME:-}" = "v$version" ] || fail "the tag is '${GITHUB_REF_NAME:-}'; expected v$version"
  cd build/release
  sha256sum --quiet -c SHA256SUMS
  exec gh release create "$GITHUB_REF_NAME" --verify-tag --title "Goldcrest $version" --notes-file ../../toolchains/release.md ./*.tar.gz ./*.whl ./*.spdx SHA256SUMS
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
xnnpack_sources=()
if [ -n "${GOLDCREST_XNNPACK_SOURCES:-}" ]; then
  xnnpack_sources=("-DFETCHCONTENT_SOURCE_DIR_XNNPACK=$GOLDCREST_XNNPACK_SOURCES/xnnpack")
  for part in cpuinfo pthreadpool fxdiv; do xnnpack_sources+=("-D${part^^}_SOURCE_DIR=$GOLDCREST_XNNPACK_SOURCES/$part"); done
fi

[ "$(dpkg --print-architecture)" = amd64 ] || fail "this machine is $(dpkg --print-architecture); expected amd64, from which the others are cross-built"
bash toolchains/install_packages.sh $([ $wheels = 1 ] && echo release || echo arm)
# In a container the tree may belong to somebody else.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$PWD" log -1 --format=%ct)}
release=$PWD/build/release stage=$PWD/build/release/stage
rm -rf "$stage" "$release"/*.{tar.gz,whl,spdx} "$release/SHA256SUMS"
mkdir -p "$stage"
[ $wheels = 0 ] || bash toolchains/wheels.sh "$release" || fail "no wheels; --no-wheels leaves them out"

pack() {
  tar -C "$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -c "$1" |
    gzip -9n > "$release/$1.tar.gz"
}

for entry in "${builds[@]}"; do
  IFS=: read -r architecture preset build compiler <<< "$entry"
  name=goldcrest-$version-linux-$architecture
  case $architecture in
    *-xnnpack) cmake --preset "$preset" -Wno-deprecated "${xnnpack_sources[@]}" ;;
    *) cmake --preset "$preset" ;;
  esac
  cmake --build --preset "$preset"
  cmake --install "$build" --prefix "$stage/$name" --strip > /dev/null
  cp toolchains/release.md "$stage/$name/README.md"
  programs=()
  for file in "$stage/$name"/bin/*; do programs+=("$(basename "$file")" "$file"); done
  bash toolchains/bill.sh "$stage/$name/share/doc/goldcrest" "$name" "$build" "$compiler" "${programs[@]}"
  cp "$stage/$name/share/doc/goldcrest/linked.spdx" "$release/$name.spdx"
  pack "$name"
done

cmake --build build/release/build --target goldcrest_source_folder
cp -r build/release/build/goldcrest_sources "$stage/goldcrest-$version-sources"
pack "goldcrest-$version-sources"

models=goldcrest-$version-models
mkdir "$stage/$models"
cp examples/models/README.md "$stage/$models"
for model in enfr g2p g2p-small g2p-bytes; do
  "$stage/goldcrest-$version-linux-amd64/bin/goldcrest-convert" --quiet "examples/models/$model" -o "$stage/$models/$model.gcst" > /dev/null
done
cp examples/models/enfr/README.md "$stage/$models/enfr.md"
cp examples/models/LICENSE.cmudict "$stage/$models"
pack "$models"

rm -r "$stage"
shopt -s nullglob
(cd "$release" && sha256sum -- *.tar.gz *.whl *.spdx > SHA256SUMS && cat SHA256SUMS)
