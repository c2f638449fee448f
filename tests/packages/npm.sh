#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs the npm package, installs it without a network in a folder of its own, and uses it by its name: its README's
# program, the texts of this machine's goldcrest-translate, the worker, TypeScript and a bundler.
# Leaves with 77 and a sentence if npm, a model or the host's program is missing, or at the end tsc or esbuild.
# Usage: npm.sh BUILD WORK [HOST]
#   BUILD   a build of preset wasm      HOST   a build for this machine, with models of the golden_ tests [build/host]
set -euo pipefail
tests=$(cd "$(dirname "$0")/.." && pwd)
host=${3:-$tests/../build/host} spoken='G OW1 L D K R EH2 S T'
. "$tests/packages/common.sh"
needs npm
models=$host/tests/kernels/golden translate=$host/examples/goldcrest-translate
for file in "$models"/{g2p,enfr}.gcst "$translate"; do
  [ -e "$file" ] || skip "$file is missing; ctest --preset host -R golden_ makes the models"
done
models=$(realpath "$models") translate=$(realpath "$translate")
make_packages "$1" "$2"
mkdir "$work/program"
export HOME=$work npm_config_cache=$work/cache npm_config_update_notifier=false npm_config_offline=true
cp -r "$build/packages/npm/goldcrest" "$work/goldcrest"

cd "$work/goldcrest"
npm pack --silent --pack-destination "$work" > "$work/pack.log"
version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' "$tests/../CMakeLists.txt")
packed=$work/goldcrest-transformer-$version.tgz
tar -tzf "$packed" | sort > "$work/files"
printf 'package/%s\n' LICENSE README.md goldcrest.d.mts goldcrest.mjs goldcrest.wasm package.json worker.mjs |
  diff - "$work/files" || fail "the package has other files"
! grep -rlF "$(dirname "$tests")" . || fail "paths of this machine are in the package"

cd "$work/program"
npm install --silent --no-audit --no-fund "$packed"
installed=$work/program/node_modules/goldcrest-transformer
[ "$(ls node_modules)" = goldcrest-transformer ] || fail "it brings others: $(ls node_modules)"
sed -n '/^```js$/,/^```$/p' "$installed/README.md" | sed '1d;$d' > readme.mjs
cp "$models/g2p.gcst" .
[ "$(node readme.mjs)" = "$spoken" ] || fail "README's program prints: $(node readme.mjs)"
cat > texts.mjs << 'END'
import { readFileSync } from 'node:fs';
import { load } from 'goldcrest-transformer';
const model = await load(readFileSync(process.argv[2]));
for (const line of readFileSync(0, 'utf8').trimEnd().split('\n')) console.log(model.translate(line));
END
for task in g2p enfr; do
  cut -f 1 "$tests/data/$task/valid.tsv" | uniq | awk 'NR <= 20' > "$task.txt"
  "$translate" "$models/$task.gcst" < "$task.txt" > "$task.expected"
  node texts.mjs "$models/$task.gcst" < "$task.txt" | diff "$task.expected" - || fail "$task: other texts than here"
done
! node texts.mjs "$tests/data/g2p/valid.tsv" < g2p.txt > refusal 2>&1 && grep -q 'it is not a .gcst file' refusal ||
  fail "a text file is taken for a model"

# The worker, in a thread of node that has what a page's worker has.
cat > page.mjs << 'END'
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
const thread = `
  const { parentPort } = require('node:worker_threads');
  globalThis.onmessage = null;
  globalThis.postMessage = (...words) => parentPort.postMessage(...words);
  import('goldcrest-transformer/worker.mjs').then(() => parentPort.on('message', data => onmessage({ data })));`;
const worker = new Worker(thread, { eval: true });
const bytes = new Uint8Array(readFileSync('g2p.gcst')).buffer;
worker.on('message', data => {
  if (data.info) worker.postMessage({ id: 2, text: 'bird' });
  if (data.error || data.done) { console.log(data.error ?? data.translation); worker.terminate(); }
});
worker.postMessage({ id: 1, bytes, options: { beamSize: 1 } }, [bytes]);
END
[ "$(node page.mjs)" = "B ER1 D" ] || fail "the worker answers: $(node page.mjs)"

# The types name what the module has, and no more.
cat > names.mjs << 'END'
import { readFileSync } from 'node:fs';
import * as goldcrest from 'goldcrest-transformer';
const types = readFileSync('node_modules/goldcrest-transformer/goldcrest.d.mts', 'utf8');
const names = (text, pattern) => [...text.matchAll(pattern)].map(match => match[1]).sort().join();
const members = kind => names(types.split(`export ${kind} {`)[1].split('\n}')[0], /^  (?:readonly )?(\w+)[(:]/gm);
const model = await goldcrest.load(readFileSync('g2p.gcst'));
const check = (found, expected) => {
  expected = expected.filter(name => name !== 'constructor').sort().join();
  if (found !== expected) throw new Error(`types: ${found}; the module has ${expected}`);
};
check(names(types, /^export (?:class|function) (\w+)/gm), Object.keys(goldcrest));
check(members('interface Info'), Object.keys(model.info));
check(members('class Model').replace('private ', ''), Object.getOwnPropertyNames(goldcrest.Model.prototype));
END
node names.mjs
echo "npm.sh: $(wc -c < "$packed") bytes packed, $(du -sb --apparent-size "$installed" | cut -f 1) installed"

missing=()
if command -v esbuild > /dev/null; then
  echo 'export * from "goldcrest-transformer";' > bundled.mjs
  logged "$work/bundle.log" esbuild --bundle --format=esm --platform=browser --outfile=bundle/goldcrest.mjs \
    --log-level=warning bundled.mjs
  [ ! -s "$work/bundle.log" ] || { cat "$work/bundle.log" >&2; fail "warnings of esbuild"; }
  cp "$installed/goldcrest.wasm" bundle
  sed 's|goldcrest-transformer|./bundle/goldcrest.mjs|' readme.mjs > with_bundle.mjs
  [ "$(node with_bundle.mjs)" = "$spoken" ] || fail "bundled, README's program prints: $(node with_bundle.mjs)"
else
  missing+=(esbuild)
fi
if command -v tsc > /dev/null; then
  cat > program.mts << 'END'
import { compile, GoldcrestError, Info, load, Model } from 'goldcrest-transformer';
const bytes = new Uint8Array(3);
const model: Model = await load(bytes.buffer, { beamSize: 1, module: await compile(), abbreviations: 'Mr' });
const info: Info = model.info;
model.selfTest();
for (const text of model.steps('bird')) console.log(text.length, info.memoryBytes.toFixed());
const hash: bigint = model.logitsHash('bird'), text: string = model.translate('bird');
try { model.close(); } catch (error) { if (error instanceof GoldcrestError) console.log(error.status + 1, hash, text); }
// @ts-expect-error: a model comes from load()
new Model();
// @ts-expect-error: the option has another name
await load(bytes, { beams: 1 });
// @ts-expect-error: a text is no number
model.translate(3);
// @ts-expect-error: facts of a file do not change
model.info = info;
END
  for options in '--module nodenext' '--module es2022 --moduleResolution node'; do
    tsc --noEmit --strict --target es2022 $options program.mts || fail "tsc $options"
  done
else
  missing+=(tsc)
fi
[ ${#missing[@]} = 0 ] || skip "the rest, because ${missing[*]} is not installed"
echo "npm.sh: types and bundle"
