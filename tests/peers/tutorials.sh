#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tutorials.sh SOURCE BUILD WORK MODELS [annalog]: runs tutorials.py. Installs packages if Python has none; exits with
# 77 if they cannot be had. First the test must notice a program whose ids are wrong. annalog uses the trained model of
# PyPI's annalog 1.0.6, and runs none of its code. It also exits with 77 if pip cannot get the package.
set -euo pipefail
source=$1 build=$2 work=$3 models=$4
mkdir -p "$work"
if [[ ${5:-} == annalog && ! -d $work/annalog ]]; then
  rm -rf "$work/annalog.part"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$work/annalog.part" \
      annalog==1.0.6 2>"$work/problem"; then
    echo "skipped: pip cannot install annalog==1.0.6:"
    tail -n 3 "$work/problem"
    exit 77
  fi
  mv "$work/annalog.part" "$work/annalog"
fi
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"
given=(--models "$models")
[[ ${5:-} != annalog ]] || given=(--annalog "$work/annalog")

wrong_build 's/^[0-9]* /7 /'
if "$python" "$source/tests/peers/tutorials.py" --build "$work/wrong" --work "$work/models" "${given[@]}" >"$work/found" 2>&1 ||
    ! grep -q '^goldcrest departs from' "$work/found"; then
  cat "$work/found"
  echo "tutorials.py does not notice a program whose ids are wrong"
  exit 1
fi
"$python" "$source/tests/peers/tutorials.py" --build "$build" --work "$work/models" "${given[@]}"
