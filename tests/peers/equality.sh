#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# equality.sh SOURCE BUILD WORK MODELS [ARGUMENTS...]: equality.py, with packages of its own where Python has none; exit
# status 77 where they cannot be had. First it must find a program whose results are wrong.
set -euo pipefail

source=$1 build=$2 work=$3 models=$4
shift 4
mkdir -p "$work"
. "$source/tests/peers/packages.sh"
. "$source/tests/peers/wrong_build.sh"

wrong_build 's/ [0-9]* / 1 /'
if "$python" "$source/tests/peers/equality.py" --build "$work/wrong" --work "$work/models" --models 4 >"$work/found" 2>&1 ||
    ! grep -q 'goldcrest departs' "$work/found"; then
  cat "$work/found"
  echo "equality.py does not find a program whose results are wrong"
  exit 1
fi
rm -rf "$work/models"
"$python" "$source/tests/peers/equality.py" --build "$build" --work "$work/models" --models "$models" "$@"
