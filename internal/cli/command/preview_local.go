// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/pack"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

const (
	// staleAfter is the age at which a command removes the program that another one left
	// when it was killed. It is longer than a run takes to begin.
	staleAfter = time.Hour
	// localProgramLabel marks the ConfigMaps of local programs.
	localProgramLabel = "pulumi.com/preview-program"
)

// bring uploads a local program to the cluster for the duration of the command.
func (s *session) bring(ctx context.Context, api client.Client, stack *v1.Stack, path string, of *traces) error {
	key, data, err := s.localProgram(ctx, api, stack, path)
	if err != nil {
		return err
	}
	s.removeStale(ctx, api, stack)
	configMap := localConfigMap(stack, key, data)
	err = api.Create(ctx, configMap, fieldOwner)
	if err == nil || cluster.IsPassing(err) { // it may exist even if the response was lost
		of.configMap = configMap
	}
	if err != nil {
		return fmt.Errorf("creating a ConfigMap with the program in namespace %s: %w", stack.Namespace, err)
	}
	of.program = localprogram.NewReference(configMap.Name, data).String()
	return nil
}

// localProgram reads the program in the form that the controller expects, and returns its
// key in the ConfigMap.
func (s *session) localProgram(ctx context.Context, api client.Reader, stack *v1.Stack, path string) (key string, data []byte, err error) {
	if ref := stack.Spec.ProgramRef; ref != nil {
		program, file, err := s.findProgram(ctx, path, client.ObjectKey{Namespace: stack.Namespace, Name: ref.Name})
		if err != nil {
			return "", nil, err
		}
		if data, err = json.Marshal(program); err != nil {
			return "", nil, fmt.Errorf("writing the program: %w", err)
		}
		if len(data) > localprogram.MaxSize {
			return "", nil, fmt.Errorf("%s is too large: %d bytes as JSON, the limit is %d", file, len(data), localprogram.MaxSize)
		}
		s.Actionf("reading the program from %s", file)
		return localprogram.ProgramKey, data, nil
	}
	packed, err := pack.Dir(ctx, path, pack.Options{
		Limit: localprogram.MaxSize, Excludes: func(top string) (string, error) { return s.gitExcludes(ctx, top) },
		Source: s.packedSource(ctx, api, stack),
	})
	if err != nil {
		return "", nil, err
	}
	s.Actionf("packed %s of %s into %d bytes", plural.Of(packed.Files, "file", "files"), path, len(packed.Data))
	if len(packed.Links) > 0 {
		s.Warningf("ignoring symbolic links, as a Flux source does: %s", shortList(packed.Links))
	}
	if len(packed.Others) > 0 {
		s.Warningf("ignoring what is not a regular file: %s", shortList(packed.Others))
	}
	return localprogram.ArchiveKey, packed.Data, nil
}

// maxListed bounds the names in a list.
const maxListed = 5

func shortList(names []string) string { return plural.Some(names, maxListed) }

// maxPrefix leaves room for the suffix of a name, whose last suffixLength characters are
// random.
const (
	maxPrefix    = 200
	suffixLength = 10
)

func localConfigMap(stack *v1.Stack, key string, data []byte) *corev1.ConfigMap {
	name := stack.Name
	if len(name) > maxPrefix {
		name = strings.TrimRight(name[:maxPrefix], ".-")
	}
	immutable := true
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			// Not generateName: if the response is lost, the name would be unknown.
			Namespace: stack.Namespace, Name: name + "-program-" + rand.String(suffixLength),
			Labels: map[string]string{localProgramLabel: "true"},
			// The ConfigMap is deleted with the Stack at the latest.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1.GroupVersion.String(), Kind: v1.StackKind, Name: stack.Name, UID: stack.UID,
			}},
		},
		Immutable:  &immutable,
		BinaryData: map[string][]byte{key: data},
	}
}

// removeStale removes programs left by commands that were killed. Without permission to
// list or delete them, they stay until the Stack is deleted.
func (s *session) removeStale(ctx context.Context, api client.Client, stack *v1.Stack) {
	left := &metav1.PartialObjectMetadataList{}
	left.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := api.List(ctx, left, client.InNamespace(stack.Namespace), client.MatchingLabels{localProgramLabel: "true"}); err != nil {
		return
	}
	for i := range left.Items {
		one := &left.Items[i]
		owner := one.OwnerReferences
		if len(owner) == 1 && owner[0].UID == stack.UID && s.Now().Sub(one.CreationTimestamp.Time) > staleAfter {
			_ = api.Delete(ctx, one, client.Preconditions{UID: &one.UID}) // the next command tries again
		}
	}
}
