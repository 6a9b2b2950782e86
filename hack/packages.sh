#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/packages.sh concurrent|serial   lists the packages whose tests make test-unit runs: those that have, or whose
# tests have, goroutines or anything that is for them, or the others. The latter include those with tests that are left out
# with the race detector.
set -eu

concurrent=$(grep -rlE --include='*.go' '\bgo func|^[[:space:]]+go [a-z]|\.Go\(|"sync|\bchan |\.Parallel\(' internal cmd ./*.go |
	xargs -n 1 dirname | sort -u)
case $1 in
concurrent) echo "$concurrent" ;;
serial)
	find internal cmd ./*.go -name '*.go' -not -path '*/testdata/*' -printf '%h\n' | sort -u | grep -vxF "$concurrent"
	grep -rlx --include='*_test.go' '//go:build !race' internal cmd | xargs -r -n 1 dirname | sort -u
	;;
esac | sed 's|^\([^.]\)|./\1|'
