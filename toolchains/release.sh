#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release in build/release/. It has an archive each for amd64, arm64 and armhf: static programs (the
# converter only for amd64), C library, headers, CMake and pkg-config files, the list of linked packages and their
# notices. For amd64 and arm64 there is another with XNNPACK linked statically. It also has the source folder, the
# examples' models and SHA-256 sums. The same commit, compilers and libraries give the same bytes.
# Usage: bash toolchains/release.sh [--no-xnnpack]
#        bash toolchains/release.sh --publish   makes a GitHub release of the files in build/release/, for the tag
#                                               GITHUB_REF_NAME, by the program gh
# XNNPACK's sources are fetched, or come from the folders xnnpack, cpuinfo, pthreadpool and fxdiv of
# GOLDCREST_XNNPACK_SOURCES, which must have the pinned commits (toolchains/modules/xnnpack_fetch.cmake).
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release.sh: $*" >&2; exit 1; }

version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
if [ "$*" = --publish ]; then
  [ "${GITHUB_REF_NAME:-}" = "v$version" ] || fail "the tag is '${GITHUB_REF_NAME:-}'; expected v$version"
  cd build/release
  sha256sum --quiet -c SHA256SUMS
  exec gh release create "$GITHUB_REF_NAME" --verify-tag --title "Goldcrest $version" --notes-file ../../toolchains/release.md ./*.tar.gz SHA256SUMS
fi

builds=(amd64:release:build/release/build:g++
  arm64:raspberry-pi:build/raspberry-pi:aarch64-linux-gnu-g++
  armhf:raspberry-pi-32:build/raspberry-pi-32:arm-linux-gnueabihf-g++)
case "$*" in
  '') builds+=(amd64-xnnpack:release-xnnpack:build/release/build-xnnpack:g++
    arm64-xnnpack:raspberry-pi-xnnpack:build/release/build-xnnpack-arm64:aarch64-linux-gnu-g++) ;;
  --no-xnnpack) ;;
  *) echo "usage: bash toolchains/release.sh [--no-xnnpack | --publish]" >&2; exit 2 ;;
esac
xnnpack_sources=()
if [ -n "${GOLDCREST_XNNPACK_SOURCES:-}" ]; then
  xnnpack_sources=("-DFETCHCONTENT_SOURCE_DIR_XNNPACK=$GOLDCREST_XNNPACK_SOURCES/xnnpack")
  for part in cpuinfo pthreadpool fxdiv; do xnnpack_sources+=("-D${part^^}_SOURCE_DIR=$GOLDCREST_XNNPACK_SOURCES/$part"); done
fi

[ "$(dpkg --print-architecture)" = amd64 ] || fail "this machine is $(dpkg --print-architecture); expected amd64, from which the others are cross-built"
bash toolchains/install_packages.sh arm
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
release=$PWD/build/release stage=$PWD/build/release/stage
rm -rf "$stage" "$release"/*.tar.gz "$release/SHA256SUMS"
mkdir -p "$stage"

pack() {
  tar -C "$stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -c "$1" |
    gzip -9n > "$release/$1.tar.gz"
}

# The SPDX licence of one of the distribution's packages.
licence_of() {
  case $1 in
    libc6-dev*) echo LGPL-2.1-or-later ;;
    libstdc++-*-dev* | libgcc-*-dev*) echo GPL-3.0-or-later WITH GCC-exception-3.1 ;;
    linux-libc-dev*) echo GPL-2.0-only WITH Linux-syscall-note ;;
    libflatbuffers-dev | libssl-dev) echo Apache-2.0 ;;
    libcli11-dev) echo BSD-3-Clause ;;
    libfmt-dev | nlohmann-json3-dev | libyaml-cpp-dev) echo MIT ;;
    zlib1g-dev) echo Zlib ;;
    libeigen3-dev) echo MPL-2.0 ;;
    XNNPACK) echo BSD-3-Clause ;;
    cpuinfo | pthreadpool) echo BSD-2-Clause ;;
    FXdiv) echo MIT ;;
    *) fail "package $1 is linked, and its licence is not known here" ;;
  esac
}

# The folder of one of XNNPACK's sources in a build: source_of BUILD NAME; nothing where the build has no XNNPACK.
source_of() { sed -n "s/^$2_SOURCE_DIR:STATIC=//p" "$1/CMakeCache.txt" | xargs -r realpath; }

# The commit that is pinned: commit_of BUILD NAME.
commit_of() {
  case $2 in
    XNNPACK) sed -n 's/^  GIT_TAG \([0-9a-f]*\))$/\1/p' toolchains/modules/xnnpack_fetch.cmake ;;
    *) cat "$(source_of "$1" XNNPACK)"/cmake/Download*.cmake | sed -n "s|.*/$2/archive/\([0-9a-f]*\)[.]zip|\1|p" ;;
  esac
}

