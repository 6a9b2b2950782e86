#!/bin/sh
# Copyright 2026 The pulumi-controller authors.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/nullable.sh CRD   run it as part of `make generate`
#
# The API server drops null from a map whose values are not nullable, and with it a
# resource of a Program whose body was left out: Pulumi would delete that resource,
# and nobody could tell. There is no marker of controller-gen for the values of a map.
set -eu

crd=$1
awk '
	/^ +program:$/ { match($0, / +/); sections = RLENGTH + 4 }
	/^ +status:$/ { sections = 0 }
	{ print }
	/^ +[a-z]+:$/ { match($0, / +/); if (RLENGTH == sections) section = sections }
	/^ +additionalProperties:$/ {
		match($0, / +/)
		if (section && RLENGTH == section + 2) printf "%*s%s\n", RLENGTH + 2, "", "nullable: true"
		section = 0
	}
' "$crd" >"$crd.tmp"
mv "$crd.tmp" "$crd"
