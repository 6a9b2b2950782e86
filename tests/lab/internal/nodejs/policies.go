// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package nodejs

import (
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// RunPlugin has the package of npm run a policy pack. Other plugins are not run.
func (h *Host) RunPlugin(req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer) error {
	if req.GetKind() != "analyzer" {
		return fmt.Errorf("a plugin of the kind %q is not run here", req.GetKind())
	}
	dir := req.Info.GetProgramDirectory()
	entry, err := resolve(server.Context(), dir, "@pulumi/pulumi/cmd/run-policy-pack")
	if err != nil {
		return err
	}
	options := optionsOf(req.Info)
	args := append(append(append([]string{}, options.nodeArgs...), entry), req.GetArgs()...)
	return h.Plugin(req, server, options.env(), "node", append(args, dir)...)
}