# packages_of BUILD COMPILER PROGRAM: the packages whose headers and libraries are in a program, as its build noted them, and
# which of XNNPACK's sources.
packages_of() {
  local build=$1 compiler=$2 library objects
  (
    cd "$build"
    objects=$(ninja -t inputs "$3" | grep '[.]o$')
    { ninja -t deps $objects | sed -n 's/^    //p'; ninja -t inputs "$3"; } | sort -u | xargs -d '\n' realpath -m
    for library in libc.a libm.a libstdc++.a libgcc.a libgcc_eh.a crt1.o; do realpath "$("$compiler" -print-file-name=$library)"; done
  ) | sort -u > "$stage/read"
  grep ^/usr/ "$stage/read" > "$stage/files"
  grep -lxF -f "$stage/files" /var/lib/dpkg/info/*.list | sed 's|.*/||; s|[.]list$||; s|:.*||' | sort -u
  for library in "${xnnpack_parts[@]}"; do
    if grep -qF "$(source_of "$build" "$library")/" "$stage/read"; then echo "$library"; fi
  done
}

# The entry of one package of an SPDX document: spdx_package NAME VERSION LICENCE
spdx_package() {
  printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\n' \
    "$1" "${1//+/x}" "$2"
  printf 'PackageLicenseConcluded: NOASSERTION\nPackageLicenseDeclared: %s\nPackageCopyrightText: NOASSERTION\n' "$3"
}

is_xnnpack_part() { [[ " ${xnnpack_parts[*]} " == *" $1 "* ]]; }
version_of() { if is_xnnpack_part "$2"; then commit_of "$1" "$2"; else dpkg-query -W -f '${Version}\n' "$2" | head -1; fi; }
licence_text() { if is_xnnpack_part "$2"; then cat "$(source_of "$1" "$2")/LICENSE"; else cat "/usr/share/doc/$2/copyright"; fi; }

# bill NAME BUILD COMPILER: linked.spdx and NOTICES of an archive.
bill() {
  local name=$1 build=$2 compiler=$3 folder=$stage/$1/share/doc/goldcrest program package file
  xnnpack_parts=()
  [ -z "$(source_of "$build" XNNPACK)" ] || xnnpack_parts=(XNNPACK cpuinfo pthreadpool FXdiv)
  {
    printf 'SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: %s\n' "$name"
    printf 'DocumentNamespace: urn:goldcrest:%s:%s\n' "$name" "$SOURCE_DATE_EPOCH"
    printf 'Creator: Tool: goldcrest-release.sh\nCreated: %s\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
    : > "$stage/packages"
    for file in "$stage/$name"/bin/*; do
      program=$(basename "$file")
      spdx_package "$program" "$version" Apache-2.0
      printf 'PackageChecksum: SHA256: %s\n' "$(sha256sum "$file" | cut -d' ' -f1)"
      printf 'Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-%s\n' "$program"
      for package in $(packages_of "$build" "$compiler" "$program"); do
        printf 'Relationship: SPDXRef-%s STATIC_LINK SPDXRef-%s\n' "$program" "${package//+/x}"
        echo "$package" >> "$stage/packages"
      done
    done
    for package in $(sort -u "$stage/packages"); do
      spdx_package "$package" "$(version_of "$build" "$package")" "$(licence_of "$package")"
    done
  } > "$folder/linked.spdx"
  {
    printf 'The programs hold parts of the packages that follow (linked.spdx says which), in the versions of this distribution:\n%s\n' \
      "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
    [ ${#xnnpack_parts[@]} -eq 0 ] || printf 'Built from the commits that linked.spdx names: %s\n' "${xnnpack_parts[*]}"
    for package in $(sort -u "$stage/packages"); do
      printf '\n==== %s\n\n' "$package"
      licence_text "$build" "$package"
    done > "$stage/copyrights"
    cat "$stage/copyrights"
    for file in /usr/share/common-licenses/*; do
      grep -qwF "$file" "$stage/copyrights" || continue
      printf '\n==== %s\n\n' "$file"
      cat "$file"
    done
  } > "$folder/NOTICES"
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
  bill "$name" "$build" "$compiler"
  pack "$name"
done

cmake --build build/release/build --target goldcrest_source_folder
cp -r build/release/build/goldcrest_sources "$stage/goldcrest-$version-sources"
pack "goldcrest-$version-sources"

models=goldcrest-$version-models
mkdir "$stage/$models"
cp examples/models/README.md "$stage/$models"
for model in enfr g2p g2p-small; do
  "$stage/goldcrest-$version-linux-amd64/bin/goldcrest-convert" --quiet "examples/models/$model" -o "$stage/$models/$model.gcst" > /dev/null
done
cp examples/models/enfr/README.md "$stage/$models/enfr.md"
cp examples/models/g2p/LICENSE.cmudict "$stage/$models"
pack "$models"

rm -r "$stage"
(cd "$release" && sha256sum -- *.tar.gz > SHA256SUMS && cat SHA256SUMS)
