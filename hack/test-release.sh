#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Installs the files of `make release` on a Kubernetes node that has nothing else of the project, upgrades to them from the
# release before, and goes back.
#
# usage: hack/test-release.sh VERSION [FROM]   run it as `make test-release VERSION=1.2.3`, as root
#   VERSION   without a v; it is made first, unless bin/release has it
#   FROM      the tag or commit of the release before. By default it is the newest tag before HEAD; where there is none,
#             HEAD itself takes its place, as v0.0.0.
set -eu

version=$1 from=$2
root=$PWD
[ -e "bin/release/assets/flux-pulumi_${version}_checksums.txt" ] || hack/release.sh "$version" bin/release

[ -n "$from" ] || from=$(git describe --tags --match 'v*' --abbrev=0 HEAD^ 2>/dev/null) || {
	echo "test-release: no tag is before this commit: it is upgraded from itself, as v0.0.0"
	from=HEAD
}
case $from in
v[0-9]*) before=${from#v} ;;
*) before=0.0.0 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet --no-local "$root" "$work/source"
git -C "$work/source" -c advice.detachedHead=false checkout --quiet "$(git rev-parse "$from^{commit}")"
[ -x "$work/source/hack/release.sh" ] || {
	echo "test-release: $from cannot make its release: it has no make release" >&2
	exit 1
}
arch=$(go env GOHOSTARCH)
(cd "$work/source" && ARCHES=$arch PLATFORMS=linux/$arch hack/release.sh "$before" "$work/release")

make --no-print-directory cluster-tools bin/versitygw bin/images/source-controller.tar bin/images/kustomize-controller.tar \
	bin/images/notification-controller.tar
E2E=1 RELEASE=$root/bin/release/assets RELEASE_BEFORE=$work/release/assets \
	go test -count=1 -v -timeout 30m -run '^TestARelease$' ./tests/cluster/e2e
