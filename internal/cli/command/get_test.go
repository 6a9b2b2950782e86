// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import "testing"

func TestGet(t *testing.T) {
	w := newWorld(t, "fleet")
	w.apply("fleet")
	w.golden("get",
		"get stacks",
		"get stack network --no-header",
		"get stacks --show-source",
		"get stacks -A",
		"get stacks --status-selector ready=false",
		"get stacks --status-selector READY!=true --no-header",
		"get stacks -l tier=base",
		"get programs",
		"get all",
		"get all -A",
		"get stacks -o wide",
		"get all -A -o wide --no-header",
		"get stack network -o yaml",
		"get stacks -l tier=base -o json",
	)
}

func TestGetPolicySets(t *testing.T) {
	w := newWorld(t, "policysets")
	w.golden("get_policysets_none", "get policysets", "get policyset tags")
	w.apply("policysets")
	w.golden("get_policysets",
		"get policysets",
		"get policysets -A --status-selector ready=false",
		"get policyset tags --no-header",
		"get policysets -o wide",
	)
}

func TestGetRefuses(t *testing.T) {
	w := newWorld(t, "get-refuses")
	w.golden("get_refuses",
		"get stacks",
		"get stacks -A",
		"get stack absent",
		"get stack absent -o yaml",
		"get stacks -l tier=none",
		"get stacks -l tier=(",
		"get stacks --status-selector ready",
		"get stacks -o table",
		"get all",
		"get all -w",
		"get all -o yaml",
		"get stacks -w -o json",
		"get stack a b",
		"get stuck",
		"get nothing",
	)
}
