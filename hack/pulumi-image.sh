#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Prints the image of Pulumi that an image of the Dockerfile is built on, by digest: the one in the Dockerfile or, where that
# has none, the one that the registry has for its tag now. The image must be for all architectures of a release, and must have
# the Pulumi of its tag. It needs docker with buildx, and jq.
#
# usage: hack/pulumi-image.sh VARIANT   nodejs, python, go or all
set -eu

fail() {
	echo "pulumi-image: $*" >&2
	exit 1
}

argument=PULUMI_$(echo "$1" | tr '[:lower:]' '[:upper:]')
image=$(sed -n "s/^ARG $argument=//p" Dockerfile)
[ -n "$image" ] || fail "the Dockerfile has no ARG $argument"
index=$(docker buildx imagetools inspect --format '{{json .Manifest}}' "$image") || fail "the registry has no $image"

tagged=${image%%@*}
image=$tagged@$(echo "$index" | jq -er .digest)
echo "$image" | grep -Eqx '[a-z/-]+:[0-9]+\.[0-9]+\.[0-9]+@sha256:[0-9a-f]{64}' || fail "$image is not an image with a version and a digest"
for arch in amd64 arm64; do
	echo "$index" | jq -e --arg arch "$arch" 'any(.manifests[]?.platform; .os == "linux" and .architecture == $arch)' >/dev/null ||
		fail "$image is not for linux/$arch"
done
version=$(docker run --rm --network none --entrypoint pulumi "$image" version)
[ "$version" = "v${tagged##*:}" ] || fail "$image has Pulumi $version"
echo "$image"
