#!/bin/sh
# web.sh make [BUILD]: makes web/dist anew: the page of reports as builds take it, and its licences.
# web.sh check:        makes it in a temporary directory and compares; exit code 1 if it differs.
#
# The only place that needs Node.js and npm, and npm's registry or cache. The packages are those of
# web/package-lock.json, each with its digest, and no script of theirs is run. `make` keeps them in
# BUILD/web until that list changes, `check` always installs them: what lies in a build directory
# proves nothing.
set -eu
cd "$(dirname "$0")/.."
what=${1:-}
case $what in
make | check) ;;
*) echo "usage: tools/web.sh make [BUILD] | check" >&2; exit 2 ;;
esac
tools/deps.sh web
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
trap 'exit 130' INT TERM
packages=$made/packages
[ "$what" = check ] || packages=${2:-build}/web
mkdir -p "$packages" "$made/dist"

list=$(sha256sum <web/package-lock.json)
if [ "$(cat "$packages/installed" 2>/dev/null)" != "$list" ]; then
    rm -f "$packages/installed"
    cp web/package.json web/package-lock.json web/.npmrc "$packages"
    (cd "$packages" && npm ci --ignore-scripts --prefer-offline --fetch-retries=1 \
        --loglevel=error >"$made/log" 2>&1) || {
        cat "$made/log" >&2
        echo "web: cannot install the packages of web/package-lock.json (npm ci)" >&2
        exit 5
    }
    echo "$list" >"$packages/installed"
fi
node web/build.mjs "$packages" "$made/dist"

if [ "$what" = make ]; then
    mkdir -p web/dist
    cp "$made"/dist/* web/dist/
    exit 0
fi
differs=0
for file in page.html page.licenses.txt page.sources; do
    cmp -s "$made/dist/$file" "web/dist/$file" || {
        differs=1
        echo "web: web/dist/$file is not what web/ gives: run 'make web' and commit web/dist" >&2
    }
done
exit $differs
