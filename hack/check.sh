#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/check.sh MODULE...   vets, and tests with -short, the packages with files that differ from the commit BASE,
# which is where this branch left main if it is not set; run it as `make check`
set -eu

base=${BASE:-$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)}
changed=$({
	git diff --name-only --no-renames "$base"
	git ls-files --others --exclude-standard
} | sort -u)

# changed_in lists the directories of packages of a module with changed files. A file of a directory without Go files, such
# as testdata, belongs to the package above it, if there is one below the top.
changed_in() { # MODULE
	echo "$changed" | while read -r file; do
		directory=${file%%/testdata/*}
		[ "$directory" != "$file" ] || directory=$(dirname "$file")
		while [ "$directory" != . ] && ! ls "$directory"/*.go >/dev/null 2>&1; do
			directory=$(dirname "$directory")
		done
		case $directory/$file in
		./*.go | [!.]*) ;;
		*) continue ;;
		esac
		module=$directory
		while [ ! -f "$module/go.mod" ]; do
			module=$(dirname "$module")
		done
		[ "$module" != "$1" ] || ! ls "$directory"/*.go >/dev/null 2>&1 || echo "./$directory"
	done | sort -u
}

failed=0
fail() {
	echo "check: $*" >&2
	failed=1
}

root=$PWD
found=
for module in "$@"; do
	directories=$(changed_in "$module")
	[ -n "$directories" ] || continue
	found=1
	echo "check $module:" $directories
	unformatted=$(for directory in $directories; do gofmt -l "$directory"/*.go; done)
	[ -z "$unformatted" ] || fail "not formatted, run gofmt -w on:" $unformatted
	cd "$module"
	packages=$(go list $(echo "$directories" | sed "s|^\./$module\(/\|\$\)|./|"))
	# Those that import them are vetted as well, which finds what no longer compiles.
	importers=$(go list -f '{{$p := .ImportPath}}{{range .Imports}}{{.}} {{$p}}
{{end}}{{range .TestImports}}{{.}} {{$p}}
{{end}}{{range .XTestImports}}{{.}} {{$p}}
{{end}}' ./... | grep -F "$(echo "$packages" | sed 's/$/ /')" | cut -d ' ' -f 2 | sort -u) || true
	go vet $packages $importers || fail "go vet in $module"
	"$root/bin/staticcheck" $packages || fail "staticcheck in $module"
	# Those below tests/ start whole systems.
	[ "$module" != . ] || packages=$(echo "$packages" | grep -v '/pulumi-controller/tests/') || true
	[ -z "$packages" ] || go test -short -ldflags=-w $packages || fail "go test in $module"
	cd "$root"
done
[ -n "$found" ] || echo "check: no package differs from commit $(git rev-parse --short "$base")"
exit $failed
