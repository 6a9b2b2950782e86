// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
)

// maxNodes is the number of possible Numbers.
const maxNodes = 256

// plugCable creates both ends of the link to the node, with the first free number: an
// interface can be created only once.
func plugCable(ctx context.Context, spec *node.Spec) error {
	for number := range maxNodes {
		spec.Number = number
		if taken(*spec) {
			continue
		}
		if err := spec.Command(ctx, "ip", "link", "add", spec.Interface(), "type", "veth", "peer", "name", farEnd(*spec)); err != nil {
			// Another node was faster: try the next number.
			if taken(*spec) && ctx.Err() == nil {
				continue
			}
			return fmt.Errorf("making an interface: %w", err)
		}
		if err := spec.Command(ctx, "ip", "link", "set", spec.Interface(), "alias", owner(*spec)); err != nil {
			return fmt.Errorf("naming the owner of an interface: %w", err)
		}
		return nil
	}
	return fmt.Errorf("all %d numbers of nodes are taken", maxNodes)
}

// owner is the alias of the interface of a node. The number of a node that was killed may
// belong to another one by now, but its directory does not.
func owner(spec node.Spec) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(spec.Dir)))
}

// isOthers reports whether the number of a node belongs to another node by now.
func isOthers(spec node.Spec) bool {
	alias, err := os.ReadFile(filepath.Join("/sys/class/net", spec.Interface(), "ifalias"))
	of := strings.TrimSpace(string(alias))
	return err == nil && of != "" && of != owner(spec)
}

func farEnd(spec node.Spec) string { return spec.Interface() + "n" }

// taken reports whether the machine has an interface or an address of that number.
func taken(spec node.Spec) bool {
	if _, err := net.InterfaceByName(spec.Interface()); err == nil {
		return true
	}
	_, pods, _ := net.ParseCIDR(spec.PodsCIDR())
	_, link, _ := net.ParseCIDR(spec.HostAddress() + "/24")
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && (pods.Contains(network.IP) || link.Contains(network.IP)) {
			return true
		}
	}
	return false
}

// giveCable moves the far end into the node, and routes the node and its pods through the
// near end.
func giveCable(ctx context.Context, spec node.Spec, pid int) error {
	for _, args := range [][]string{
		{"link", "set", farEnd(spec), "netns", strconv.Itoa(pid), "name", node.NodeInterface},
		{"address", "add", spec.HostAddress() + "/30", "dev", spec.Interface()},
		{"link", "set", spec.Interface(), "up"},
		{"route", "add", spec.PodsCIDR(), "via", spec.NodeAddress()},
	} {
		if err := spec.Command(ctx, "ip", args...); err != nil {
			return fmt.Errorf("joining the node to the machine: %w", err)
		}
	}
	return nil
}

// pullCable removes the interface, and with it its other end, its address and its routes.
func pullCable(ctx context.Context, spec node.Spec) error {
	if _, err := net.InterfaceByName(spec.Interface()); err != nil {
		return nil
	}
	err := spec.Command(ctx, "ip", "link", "delete", spec.Interface())
	if _, gone := net.InterfaceByName(spec.Interface()); gone != nil {
		return nil // the network namespace of the node took it along
	}
	return err
}
