#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Builds one pinned program into bin/. An installed one is never used, whatever its version: what the tests run and what the
# image has is built from modules that go.sum vouches for, on each machine the same.
#
# usage: hack/build-tool.sh OUT DIR PACKAGE MODULE DURATION
#   OUT       the program to write, bin/NAME, or bin/ARCH/NAME for that architecture
#   DIR       the module under hack/tools that pins it
#   PACKAGE   its main package
#   MODULE    the module whose version is the program's version
#   DURATION  how long a first build takes, in words
set -eu

out=$PWD/$1 name=${1##*/} dir=$2 package=$3 module=$4 duration=$5
case $1 in
bin/*/*)
	GOARCH=$(basename "$(dirname "$1")")
	export GOARCH
	;;
esac
version=$(cd "$dir" && go list -m -f '{{.Version}}' "$module")

# minor prints "1.36" for any text with a version in its first line, as "Kubernetes v1.36.1".
minor() { sed -n '1s/.*[ v]\([0-9][0-9]*\.[0-9][0-9]*\)\..*/\1/p'; }

# ldflags gives the version to programs that only know it from their linker.
ldflags() {
	printf '%s' '-s -w'
	case $name in
	kube-apiserver | kube-controller-manager | kube-scheduler | kubelet | kube-proxy | kubectl)
		v=k8s.io/component-base/version
		mm=$(echo "$version" | minor)
		printf '%s' " -X $v.gitVersion=$version -X $v.gitMajor=${mm%.*} -X $v.gitMinor=${mm#*.}"
		;;
	flux) printf '%s' " -X main.VERSION=${version#v}" ;;
	flux-operator) printf '%s' " -X main.VERSION=$version" ;;
	pulumi) printf '%s' " -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=$version" ;;
	esac
}

# heartbeat gives a sign of life every 30 seconds, because a first build is silent for minutes. It ends with this script.
heartbeat() {
	seconds=0
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		seconds=$((seconds + 1))
		[ $((seconds % 30)) -ne 0 ] || echo "  still building $name ($seconds s)"
	done
}

# lacking prints what a program embeds that its releases download or generate, so that its module has none: a path in the
# module, and a text to embed in its place.
lacking() {
	case $name in
	flux) echo "cmd/flux/manifests/none.yaml # Not embedded: tests install Flux from its CRDs." ;;
	flux-operator) echo "web/dist/index.html <!-- Not embedded: no test opens its page. -->" ;;
	esac
}

# modfile prints the go.mod to build with: the pinned one, or for a program that does not compile from its module alone, one
# with a copy of the module that has what is lacking. (An overlay cannot add a file to the module cache.)
modfile() {
	lacking=$(lacking)
	[ -n "$lacking" ] || { echo "$PWD/$dir/go.mod" && return; }
	copy=$PWD/bin/src/$name
	rm -rf "$copy"
	mkdir -p "$copy"
	cp -R "$(cd "$dir" && go mod download "$module" && go list -m -f '{{.Dir}}' "$module")" "$copy/module"
	chmod -R u+w "$copy/module"
	path=$copy/module/${lacking%% *}
	mkdir -p "$(dirname "$path")"
	echo "${lacking#* }" >"$path"
	cp "$dir/go.mod" "$dir/go.sum" "$copy"
	go mod edit -replace "$module=$copy/module" "$copy/go.mod"
	echo "$copy/go.mod"
}

# build runs go build in the foreground: a background child of a shell would ignore Ctrl-C.
build() {
	CGO_ENABLED=0 go build -C "$dir" -modfile "$mod" -trimpath -ldflags "$(ldflags)" -o "$out" "$package"
}

# Before there are traps: a signal that comes before a new subshell has dropped them is lost.
heartbeat &
beat=$!
trap 'kill $beat 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$(dirname "$out")"
# Never write through a link, as to an installed program.
[ ! -L "$out" ] || rm -f "$out"

echo "building $name $version (first time takes about $duration)..."
start=$(date +%s)
mod=$(modfile)
if ! build; then
	echo "building $name failed, trying once more in case a download was cut short" >&2
	build
fi
# go build leaves an unchanged program alone; make needs to see that it is newer than go.mod.
touch "$out"
echo "built $name $version in $(($(date +%s) - start)) s"
