#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Makes what a release has of config: the contents of the OCI artifact, with the image and the version in it, and the files to
# download that are built from them.
#
# usage: hack/release-manifests.sh IMAGE DIR   run it as `make release-manifests IMAGE=name:v1.2.3@sha256:...`
#   IMAGE   what the Deployments name; its tag is the version
#   DIR     DIR/config and DIR/assets are written, after DIR was emptied
set -eu

image=$1 dir=$2
name=ghcr.io/flux-pulumi/pulumi-controller
kustomize=$PWD/bin/kustomize
tagged=${image%%@*}

rm -rf "$dir"
mkdir -p "$dir/assets"
cp -R config "$dir/config"
rm "$dir/config/embed.go"
(cd "$dir/config/manager" && "$kustomize" edit set image "$name=$image")
# The variants of the image, which are in an argument, have the tag of the image with a suffix.
sed -i "s|$name:latest-|$tagged-|" "$dir/config/runner-images/kustomization.yaml"
# Where the objects are, and not where they are put together: a shard is made of the manager alone.
for part in crd rbac manager notifications/rbac; do
	(cd "$dir/config/$part" && "$kustomize" edit add label "app.kubernetes.io/version:${tagged##*:}" --without-selector --include-templates)
done
"$kustomize" build "$dir/config/crd" >"$dir/assets/pulumi-controller.crds.yaml"
"$kustomize" build "$dir/config/default" >"$dir/assets/install.yaml"
grep -qF "image: $image" "$dir/assets/install.yaml" || {
	echo "release-manifests: the manifests do not have the image $image" >&2
	exit 1
}
