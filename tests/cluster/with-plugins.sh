#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# Starts the controller, after it has put the providers for tests among its plugins as an administrator would. The volume that
# they go to is empty at the start of a pod, or has them already. The pod of a run finds them in its image, see the Makefile.
set -eu
[ "${1:-}" != runner ] || exec /usr/local/bin/pulumi-controller "$@"
busybox mkdir -p /data/plugins
# The files themselves: programs in the sandbox cannot follow links from there to /lab.
busybox cp -RLf /pulumi-plugins/. /data/plugins/
# The cloud of the tests is files, which the providers write.
exec /usr/local/bin/pulumi-controller "$@" --sandbox-write-paths=/cloud
