// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"

	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// FuzzState writes a state with Pulumi's own types. No operation in flight may get
// lost, and a refresh may be limited to targets only if they can settle everything.
func FuzzState(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte("\x03\x01a\x01b\x01c\x02\x00\x01a\x01\x01b"), true)
	f.Add([]byte("\x00\x03\x00\x01a\x05\x00\x06\x01z"), false)
	f.Fuzz(func(t *testing.T, data []byte, indent bool) {
		in := fuzz.From(data)
		deployment := apitype.DeploymentV3{
			Resources:         fuzz.List(in, 8, func() apitype.ResourceV3 { return resourceOf(in) }),
			PendingOperations: fuzz.List(in, 8, func() apitype.OperationV2 { return operationOf(in) }),
		}
		text := exported(t, deployment, indent)
		read, err := parseState(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		// JSON has no invalid UTF-8: compare with what was written.
		var written struct{ Deployment apitype.DeploymentV3 }
		if err := json.Unmarshal(text, &written); err != nil {
			t.Fatal(err)
		}
		checkState(t, read, written.Deployment)
	})
}

func resourceOf(in *fuzz.Input) apitype.ResourceV3 {
	return apitype.ResourceV3{
		URN:     resource.URN(in.Text()),
		Type:    fuzz.Pick(in, tokens.Type("lab:index:Thing"), stackType, "pulumi:providers:lab"),
		Outputs: map[string]any{"pending_operations": []any{in.Text()}},
	}
}

func operationOf(in *fuzz.Input) apitype.OperationV2 {
	return apitype.OperationV2{
		Type: fuzz.Pick(in, apitype.OperationTypeCreating, apitype.OperationTypeUpdating, apitype.OperationTypeDeleting,
			apitype.OperationTypeReading, "importing", "", apitype.OperationType(in.Text())),
		Resource: resourceOf(in),
	}
}

func exported(t *testing.T, deployment apitype.DeploymentV3, indent bool) []byte {
	raw, err := json.Marshal(deployment)
	if err != nil {
		t.Fatal(err)
	}
	whole := apitype.UntypedDeployment{Version: 3, Deployment: raw}
	marshal := json.Marshal
	if indent {
		marshal = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "    ") }
	}
	text, err := marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func checkState(t *testing.T, read state, deployment apitype.DeploymentV3) {
	var creates, others []string
	for _, operation := range deployment.PendingOperations {
		if operation.Type == apitype.OperationTypeCreating {
			creates = append(creates, string(operation.Resource.URN))
		} else {
			others = append(others, string(operation.Resource.URN))
		}
	}
	if !slices.Equal(read.creates, creates) || !slices.Equal(read.others, others) {
		t.Errorf("creations %q, others %q of %+v", read.creates, read.others, deployment.PendingOperations)
	}
	if read.settled() != (len(deployment.PendingOperations) == 0) {
		t.Errorf("settled: %v", read.settled())
	}
	targets := read.targets()
	for _, urn := range targets {
		if !read.resources[urn] {
			t.Errorf("the target %q is not in the state", urn)
		}
	}
	for _, urn := range others {
		if len(targets) > 0 && !slices.Contains(targets, urn) {
			t.Errorf("%q is not settled by a refresh of %q", urn, targets)
		}
	}
}

// FuzzParseState: all operations that Pulumi's own types find in flight are found, in
// any text.
func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"version":3,"deployment":{"resources":[{"urn":"a"}],"pending_operations":[{"type":"creating","resource":{"urn":"b"}}]}}`))
	f.Add([]byte(`{"version":3,"deployment":{"pending_operations":[{"type":"updating"},null]}}`))
	f.Add([]byte(`{"version":3,"deployment":null}`))
	f.Add([]byte(`{"version":3,"deployment":{"resources":`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := parseState(text)
		if err != nil {
			return
		}
		var whole apitype.UntypedDeployment
		var deployment apitype.DeploymentV3
		if json.Unmarshal(text, &whole) != nil || json.Unmarshal(whole.Deployment, &deployment) != nil {
			return
		}
		for _, operation := range deployment.PendingOperations {
			urn := string(operation.Resource.URN)
			if !slices.Contains(read.creates, urn) && !slices.Contains(read.others, urn) {
				t.Errorf("%s of %q is lost", operation.Type, urn)
			}
		}
	})
}
