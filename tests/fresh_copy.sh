#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies the tree like a clone: all files, committed or not, except those that git ignores.
# Usage: fresh_copy.sh SOURCE COPY
set -euo pipefail
source=$1 copy=$2
rm -rf "$copy"
if [ -e "$source/.git" ]; then
  mkdir -p "$copy"
  copy=$(cd "$copy" && pwd)
  git -C "$source" ls-files -z --cached --others --exclude-standard | (cd "$source" && xargs -0 cp -p --parents -t "$copy")
else
  cp -a "$source" "$copy"
fi
