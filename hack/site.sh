#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Builds the site of the documentation into bin/site/pages, with the packages that hack/site pins.
#
# usage: hack/site.sh   in the root of the repository
set -eu

rm -rf bin/site/.vitepress bin/site/sources
mkdir -p bin/site/.vitepress bin/site/sources
cp hack/site/config.mjs bin/site/.vitepress/
git ls-files README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs examples | grep -E '\.(md|png|svg)$' |
	tar -cf - -T - | tar -xf - -C bin/site/sources
bin/site/node_modules/.bin/vitepress build bin/site >bin/site/log 2>&1 || { cat bin/site/log; exit 1; }
# A page that cannot be rendered is left out, and the build succeeds.
if grep -A 3 "Error: " bin/site/log; then exit 1; fi
echo "the site is in bin/site/pages: python3 -m http.server --directory bin/site/pages shows it"
