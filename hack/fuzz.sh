#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/fuzz.sh TIME MODULE...   fuzzes each target of the modules for TIME, or with as many inputs as 500x says;
# run it as `make fuzz`
#
# Targets are found by their names, so that none is forgotten. What fails is written
# below testdata/fuzz in its package: to commit it keeps the fault from coming back.
set -eu

time=$1
shift
root=$PWD
out=$root/bin/fuzz
mkdir -p "$out"
list=$out/targets
: >"$list"

# One binary for all targets of a package: to link it takes longer than to fuzz for a second.
for module in "$@"; do
	cd "$root/$module"
	packages=$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u)
	for package in $packages; do
		# The modules nested in this one are looked at in their own turn.
		mod=$(go -C "$package" env GOMOD)
		[ "$mod" = "$PWD/go.mod" ] || continue
		binary=$out/$(echo "$module/$package" | tr -c 'a-z0-9\n' '_')
		go test -c -fuzz=. -o "$binary" "$package"
		grep -h '^func Fuzz' "$package"/*_test.go | sed 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/' | while read -r target; do
			echo "$PWD/$package $binary $target" >>"$list"
		done
	done
done
cd "$root"

# Each target has one worker, and there are as many at a time as processors.
[ -s "$list" ] || {
	echo "fuzz: no targets found" >&2
	exit 1
}
echo "fuzzing $(wc -l <"$list") targets for $time each"
# shellcheck disable=SC2016 # The inner shell expands them.
xargs -P "$(nproc)" -L 1 sh -c '
	cd "$1" && "$2" -test.run="^\$" -test.fuzz="^$3\$" -test.fuzztime="$0" -test.parallel=1 \
		-test.fuzzcachedir="$2.cache" >"$2.$3.log" 2>&1 && exit
	echo "--- $3 in $1"
	cat "$2.$3.log"
	exit 1
' "$time" <"$list"
