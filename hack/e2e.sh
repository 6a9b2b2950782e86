#!/usr/bin/env bash
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests on a real cluster: that of KUBECONFIG, or a node that they start on this machine and end again.
#
# usage: hack/e2e.sh [--if-possible] [-short]   run it as `make e2e E2E_FLAGS="..."`
#   --if-possible   end well, with a line that says why, where this machine cannot have a node
#   -short          leave out the crowds of Stacks, and the tests of NetworkPolicies on a node that enforces none
set -euo pipefail

# A machine that cannot have a node is told from a fault by this status of `cluster check`.
cannot=3

# refuse ends with the reason why there can be no node.
refuse() {
	if [ "$optional" = --if-possible ]; then
		echo "e2e: not run: $1"
		exit 0
	fi
	echo "e2e: $1" >&2
	echo "e2e: set KUBECONFIG and HOST_ADDRESS to run the tests on a cluster that is there, see CONTRIBUTING.md" >&2
	exit 1
}

optional='' short=''
for argument in "$@"; do
	case $argument in
	--if-possible) optional=$argument ;;
	-short) short=$argument ;;
	*)
		echo "usage: $0 [--if-possible] [-short]" >&2
		exit 2
		;;
	esac
done

if [ -z "${KUBECONFIG:-}" ]; then
	# What takes minutes to build is not built in vain.
	[ "$(id -u)" = 0 ] || refuse "a Kubernetes node can only be started by root"
	for program in apt-get dpkg-deb; do
		command -v $program >/dev/null || refuse "a Kubernetes node takes containerd from Debian's archive, and this machine has no $program"
	done
	if [ ! -d bin/node/root ] && ! said=$(hack/node-packages.sh bin/node 2>&1); then
		refuse "the packages of Debian that a Kubernetes node needs cannot be had: ${said//$'\n'/ }"
	fi
	make --no-print-directory bin/cluster bin/pause
	status=0
	said=$(bin/cluster check 2>&1) || status=$?
	[ $status -ne $cannot ] || refuse "$said"
	[ $status -eq 0 ] || {
		echo "e2e: $said" >&2
		exit 1
	}
	# What a run left that was killed goes when the next one starts its node. That of `make cluster-up` is another.
	make --no-print-directory cluster-tools
else
	# Nobody changes a cluster by accident who has KUBECONFIG set for something else.
	[ -n "${HOST_ADDRESS:-}" ] || {
		echo "e2e: HOST_ADDRESS has to be the address of this machine as the pods of the cluster of KUBECONFIG see it" >&2
		exit 1
	}
	echo "e2e: on the cluster of KUBECONFIG=$KUBECONFIG, which has to have the images of bin/images"
	make --no-print-directory bin/kubectl bin/versitygw
fi
make --no-print-directory bin/versitygw cluster-images
# The node one time, the tests on it another.
E2E=1 go test -count=1 -p 1 -v -timeout 45m ${short:+"$short"} ./tests/cluster/...
