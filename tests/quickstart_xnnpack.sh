#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The quickstart's programs where the distribution's XNNPACK is recent enough, and where it is not: they translate with
# its kernels, and goldcrest-bench compares with them, or they say what is missing.
# Usage: quickstart_xnnpack.sh TREE with|without
#   TREE   examples/quickstart.sh has run in it
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$1"

question='Where is the station?' wanted='Où se trouve la gare \?' wanted_status=0
[ "$2" = with ] || wanted='*this build has no XNNPACK; build with libxnnpack-dev*' wanted_status=1
for kernels in xnnpack fastest; do
  status=0
  printed=$(build/bin/goldcrest-translate build/enfr.gcst --kernels $kernels 2>&1 <<< "$question") || status=$?
  [[ $status -eq $wanted_status && $printed = $wanted ]] || fail "--kernels $kernels: $printed"
done
[ "$2" = with ] || exit 0
cmake --build --preset quickstart --target goldcrest-bench > /dev/null
printed=$(build/quickstart/examples/goldcrest-bench build/enfr.gcst --measure speed --beam-size 1,4 --batch 1 \
  --seconds 0.5 --against xnnpack)
echo "$printed"
table=$(grep -A 9 ' over xnnpack, in turns$' <<< "$printed") || true
[ "$(grep -cE '^ +[14] +1 +[0-9]+ +[0-9]+ +[0-9]+[.][0-9]{2} ' <<< "$table")" -eq 2 ] ||
  fail "goldcrest-bench prints no ratio"
