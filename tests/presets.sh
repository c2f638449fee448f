#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A script or a CMake file under tests/ must name every preset of CMakePresets.json, so that some test runs it.
# Usage: presets.sh SOURCE_DIR
set -euo pipefail
cd "$1"
presets=$(awk '/"configurePresets"/ { inside = 1 } /"buildPresets"/ { inside = 0 }
  inside && /"name":/ { name = $2; gsub(/[",]/, "", name); names[++n] = name }
  inside && /"hidden": true/ { delete names[n] }
  END { for (i in names) print names[i] }' CMakePresets.json | sort)
[ "$(wc -w <<< "$presets")" -ge 10 ] || { echo "presets.sh: too few presets are found: $presets" >&2; exit 1; }

mapfile -t named_by < <(find tests -name '*.sh' ! -name presets.sh -o -name '*.cmake' -o -name CMakeLists.txt)
status=0
for preset in $presets; do
  # A script of examples/ that a test runs counts for the preset that it builds.
  grep -qE "(^|[^A-Za-z0-9_/.-]|examples/)$preset(\.sh)?([^A-Za-z0-9_/.-]|\$)" "${named_by[@]}" ||
    { echo "CMakePresets.json: no test builds the preset '$preset'; name it in one, or delete it" >&2; status=1; }
done
exit $status
