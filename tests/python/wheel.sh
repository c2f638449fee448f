#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the source distribution and from it the wheel, without network, installs the wheel into a fresh environment and
# tests it there, then runs the page's program in each other Python of this machine (GOLDCREST_WHEEL_OTHERS names them)
# and in PyPy. Leaves with 77 if Python lacks scikit-build-core. Asks auditwheel, mypy and ruff where Python has
# them. GOLDCREST_WHEEL_PYTHON names another Python [python3]. Without WORK, only checks that Python 3.9 can read the
# package, and that its limits are those of the C header. With MACHINE, cross-builds that machine's wheel as the release
# does (toolchains/wheels.sh). Debian's Python for it then runs the package under qemu-user: it makes CONVERTER's files.
# Usage: wheel.sh SOURCE [WORK [arm64|armhf CONVERTER]]
set -euo pipefail
. "$(dirname "$0")/../common.sh"
source=$(cd "$1" && pwd)
python=${GOLDCREST_WHEEL_PYTHON:-python3}
needs "$python"
if [ $# -eq 1 ]; then
  exec "$python" - "$source/engine/include/goldcrest/goldcrest.h" "$source"/converter/python/goldcrest/*.py << 'END'
import ast, re, sys

def readable(text, name):
    try:
        ast.parse(text, name, feature_version=(3, 9))
    except SyntaxError as error:
        return f"{name}:{error.lineno}: {error.msg}"

assert readable("match x:\n    case 1: pass\n", "3.10"), "this Python takes newer syntax for that of 3.9"
texts = {name: open(name, encoding="utf-8").read() for name in sys.argv[1:]}
errors = list(filter(None, (readable(text, name) for name, text in texts.items() if name.endswith(".py"))))
header = re.search(r"typedef struct goldcrest_limits \{(.*?)\} goldcrest_limits;", texts[sys.argv[1]], re.S).group(1)
fields = re.findall(r"^  uint32_t (\w+);", header, re.M)
native = next(text for name, text in texts.items() if name.endswith("_native.py"))
names = list(ast.literal_eval(re.search(r"^LIMIT_NAMES = (\(.*?^\))", native, re.M | re.S).group(1)))
if fields != names or len(fields) < 10:
    errors.append(f"_native.py: LIMIT_NAMES is {names}; goldcrest.h has {fields}")
sys.exit("\n".join(errors) or 0)
END
fi
mkdir -p "$2"
work=$(cd "$2" && pwd)

if [ $# -gt 2 ]; then
  machine=$3 converter=$4 root=$work/root
  case $machine in
    arm64) emulator=qemu-aarch64 tag=aarch64 ;;
    armhf) emulator=qemu-arm tag=armv7l ;;
  esac
  needs $emulator
  emulator=$(command -v $emulator)
  rm -rf "$work"/dist "$work"/installed "$work"/run
  bash "$source/toolchains/wheels.sh" "$work/dist" "$machine" || exit $?
  bash "$source/toolchains/sysroot.sh" "$root" "$machine" python || skip "no Python for $machine"
  # pip reads the tag: the wheel is for glibc 2.34 and later ones, of which Debian 12's is one.
  "$python" -m pip install --quiet --no-index --no-deps --no-compile --only-binary :all: \
    --platform manylinux_2_34_$tag --target "$work/installed" "$work"/dist/*.whl
  mkdir "$work/run"
  cd "$work/run"
  for model in enfr g2p; do "$converter" --quiet "$source/examples/models/$model" -o $model.expected > /dev/null; done
  emulation=("$emulator" -cpu max -L "$root")
  exec "${emulation[@]}" -E PYTHONHOME="$root/usr" -E PYTHONPATH="$work/installed" "$root/usr/bin/python3.11" -W error \
    - "$source/examples/models" "${emulation[@]}" << 'END'
import hashlib, platform, subprocess, sys, time
from pathlib import Path

models, *emulator = sys.argv[1:]
start = subprocess.Popen
# The kernel runs no program of another machine, so the emulator runs the package's.
subprocess.Popen = lambda command, **options: start([*emulator, *command], **options)

import goldcrest

for name in ("g2p", "enfr"):
    begin = time.perf_counter()
    goldcrest.convert(f"{models}/{name}", name + ".gcst")
    found, expected = (hashlib.sha256(Path(f"{name}.{end}").read_bytes()).hexdigest() for end in ("gcst", "expected"))
    assert found == expected, f"{name}: another file than this machine's converter writes: {found}, expected {expected}"
    print(f"{platform.machine()}: {name}.gcst has SHA-256 {found}, as here; {time.perf_counter() - begin:.0f} s")
model = goldcrest.Model("enfr.gcst", beam_size=4, threads=2, batch=2)
model.self_test()
assert model.translate(["Let's go home.", "I'm hungry."]) == ["Allons à la maison.", "J'ai faim."]
command = [goldcrest._native.FOLDER + "/goldcrest_programs", "translate", "g2p.gcst"]
spoken = subprocess.run(command, input=b"goldcrest\n", stdout=subprocess.PIPE, check=True).stdout
assert spoken == b"G OW1 L D K R EH2 S T\n", spoken
try:
    goldcrest.convert("missing", "out.gcst")
except goldcrest.Error as error:
    assert "missing" in str(error), error
else:
    raise AssertionError("a missing checkpoint was converted")
END
fi

"$python" -c 'import scikit_build_core, build' 2>/dev/null || skip "$python lacks scikit-build-core or build"
rm -rf "$work"/{dist,environment,run,build.log}
logged "$work/build.log" env _PYTHON_HOST_PLATFORM="manylinux_2_34_$(uname -m)" \
  "$python" -m build --no-isolation -C build-dir="$work/build" -o "$work/dist" "$source"
if "$python" -m auditwheel --version > /dev/null 2>&1; then
  # It asks for another name than a pure Python's, which py3-none is on purpose, and finds no library but the C library.
  "$python" -m auditwheel show "$work"/dist/*.whl > "$work/audit.txt" &&
    grep -qE 'manylinux_2_(2[0-9]|3[0-4])_' "$work/audit.txt" || { cat "$work/audit.txt" >&2; exit 1; }
fi
[ "$(stat -c %s "$work"/dist/*.tar.gz)" -le 3000000 ] || { ls -l "$work/dist" >&2; exit 1; }
"$python" -m venv "$work/environment"
"$work/environment/bin/python" -m pip install --quiet --no-index "$work"/dist/*.whl
"$work/environment/bin/python" -m pip install --quiet numpy || echo "skipped: numpy cannot be had"
cd "$source/converter/python"
if "$python" -m mypy --version > /dev/null 2>&1; then "$python" -m mypy --strict goldcrest; fi
if "$python" -m ruff --version > /dev/null 2>&1; then
  "$python" -m ruff check --no-cache --config "$source/pyproject.toml" .
fi
mkdir "$work/run"
ln -s "$source/examples" "$work/run/examples"
cd "$work/run"
GOLDCREST_TQDM=$("$python" -c 'import tqdm, os; print(os.path.dirname(tqdm.__path__[0]))' 2> /dev/null || true)
export GOLDCREST_TQDM
for test in wheel interrupt options refusal compare; do
  "$work/environment/bin/python" -W error "$source/tests/python/${test}_test.py" "$source" "$work"/dist/*.whl
done
site=$(echo "$work"/environment/lib/python3*/site-packages)
awk '/^```/ { inside = /python$/; next } inside' "$source/converter/python/README.md" > page.py
for other in ${GOLDCREST_WHEEL_OTHERS:-python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy3}; do
  "$other" -c '' 2> /dev/null || { echo "skipped: no $other"; continue; }
  PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 "$other" -W error page.py > page.txt || exit 1
  grep -q "^Où se trouve la gare ? J'ai faim.$" page.txt || { cat page.txt >&2; exit 1; }
  echo "the page's program in $("$other" -c 'import sys; print(sys.implementation.name, *sys.version_info[:3])')"
done
