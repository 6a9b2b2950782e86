// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights compares the permissions that roles grant with the requests that the API server got, as recorded by package
// controlplane.
package rights

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

// Unused lists the permissions that no request used.
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

// Of lists the permissions that rules grant, like "get pods in flux-system" if they apply to one namespace.
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

// Used lists the permissions that would allow the requests: each one cluster-wide and in its namespace, as either suffices.
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

// Forbidden lists the requests that were denied.
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
