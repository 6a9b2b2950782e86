#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the files of a release are complete and belong together. `make release` does it; `make test-release` then
# installs them on a node.
#
# usage: hack/release-check.sh VERSION DIR
set -eu

version=$1 assets=$2/assets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "release-check: $1" >&2
	exit 1
}

(cd "$assets" && sha256sum --check --quiet --strict checksums.txt) || fail "the checksums differ"
for file in install.yaml pulumi-controller.crds.yaml pulumi.yaml; do
	grep -qF " $file" "$assets/checksums.txt" || fail "there is no $file"
done

# The image that the Deployment names is what is in the archives.
image=$(sed -n 's/^ *image: //p' "$assets/install.yaml" | sort -u)
[ "$image" = "ghcr.io/flux-pulumi/pulumi-controller:v$version" ] || fail "install.yaml has the image $image"
for archive in "$assets"/pulumi-controller_"$version"_linux_*.tar; do
	[ -e "$archive" ] || fail "there is no archive of the image"
	tar -xOf "$archive" manifest.json | grep -qF "\"$image\"" || fail "$archive does not have the image $image"
	bill=${archive%.tar}.spdx.json
	grep -qF "\"name\": \"$image\"" "$bill" || fail "$bill is not of the image $image"
done

# The catalogue names each archive of the plugin by its checksum, and the one for this machine runs.
for archive in "$assets"/flux-pulumi_"$version"_*.tar.gz "$assets"/flux-pulumi_"$version"_*.zip; do
	[ -e "$archive" ] || continue
	grep -qF "sha256:$(sha256sum "$archive" | cut -d ' ' -f 1)" "$assets/pulumi.yaml" || fail "pulumi.yaml does not have the checksum of $archive"
done
own=$assets/flux-pulumi_${version}_$(go env GOHOSTOS)_$(go env GOHOSTARCH).tar.gz
if [ -e "$own" ]; then
	tar -xzf "$own" -C "$work"
	"$work/flux-pulumi" --version | grep -qF "$version" || fail "the plugin says that it is $("$work/flux-pulumi" --version)"
	# Both are of the same commit.
	"$work/flux-pulumi" install --export >"$work/export.yaml"
	[ "$(grep -E '^kind: |^ *image: ' "$work/export.yaml" | sort)" = "$(grep -E '^kind: |^ *image: ' "$assets/install.yaml" | sort)" ] ||
		fail "the plugin does not install what install.yaml has"
fi
