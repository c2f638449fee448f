#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages, lets lintian look at them, and installs them in a bare root. Links the program of
# examples/guides/own_model.md with what they installed; a removal leaves nothing. Leaves with 77 and a sentence where
# it cannot make a root (tests/bare_root.sh) or lintian is missing.
# Usage: debian.sh SOURCE BUILD WORK
#   BUILD   a build of SOURCE for this machine with the programs; with /usr as its prefix, else the packages come from a
#           build of their own in WORK
#        debian.sh --in-root PACKAGES: the part in the root, whose /goldcrest is the source
set -euo pipefail
. "$(dirname "$0")/../common.sh"

in_root() {
  local packages=(libgoldcrest-dev goldcrest-tools) package program
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends gcc libc6-dev pkgconf > /dev/null 2>&1
  logged /tmp/install.log apt-get install -y -qq --no-install-recommends "$1"/*.deb
  dpkg -L "${packages[@]}" | sort -u > /tmp/files
  mkdir /tmp/link
  cd /tmp/link
  mkdir build examples
  cp -r /goldcrest/examples/models examples
  # The guide's program and last commands, with the programs, headers and library that the packages installed.
  sed -n '/^The fifth command/,$p' /goldcrest/examples/guides/own_model.md > step.md
  sed -n '/^```c$/,/^```$/p' step.md | sed '1d;$d' > build/hello.c
  sed -n '/^```sh$/,/^```$/p' step.md | sed '1d;$d' |
    sed 's|build/bin/||g; s| -I engine/include||; s| build/quickstart/engine/libgoldcrest.a| -lgoldcrest|' > commands
  grep -q -- '-lgoldcrest' commands && grep -q emit-c commands || fail "the guide has another form: $(cat commands)"
  goldcrest-convert --quiet examples/models/g2p -o build/g2p.gcst --max-source 25 --max-target 33 > /dev/null
  bash -euo pipefail commands > out || fail "the guide's commands: $(cat commands)"
  [ "$(tail -1 out)" = "G OW1 L D K R EH2 S T" ] || fail "the guide's program prints: $(cat out)"
  [ "$(echo bird | goldcrest-translate build/g2p.gcst)" = "B ER1 D" ] || fail "goldcrest-translate does not pronounce"
  read -r -a flags <<< "$(pkg-config --cflags --libs goldcrest)"
  cc -I build/hello build/hello.c build/hello/model_g2p.c "${flags[@]}" -o by_pkg_config
  [ "$(./by_pkg_config)" = "G OW1 L D K R EH2 S T" ] || fail "with pkg-config: $(./by_pkg_config)"
  for program in bench inspect transcribe; do "goldcrest-$program" --help > /dev/null || fail "goldcrest-$program"; done
  apt-get purge -y -qq "${packages[@]}" > /dev/null 2>&1
  for package in "${packages[@]}"; do
    [ -z "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" ] || fail "$package is still known"
  done
  while read -r path; do
    if [ -f "$path" ] || { [ -d "$path" ] && [[ "$path" == *goldcrest* ]]; }; then fail "left behind: $path"; fi
  done < /tmp/files
  find / -xdev -iname '*goldcrest*' -not -regex '/\(goldcrest\|tmp/\|debs\|proc/\).*' > /tmp/left
  [ ! -s /tmp/left ] || fail "left behind: $(cat /tmp/left)"
  echo "debian.sh: $(wc -l < /tmp/files) paths installed, the guide's program, nothing left"
}

if [ "$1" = --in-root ]; then
  in_root "$2"
  exit
fi
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
work=$(fresh_folder "$3")
needs dpkg-shlibdeps "package dpkg-dev"
if ! grep -qx 'CMAKE_INSTALL_PREFIX:PATH=/usr' "$build/CMakeCache.txt"; then
  build=$work/build
  # The page's commands.
  sed -n 's/^    \(cmake .*cpack .*\)$/\1/p' "$source/toolchains/packages/README.md" > "$work/commands"
  [ "$(wc -l < "$work/commands")" -eq 1 ] || fail "expected one line on the page: $(cat "$work/commands")"
  sed -i "s|build/deb|$build|g" "$work/commands"
  cd "$source"
  logged "$work/build.log" bash -euo pipefail "$work/commands"
else
  logged "$work/build.log" cmake --build "$build"
  logged "$work/build.log" env -C "$build" cpack -G DEB
fi
mkdir "$work/debs"
mv "$build"/libgoldcrest-dev_*.deb "$build"/goldcrest-tools_*.deb "$work/debs"
for package in "$work"/debs/*.deb; do
  dpkg-deb -f "$package" Package Version Architecture Section Depends Installed-Size
done
if command -v lintian > /dev/null; then
  logged "$work/lintian.txt" lintian --allow-root --fail-on error,warning "$work"/debs/*.deb
  echo "debian.sh: lintian finds no errors and no warnings"
fi
bash "$source/tests/bare_root.sh" "$source" "$work/root" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/debs"
needs lintian
