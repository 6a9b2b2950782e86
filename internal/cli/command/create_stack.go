// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/cobra"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// stackFlags are turned into the spec of a Stack.
type stackFlags struct {
	stack, source, path, program, backend          string
	serviceAccount, outputsSecret, secretsProvider string
	interval, retryInterval, runTimeout            time.Duration
	destroy, refresh, preview, existing            bool
	config, secretConfig, env, secretEnv           []string
	dependsOn                                      []string
}

func newCreateStack(s *session, create *createFlags) *cobra.Command {
	f := &stackFlags{}
	cmd := &cobra.Command{
		Use:   "stack [name]",
		Short: "Create or update a Stack",
		Example: `  # Write the manifest of a Stack whose program is in a git repository
  flux pulumi create stack network --stack organization/network/dev --source GitRepository/infra --path ./network \
    --backend s3://acme-pulumi-state --secret-env PULUMI_CONFIG_PASSPHRASE=network/passphrase --export > network.yaml

  # Run a Program
  flux pulumi create stack words --stack dev --program words --config length=3`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := s.newObject(cluster.Stack(), args, create)
			if err != nil {
				return err
			}
			if object.Object["spec"], err = f.spec(); err != nil {
				return err
			}
			ctx, cancel := s.limited(cmd)
			defer cancel()
			return s.create(ctx, object, "spec", create.export)
		},
	}
	set := cmd.Flags()
	set.StringVar(&f.stack, "stack", "", "the name of the stack in the backend: <stack>, <org>/<stack> or <org>/<project>/<stack>")
	set.StringVar(&f.source, "source", "", "the Flux source of the program: <kind>/<name>[.<namespace>]")
	set.StringVar(&f.path, "path", "", "the directory of the program in the source")
	set.StringVar(&f.program, "program", "", "the Program to run instead of a source")
	set.StringVar(&f.backend, "backend", "", "the URL of the backend; Pulumi Cloud by default")
	set.DurationVar(&f.interval, "interval", 10*time.Minute, "the reconcile interval")
	set.DurationVar(&f.retryInterval, "retry-interval", 0, "the interval at which a failed run is retried; --interval by default")
	set.DurationVar(&f.runTimeout, "run-timeout", 0, "how long a run may take; 1h by default")
	set.StringVar(&f.serviceAccount, "service-account", "", "the service account of the program")
	set.StringVar(&f.secretsProvider, "secrets-provider", "", "the secrets provider that encrypts the secrets of the stack")
	set.StringVar(&f.outputsSecret, "outputs-secret", "", "the Secret to write the outputs to")
	set.StringArrayVar(&f.config, "config", nil, "a config value, as key=value")
	set.StringArrayVar(&f.secretConfig, "secret-config", nil, "a secret config value, as key=<Secret>/<key of the Secret>")
	set.StringArrayVar(&f.env, "env", nil, "an environment variable, as NAME=value; not for secrets")
	set.StringArrayVar(&f.secretEnv, "secret-env", nil, "an environment variable from a Secret, as NAME=<Secret>/<key of the Secret>")
	set.StringSliceVar(&f.dependsOn, "depends-on", nil, "Stacks that must be ready first: <name> or <namespace>/<name>")
	set.BoolVar(&f.destroy, "destroy-on-delete", false, "destroy the resources of the stack when the Stack is deleted")
	set.BoolVar(&f.refresh, "refresh", false, "refresh the state before each update")
	set.BoolVar(&f.preview, "preview", false, "only preview changes, never make them")
	set.BoolVar(&f.existing, "existing-stack", false, "never create the stack in the backend: it has to be there")
	_ = cmd.RegisterFlagCompletionFunc("program", s.completeFlagNames(cluster.Program().GroupVersionKind))
	_ = cmd.RegisterFlagCompletionFunc("depends-on", s.completeFlagNames(cluster.Stack().GroupVersionKind))
	return cmd
}

// spec sets only the fields that were asked for, so that it reads as if written by hand.
func (f *stackFlags) spec() (map[string]any, error) {
	if f.stack == "" {
		return nil, errors.New("stack is required (--stack)")
	}
	if (f.source == "") == (f.program == "") {
		return nil, errors.New("either a source (--source) or a Program (--program) is required")
	}
	spec := map[string]any{"stack": f.stack, "interval": f.interval.String()}
	for name, text := range map[string]string{
		"backend": f.backend, "serviceAccountName": f.serviceAccount, "secretsProvider": f.secretsProvider,
		"retryInterval": durationText(f.retryInterval), "timeout": durationText(f.runTimeout),
	} {
		if text != "" {
			spec[name] = text
		}
	}
	for name, on := range map[string]bool{
		"destroyOnFinalize": f.destroy, "refresh": f.refresh, "preview": f.preview, "useLocalStackOnly": f.existing,
	} {
		if on {
			spec[name] = true
		}
	}
	if f.outputsSecret != "" {
		spec["writeOutputsToSecret"] = map[string]any{"name": f.outputsSecret}
	}
	if err := f.addProgram(spec); err != nil {
		return nil, err
	}
	return spec, f.addInputs(spec)
}

