#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Makes the files of a release without a registry and without Docker: the image as an archive for each architecture, with its
# bill of materials; the manifests with that image; the CRDs; the plugin of the flux command line for all platforms, with its
# entry in Flux's catalogue; and the checksums of all. The same commit makes the same files. The images of the languages are
# Pulumi's own with the controller in them, and take Docker: .github/workflows/release.yaml makes those.
#
# usage: hack/release.sh VERSION DIR   run it as `make release VERSION=1.2.3`
#   VERSION      without a v
#   DIR          DIR/config and DIR/assets are written, after DIR was emptied
#   ARCHES       in the environment: the architectures of the image, in place of "amd64 arm64"
#   PLATFORMS    in the environment: the platforms of the plugin, in place of all
set -eu

version=$1 dir=$2
name=ghcr.io/flux-pulumi/pulumi-controller
echo "$version" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$' || {
	echo "release: \"$version\" is no version such as 1.2.3: run make release VERSION=1.2.3" >&2
	exit 1
}
[ -z "$(git status --porcelain)" ] || {
	echo "release: a release is made of a commit: commit what has changed, or remove it" >&2
	git status --short >&2
	exit 1
}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
revision=$(git rev-parse HEAD)

make --no-print-directory bin/kustomize
hack/release-manifests.sh "$name:v$version" "$dir"
assets=$dir/assets

PLATFORMS=${PLATFORMS:-} hack/release-cli.sh "$version" "$dir/cli"
mv "$dir/cli"/* "$assets"
rmdir "$dir/cli"

for arch in ${ARCHES:-amd64 arm64}; do
	image=$assets/pulumi-controller_${version}_linux_$arch
	make --no-print-directory image ARCH="$arch" IMAGE="$name:v$version" IMAGE_REVISION="$revision" LDFLAGS='-s -w' \
		IMAGE_ARCHIVE="$image.tar" IMAGE_SBOM="$image.spdx.json"
done

(cd "$assets" && find . -type f | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum -- >"../checksums.txt" && mv ../checksums.txt .)
hack/release-check.sh "$version" "$dir"
echo "the files of v$version are in $assets"
