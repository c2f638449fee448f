#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian's packages for a machine into a folder and installs nothing:
#   xnnpack    Debian 13's XNNPACK, for machines whose own package is too old, with its emulator
#   converter  Debian 12's libraries that the converter links, for cross builds of the Python package
#   python     Debian 12's Python and C library, to test that package under an emulator
# The packages come from this machine's apt mirror and are checked with Debian's keys. FOLDER/packages/ then has a list
# of files for each package, NAME_VERSION. A complete folder is not touched.
# Usage: bash toolchains/sysroot.sh FOLDER amd64|arm64|armhf xnnpack|converter|python
set -euo pipefail

fail() { echo "sysroot.sh: $*" >&2; exit 1; }
usage() { echo "usage: bash toolchains/sysroot.sh FOLDER amd64|arm64|armhf xnnpack|converter|python" >&2; exit 2; }
[ $# -eq 3 ] && [[ $2 =~ ^(amd64|arm64|armhf)$ ]] || usage
folder=$1 architecture=$2 programs=() suite=bookworm
case $3 in
  xnnpack)
    suite=trixie packages=(libxnnpack{-dev,0.20241108} libpthreadpool{-dev,0} libcpuinfo0 libc6 libgcc-s1)
    case $architecture in
      arm64) programs=(qemu-user:amd64) emulator=qemu-aarch64 ;;  # Debian 12's does not emulate /proc/cpuinfo
      armhf) programs=(qemu-user:amd64) emulator=qemu-arm ;;
    esac ;;
  converter) packages=(libevent-dev libssl-dev libyaml-cpp-dev zlib1g-dev) ;;
  python) packages=({lib,}python3.11-minimal libpython3.11-stdlib libexpat1 libffi8 libssl3 zlib1g libc6 libgcc-s1) ;;
  *) usage ;;
esac
[ -e "$folder/complete" ] && exit 0

command -v apt-get >/dev/null || fail "needs apt-get, which this machine lacks"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keys" ] || fail "needs $keys (package debian-archive-keyring)"
mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(SITE) $(REPO_URI)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 == "main" && $NF !~ /security/ && !n++ { print $NF }')
[ -n "$mirror" ] || fail "this machine's apt has no Debian mirror"

mkdir -p "$folder/packages"
folder=$(cd "$folder" && pwd)
state="$folder/apt"
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/packages"
echo "deb [signed-by=$keys] $mirror $suite main" > "$state/sources.list"
: > "$state/status"
apt() {
  "$1" -qq -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" \
    -o "APT::Architectures::=amd64" -o "Dir::State=$state" -o "Dir::State::status=$state/status" \
    -o "Dir::Cache=$state/cache" -o "Dir::Etc::sourcelist=$state/sources.list" -o "Dir::Etc::sourceparts=/dev/null" \
    -o "Acquire::Languages=none" -o "APT::Sandbox::User=$(id -un)" "${@:2}"
}
apt apt-get update
(cd "$state/packages" && apt apt-get download "${packages[@]/%/:$architecture}" "${programs[@]}")
for package in "$state/packages"/*.deb; do
  case "$package" in
    */qemu-user_*) dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" "./usr/bin/$emulator" ;;
    *)
      dpkg-deb -x "$package" "$folder"
      name=$(dpkg-deb -W --showformat '${Package}_${Version}' "$package")
      dpkg-deb --fsys-tarfile "$package" | tar -t | sed -n 's|^[.]\(/.*[^/]\)$|\1|p' > "$folder/packages/$name" ;;
  esac
done
# Headers of one machine: a build then needs one folder of them.
for triplet in "$folder"/usr/include/*-linux-gnu*; do
  if [ -d "$triplet" ]; then cp -rs "$triplet/." "$folder/usr/include/"; fi
done
rm -r "$state"
touch "$folder/complete"
