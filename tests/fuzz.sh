#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes one target, or all in turn, on every core, and appends a line about each run to tests/fuzz/totals.txt (or to
# $FUZZ_TOTALS). The target "kernels" runs the contract of the kernel tables with new sizes and contents each time.
# Usage: bash tests/fuzz.sh TARGET|all|kernels SECONDS [JOBS], TARGET|all merge|add, or coverage [FOLDER]
# "coverage" prints which lines and branches the inputs of all targets reach, and lists the others in build/coverage.
# Inputs with new edges are stored in build/fuzz/corpus/TARGET; "bash tests/fuzz.sh TARGET merge" packs the
# necessary ones into tests/fuzz/corpus/TARGET.txt. A finding ends the run with status 1 and is stored in
# build/fuzz/findings/TARGET. After you mend it, "bash tests/fuzz.sh TARGET add" moves it into the corpus.
# FUZZ_BUILD=plain builds targets without sanitizers: they run three times as many inputs, to find edges, not errors.
# FUZZ_BUILD=small builds fuzz_model with the engine of microcontrollers, without the features of CMake options.
# Status 77: there is no clang.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/common.sh
[ $# -ge 2 ] || [ "${1:-}" = coverage ] || { sed -n 's/^# \(Usage: .*\)/\1/p' "$0" >&2; exit 2; }
wanted=$1 seconds=${2:-} jobs=${3:-$(nproc)} totals=${FUZZ_TOTALS:-tests/fuzz/totals.txt}

# Finds clang and sets its version's suffix, which its tools share.
find_clang() {
  for version in -14 ''; do
    if command -v "clang++$version" >/dev/null; then return; fi
  done
  skip "needs clang; bash toolchains/install_packages.sh fuzz installs it"
}

# configure FOLDER OPTIONS...
configure() { [ -e "$1/build.ninja" ] || CC="clang$version" CXX="clang++$version" cmake --preset fuzz -B "$@"; }

# Sets the folder of the targets, the options of their build, and its name in the totals.
build=build/fuzz options=() kind=''
set_build() {
  local flags='-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp'
  flags+=" -fsanitize-coverage-ignorelist=$PWD/tests/fuzz/uncounted.txt"
  case ${FUZZ_BUILD:-} in
    '') ;;
    plain) options=("-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_C_FLAGS=$flags") ;;
    small)
      mapfile -t options < <(sed -n 's/^GOLDCREST_OPTION([^,]*, \(\w*\),.*/-D\1=OFF/p' engine/base/features-inl.h)
      [ "${#options[@]}" -gt 0 ] || fail "engine/base/features-inl.h has no options to leave out" ;;
    *) fail "FUZZ_BUILD is $FUZZ_BUILD, expected plain or small" ;;
  esac
  if [ -n "${FUZZ_BUILD:-}" ]; then
    [ "$seconds" != merge ] || fail "merge counts the edges of the build without FUZZ_BUILD"
    build+=_$FUZZ_BUILD kind=" ($FUZZ_BUILD)"
  fi
}

# Limits of an input: seconds, and megabytes of one allocation and of the process.
limits=(-timeout=10 -malloc_limit_mb=1024 -rss_limit_mb=2048)
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=1:max_malloc_fill_size=0
ASAN_OPTIONS+=:allocator_release_to_os_interval_ms=5000
if [ -d /dev/shm ]; then export TMPDIR=/dev/shm; fi

total() { echo "$(git rev-parse --short=12 HEAD) $1$kind: $seconds s on $jobs cores, $2" | tee -a "$totals"; }

# unpack TARGET [BUILD]: writes the packed corpus to build/fuzz/kept/TARGET for libFuzzer. A new target has none yet.
unpack() {
  local kept=build/fuzz/kept/$1 file=tests/fuzz/corpus/$1.txt
  rm -rf "$kept"
  mkdir -p "$kept"
  [ ! -e "$file" ] || LLVM_PROFILE_FILE=/dev/null "${2:-$build}/tests/fuzz/pack_corpus" unpack "$file" "$kept"
}

