#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subword.sh SOURCE SUBWORD_IDS WORK: runs subword.py with PyPI's subword-nmt; exits with 77 if pip cannot get it. First
# the test must notice a program whose ids are wrong.
set -euo pipefail
source=$1 program=$2 work=$3
mkdir -p "$work"
if [[ ! -d $work/subword_nmt ]]; then
  rm -rf "$work/subword_nmt.part"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$work/subword_nmt.part" \
      subword-nmt==0.3.8 2>"$work/problem"; then
    echo "skipped: pip cannot install subword-nmt==0.3.8:"
    tail -n 3 "$work/problem"
    exit 77
  fi
  mv "$work/subword_nmt.part" "$work/subword_nmt"
fi
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
