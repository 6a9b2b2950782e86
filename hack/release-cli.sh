#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Builds flux-pulumi for all platforms, as Flux's catalogue of plugins wants a release to be: an archive for each platform
# with the program at its root, their checksums, and the manifest of the plugin.
#
# usage: hack/release-cli.sh VERSION DIR   run it as `make release-cli CLI_VERSION=1.2.3`
#   VERSION      without a v
#   DIR          what is written, after it was emptied
#   PLATFORMS    in the environment: others than all
set -eu

version=$1 dir=$2
home=https://github.com/flux-pulumi/pulumi-controller
# The catalogue's order.
platforms=${PLATFORMS:-darwin/amd64 darwin/arm64 linux/amd64 linux/arm64 windows/amd64 windows/arm64}
case $version in
v* | "" | *[!0-9A-Za-z.+-]*) echo "release-cli: $version is no version such as 1.2.3" >&2 && exit 1 ;;
esac

rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same commit makes the same archives.
time=@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

for platform in $platforms; do
	os=${platform%/*} arch=${platform#*/} program=flux-pulumi
	name=flux-pulumi_${version}_${os}_$arch
	[ "$os" != windows ] || program=flux-pulumi.exe
	echo "building $name"
	rm -rf "$work/root" && mkdir "$work/root"
	GOOS=$os GOARCH=$arch CGO_ENABLED=0 go build -trimpath -buildvcs=false \
		-ldflags "-s -w -X main.version=$version" -o "$work/root/$program" ./cmd/flux-pulumi
	cp LICENSE "$work/root"
	touch -d "$time" "$work/root/$program" "$work/root/LICENSE"
	if [ "$os" = windows ]; then
		(cd "$work/root" && TZ=UTC zip -qX "$dir/$name.zip" "$program" LICENSE)
	else
		tar -C "$work/root" --owner=0 --group=0 --numeric-owner --mtime="$time" -cf - "$program" LICENSE | gzip -n >"$dir/$name.tar.gz"
	fi
done

(cd "$dir" && find flux-pulumi_* -name '*.tar.gz' -o -name '*.zip' | sort | xargs sha256sum --) >"$work/checksums"
mv "$work/checksums" "$dir/flux-pulumi_${version}_checksums.txt"

{
	cat <<-MANIFEST
		apiVersion: cli.fluxcd.io/v1beta1
		kind: Plugin
		name: pulumi
		description: Inspect and control the Stacks of pulumi-controller
		homepage: $home
		source: $home
		bin: flux-pulumi
		versions:
		  - version: $version
		    platforms:
	MANIFEST
	for platform in $platforms; do
		os=${platform%/*} arch=${platform#*/}
		file=$(cd "$dir" && ls "flux-pulumi_${version}_${os}_$arch."*)
		cat <<-MANIFEST
			      - os: $os
			        arch: $arch
			        url: $home/releases/download/v$version/$file
			        checksum: sha256:$(sha256sum "$dir/$file" | cut -d ' ' -f 1)
		MANIFEST
	done
} >"$dir/pulumi.yaml"
