#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/verify.sh "MODULE..." "GENERATED PATH..."   run it as `make verify`, which generates first
set -eu

modules=$1 generated=$2
failed=0

for module in $modules; do
	echo "verify $module: go mod tidy"
	# A second try, because this may download and a download may be cut short.
	(cd "$module" && { go mod tidy -diff >/dev/null 2>&1 || go mod tidy -diff; }) || {
		echo "verify: go.mod or go.sum of $module is not tidy, run go mod tidy there" >&2
		failed=1
	}
done

echo "verify generated files"
# shellcheck disable=SC2086 # a list of paths
git diff --exit-code -- $generated || {
	echo "verify: generated files differ from what is committed, run make generate and commit" >&2
	failed=1
}
# shellcheck disable=SC2086
untracked=$(git ls-files --others --exclude-standard -- $generated)
[ -z "$untracked" ] || {
	echo "verify: generated files are not committed: $untracked" >&2
	failed=1
}

exit $failed
