// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// polling is how often a cluster is asked for a kind that it does not have yet.
const polling = 200 * time.Millisecond

// Kind is where a cluster has the objects of a kind.
type Kind struct {
	// Namespaced reports whether they are in namespaces.
	Namespaced bool
	// api and resource are /apis/apps/v1 and deployments.
	api, resource string
}

// Path is that of all objects of the kind, in a namespace if it is not empty.
func (k Kind) Path(namespace string) string {
	if namespace == "" {
		return k.api + "/" + k.resource
	}
	return k.api + "/namespaces/" + namespace + "/" + k.resource
}

// Kind asks where the objects of a kind are. A kind that is missing is waited for: the API server takes a moment to serve the
// kind of a new CustomResourceDefinition.
func (c *Cluster) Kind(ctx context.Context, groupVersion, kind string) (Kind, error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	poll := time.NewTicker(polling)
	defer poll.Stop()
	for {
		found, ok, err := c.lookUp(ctx, groupVersion, kind)
		if err != nil || ok {
			return found, err
		}
		select {
		case <-ctx.Done():
			return Kind{}, fmt.Errorf("the API server has no kind %s in %s", kind, groupVersion)
		case <-poll.C:
		}
	}
}

func (c *Cluster) lookUp(ctx context.Context, groupVersion, kind string) (found Kind, ok bool, err error) {
	found.api = "/apis/" + groupVersion
	if !strings.Contains(groupVersion, "/") {
		found.api = "/api/" + groupVersion
	}
	status, body, err := c.do(ctx, http.MethodGet, found.api, "", nil)
	if err == nil && status != http.StatusOK && status != http.StatusNotFound {
		err = refused(status, body)
	}
	if err != nil {
		return Kind{}, false, fmt.Errorf("looking for the kind %s in %s: %w", kind, groupVersion, err)
	}
	if status == http.StatusNotFound {
		return Kind{}, false, nil
	}
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
		}
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return Kind{}, false, fmt.Errorf("looking for the kind %s in %s: %w", kind, groupVersion, err)
	}
	for _, resource := range list.Resources {
		if resource.Kind == kind && !strings.Contains(resource.Name, "/") {
			found.resource, found.Namespaced = resource.Name, resource.Namespaced
			return found, true, nil
		}
	}
	return Kind{}, false, nil
}
