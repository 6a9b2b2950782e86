// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights compares what roles allow with what the API server was asked for: values in, values out. Where the requests
// come from is the business of package controlplane.
package rights

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

// Unused lists what is allowed and was not asked for.
func Unused(granted []string, requests []controlplane.Request) []string {
	used := Used(requests)
	var unused []string
	for _, right := range granted {
		if !slices.Contains(used, right) {
			unused = append(unused, right)
		}
	}
	return unused
}

// Of lists what the rules allow, as "get pods in flux-system" where they are for one namespace.
func Of(rules []rbacv1.PolicyRule, namespace string) []string {
	var rights []string
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, path := range rule.NonResourceURLs {
				rights = append(rights, verb+" "+path)
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					rights = append(rights, right(verb, group, resource, namespace))
				}
			}
		}
	}
	return rights
}

func right(verb, group, resource, namespace string) string {
	text := verb + " " + resource
	if group != "" {
		text += "." + group
	}
	if namespace != "" {
		text += " in " + namespace
	}
	return text
}

// Used lists the rights that requests took, each both for everywhere and for its namespace: either will do.
func Used(requests []controlplane.Request) []string {
	var used []string
	for _, request := range requests {
		used = append(used, wanted(request))
		if request.Resource != "" {
			used = append(used, right(request.Verb, request.Group, resourceOf(request), request.Namespace))
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

func wanted(request controlplane.Request) string {
	if request.Path != "" {
		path, _, _ := strings.Cut(request.Path, "?")
		return request.Verb + " " + path
	}
	return right(request.Verb, request.Group, resourceOf(request), "")
}

func resourceOf(request controlplane.Request) string {
	if request.Subresource == "" {
		return request.Resource
	}
	return request.Resource + "/" + request.Subresource
}

// Forbidden lists what was asked for and is not allowed.
func Forbidden(requests []controlplane.Request) []string {
	var all []string
	for _, request := range requests {
		if request.Forbidden {
			all = append(all, wanted(request)+" in "+request.Namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
