#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Python's source distribution and a wheel for each machine, with what is linked and the licences of that, in
# FOLDER. Debian 12's C library decides which systems a wheel runs on. Wheels for Arm are cross-built. The builder and
# what it needs have fixed versions; GOLDCREST_WHEEL_PYTHON names a Python that has them. Leaves with 77 and a sentence
# where this machine lacks what a build needs. Usage: bash toolchains/wheels.sh FOLDER [sdist|amd64|arm64|armhf]...
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- sdist amd64 arm64 armhf
cd "$(dirname "$0")/.."
fail() { echo "wheels.sh: $*" >&2; exit 1; }
skip() { echo "wheels.sh: skipped: $*"; exit 77; }

# Every symbol of the C library is of this version or an older one.
least_c_library=2.34
system=$(. /etc/os-release && echo "$ID $VERSION_ID on $(dpkg --print-architecture)")
[ "$system" = "debian 12 on amd64" ] || skip "this machine is $system; wheels are built on debian 12 on amd64"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$PWD" log -1 --format=%ct)}

python=${GOLDCREST_WHEEL_PYTHON:-$PWD/build/release/python/bin/python}
if [ -z "${GOLDCREST_WHEEL_PYTHON:-}" ] && [ ! -e build/release/python/complete ]; then
  python3 -m venv --clear build/release/python || skip "python3 lacks venv"
  "$python" -m pip install -q --no-deps --only-binary :all: --require-hashes -r /dev/stdin << 'END' || skip "no builder"
build==1.6.1 --hash=sha256:ecd351a4be9d35a9eaaba244a7687143c9c7d4aea6ac964e7e7ddab20cbcf4e7
packaging==26.4 --hash=sha256:81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
pathspec==1.1.1 --hash=sha256:a00ce642f577bf7f473932318056212bc4f8bfdf53128c78bbd5af0b9b20b189
pyproject_hooks==1.3.3 --hash=sha256:5fc53fdac9f7bd63fbcdc868fb5f90b4784d78a53a3d3388cd738b807441a20b
scikit-build-core==1.1.2 --hash=sha256:7f4f959a467692db50bdd1ea7ce1507f2c7972e6023b753ee302d169bc4cec85
END
  touch build/release/python/complete
fi
"$python" -c 'import build, scikit_build_core' 2> /dev/null || skip "$python lacks build or scikit-build-core"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=/usr/bin:$PATH  # the distribution's CMake and ninja, which need no check
build_python() {
  "$python" -m build --no-isolation --skip-dependency-check "$@" . > "$work/log" 2>&1 ||
    { tail -n 40 "$work/log" >&2; fail "no build"; }
}

# Adds linked.spdx and NOTICES to a wheel: pack_wheel WHEEL FOLDER_OF_BILL OUT
pack_wheel() {
  "$python" - "$@" << 'END'
import base64, hashlib, os, sys, time, zipfile

wheel, bill, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    files = [(info.filename, info.external_attr, archive.read(info)) for info in archive.infolist()]
info = next(name.split("/")[0] for name, _, _ in files if name.endswith(".dist-info/RECORD"))
for part, place in (("linked.spdx", "sboms"), ("NOTICES", "licenses")):
    with open(os.path.join(bill, part), "rb") as file:
        files.append((f"{info}/{place}/{part}", 0o100644 << 16, file.read()))
licence = b"License-File: LICENSE\n"
changed, record = [], ""
for name, mode, data in files:
    if name == f"{info}/METADATA":
        assert data.count(licence) == 1, "METADATA does not name LICENSE once"
        data = data.replace(licence, licence + b"License-File: NOTICES\n")
    if name != f"{info}/RECORD":
        changed.append((name, mode, data))
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
changed.append((f"{info}/RECORD", 0o100644 << 16, f"{record}{info}/RECORD,,\n".encode()))
when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
with zipfile.ZipFile(os.path.join(out, os.path.basename(wheel)), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, mode, data in changed:
        entry = zipfile.ZipInfo(name, when)
        entry.external_attr, entry.compress_type = mode, zipfile.ZIP_DEFLATED
        archive.writestr(entry, data)
END
}

for part in "$@"; do
  options=() sysroot=''
  case $part in
    sdist)
      build_python --sdist -o "$folder"
      continue ;;
    amd64) machine=x86_64 compiler=g++ ;;
    arm64) machine=aarch64 compiler=aarch64-linux-gnu-g++ toolchain=aarch64-linux-gnu ;;
    armhf) machine=armv7l compiler=arm-linux-gnueabihf-g++ toolchain=arm-linux-gnueabihf ;;
    *) fail "no machine $part; expected sdist, amd64, arm64 or armhf" ;;
  esac
  command -v $compiler > /dev/null || skip "$compiler is not installed"
  if [ "$part" != amd64 ]; then
    sysroot=$PWD/build/release/sysroot-$part
    bash toolchains/sysroot.sh "$sysroot" "$part" converter || skip "the libraries for $part cannot be had"
    options=("CMAKE_TOOLCHAIN_FILE=$PWD/toolchains/$toolchain.cmake" "CMAKE_PREFIX_PATH=$sysroot/usr"
      "OPENSSL_INCLUDE_DIR=$sysroot/usr/include" "OPENSSL_CRYPTO_LIBRARY=$sysroot/usr/lib/$toolchain/libcrypto.a")
  fi
  build=build/release/wheel-$part
  _PYTHON_HOST_PLATFORM=manylinux_${least_c_library/./_}_$machine \
    build_python --wheel -C build-dir=$build "${options[@]/#/-Ccmake.define.}" -o "$work/$part"
  wheel=$(echo "$work/$part"/*.whl) files=$work/$part/files/goldcrest
  "$python" -m zipfile -e "$wheel" "$work/$part/files"
  for file in goldcrest_programs libgoldcrest.so; do
    newest=$(readelf -V "$files/$file" | grep -o 'GLIBC_[0-9.]*' | sed s/GLIBC_// | sort -V | tail -n 1)
    [ "$(printf '%s\n' "$newest" $least_c_library | sort -V | tail -n 1)" = $least_c_library ] ||
      fail "$part: $file needs version $newest of the C library; expected $least_c_library at most"
  done
  name=$(basename "$wheel" .whl)
  GOLDCREST_SYSROOT=$sysroot bash toolchains/bill.sh "$work/$part/bill" "$name" "$build" "$compiler" \
    goldcrest_programs "$files/goldcrest_programs" goldcrest_python "$files/libgoldcrest.so"
  pack_wheel "$wheel" "$work/$part/bill" "$folder"
  cp "$work/$part/bill/linked.spdx" "$folder/$name.spdx"
done
