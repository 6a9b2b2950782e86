// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Request is a request of an audited user to the API server.
type Request struct {
	// Verb as in RBAC, such as patch or deletecollection.
	Verb string
	// Group, Resource and Subresource of the request. All are empty if it has a Path.
	Group, Resource, Subresource string
	// Namespace and Name may be empty.
	Namespace, Name string
	// Path of a request for no resource, such as /livez/ping.
	Path string
	// Forbidden reports whether RBAC denied the request. One refused for another reason
	// was allowed.
	Forbidden bool
}

// auditArgs returns the flags that make an API server log the requests of the users to the
// file that Requests reads.
func auditArgs(dir string, users []string) ([]string, error) {
	if len(users) == 0 {
		return nil, nil
	}
	policy, err := yaml.Marshal(map[string]any{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules": []map[string]any{
			{"level": "Metadata", "users": users},
		},
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(path, policy, 0o600); err != nil {
		return nil, fmt.Errorf("writing what the API server is to note: %w", err)
	}
	return []string{"--audit-policy-file=" + path, "--audit-log-path=" + auditLog(dir)}, nil
}

func auditLog(dir string) string { return filepath.Join(dir, "audit.log") }

// Requests returns the requests so far of one of Options.AuditUsers. A watch is included as
// soon as it is answered.
func (c *ControlPlane) Requests(user string) ([]Request, error) {
	log, err := os.Open(auditLog(c.dir))
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = log.Close() }()
	var requests []Request
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests, nil // the last line is still being written
		}
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		who, request, err := parseRequest(bytes.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		if who == user {
			requests = append(requests, request)
		}
	}
}

func parseRequest(line []byte) (user string, request Request, err error) {
	var event struct {
		Verb       string
		RequestURI string
		User       struct{ Username string }
		ObjectRef  *struct {
			APIGroup, Resource, Subresource, Namespace, Name string
		}
		Annotations map[string]string
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return "", Request{}, err
	}
	request = Request{Verb: event.Verb, Forbidden: event.Annotations["authorization.k8s.io/decision"] == "forbid"}
	if event.ObjectRef == nil {
		request.Path = event.RequestURI
		return event.User.Username, request, nil
	}
	request.Group, request.Resource, request.Subresource = event.ObjectRef.APIGroup, event.ObjectRef.Resource, event.ObjectRef.Subresource
	request.Namespace, request.Name = event.ObjectRef.Namespace, event.ObjectRef.Name
	return event.User.Username, request, nil
}