# pack TARGET FOLDER: replaces the packed corpus by the inputs in this folder.
pack() {
  local file=tests/fuzz/corpus/$1.txt
  mkdir -p tests/fuzz/corpus
  "$build/tests/fuzz/pack_corpus" pack "$2" "$file"
  echo "$1: $(sed -n '2s/.*: //p' "$file") inputs, $(stat -c %s "$file") bytes packed"
}

# Packs the inputs that are needed to reach all edges.
merge() {
  local target=$1 work=build/fuzz/merge/$1
  unpack "$target"
  rm -rf "$work"
  mkdir -p "$work/merged" "build/fuzz/corpus/$target"
  cp -r "build/fuzz/corpus/$target" "$work/found"
  "$build/tests/fuzz/$target" -set_cover_merge=1 "${limits[@]}" "$work/merged" "build/fuzz/kept/$target" "$work/found" \
    2>"$work/log"
  pack "$target" "$work/merged"
}

# Moves mended findings into the packed corpus.
add() {
  mkdir -p "build/fuzz/findings/$1"
  unpack "$1"
  cp -r "build/fuzz/findings/$1/." "build/fuzz/kept/$1"
  pack "$1" "build/fuzz/kept/$1"
  rm -rf "build/fuzz/findings/$1"
}

# Runs JOBS processes that share their inputs, each with a log of its own.
fuzz() {
  local target=$1 corpus=build/fuzz/corpus/$1 findings=build/fuzz/findings/$1 logs=build/fuzz/logs/$1 job status=0
  # Most bytes of an input: longer texts and calls only repeat, which costs executions and finds nothing.
  local longest=1024 running=()
  [[ ! $target =~ ^fuzz_(model|samples|text|tokenizer_tables)$ ]] || longest=256
  [ "$target" != fuzz_convert ] || longest=4096
  rm -rf "$logs"
  mkdir -p "$corpus" "$findings" "$logs"
  unpack "$target"
  for ((job = 0; job < jobs; ++job)); do
    "$build/tests/fuzz/$target" "-max_total_time=$seconds" "${limits[@]}" -max_len=$longest -len_control=10 \
      -entropic=0 -reload=10 -print_final_stats=1 "-artifact_prefix=$findings/" \
      "$corpus" "build/fuzz/kept/$target" 2>"$logs/$job" &
    running+=($!)
  done
  for job in "${running[@]}"; do wait "$job" || status=1; done
  local executions edges n_findings
  executions=$(sed -n 's/^stat::number_of_executed_units: //p' "$logs"/* | awk '{ n += $1 } END { print n + 0 }')
  edges=$(grep -oh ' cov: [0-9]*' "$logs"/* | awk '$2 > n { n = $2 } END { print n + 0 }')
  n_findings=$(find "$findings" -type f | wc -l)
  total "$target" "$executions executions, $edges edges, $n_findings findings"
  if [ "$status" -ne 0 ] || [ "$n_findings" -ne 0 ]; then
    grep -hE 'broken promise|ERROR|runtime error|Test unit written' "$logs"/* >&2 || tail -n 5 "$logs"/* >&2
    return 1
  fi
}

# coverage_of REPORT NAME PATTERN LINES BRANCHES: prints a line of the table for all sources whose names match. Adds
# NAME to `below` if the percentage of lines or branches is too low.
below=''
coverage_of() {
  awk -v name="$2" -v pattern="$3" -v lines_asked="$4" -v branches_asked="$5" '
    function per_cent(missed, all) { return all == 0 ? 100 : 100 * (all - missed) / all }
    function share(missed, all) { return sprintf("%d of %d, %.1f %%", all - missed, all, per_cent(missed, all)) }
    $1 ~ pattern { lines += $8; missed_lines += $9; branches += $11; missed_branches += $12 }
    END {
      if (lines > 0) printf "| %s | %s | %s |\n", name, share(missed_lines, lines), share(missed_branches, branches)
      if (lines == 0 || per_cent(missed_lines, lines) < lines_asked) exit 1
      exit per_cent(missed_branches, branches) < branches_asked
    }' "$1" || below+=" $2"
}

# Runs every target on all of its inputs, in a build that counts lines and branches.
coverage() {
  local folder=$1 target flags='-O1 -DNDEBUG -fprofile-instr-generate -fcoverage-mapping'
  local -a objects=()
  command -v "llvm-cov$version" >/dev/null && command -v "llvm-profdata$version" >/dev/null ||
    skip "needs llvm; bash toolchains/install_packages.sh fuzz installs it"
  configure "$folder" "${options[@]}" -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_C_FLAGS=$flags"
  cmake --build "$folder" --target "${targets[@]}"
  for target in "${targets[@]}"; do
    mkdir -p "build/fuzz/corpus/$target"
    unpack "$target" "$folder"
    LLVM_PROFILE_FILE="$folder/$target.profile" "$folder/tests/fuzz/$target" -runs=0 "${limits[@]}" -max_len=4096 \
      "build/fuzz/kept/$target" "build/fuzz/corpus/$target" 2>"$folder/$target.log" ||
      { tail -n 40 "$folder/$target.log" >&2; exit 1; }
    objects+=(${objects[@]:+-object} "$folder/tests/fuzz/$target")
  done
  "llvm-profdata$version" merge -o "$folder/all" "$folder"/*.profile
  "llvm-cov$version" show "${objects[@]}" "-instr-profile=$folder/all" -show-branches=count >"$folder/lines.txt"
  "llvm-cov$version" report "${objects[@]}" "-instr-profile=$folder/all" >"$folder/report.txt"
  echo '| sources | lines | branches |'
  echo '|---|---|---|'
  coverage_of "$folder/report.txt" validate 'engine/model/(validate|structure|float_bounds)' 99.2 99.7
  coverage_of "$folder/report.txt" model_view 'engine/model/model_view' 98.5 100
  coverage_of "$folder/report.txt" plan 'engine/memory/' 100 100
  coverage_of "$folder/report.txt" text 'engine/text/' 99.8 99.8
  coverage_of "$folder/report.txt" 'C API' 'engine/api/' 99 99.6
  coverage_of "$folder/report.txt" sources 'converter/sources/' 98 94
  coverage_of "$folder/report.txt" dialects 'converter/dialects/' 99 95
  [ -z "$below" ] || [ "${FUZZ_BUILD:-}" = small ] || fail "fewer lines or branches are reached than asked in:$below"
}

fuzz_kernels() {
  local job status=0 runs=build/fuzz/logs/kernels program=${CONTRACT_RUNS:-}
  if [ -z "$program" ]; then
    cmake --preset host >/dev/null
    cmake --build --preset host --target contract_runs >/dev/null
    program=build/host/tests/kernels/contract_runs
  fi
  rm -rf "$runs"
  mkdir -p "$runs"
  local -a running=()
  for ((job = 0; job < jobs; ++job)); do  # no run number occurs twice
    "$program" "$seconds" "$(($(date +%s) * 1000000 + job * 100000))" >"$runs/$job" &
    running+=($!)
  done
  for job in "${running[@]}"; do wait "$job" || status=1; done
  cat "$runs"/* >&2
  total kernels "$(sed -n 's/^runs .*: \([0-9]*\) slots of tables, \([0-9]*\) differ$/\1 \2/p' "$runs"/* |
    awk '{ n += $1; d += $2 } END { print n + 0 " slots of tables compared, " d + 0 " differ" }')"
  return "$status"
}

if [ "$wanted" = kernels ]; then
  fuzz_kernels
  exit
fi
find_clang
targets=("$wanted")
if [[ "$wanted" =~ ^(all|coverage)$ ]]; then
  mapfile -t targets < <(find tests/fuzz -name 'fuzz_*.cc' -printf '%f\n' | sed 's/\.cc$//' | sort)
fi
set_build
if [ "$wanted" = coverage ]; then
  if [ "${FUZZ_BUILD:-}" = small ]; then targets=(fuzz_model); fi
  coverage "${2:-build/coverage${FUZZ_BUILD:+_$FUZZ_BUILD}}"
  exit
fi
configure "$build" "${options[@]}"
cmake --build "$build" --target "${targets[@]}"
for target in "${targets[@]}"; do
  case $seconds in merge | add) "$seconds" "$target" ;; *) fuzz "$target" ;; esac
done
