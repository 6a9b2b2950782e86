// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests finds every manifest that a user of this project can copy: the YAML in the documentation, in the
// examples and in the five documents that the project started from. Its tests create each on a real API server, so
// that no page shows an object that a cluster rejects. It must not know the meaning of a Stack: only the API server
// decides what is valid.
package manifests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Unit is what a user copies at once: a file, or a fenced block of a page.
type Unit struct {
	// Name is its location: the path from the root of the repository, with the first line of a block.
	Name string
	// Text is YAML, of any number of documents.
	Text string
}

// Find returns the units of this repository: the fenced YAML blocks of README.md and docs/, and the YAML files of
// examples/ and tests/manifests/testdata/. It skips places that do not exist.
func Find(root string) ([]Unit, error) {
	var units []Unit
	for _, place := range []struct {
		path, ext string
		units     func(name, text string) []Unit
	}{
		{"README.md", ".md", FencedBlocks},
		{"docs", ".md", FencedBlocks},
		{"examples", ".yaml", wholeFile},
		{filepath.Join("tests", "manifests", "testdata"), ".yaml", wholeFile},
	} {
		err := filepath.WalkDir(filepath.Join(root, place.path), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != place.ext {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			units = append(units, place.units(name, string(text))...)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("finding manifests in %s: %w", place.path, err)
		}
	}
	return units, nil
}

func wholeFile(name, text string) []Unit { return []Unit{{Name: name, Text: text}} }

// Objects returns the Kubernetes objects in the unit. Other documents are fragments, or files of other programs such
// as Pulumi.yaml. It returns an error for invalid YAML in either, including duplicate keys.
func (u Unit) Objects() ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(u.Text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Name, err)
		}
		object, err := parse(document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Name, err)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}

// parse returns the object in a document, or nil for a document without apiVersion.
func parse(document []byte) (*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	var header map[string]json.RawMessage
	if !bytes.HasPrefix(text, []byte("{")) || json.Unmarshal(text, &header) != nil || header["apiVersion"] == nil {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	return object, object.UnmarshalJSON(text)
}
