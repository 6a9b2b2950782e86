#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/long-tests.sh packages|names DIRECTORY...   lists the packages below the directories with tests that call
# short.Skip, or a regular expression of their names, for go test -run.
set -eu

what=$1
shift
grep -rlF --include='*_test.go' 'short.Skip(t)' "$@" | sort | while read -r file; do
	# A call in a helper would be found under no name, and its tests never run.
	awk -v what="$what" -v package="./$(dirname "$file")" '
		/^func / { name = "" }
		/^func Test[A-Z]/ { name = $2; sub(/\(.*/, "", name) }
		/short\.Skip\(t\)/ {
			if (name == "") { print FILENAME ": short.Skip is called outside of a test function" >"/dev/stderr"; exit 1 }
			print (what == "names" ? name : package)
		}' "$file"
done | sort -u | if [ "$what" = names ]; then
	names=$(paste -sd '|')
	# No name at all must not be taken for all of them.
	echo "^(${names:-none})\$"
else
	cat
fi
