#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release in build/release/. It has an archive each for amd64, arm64 and armhf: static programs (the
# converter only for amd64), C library, headers, CMake and pkg-config files, the list of linked packages and their
# notices. It also has the source folder, the examples' models and SHA-256 sums. The same commit, compilers and
# libraries give the same bytes.
# Usage: bash toolchains/release.sh
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release.sh: $*" >&2; exit 1; }

[ "$(dpkg --print-architecture)" = amd64 ] || fail "this machine is $(dpkg --print-architecture); expected amd64, from which the others are cross-built"
bash toolchains/install_packages.sh arm
version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
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
    *) fail "package $1 is linked, and its licence is not known here" ;;
  esac
}

# packages_of BUILD COMPILER PROGRAM: the packages whose headers and libraries are in a program, as its build noted them.
packages_of() {
  local build=$1 compiler=$2 library objects
  (
    cd "$build"
    objects=$(ninja -t inputs "$3" | grep '[.]o$')
    { ninja -t deps $objects | sed -n 's/^    //p'; ninja -t inputs "$3"; } | sort -u | xargs -d '\n' realpath -m
    for library in libc.a libm.a libstdc++.a libgcc.a libgcc_eh.a crt1.o; do realpath "$("$compiler" -print-file-name=$library)"; done
  ) | grep ^/usr/ | sort -u > "$stage/files"
  grep -lxF -f "$stage/files" /var/lib/dpkg/info/*.list | sed 's|.*/||; s|[.]list$||; s|:.*||' | sort -u
}

# The entry of one package of an SPDX document: spdx_package NAME VERSION LICENCE
spdx_package() {
  printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\nPackageVersion: %s\nPackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\n' \
    "$1" "${1//+/x}" "$2"
  printf 'PackageLicenseConcluded: NOASSERTION\nPackageLicenseDeclared: %s\nPackageCopyrightText: NOASSERTION\n' "$3"
}

# bill NAME BUILD COMPILER: linked.spdx and NOTICES of an archive.
bill() {
  local name=$1 build=$2 compiler=$3 folder=$stage/$1/share/doc/goldcrest program package file
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
      spdx_package "$package" "$(dpkg-query -W -f '${Version}\n' "$package" | head -1)" "$(licence_of "$package")"
    done
  } > "$folder/linked.spdx"
  {
    printf 'The programs hold parts of the packages that follow (linked.spdx says which), in the versions of this distribution:\n%s\n' \
      "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
    for package in $(sort -u "$stage/packages"); do
      printf '\n==== %s\n\n' "$package"
      cat "/usr/share/doc/$package/copyright"
    done > "$stage/copyrights"
    cat "$stage/copyrights"
    for file in /usr/share/common-licenses/*; do
      grep -qwF "$file" "$stage/copyrights" || continue
      printf '\n==== %s\n\n' "$file"
      cat "$file"
    done
  } > "$folder/NOTICES"
}

for machine in amd64:release:g++ arm64:raspberry-pi:aarch64-linux-gnu-g++ armhf:raspberry-pi-32:arm-linux-gnueabihf-g++; do
  IFS=: read -r architecture preset compiler <<< "$machine"
  name=goldcrest-$version-linux-$architecture build=build/$preset
  [ "$preset" != release ] || build=build/release/build
  cmake --workflow --preset "$preset"
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
