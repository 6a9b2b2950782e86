// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command coredns is CoreDNS with what a cluster for tests needs of it. The whole of it is made of the clients of every cloud.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	// They are asked in this order.
	dnsserver.Directives = []string{"bind", "errors", "kubernetes"}
	coremain.Run()
}
