#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel without network, installs it into a fresh environment and tests it there. Leaves with 77 if Python
# lacks scikit-build-core. GOLDCREST_WHEEL_PYTHON names another Python [python3].
# Usage: wheel.sh SOURCE WORK
set -euo pipefail
source=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
python=${GOLDCREST_WHEEL_PYTHON:-python3}
"$python" -c 'import scikit_build_core, build' 2>/dev/null || { echo "skipped: $python lacks scikit-build-core or build"; exit 77; }
rm -rf "$work"/dist "$work"/environment "$work"/run
(cd "$source" && _PYTHON_HOST_PLATFORM=manylinux_2_36_$(uname -m) "$python" -m build --wheel --no-isolation \
  -C build-dir="$work/build" -o "$work/dist" . > "$work/build.log" 2>&1) || { tail -n 40 "$work/build.log" >&2; exit 1; }
"$python" -m venv "$work/environment"
"$work/environment/bin/python" -m pip install --quiet --no-index "$work"/dist/*.whl
mkdir "$work/run"
ln -s "$source/examples" "$work/run/examples"
if "$python" -m mypy --version > /dev/null 2>&1; then (cd "$source/converter/python" && "$python" -m mypy --strict goldcrest); fi
if "$python" -m ruff --version > /dev/null 2>&1; then "$python" -m ruff check --no-cache --config "$source/pyproject.toml" "$source/converter/python"; fi
cd "$work/run"
"$work/environment/bin/python" -W error "$source/tests/python/wheel_test.py" "$source" "$work"/dist/*.whl
