#!/bin/sh
# A browser shows what --html writes: search, filters, sorting, the picture and the keyboard work, and names stay text.
# What is expected is counted in --remarks.
#
#   html_test.sh DTYPEMUT TESTDATA
set -eu
command -v chromium >/dev/null || { echo "no Chromium here"; exit 77; }
dtypemut=$1
testdata=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
remarks=$scratch/remarks

# write GRAPH: the page, and the beginning of a script that will run in it
write() {
  "$dtypemut" run "$testdata/$1" --target trn2 --dtype bf16 --dry-run --quiet --html "$scratch/page.html" --remarks "$remarks" \
    2>/dev/null
  all=$(wc -l <"$remarks")
  cat >"$scratch/script" <<'END'
const faults = [];
try {
const same = (what, found, expected) => {
  if (found !== expected) faults.push(`${what}: expected '${expected}', found '${found}'`);
};
const text = (selector) => { const element = document.querySelector(selector); return element ? element.textContent : "none"; };
const centre = () => document.querySelector("#picture .centre title").textContent.split("\n")[0];
const press = (id, ...keys) => {
  for (const key of keys) document.getElementById(id).dispatchEvent(new KeyboardEvent("keydown", {key}));
};
const go = (fragment) => { history.replaceState(null, "", "#" + fragment); readHash(); };
END
}

# then_ SCRIPT: what the script is to do next
then_() { printf '%s\n' "$1" >>"$scratch/script"; }

# counts FRAGMENT PATTERN: such a search leaves as many decisions as lines of the remarks match
counts() {
  expected=$(grep -c -- "$2" "$remarks" || true)
  [ "$expected" = "$all" ] && shown="$all decisions" || shown="$expected of $all decisions"
  then_ "go('$1'); same('$1', text('#shown'), '$shown');"
}

# browse FRAGMENT: opens the page there, lets the script run, and fails if that finds a fault
browse() {
  then_ '} catch (error) { faults.push(error.stack); }'
  then_ 'document.body.append(Object.assign(document.createElement("pre"), {id: "faults", textContent: faults.join("\n") || "no faults"}));'
  {
    sed '/^<\/body>/d;/^<\/html>/d' "$scratch/page.html"
    echo '<script nonce="page">'
    cat "$scratch/script"
    echo '</script></body></html>'
  } >"$scratch/shown.html"
  chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$scratch/profile" --virtual-time-budget=5000 \
    --dump-dom "file://$scratch/shown.html#$1" >"$scratch/dom" 2>/dev/null
  grep -q '<pre id="faults">no faults' "$scratch/dom" && return
  sed -n '/<pre id="faults">/,/<\/pre>/p' "$scratch/dom" >&2
  echo "testing the page of $testdata: faults, or the script did not run" >&2
  exit 1
}

requester() { sed 's/.*"requester": "\([^"]*\)".*/\1/'; }

write run/dot/g.json
then_ "same('the fragment it was opened with', text('#shown'), '$(grep -c '"state": "mismatch"' "$remarks") of $all decisions');"
then_ "same('at first', centre(), '$(grep '"state": "mismatch"' "$remarks" | head -1 | requester)');"
counts '' .
counts 'state=mutated' '"state": "mutated"'
counts 'reason=psum' '"reason": "psum"'
counts 'reason=unheard-of' .
counts 'q=TWICE' '"twice"'
counts 'q=load_w%20mm' '"requester": "mm".*"producer": "load_w"'
counts 'q=no-such-name' 'no-such-name'
then_ "same('nothing found', text('#decisions .body'), 'nothing matches');"
counts 'q=mm&state=mutated&op=SBAtomLoad' '"requester": "mm".*"state": "mutated"'
then_ "document.getElementById('filters').reset(); applyFilters(); same('Clear', text('#shown'), '$all decisions');"
then_ "same('the fragment then', location.hash, '');"
then_ "document.querySelector('#reasons [data-reason=psum]').click();"
then_ "same('the button of a reason', text('#shown'), '$(grep -c '"reason": "psum"' "$remarks") of $all decisions');"
then_ "same('the fragment then', location.hash, '#reason=psum');"
then_ "go('wq=w'); same('a search for weights', text('#weights-shown'), '1 of 2 weights');"
then_ "go('at=copy&depth=1'); same('a picture', centre(), 'copy');"
then_ "same('its nodes', [...document.querySelectorAll('#picture [data-node]')].map((node) => nameOfNode(Number(node.dataset.node))).sort().join(' '), 'again copy read_w result');"
then_ "document.querySelector('#picture [data-node=\"7\"]').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));"
then_ "same('going to a node', centre(), 'result'); same('the fragment then', location.hash, '#at=result&depth=1');"
then_ "go('at=no-such-name'); same('an unknown name', text('#chosen'), 'no instruction or tensor has that in its name');"
then_ "go(''); press('decisions', 'End', 'ArrowUp', 'ArrowUp', 'Enter');"
then_ "same('the keyboard', centre(), '$(tail -3 "$remarks" | head -1 | requester)');"
then_ "document.querySelector('#decisions .head button').click();"
then_ "same('sorting', document.querySelector('#decisions-0 .name').title, '$(requester <"$remarks" | LC_ALL=C sort | head -1)');"
browse 'state=mismatch'

# Only the rows in sight are in the page, wherever it is scrolled to.
write real/mnist.json
then_ "const rows = () => [...document.querySelectorAll('#decisions .row')].map((row) => Number(row.dataset.position));"
then_ "same('the first row', rows()[0], 0); same('few rows', rows().length < $all, true);"
then_ "press('decisions', 'End'); same('the last row', rows().at(-1), $((all - 1))); same('the first row', rows().includes(0), false);"
then_ "same('the audit', text('#weights .head').includes('Max rel error'), true);"
browse ''

write run/dot-hostile-names/g.json
then_ "for (const node of [...instructions.names.keys()]) { choose(node); same('a picture', centre(), nameOfNode(node).split('\n')[0]); }"
then_ "go('q=%3Cimg'); go('at=line%0Abreak&depth=4'); same('a line break', nameOfNode(shownNode), 'line\nbreak');"
then_ "same('a line break, shown', text('#story h3'), 'line␊break');"
then_ "same('elements', document.querySelectorAll('img, b b, i, script:not([nonce])').length, 0);"
then_ "same('bold text', [...document.querySelectorAll('b')].every((b) => b.textContent.endsWith(': ')), true);"
then_ "same('a name', document.querySelector('#weights .name').title, '<!--');"
then_ "same('the title', document.title, '$testdata/run/dot-hostile-names/g.json: bfloat16 – dtypemut');"
browse ''
