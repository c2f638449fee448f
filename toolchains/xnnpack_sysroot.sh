#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian 13's XNNPACK and its dependencies into a folder, for machines whose own package is too old. Installs
# nothing. The packages come from this machine's apt mirror and are checked with Debian's keys. A complete folder is not
# touched. Usage: bash toolchains/xnnpack_sysroot.sh FOLDER amd64|arm64|armhf
set -euo pipefail

usage() { echo "usage: bash toolchains/xnnpack_sysroot.sh FOLDER amd64|arm64|armhf" >&2; exit 2; }
[ $# -eq 2 ] || usage
folder=$1 architecture=$2
case "$architecture" in
  amd64) programs=() ;;
  arm64) programs=(qemu-user:amd64) emulator=qemu-aarch64 ;;  # Debian 12's does not emulate /proc/cpuinfo
  armhf) programs=(qemu-user:amd64) emulator=qemu-arm ;;
  *) usage ;;
esac
libraries=(libxnnpack-dev libxnnpack0.20241108 libpthreadpool-dev libpthreadpool0 libcpuinfo0 libc6 libgcc-s1)
[ -e "$folder/complete" ] && exit 0

command -v apt-get >/dev/null || { echo "xnnpack_sysroot.sh: needs apt-get, which this machine lacks" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keys" ] || { echo "xnnpack_sysroot.sh: needs $keys (package debian-archive-keyring)" >&2; exit 1; }
mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(SITE) $(REPO_URI)' 'Created-By: Packages' |
  awk '$1 == "Debian" && $2 == "main" && $NF !~ /security/ && !n++ { print $NF }')
[ -n "$mirror" ] || { echo "xnnpack_sysroot.sh: this machine's apt has no Debian mirror" >&2; exit 1; }

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
state="$folder/apt"
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/packages"
echo "deb [signed-by=$keys] $mirror trixie main" > "$state/sources.list"
: > "$state/status"
apt() {
  local command=$1
  shift
  "$command" -qq -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "APT::Architectures::=amd64" \
    -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache" \
    -o "Dir::Etc::sourcelist=$state/sources.list" -o "Dir::Etc::sourceparts=/dev/null" \
    -o "Acquire::Languages=none" -o "APT::Sandbox::User=$(id -un)" "$@"
}
apt apt-get update
(cd "$state/packages" && apt apt-get download "${libraries[@]/%/:$architecture}" "${programs[@]}")
for package in "$state/packages"/*.deb; do
  case "$package" in
    */qemu-user_*) dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" "./usr/bin/$emulator" ;;
    *) dpkg-deb -x "$package" "$folder" ;;
  esac
done
rm -r "$state"
touch "$folder/complete"
