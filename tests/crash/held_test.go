// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// held is one thing with a creation that goes on when it is released: what is to
// happen in the middle of it does, however slow the machine is.
func held() []thing { return []thing{{name: "slow", value: "one", hold: cloud.Create}} }

// release lets what is held go on, and what would be held later.
func (u *subject) release() { u.Expect(u.cloud().Release()).To(Succeed()) }

// awaitToldToStop waits until the CLI has passed on that it was told to stop: from
// then on it begins nothing more.
func (u *subject) awaitToldToStop() { u.Eventually(u.cloud().ToldToStop).Should(BeTrue()) }

// stopInMidRun tells the controller to end while an operation is held, and returns
// when it has ended.
func (u *subject) stopInMidRun() {
	stopped := make(chan error, 1)
	go func() { stopped <- u.s.Controller.Stop() }()
	u.awaitToldToStop()
	u.release()
	u.Eventually(stopped).Should(Receive(BeNil()))
}
