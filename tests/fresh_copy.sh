#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies the tree like a clone: all files, committed or not, except those that git ignores.
# Usage: fresh_copy.sh SOURCE COPY
set -euo pipefail
source=$1 copy=$2
rm -rf "$copy"
mkdir -p "$copy"
copy=$(cd "$copy" && pwd)
cd "$source"
if [ -e .git ]; then list=(git ls-files -z --cached --others --exclude-standard)
else list=(find . -path ./build -prune -o ! -type d -print0); fi
"${list[@]}" | xargs -0 cp -p --parents -t "$copy"