func durationText(duration time.Duration) string {
	if duration == 0 {
		return ""
	}
	return duration.String()
}

func (f *stackFlags) addProgram(spec map[string]any) error {
	if f.program != "" {
		if f.path != "" {
			return errors.New("--path cannot be used with --program: a Program has no directories")
		}
		spec["programRef"] = map[string]any{"name": f.program}
		return nil
	}
	kind, rest, _ := strings.Cut(f.source, "/")
	name, namespace := rest, ""
	if at := strings.LastIndexByte(rest, '.'); at >= 0 { // like flux: a name may contain dots
		name, namespace = rest[:at], rest[at+1:]
	}
	kinds := []string{sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.BucketKind, sourcev1.ExternalArtifactKind}
	known := slices.IndexFunc(kinds, func(one string) bool { return strings.EqualFold(one, kind) })
	if known < 0 || name == "" {
		return fmt.Errorf("invalid source '%s', must be <kind>/<name>[.<namespace>] with kind %s", f.source, strings.Join(kinds, ", "))
	}
	ref := map[string]any{"kind": kinds[known], "name": name}
	if namespace != "" {
		ref["namespace"] = namespace
	}
	source := map[string]any{"sourceRef": ref}
	if f.path != "" {
		source["dir"] = f.path
	}
	spec["fluxSource"] = source
	return nil
}

func (f *stackFlags) addInputs(spec map[string]any) error {
	config, err := pairs("config", f.config)
	if err != nil {
		return err
	}
	env, err := pairs("env", f.env)
	if err != nil {
		return err
	}
	secretEnv, err := secretRefs("secret-env", f.secretEnv)
	if err != nil {
		return err
	}
	secretConfig, err := secretRefs("secret-config", f.secretConfig)
	if err != nil {
		return err
	}
	if err := errors.Join(givenOnce("env", env, "secret-env", secretEnv), givenOnce("config", config, "secret-config", secretConfig)); err != nil {
		return err
	}
	values := map[string]any{}
	for name, value := range config {
		values[name] = value
	}
	for name, value := range env {
		secretEnv[name] = map[string]any{"type": "Literal", "literal": map[string]any{"value": value}}
	}
	for name, part := range map[string]map[string]any{"config": values, "envRefs": secretEnv, "secretsRef": secretConfig} {
		if len(part) > 0 {
			spec[name] = part
		}
	}
	var dependencies []any
	for i, of := range f.dependsOn {
		if slices.Contains(f.dependsOn[:i], of) {
			return fmt.Errorf("--depends-on gives %s more than once", of)
		}
		dependency := map[string]any{"name": of}
		namespace, name, found := strings.Cut(of, "/")
		if found && (namespace == "" || name == "" || strings.Contains(name, "/")) {
			return fmt.Errorf("invalid dependency '%s', must be [<namespace>/]<name>", of)
		}
		if found {
			dependency = map[string]any{"name": name, "namespace": namespace}
		}
		dependencies = append(dependencies, dependency)
	}
	if len(dependencies) > 0 {
		spec["dependsOn"] = dependencies
	}
	return nil
}

// givenOnce rejects names that both flags set.
func givenOnce(flag string, plain map[string]string, secretFlag string, secret map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		if _, twice := secret[name]; twice {
			return fmt.Errorf("both --%s and --%s give %s", flag, secretFlag, name)
		}
	}
	return nil
}

// secretRefs parses NAME=secret/key.
func secretRefs(flag string, values []string) (map[string]any, error) {
	read, err := pairsOr(flag, values, func(string) error { // do not print the value: it may be the secret itself
		return fmt.Errorf("invalid --%s, must be NAME=<Secret>/<key of the Secret>", flag)
	})
	if err != nil {
		return nil, err
	}
	refs := map[string]any{}
	for name, ref := range read {
		secret, key, found := strings.Cut(ref, "/")
		if !found || secret == "" || key == "" {
			return nil, fmt.Errorf("invalid --%s %s, must be NAME=<Secret>/<key of the Secret>", flag, name)
		}
		refs[name] = map[string]any{"type": "Secret", "secret": map[string]any{"name": secret, "key": key}}
	}
	return refs, nil
}
