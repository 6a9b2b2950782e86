// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

// testedPack is the pack that a test is about.
type testedPack struct {
	// Set is the name of its PolicySet, "" for none.
	Set, Name string
	Config    json.RawMessage
}

// packOf returns the pack of a directory, with the config that a PolicySet has for it.
func (s *session) packOf(ctx context.Context, dir string, flags *policyFlags) (testedPack, error) {
	if flags.policySet == "" {
		if flags.pack != "" {
			return testedPack{}, errors.New("--pack is the name of a pack in the PolicySet of --policyset")
		}
		return testedPack{Name: nameOfDirectory(dir)}, nil
	}
	text, err := s.readInput(ctx, "the PolicySet", flags.policySet)
	if err != nil {
		return testedPack{}, err
	}
	file, err := readPolicySets(text)
	if err != nil {
		return testedPack{}, fmt.Errorf("%s: %w", flags.policySet, err)
	}
	set, pack, err := file.find(nameOfDirectory(dir), flags.pack)
	if err != nil {
		return testedPack{}, fmt.Errorf("%s: %w", flags.policySet, err)
	}
	config, err := file.config(pack)
	if err != nil {
		return testedPack{}, fmt.Errorf("%s: pack %s of PolicySet %s: %w", flags.policySet, pack.Name, set, err)
	}
	return testedPack{Set: set, Name: pack.Name, Config: config}, nil
}

// policySets are those of a file, with the ConfigMaps in it.
type policySets struct {
	sets       []v1.PolicySet
	configMaps []corev1.ConfigMap
}

func readPolicySets(text []byte) (policySets, error) {
	var read policySets
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
		switch kind := object.GroupVersionKind(); {
		case kind.Group == v1.GroupVersion.Group && kind.Kind == v1.PolicySetKind:
			set := v1.PolicySet{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &set, true)
			read.sets = append(read.sets, set)
		case kind == corev1.SchemeGroupVersion.WithKind("ConfigMap"):
			configMap := corev1.ConfigMap{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &configMap)
			read.configMaps = append(read.configMaps, configMap)
		}
		if err != nil {
			return read, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

// find returns the pack with a name, or else the one of a directory with this name, or else the only one.
func (p policySets) find(dir, name string) (set string, found v1.PolicyPack, err error) {
	type candidate struct {
		set  string
		pack v1.PolicyPack
	}
	var all, like []candidate
	var names []string
	for _, set := range p.sets {
		for _, pack := range set.Spec.Packs {
			of := candidate{set.Name, pack}
			all, names = append(all, of), append(names, pack.Name)
			if name != "" && pack.Name == name || name == "" && (pack.Name == dir || path.Base(path.Clean("/"+pack.Dir)) == dir) {
				like = append(like, of)
			}
		}
	}
	if name == "" && len(like) == 0 {
		like = all
	}
	switch {
	case len(p.sets) == 0:
		return "", found, errors.New("it has no PolicySet")
	case len(like) == 1:
		return like[0].set, like[0].pack, nil
	case name != "" && len(like) == 0:
		return "", found, fmt.Errorf("no pack is named %s: there are %s", name, strings.Join(names, ", "))
	}
	return "", found, fmt.Errorf("there are the packs %s: set --pack, and let the file have one PolicySet with that pack", strings.Join(names, ", "))
}

// config returns the config of the policies, as the controller does.
func (p policySets) config(pack v1.PolicyPack) (json.RawMessage, error) {
	if pack.ConfigFrom == nil {
		return policy.Config(pack.Config, "")
	}
	ref := pack.ConfigFrom.ConfigMap
	for _, configMap := range p.configMaps {
		if configMap.Name != ref.Name || configMap.Namespace != ref.Namespace {
			continue
		}
		text, ok := configMap.Data[ref.Key]
		if !ok {
			return nil, fmt.Errorf("ConfigMap %s/%s has no key %s", ref.Namespace, ref.Name, ref.Key)
		}
		return policy.Config(pack.Config, text)
	}
	return nil, fmt.Errorf("configFrom names ConfigMap %s/%s, which is not in the file: add it", ref.Namespace, ref.Name)
}
