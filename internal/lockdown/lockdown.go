// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package lockdown checks whether the flags of a controller isolate tenants, for the
// controller itself and for `flux pulumi check`, which also learns here whether programs have an identity in clouds.
package lockdown

import (
	"io"
	"strconv"

	"github.com/spf13/pflag"
)

// LocalRunner is the value of --runner with which programs run in the pod of the
// controller.
const LocalRunner = "local"

// The values of --sandbox.
const (
	SandboxAuto     = "auto"
	SandboxRequired = "required"
	SandboxOff      = "off"
)

// Flags are those of the controller that matter here.
type Flags struct {
	Runner                string
	DefaultServiceAccount string
	WatchAllNamespaces    bool
	Sandbox               string
	// WorkloadIdentity is the feature gate ObjectLevelWorkloadIdentity.
	WorkloadIdentity bool
}

// workloadIdentity is the name of the feature gate.
const workloadIdentity = "ObjectLevelWorkloadIdentity"

// Parse reads the arguments of a controller. All other flags may be there too.
func Parse(args []string) (Flags, error) {
	var f Flags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.StringVar(&f.Runner, "runner", LocalRunner, "")
	flags.StringVar(&f.DefaultServiceAccount, "default-service-account", "", "")
	flags.StringVar(&f.Sandbox, "sandbox", SandboxAuto, "")
	flags.BoolVar(&f.WatchAllNamespaces, "watch-all-namespaces", true, "")
	gates := map[string]string{}
	flags.StringToStringVar(&gates, "feature-gates", nil, "")
	if err := flags.Parse(args); err != nil {
		return f, err
	}
	f.WorkloadIdentity, _ = strconv.ParseBool(gates[workloadIdentity]) // the controller refuses any other value
	return f, nil
}

// Warning returns a warning about flags that do not isolate tenants although they seem to,
// or "". A default service account is meant to limit what a Stack can do in the cluster. It
// limits the kubeconfig of a program, but a program in the pod of the controller can use the
// token of the controller instead, and create a token for any account, such as that of
// kustomize-controller. A controller that watches one namespace belongs to the tenant.
func (f Flags) Warning() string {
	if f.Runner != LocalRunner || f.DefaultServiceAccount == "" || !f.WatchAllNamespaces {
		return ""
	}
	return "--default-service-account does not restrict programs with --runner=local: they run in the pod of the controller and can use its token, " +
		"so anyone who can write a Stack, a Program or a source is cluster-admin. Set --runner=job, as config/multi-tenancy does"
}

// What the controller logs when it starts begins with one of these, and so does what SandboxRow returns.
const (
	InSandbox = "local runs are in a sandbox"
	NoSandbox = "local runs have no sandbox"
)

// SandboxRow says what the flags make of the sandbox of local runs, and whether that is a warning. It is
// empty for runs in pods of their own.
func (f Flags) SandboxRow() (row string, warns bool) {
	switch {
	case f.Runner != LocalRunner:
		return "", false
	case f.Sandbox == SandboxOff:
		return "local runs have no sandbox, because of --sandbox=off: programs can read the token of the controller", true
	case f.Sandbox == SandboxRequired:
		return InSandbox, false
	}
	return "local runs are in a sandbox where the kernel has Landlock: the log of the controller and the metric pulumi_sandbox_enabled say whether it has", false
}
