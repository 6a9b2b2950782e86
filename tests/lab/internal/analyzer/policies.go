// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package analyzer

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
)

// thingType is the type of the resources that the policies are about.
const thingType = "lab:index:Thing"

// policy is a rule of the pack.
type policy struct {
	name  string
	level pulumirpc.EnforcementLevel
	// check returns what is wrong with the value of a thing, "" for nothing.
	check func(value string) string
	// checkStack is the same for a whole stack, with its number of things.
	checkStack func(things int, config map[string]any) string
	// correct returns the value that a thing gets instead.
	correct func(value string) string
}

// policies returns all of them.
func policies() []policy {
	contains := func(word, message string) func(string) string {
		return func(value string) string {
			if strings.Contains(value, word) {
				return fmt.Sprintf("%s: %s", message, value)
			}
			return ""
		}
	}
	return []policy{
		{name: "no-forbidden-values", level: pulumirpc.EnforcementLevel_MANDATORY, check: contains("forbidden", "the value is forbidden")},
		{name: "no-unwise-values", level: pulumirpc.EnforcementLevel_ADVISORY, check: contains("unwise", "the value is unwise")},
		{name: "clean-values", level: pulumirpc.EnforcementLevel_REMEDIATE, correct: func(value string) string {
			return strings.ReplaceAll(value, "dirty", "clean")
		}},
		{name: "few-things", level: pulumirpc.EnforcementLevel_MANDATORY, checkStack: fewThings},
		{name: "environment", level: pulumirpc.EnforcementLevel_DISABLED, check: func(string) string { return environment() }},
		{name: "survives", level: pulumirpc.EnforcementLevel_MANDATORY, check: func(value string) string {
			if strings.Contains(value, "fatal") {
				os.Exit(3) // what is tested is a pack that dies
			}
			return ""
		}},
	}
}

// fewThings limits the things of a stack, to 3 unless configured otherwise.
func fewThings(things int, config map[string]any) string {
	most, isSet := config["most"].(float64)
	if !isSet {
		most = 3
	}
	if things <= int(most) {
		return ""
	}
	return fmt.Sprintf("the stack has %d things, and may have %d", things, int(most))
}

// environment has the names of the environment variables of this process, and its directory.
func environment() string {
	var names []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	dir, _ := os.Getwd() // then there is none
	return strings.Join(names, " ") + " in " + dir
}

func (p policy) info() *pulumirpc.PolicyInfo {
	info := &pulumirpc.PolicyInfo{Name: p.name, DisplayName: p.name, Description: p.name, EnforcementLevel: p.level}
	info.PolicyType = pulumirpc.PolicyType_POLICY_TYPE_RESOURCE
	if p.checkStack != nil {
		info.PolicyType = pulumirpc.PolicyType_POLICY_TYPE_STACK
		schema, err := structpb.NewStruct(map[string]any{"most": map[string]any{"type": "number"}})
		if err == nil { // it is a constant
			info.ConfigSchema = &pulumirpc.PolicyConfigSchema{Properties: schema}
		}
	}
	return info
}

// Analyze checks a thing.
func (p *pack) Analyze(_ context.Context, req *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	response := &pulumirpc.AnalyzeResponse{}
	if req.GetType() != thingType {
		return response, nil
	}
	for _, policy := range policies() {
		level, _ := p.configOf(policy)
		if policy.check == nil || level == pulumirpc.EnforcementLevel_DISABLED {
			continue
		}
		if message := policy.check(valueOf(req)); message != "" {
			response.Diagnostics = append(response.Diagnostics, diagnostic(policy, level, message))
		}
	}
	return response, nil
}

// AnalyzeStack checks all things together.
func (p *pack) AnalyzeStack(_ context.Context, req *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	things := 0
	for _, resource := range req.GetResources() {
		if resource.GetType() == thingType {
			things++
		}
	}
	response := &pulumirpc.AnalyzeResponse{}
	for _, policy := range policies() {
		level, config := p.configOf(policy)
		if policy.checkStack == nil || level == pulumirpc.EnforcementLevel_DISABLED {
			continue
		}
		if message := policy.checkStack(things, config); message != "" {
			response.Diagnostics = append(response.Diagnostics, diagnostic(policy, level, message))
		}
	}
	return response, nil
}

// Remediate corrects a thing.
func (p *pack) Remediate(_ context.Context, req *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	response := &pulumirpc.RemediateResponse{}
	for _, policy := range policies() {
		level, _ := p.configOf(policy)
		value := valueOf(req)
		if policy.correct == nil || level != pulumirpc.EnforcementLevel_REMEDIATE || req.GetType() != thingType || policy.correct(value) == value {
			continue
		}
		fields := req.GetProperties().GetFields()
		fields["value"] = structpb.NewStringValue(policy.correct(value))
		response.Remediations = append(response.Remediations, &pulumirpc.Remediation{
			PolicyName: policy.name, PolicyPackName: name, PolicyPackVersion: version, Description: policy.name,
			Properties: &structpb.Struct{Fields: fields},
		})
	}
	return response, nil
}

// valueOf returns the value of a thing, also if it is secret: a policy may be careless.
func valueOf(req *pulumirpc.AnalyzeRequest) string {
	value := req.GetProperties().GetFields()["value"]
	if secret := value.GetStructValue().GetFields()["value"]; secret != nil {
		return secret.GetStringValue()
	}
	return value.GetStringValue()
}

func diagnostic(policy policy, level pulumirpc.EnforcementLevel, message string) *pulumirpc.AnalyzeDiagnostic {
	if level == pulumirpc.EnforcementLevel_REMEDIATE {
		level = pulumirpc.EnforcementLevel_MANDATORY
	}
	return &pulumirpc.AnalyzeDiagnostic{
		PolicyName: policy.name, PolicyPackName: name, PolicyPackVersion: version,
		Description: policy.name, Message: message, EnforcementLevel: level,
	}
}
