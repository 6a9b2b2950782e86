#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks what a node needs of Debian into a directory, and installs nothing: containerd, runc, the CNI plugins, nft and ip, with
# the libraries that this machine does not have. apt checks each package against the signed lists of the release.
#
# usage: hack/node-packages.sh DIR   DIR/root is written
set -eu

packages="containerd runc containernetworking-plugins nftables iproute2"
dir=$1
for program in apt-get dpkg-deb; do
	command -v $program >/dev/null || {
		echo "a node takes containerd and runc from Debian's archive, and this machine has no $program" >&2
		exit 1
	}
done
rm -rf "$dir/archives"
mkdir -p "$dir/archives/partial" "$dir/lists/partial"
dir=$(cd "$dir" && pwd -P)

# What the machine has installed is downloaded as well (--reinstall), as the node looks for it in DIR/root. What that depends on
# is in its place already. The locks are those of who installs packages, which nobody does here.
fetch() {
	apt-get -qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o "Dir::Cache::archives=$dir/archives/" "$@"
}

echo "fetching $packages of Debian (36 MB)"
# The lists of the machine may be old or not be there. Then they are fetched aside.
# shellcheck disable=SC2086 # a list of words
fetch install --reinstall --download-only --no-install-recommends -y $packages >/dev/null 2>&1 || {
	own="-o Dir::State::lists=$dir/lists/ -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache="
	rm -f "$dir"/archives/*.deb # of other versions, if they came before the error
	fetch $own update
	fetch $own install --reinstall --download-only --no-install-recommends -y $packages >/dev/null
}
rm -rf "$dir/root" "$dir/unpacked"
mkdir "$dir/unpacked"
for package in "$dir"/archives/*.deb; do
	dpkg-deb -x "$package" "$dir/unpacked"
done
mv "$dir/unpacked" "$dir/root"
rm -rf "$dir/archives" "$dir/lists"
