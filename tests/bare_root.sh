#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the README's commands on a bare system. debootstrap makes a root of the distribution's base packages, and
# tests/readme_commands.sh runs in it, as root on a new machine. Exits with 77 (skipped) and a message without root,
# without debootstrap, or if the packages cannot be had. The same if this machine has no keyring to verify them, unless
# GOLDCREST_UNVERIFIED_ROOTS=1 is set.
# Usage: bare_root.sh SOURCE WORK bookworm|trixie|noble [PACKAGES]
#   PACKAGES   a folder of Goldcrest's Debian packages: they are tested instead (tests/packages/debian.sh)
set -euo pipefail
. "$(dirname "$0")/common.sh"
source=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd) suite=$3
root=$work/root
[ "$(id -u)" -eq 0 ] || skip "only root can make a root"
needs debootstrap
keyring=/usr/share/keyrings/debian-archive-keyring.gpg components=main
if [ "$suite" = noble ]; then keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg components=main,universe; fi
verification=--keyring=$keyring
if [ ! -e "$keyring" ]; then
  [ "${GOLDCREST_UNVERIFIED_ROOTS:-}" = 1 ] || skip "$keyring is not installed"
  verification=--no-check-gpg
fi

clean_up() {
  local mounted
  for mounted in proc dev; do
    if mountpoint -q "$root/$mounted"; then umount -R "$root/$mounted"; fi
  done
  rm -rf "$root"
}
trap clean_up EXIT
clean_up
# An older debootstrap does not know newer names; the scripts are the same.
rm -rf "$work/debootstrap"
cp -r /usr/share/debootstrap "$work/debootstrap"
export DEBOOTSTRAP_DIR=$work/debootstrap
[ -e "$DEBOOTSTRAP_DIR/scripts/noble" ] || ln -s gutsy "$DEBOOTSTRAP_DIR/scripts/noble"
[ -e "$DEBOOTSTRAP_DIR/scripts/trixie" ] || ln -s sid "$DEBOOTSTRAP_DIR/scripts/trixie"
log=$work/debootstrap.log
debootstrap --variant=minbase "$verification" --components="$components" "$suite" "$root" >"$log" 2>&1 ||
  skip "the packages of $suite cannot be had: $(tail -n 1 "$log")"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp --parents /etc/apt/apt.conf.d/*[Pp]roxy* /etc/pip.conf "$root" 2>/dev/null || true
# pip trusts there what it trusts here.
cp -L "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$root/certificates.crt"

bash "$source/tests/fresh_copy.sh" "$source" "$root/goldcrest"
settings=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 GOLDCREST_WALK=whole PIP_CERT=/certificates.crt)
in_root() { env -i "${settings[@]}" chroot "$root" "$@"; }
if [ -n "${4:-}" ]; then
  cp -r "$4" "$root/debs"
  in_root bash /goldcrest/tests/packages/debian.sh --in-root /debs
  exit
fi
in_root bash /goldcrest/tests/readme_commands.sh /goldcrest /readme
[ "$suite" != bookworm ] || in_root bash /goldcrest/tests/quickstart_xnnpack.sh /readme/tree without
[ "$suite" != trixie ] || in_root bash /goldcrest/tests/quickstart_xnnpack.sh /readme/tree with
echo "bare_root: $suite: every command of the README"
