// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestThePageShowsTheStepsOfAJobAsTheyHappen reads the stream of the page, as a browser does, while the pod of a run is at work:
// its log comes from the node, by way of the API server.
func TestThePageShowsTheStepsOfAJobAsTheyHappen(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", `
resources:
  a:
    type: lab:index:Thing
    properties: {name: a, value: one}
  b:
    type: lab:index:Thing
    properties: {name: b, value: one, hold: create}
    options: {dependsOn: ["${a}"]}
outputs:
  value: ${a.value}
`)
	stack := u.stack("app")
	u.Eventually(func() int { return u.count("create", "begin") }).Should(Equal(2))
	pod := u.runningPod(stack)
	u.Expect(stack.Status.Run.Job).NotTo(BeEmpty())
	node, err := podlogs.Start(u.ctx, u.Client(), podlogs.Options{Node: pod.Spec.NodeName, Namespace: u.namespace, Pod: pod.Name, Run: stack.Status.Run.ID, Existing: true,
		Log: func() ([]byte, error) { return os.ReadFile(u.kubelet.Log(string(pod.UID))) }})
	u.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		node.Stop()
		_ = u.Client().Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}})
	})

	steps := u.openPage().steps(stack.Name)
	u.Eventually(steps).Should(Receive(And(
		ContainElement(And(HaveField("Name", "a"), HaveField("State", view.StepDone))),
		ContainElement(view.Step{Op: "create", Type: "lab:index:Thing", Name: "b", State: view.StepRunning}))))
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitReady(stack, "one")
}

// shownPage is the page of the real command, as a browser has it.
type shownPage struct {
	*team
	address string
	client  *http.Client
}

// openPage starts the command, and enters with the address that it prints.
func (t *team) openPage() *shownPage {
	program, err := process.FindBin("flux-pulumi")
	t.Expect(err).NotTo(HaveOccurred())
	log := filepath.Join(t.dir, "page.log")
	command, err := process.Start(context.Background(), process.Spec{Name: "flux pulumi ui", Path: program, Log: log, Env: []string{"HOME=" + t.dir},
		Args: []string{"ui", "--no-open", "--kubeconfig", t.ControlPlane.KubeconfigPath()}})
	t.Expect(err).NotTo(HaveOccurred())
	t.test.Cleanup(func() { t.Expect(command.Stop()).To(Succeed()) })
	printed := regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/\?token=[0-9a-f]+`)
	var found []string
	t.Eventually(func() []string {
		text, err := os.ReadFile(log)
		t.Expect(err).NotTo(HaveOccurred())
		found = printed.FindStringSubmatch(string(text))
		return found
	}).ShouldNot(BeEmpty(), command.LogTail)
	jar, err := cookiejar.New(nil)
	t.Expect(err).NotTo(HaveOccurred())
	p := &shownPage{t, found[1], &http.Client{Jar: jar}}
	p.Expect(p.get(found[0]).Body.Close()).To(Succeed())
	return p
}

func (p *shownPage) get(address string) *http.Response {
	request, err := http.NewRequestWithContext(p.ctx, http.MethodGet, address, nil)
	p.Expect(err).NotTo(HaveOccurred())
	response, err := p.client.Do(request)
	p.Expect(err).NotTo(HaveOccurred())
	p.Expect(response.StatusCode).To(Equal(http.StatusOK))
	return response
}

// steps passes on the steps of the run in flight each time that the page shows others, until the stream ends.
func (p *shownPage) steps(stack string) <-chan []view.Step {
	stream, seen := p.get(p.address+"/api/stacks/"+p.namespace+"/"+stack+"/live"), make(chan []view.Step, 1000)
	p.test.Cleanup(func() { _ = stream.Body.Close() })
	go func() {
		lines, event := bufio.NewReader(stream.Body), ""
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				event = strings.TrimSpace(name)
			}
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			// A detail has the progress in its run, and the progress is alone in between.
			var shown struct {
				Steps []view.Step
				Run   struct{ Steps []view.Step }
			}
			if json.Unmarshal([]byte(data), &shown) != nil {
				continue // the test sees what is missing
			}
			if event == "detail" {
				shown.Steps = shown.Run.Steps
			}
			seen <- shown.Steps
		}
	}()
	return seen
}
