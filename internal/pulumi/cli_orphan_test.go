// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// orphanVariable makes this test binary act as a controller. It holds a Driver, a
// directory and a run, as JSON.
const orphanVariable = "TEST_PULUMI_CONTROLLER"

type orphanInput struct {
	Driver *Driver
	Dir    Directory
	Run    run.Run
}

// TestPlayController is not a test: it is the controller of the test below.
func TestPlayController(t *testing.T) {
	text, ok := os.LookupEnv(orphanVariable)
	if !ok {
		t.Skip("started by TestAKilledControllerLetsTheCLIFinish only")
	}
	var input orphanInput
	NewWithT(t).Expect(json.Unmarshal([]byte(text), &input)).To(Succeed())
	input.Driver.Do(context.Background(), input.Dir, input.Run, func(string) {})
}

func TestAKilledControllerLetsTheCLIFinish(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	r := l.update(l.thing("hold: create", "value: x"))
	text, err := json.Marshal(orphanInput{Driver: l.driver, Dir: Directory(t.TempDir()), Run: r})
	l.Expect(err).NotTo(HaveOccurred())
	controller := exec.Command(os.Args[0], "-test.run=^TestPlayController$")
	controller.Env = append(os.Environ(), orphanVariable+"="+string(text))
	t.Cleanup(func() { _, _ = process.EndMarked(markOf(r.ID), time.Second) })
	l.Expect(controller.Start()).To(Succeed())
	l.awaitCreate()
	l.Expect(controller.Process.Kill()).To(Succeed())
	l.Expect(controller.Wait()).To(MatchError(ContainSubstring("killed")))

	l.Eventually(cloud.Open(l.cloud).ToldToStop).Should(BeTrue())
	l.release()
	l.Eventually(func() (int, error) { return Alive(r.ID) }).Should(BeZero())
	l.Expect(l.things()).To(Equal(1), "what was in flight is finished, and nothing else started")
	l.Expect(l.locks()).To(BeEmpty())
	l.Expect(l.state()).To(ContainSubstring("lab:index:Thing::a"))
	l.Expect(l.state()).NotTo(ContainSubstring("pending_operations"))
}
