// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

func newOutputs(s *session) *cobra.Command {
	var output string
	var secrets bool
	cmd := newStackCommand(s, "Show the outputs of a Stack",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.outputs(ctx, api, stack, output, secrets)
		})
	cmd.Long = `Shows the outputs of the last update. Secret outputs show as [secret], unless --show-secrets is set:
then the command reads them from the Secret of spec.writeOutputsToSecret, which you must be allowed to read.`
	cmd.Example = `  # Show the outputs of a Stack
  flux pulumi outputs stack network -n apps

  # Print them as JSON, including the secret ones
  flux pulumi outputs stack network -o json --show-secrets`
	addOutputFlag(cmd, cmd.Flags(), &output, "print the outputs as json or yaml")
	cmd.Flags().BoolVar(&secrets, "show-secrets", false, "show the values of secret outputs")
	return newGroup("outputs", "Show the outputs of a Stack", cmd)
}

func (s *session) outputs(ctx context.Context, api client.Reader, stack *v1.Stack, output string, secrets bool) error {
	shown := map[string]json.RawMessage{}
	for name, value := range stack.Status.Outputs {
		shown[name] = value.Raw
	}
	if secrets {
		plain, err := plainOutputs(ctx, api, stack)
		if err != nil {
			return err
		}
		if left := leftOut(plain, shown); len(left) > 0 {
			s.Warningf("these stay hidden, because the Secret of spec.writeOutputsToSecret does not contain them: %s", strings.Join(left, ", "))
		}
		maps.Copy(shown, outputs.Plain(plain, stack.Status.Outputs))
	}
	if output != "" {
		return printValue(s.Out, output, shown)
	}
	if len(shown) == 0 {
		return fmt.Errorf("no outputs of Stack %s are known", stack.Name)
	}
	var lines [][]string
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		lines = append(lines, []string{name, words.Output(shown[name])})
	}
	table.Print(s.Out, []string{"NAME", "VALUE"}, lines)
	return nil
}

// leftOut returns the outputs with secrets that the Secret does not have.
func leftOut(plain map[string][]byte, shown map[string]json.RawMessage) (left []string) {
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		if _, there := plain[name]; !there && bytes.Contains(shown[name], []byte(mask.SecretText)) {
			left = append(left, name)
		}
	}
	return left
}

// plainOutputs reads the Secret that the controller writes outputs to, with the user's
// own permissions.
func plainOutputs(ctx context.Context, api client.Reader, stack *v1.Stack) (map[string][]byte, error) {
	recorded := stack.Status.OutputsSecret
	switch {
	case stack.Spec.WriteOutputsToSecret == nil:
		return nil, errors.New("cannot show secret outputs: they are only in the Secret of spec.writeOutputsToSecret, which the Stack does not set")
	case recorded == nil:
		return nil, fmt.Errorf("the Secret %s/%s of spec.writeOutputsToSecret is not written yet", stack.Namespace, stack.Spec.WriteOutputsToSecret.Name)
	}
	// The Secret may still have the outputs of an earlier update.
	if recorded.Failure != nil {
		return nil, fmt.Errorf("the Secret %s/%s does not have the outputs of the last update: %s", stack.Namespace, recorded.Name, recorded.Failure.Message)
	}
	if recorded.Digest == "" {
		return nil, fmt.Errorf("the outputs of the last update are not yet written to Secret %s/%s", stack.Namespace, recorded.Name)
	}
	// The controller writes the Secret after an update that has succeeded. One that fails late, in
	// a deletion for example, has new outputs in the status, and a recovery after it has succeeded
	// all the same.
	if !stackstatus.HasUpdated(stack) {
		return nil, fmt.Errorf("the last update did not succeed: the Secret %s/%s has the outputs of the last successful one", stack.Namespace, recorded.Name)
	}
	secret := &corev1.Secret{}
	err := api.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: recorded.Name}, secret)
	switch {
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("you are not allowed to read Secret %s/%s with the secret outputs: %w", stack.Namespace, recorded.Name, err)
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("the Secret %s/%s with the secret outputs does not exist", stack.Namespace, recorded.Name)
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s/%s: %w", stack.Namespace, recorded.Name, err)
	case !metav1.IsControlledBy(secret, stack):
		return nil, fmt.Errorf("the Secret %s/%s does not belong to Stack %s", stack.Namespace, recorded.Name, stack.Name)
	case !isAsWritten(stack, secret):
		return nil, fmt.Errorf("the Secret %s/%s was changed by something other than the controller: %s restores it", stack.Namespace, recorded.Name, mending(stack))
	case outputs.Differ(secret.Data, stack.Status.Outputs):
		return nil, fmt.Errorf("the Secret %s/%s has the outputs of another update than the status: the next successful update writes it",
			stack.Namespace, recorded.Name)
	}
	return secret.Data, nil
}

// mending is the command that has the controller look at the Stack.
func mending(stack *v1.Stack) string {
	verb := "reconcile"
	if stack.Spec.Suspend {
		verb = "resume"
	}
	return fmt.Sprintf("flux pulumi %s stack %s -n %s", verb, stack.Name, stack.Namespace)
}

// isAsWritten reports whether nobody has changed the Secret, or what the Stack wants in
// it, since the controller wrote it. The controller restores it unless the Stack is
// suspended.
func isAsWritten(stack *v1.Stack, secret *corev1.Secret) bool {
	to := stack.Spec.WriteOutputsToSecret
	if to.Name != secret.Name {
		return false
	}
	digest, err := outputs.Digest(secret, *to)
	return err == nil && digest == stack.Status.OutputsSecret.Digest
}
