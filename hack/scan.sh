#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/scan.sh MODULE...   looks for known vulnerabilities; run it as `make scan`
set -eu

failed=0
root=$PWD
# In code what counts is whether a vulnerable function is called.
for module in "$@"; do
	echo "scan $module"
	(cd "$module" && "$root/bin/govulncheck" ./...) || failed=1
done
# Of a program that somebody else wrote it is told, and mended by them: a newer version is pinned when there is one.
for program in pulumi pulumi-language-yaml; do
	echo "scan bin/$program"
	bin/govulncheck -mode=binary "bin/$program" || echo "scan: look for a newer version of $program to pin in hack/tools/pulumi"
done
exit $failed
