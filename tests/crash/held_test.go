// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// held is one thing whose creation waits until it is released, so that a test can act in
// the middle of it on a machine of any speed.
func held() []thing { return []thing{{name: "slow", value: "one", hold: cloud.Create}} }

// release releases what is held, now and later.
func (u *subject) release() { u.Expect(u.cloud().Release()).To(Succeed()) }

// awaitToldToStop waits until the CLI has passed on the request to stop. It starts no
// further operation after that.
func (u *subject) awaitToldToStop() { u.Eventually(u.cloud().ToldToStop).Should(BeTrue()) }

// stopInMidRun stops the controller while an operation is held, and returns when it has
// ended.
func (u *subject) stopInMidRun() {
	stopped := make(chan error, 1)
	go func() { stopped <- u.s.Controller.Stop() }()
	u.awaitToldToStop()
	u.release()
	u.Eventually(stopped).Should(Receive(BeNil()))
}
