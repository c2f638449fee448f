#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes what is linked into programs: FOLDER/linked.spdx (SPDX 2.3) and FOLDER/NOTICES, with its licences. BUILD is a
# build folder, TARGET a program or library of it, FILE the one that is shipped. COMPILER may have options, as
# "clang++ --target=wasm32-wasi" has. GOLDCREST_SYSROOT: the folder of toolchains/sysroot.sh that a cross build links.
# Usage: bash toolchains/bill.sh FOLDER NAME BUILD COMPILER TARGET FILE [TARGET FILE]...
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "bill.sh: $*" >&2; exit 1; }
folder=$1 name=$2 build=$3 sysroot=${GOLDCREST_SYSROOT:-}
read -r -a compiler <<< "$4"
shift 4
version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The SPDX licence of one of the distribution's packages.
licence_of() {
  case $1 in
    libc6-dev*) echo LGPL-2.1-or-later ;;
    libstdc++-*-dev* | libgcc-*-dev*) echo GPL-3.0-or-later WITH GCC-exception-3.1 ;;
    linux-libc-dev*) echo GPL-2.0-only WITH Linux-syscall-note ;;
    libflatbuffers-dev | libssl-dev) echo Apache-2.0 ;;
    libfmt-dev | nlohmann-json3-dev | libyaml-cpp-dev | wasi-libc | FXdiv) echo MIT ;;
    zlib1g-dev) echo Zlib ;;
    libevent-dev | XNNPACK) echo BSD-3-Clause ;;
    libpng-dev) echo libpng-2.0 ;;
    libjpeg*-dev) echo IJG AND BSD-3-Clause AND Zlib ;;
    libeigen3-dev) echo MPL-2.0 ;;
    libclang-* | libc++-*) echo Apache-2.0 WITH LLVM-exception ;;
    cpuinfo | pthreadpool) echo BSD-2-Clause ;;
    *) fail "package $1 is linked, and its licence is not known here" ;;
  esac
}

# The folder of one of XNNPACK's sources; nothing where the build has no XNNPACK.
source_of() { sed -n "s/^$1_SOURCE_DIR:STATIC=//p" "$build/CMakeCache.txt" | xargs -r realpath; }
xnnpack_parts=()
[ -z "$(source_of XNNPACK)" ] || xnnpack_parts=(XNNPACK cpuinfo pthreadpool FXdiv)
is_xnnpack_part() { [[ " ${xnnpack_parts[*]} " == *" $1 "* ]]; }

# The commit of XNNPACK that is pinned, or of what it fetches.
commit_of() {
  case $1 in
    XNNPACK) sed -n 's/^ *GIT_TAG \([0-9a-f]*\))$/\1/p' toolchains/modules/xnnpack.cmake ;;
    *) cat "$(source_of XNNPACK)"/cmake/Download*.cmake | sed -n "s|.*/$1/archive/\([0-9a-f]*\)[.]zip|\1|p" ;;
  esac
}

# packages_of TARGET: the packages of its headers and libraries, as its build noted them, and of XNNPACK's sources.
packages_of() {
  local library objects
  (
    cd "$build"
    objects=$(ninja -t inputs "$1" | grep -E '[.]o(bj)?$')
    { ninja -t deps $objects | sed -n 's/^    //p'; ninja -t inputs "$1"; } | sort -u | xargs -d '\n' realpath -m
    for library in libc.a libm.a libstdc++.a libgcc.a libgcc_eh.a crt1.o; do
      realpath "$("${compiler[@]}" -print-file-name=$library)"
    done
    realpath "$("${compiler[@]}" -print-libgcc-file-name)"
  ) | sort -u > "$work/read"
  grep ^/usr/ "$work/read" > "$work/files"
  grep -lxF -f "$work/files" /var/lib/dpkg/info/*.list | sed 's|.*/||; s|[.]list$||; s|:.*||' | sort -u
  if [ -n "$sysroot" ]; then
    sed -n "s|^$(realpath "$sysroot")/|/|p" "$work/read" > "$work/files"
    { grep -lxF -f "$work/files" "$sysroot"/packages/* || true; } | sed 's|.*/||; s|_.*||' | sort -u
  fi
  for library in "${xnnpack_parts[@]}"; do
    if grep -qF "$(source_of "$library")/" "$work/read"; then echo "$library"; fi
  done
}

is_in_sysroot() { [ -n "$sysroot" ] && compgen -G "$sysroot/packages/$1_*" > /dev/null; }
version_of() {
  if is_xnnpack_part "$1"; then commit_of "$1"
  elif is_in_sysroot "$1"; then compgen -G "$sysroot/packages/$1_*" | sed 's|.*_||'
  else dpkg-query -W -f '${Version}\n' "$1" | head -1; fi
}
licence_text() {
  if is_xnnpack_part "$1"; then cat "$(source_of "$1")/LICENSE"
  elif is_in_sysroot "$1"; then cat "$sysroot/usr/share/doc/$1/copyright"
  else cat "/usr/share/doc/$1/copyright"; fi
}

# An identifier of SPDX has letters, digits, dots and hyphens.
spdx_id() { tr '+_' 'x-' <<< "SPDXRef-$1"; }

# The entry of one package of an SPDX document: spdx_package NAME VERSION LICENCE
spdx_package() {
  printf '\nPackageName: %s\nSPDXID: %s\nPackageVersion: %s\n' "$1" "$(spdx_id "$1")" "$2"
  printf 'PackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\nPackageLicenseConcluded: NOASSERTION\n'
  printf 'PackageLicenseDeclared: %s\nPackageCopyrightText: NOASSERTION\n' "$3"
}

mkdir -p "$folder"
{
  printf 'SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: %s\n' "$name"
  printf 'DocumentNamespace: urn:goldcrest:%s:%s\n' "$name" "$SOURCE_DATE_EPOCH"
  printf 'Creator: Tool: goldcrest-release.sh\nCreated: %s\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
  : > "$work/packages"
  while [ $# -gt 0 ]; do
    target=$1 file=$2
    shift 2
    program=$(basename "$file")
    spdx_package "$program" "$version" Apache-2.0
    printf 'PackageChecksum: SHA256: %s\n' "$(sha256sum "$file" | cut -d' ' -f1)"
    printf 'Relationship: SPDXRef-DOCUMENT DESCRIBES %s\n' "$(spdx_id "$program")"
    packages_of "$target" > "$work/linked"
    while read -r package; do
      printf 'Relationship: %s STATIC_LINK %s\n' "$(spdx_id "$program")" "$(spdx_id "$package")"
    done < "$work/linked"
    cat "$work/linked" >> "$work/packages"
  done
  for package in $(sort -u "$work/packages"); do
    package_version=$(version_of "$package") package_licence=$(licence_of "$package")
    spdx_package "$package" "$package_version" "$package_licence"
  done
} > "$folder/linked.spdx"
{
  echo 'The programs hold parts of these packages (linked.spdx says which), in the versions of this distribution:'
  sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release
  [ ${#xnnpack_parts[@]} -eq 0 ] || printf 'Built from the commits that linked.spdx names: %s\n' "${xnnpack_parts[*]}"
  for package in $(sort -u "$work/packages"); do
    printf '\n==== %s\n\n' "$package"
    licence_text "$package"
  done > "$work/copyrights"
  cat "$work/copyrights"
  for file in /usr/share/common-licenses/*; do
    grep -qwF "$file" "$work/copyrights" || continue
    printf '\n==== %s\n\n' "$file"
    cat "$file"
  done
} > "$folder/NOTICES"
