#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Installs the packages of a program in TypeScript, of the versions in its package-lock.json, and runs none of their scripts. A
# machine without Node.js, npm or a way to npm's packages is told so, and the tests that need them are skipped there. With
# TYPESCRIPT=1 it is an error.
#
# usage: hack/node-modules.sh PROGRAM DIR [tarballs]   DIR/node_modules is written, and with tarballs DIR/tarballs: the tarballs
# of the packages, which npm names by their digests
set -eu

program=$1
dir=$2
tarballs=${3:-}
# What is installed while this is killed must not be taken for all of it.
part=$dir.part
without() {
	echo "the programs in TypeScript are not tested: $1" >&2
	rm -rf "$dir" "$part"
	[ -z "${TYPESCRIPT:-}" ] || exit 1
	exit 0
}
for needed in node npm; do
	command -v $needed >/dev/null || without "this machine has no $needed"
done
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || without "Node.js 20 or later is needed, and this is $(node --version)"

echo "installing the packages of $program (150 MB)"
rm -rf "$dir" "$part"
mkdir -p "$part"
cp "$program/package.json" "$program/package-lock.json" "$part/"
install() {
	(cd "$part" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error \
		--fetch-retries=1 --fetch-timeout=60000 --cache .cache >/dev/null)
}
install || install || without "npm cannot install their packages"
[ -z "$tarballs" ] || mv "$part/.cache/_cacache/content-v2" "$part/tarballs"
rm -rf "$part/.cache"
touch "$part"
mv "$part" "$dir"
