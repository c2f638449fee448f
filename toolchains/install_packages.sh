#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages that the build needs and the machine lacks, from the distribution (Debian 12 or 13, Ubuntu
# 24.04). Usage: bash toolchains/install_packages.sh [tests|full|arm|release|firmware|riscv|lint|fuzz|python]
set -euo pipefail

# Prints the version of the package that apt would install; nothing if apt knows none. "apt-cache show" also succeeds
# for a name that others merely mention. sed reads to the end, because apt-cache fails when it cannot write on.
offered_version() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([^(].*\)$/\1/p'; }
is_offered() { [ -n "$(offered_version "$1")" ]; }

# The first version whose interface engine/backends/xnnpack/adapter.cc knows, whatever distribution offers it. Older
# ones have no fully connected operators for dynamically quantized int8, or others.
least_xnnpack=0.0~git20241108

packages=(g++ cmake ninja-build flatbuffers-compiler libflatbuffers-dev nlohmann-json3-dev
  libfmt-dev libssl-dev libeigen3-dev libevent-dev libyaml-cpp-dev zlib1g-dev libpng-dev libjpeg-dev)
optional=()  # where the distribution has them
web=(clang lld llvm wasi-libc libclang-rt-dev-wasm32 libc++-dev-wasm32)  # WebAssembly
riscv=(gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf
  qemu-system-misc qemu-system-riscv)  # the last belongs to the one before, or is its own
firmware=(gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-dev qemu-system-arm)
if [[ "${1:-}" =~ ^(tests|arm|release)$ ]]; then
  packages+=(g++-aarch64-linux-gnu g++-arm-linux-gnueabihf googletest qemu-user)
fi
case "${1:-}" in
  tests)
    packages+=(libgtest-dev libsentencepiece-dev sentencepiece curl binutils cppcheck patch pkgconf "${firmware[@]}") ;;
  release) packages+=(git ca-certificates binutils python3-venv zip "${web[@]}") ;;
  firmware) packages+=("${firmware[@]}") ;;
  python) packages+=(python3-venv libzstd-dev) ;;  # Debian 13's static OpenSSL needs the second
  riscv) optional+=("${riscv[@]}") ;;
  full)
    packages+=(debootstrap man-db mandoc zsh)
    optional+=("${web[@]}" nodejs node-typescript esbuild fish g++-i686-linux-gnu debian-archive-keyring ubuntu-keyring
      g++-riscv64-linux-gnu "${riscv[@]}" dpkg-dev lintian arduino-builder zip wine64 g++-mingw-w64-x86-64-posix)
    command -v npm > /dev/null || optional+=(npm) ;;  # others' nodejs has npm, and Debian's does not fit it
  lint) packages+=(clang-tidy cppcheck) ;;
  fuzz)
    packages+=(clang llvm libgtest-dev)
    optional+=(libclang-rt-dev) ;;  # belongs to clang's own package if the distribution has no such package
esac
# The version that sources are formatted with; Debian 13 lacks it.
if [[ "${1:-}" =~ ^(tests|lint)$ ]]; then optional+=(clang-format-14); fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: no apt here. Install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }

as_root() {
  [ "$(id -u)" -ne 0 ] || { "$@"; return; }
  command -v sudo >/dev/null || { echo "install_packages.sh: run as root, or install sudo" >&2; exit 1; }
  sudo "$@"
}

# The apt of a bare machine knows no packages before its first update.
for package in "${optional[@]}"; do
  if is_installed "$package"; then continue; fi
  is_offered g++ || as_root apt-get update -qq
  if is_offered "$package"; then packages+=("$package"); fi
done

missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
# XNNPACK for the programs. The apt of a machine that lacks nothing else is not told to look.
if [ -z "${1:-}" ]; then
  if [ "${#missing[@]}" -gt 0 ] && ! is_offered g++; then as_root apt-get update -qq; fi
  if dpkg --compare-versions "$(offered_version libxnnpack-dev)" ge "$least_xnnpack"; then
    for package in libxnnpack-dev libpthreadpool-dev; do is_installed "$package" || missing+=("$package"); done
  fi
fi
[ "${#missing[@]}" -eq 0 ] && exit 0

echo "Installing the packages that are missing: ${missing[*]}"
as_root apt-get update -qq
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
