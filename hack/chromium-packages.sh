#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks Debian's Chromium into a directory, and installs nothing: with the libraries that this machine does not have, and two
# fonts, so that the pictures of the page look the same everywhere. apt checks each package against the signed lists of the
# release. On a machine without apt, or without a way to its archive, the script says so and the tests that need a browser are
# skipped. With CHROMIUM=1 that is an error.
#
# usage: hack/chromium-packages.sh DIR   DIR/root is written, and DIR/chromium, which starts it
set -eu

packages="chromium fonts-inter fonts-dejavu-core"
dir=$1
mkdir -p "$dir"
dir=$(cd "$dir" && pwd -P)
# What is unpacked while this is killed must not be taken for all of it: the program that starts it is written last.
rm -rf "$dir/archives" "$dir/lists" "$dir/root" "$dir/chromium"
without() {
	echo "the page is not tested in a browser: $1" >&2
	rm -rf "$dir/archives" "$dir/lists" "$dir/root"
	[ -z "${CHROMIUM:-}" ] || exit 1
	exit 0
}
for program in apt-get dpkg-deb; do
	command -v $program >/dev/null || without "Chromium comes from Debian's archive, and this machine has no $program"
done
mkdir -p "$dir/archives/partial" "$dir/lists/partial" "$dir/root"

# What the machine has installed is downloaded as well (--reinstall), as it is looked for in DIR/root. What that depends on is in
# its place already. The locks are those of who installs packages, which nobody does here.
fetch() {
	apt-get -qq -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o "Dir::Cache::archives=$dir/archives/" "$@"
}

echo "fetching $packages of Debian (140 MB)"
# The lists of the machine may be old or not be there. Then they are fetched aside.
# shellcheck disable=SC2086 # a list of words
fetch install --reinstall --download-only --no-install-recommends -y $packages >/dev/null 2>&1 || {
	own="-o Dir::State::lists=$dir/lists/ -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache="
	rm -f "$dir"/archives/*.deb # of other versions, if they came before the error
	fetch $own update && fetch $own install --reinstall --download-only --no-install-recommends -y $packages >/dev/null ||
		without "apt cannot fetch $packages"
}
for package in "$dir"/archives/*.deb; do
	dpkg-deb -x "$package" "$dir/root"
done
rm -rf "$dir/archives" "$dir/lists"

# Only these fonts, whatever the machine has.
cat >"$dir/fonts.conf" <<'CONF'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">root/usr/share/fonts</dir>
  <cachedir prefix="relative">fonts-cache</cachedir>
  <alias><family>sans-serif</family><prefer><family>Inter</family><family>DejaVu Sans</family></prefer></alias>
  <alias><family>system-ui</family><prefer><family>Inter</family><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
CONF
cat >"$dir/start" <<'START'
#!/bin/sh
dir=$(cd "$(dirname "$0")" && pwd -P)
lib=$dir/root/usr/lib
for libraries in "$lib"/*-linux-gnu "$lib"/*-linux-gnu/pulseaudio "$dir"/root/lib/*-linux-gnu; do
	LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
done
export LD_LIBRARY_PATH FONTCONFIG_FILE="$dir/fonts.conf"
exec "$lib/chromium/chromium" "$@"
START
chmod +x "$dir/start"
"$dir/start" --version >/dev/null 2>&1 || without "the unpacked Chromium does not start"
mv "$dir/start" "$dir/chromium"
