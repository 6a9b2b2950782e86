#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Starts the controller, after it has put the providers for tests among its plugins as an administrator would. The volume that
# they go to is empty at the start of each pod.
set -eu
for plugin in lab-v0.1.0:lab aws-v5.42.0:standin gcp-v6.67.0:standin kubernetes-v4.18.0:standin random-v4.16.0:standin; do
	name=${plugin%%-v*} dir=/data/plugins/resource-${plugin%%:*}
	busybox mkdir -p "$dir"
	busybox ln -sf "/lab/pulumi-resource-${plugin##*:}" "$dir/pulumi-resource-$name"
done
exec /usr/local/bin/pulumi-controller "$@"
