#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs toolchains/install_packages.sh as on a bare machine, with stand-ins for apt that record their calls. Such an apt
# knows no package before it is told to update.
# Usage: install_packages.sh SOURCE_DIR
set -euo pipefail
. "$(dirname "$0")/common.sh"
source_dir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/bin"
make_command() { cat > "$work/bin/$1"; chmod +x "$work/bin/$1"; }
make_command dpkg-query <<END
#!/bin/sh
grep -qxF "\$4" "$work/installed" && echo installed
END
make_command apt-cache <<END
#!/bin/sh
echo "\$2:"
[ ! -e "$work/looked" ] || version=\$(sed -n "s/^\$2=//p" "$work/known")
if [ -e "$work/looked" ] && grep -qxF "\$2" "$work/known"; then version=1.0-1; fi
echo "  Candidate: \${version:-(none)}"
seq -f '     1.%.0f 500' 20000  # more than a pipe holds
END
make_command apt-get <<END
#!/bin/sh
echo "\$@" >> "$work/calls"
[ "\$1" != update ] || touch "$work/looked"
END
make_command sudo <<'END'
#!/bin/sh
exec "$@"
END

# try KNOWN INSTALLED [SUITE]: prints the script's output; `calls` has the arguments of apt-get. KNOWN are names, or
# NAME=VERSION.
try() {
  rm -f "$work/calls" "$work/looked"
  printf '%s\n' $1 > "$work/known"
  printf '%s\n' $2 > "$work/installed"
  PATH="$work/bin:$PATH" bash "$source_dir/toolchains/install_packages.sh" "${@:3}"
}

out=$(try 'g++ clang-format-14' '' tests)
grep -q '^Installing the packages that are missing: g++ .* clang-format-14$' <<< "$out" ||
  fail "clang-format-14 is forgotten on a bare machine"
grep -q '^install .* g++ .*g++-aarch64-linux-gnu .*clang-format-14$' "$work/calls" || fail "clang-format-14 is missing"
out=$(try 'g++' '' tests)
grep -q clang-format-14 <<< "$out" && fail "clang-format-14 is requested although it does not exist"
out=$(try 'g++ clang-format-14' '')
grep -q clang-format-14 <<< "$out" && fail "clang-format-14 is installed for a build"
all=$(try 'g++' '' | sed 's/.*missing: //')
[ -z "$(try 'g++' "$all")" ] && [ ! -e "$work/calls" ] || fail "the script acts although nothing is missing"
out=$(try 'g++ libclang-rt-dev' '' fuzz)
grep -q '^Installing .* clang .*libclang-rt-dev$' <<< "$out" ||
  fail "clang's own libraries are forgotten on a bare machine"

# XNNPACK is installed by its version: those of Debian 12 and of early 2024 are too old, Debian 13's is recent enough.
for version in 0.0~git20220216.ae108ef-2 0.0~git20240229.fcbf55a-1; do
  out=$(try "g++ libxnnpack-dev=$version libpthreadpool-dev" '')
  grep -qE 'xnnpack|pthreadpool' <<< "$out" && fail "XNNPACK $version is installed, which is too old"
done
for version in 0.0~git20241108.4ea82e5-2 0.0~git20250829.b1c7cb1-1 1.0-1; do
  out=$(try "g++ libxnnpack-dev=$version libpthreadpool-dev" '')
  grep -q '^Installing .* libxnnpack-dev libpthreadpool-dev$' <<< "$out" || fail "XNNPACK $version is not installed"
  grep -q '^install .* libxnnpack-dev libpthreadpool-dev$' "$work/calls" || fail "XNNPACK $version is not asked of apt"
done
out=$(try 'g++ libxnnpack-dev libpthreadpool-dev' '' firmware)
! grep -q xnnpack <<< "$out" || fail "XNNPACK is installed for firmware"
bash "$1/examples/quickstart.sh" --help | grep -q '^Installs missing' || fail "the quickstart has no --help"
