#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subword.sh SOURCE SUBWORD_IDS WORK: runs subword.py with PyPI's subword-nmt; exits with 77 if pip cannot get it. First
# the test must notice a program whose ids are wrong.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
source=$1 program=$2 work=$3
mkdir -p "$work"
unpack_from_pypi subword-nmt==0.3.8 "$work/subword_nmt"
export PYTHONPATH=$work/subword_nmt

printf '#!/bin/sh\n"%s" "$@" | sed "s/ 7 / 8 /"\n' "$program" >"$work/wrong"
chmod +x "$work/wrong"
if python3 "$source/tests/peers/subword.py" --program "$work/wrong" --work "$work/files" >"$work/found" 2>&1 ||
    ! grep -q '^goldcrest departs from' "$work/found"; then
  cat "$work/found"
  echo "subword.py does not notice a program whose ids are wrong"
  exit 1
fi
python3 "$source/tests/peers/subword.py" --program "$program" --work "$work/files"
