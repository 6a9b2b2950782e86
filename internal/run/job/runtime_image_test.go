// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// TestTheImageOfARun is the precedence in docs/runners.md.
func TestTheImageOfARun(t *testing.T) {
	const (
		defaults   = `{spec: {image: "default:1"}}`
		patched    = `{spec: {podTemplate: {spec: {containers: [{name: pulumi, image: "default:2"}]}}}}`
		own        = `{spec: {image: "own:1"}}`
		ownPatch   = `{spec: {podTemplate: {spec: {containers: [{name: pulumi, image: "own:2"}]}}}}`
		otherwise  = `{spec: {env: [{name: A, value: b}]}}`
		controller = "controller:1"
	)
	images := map[string]string{"nodejs": "nodejs:1", "yaml": "yaml:1"}
	source := run.Program{Artifact: &run.Artifact{Digest: "sha256:a", Dir: "infra"}}
	state := run.Run{Operation: run.Destroy, Project: run.Project{Name: "app", Runtime: "nodejs"}, Program: source}
	for name, test := range map[string]struct {
		images   map[string]string
		defaults string
		run      run.Run
		template string
		// runtime is that of the artifact, and read says whether it is looked for there.
		runtime string
		read    bool
		want    string
	}{
		"nothing says anything":                        {run: run.Run{Program: source}, want: controller},
		"the defaults":                                 {defaults: defaults, run: run.Run{Program: source}, want: "default:1"},
		"the runtime, over the controller's":           {images: images, run: run.Run{Program: source}, runtime: "nodejs", read: true, want: "nodejs:1"},
		"the runtime, over the defaults":               {images: images, defaults: defaults, run: run.Run{Program: source}, runtime: "nodejs", read: true, want: "nodejs:1"},
		"the runtime, over a patch of the defaults":    {images: images, defaults: patched, run: run.Run{Program: source}, runtime: "nodejs", read: true, want: "nodejs:1"},
		"the runtime, beside another template":         {images: images, run: run.Run{Program: source}, template: otherwise, runtime: "nodejs", read: true, want: "nodejs:1"},
		"the Stack, over the runtime":                  {images: images, defaults: defaults, run: run.Run{Program: source}, template: own, runtime: "nodejs", want: "own:1"},
		"a patch of the Stack, over the runtime":       {images: images, defaults: defaults, run: run.Run{Program: source}, template: ownPatch, runtime: "nodejs", want: "own:2"},
		"a runtime without an image":                   {images: images, run: run.Run{Program: source}, runtime: "python", read: true, want: controller},
		"a runtime without an image, and the defaults": {images: images, defaults: defaults, run: run.Run{Program: source}, runtime: "python", read: true, want: "default:1"},
		"an artifact of no use":                        {images: images, run: run.Run{Program: source}, read: true, want: controller},
		"a Program": {images: images, run: run.Run{
			Program: run.Program{YAML: []byte("resources: {}")}, Project: run.Project{Name: "app", Runtime: "yaml"},
		}, want: "yaml:1"},
		"a destroy, by the runtime in the status": {images: images, run: state, runtime: "python", want: "nodejs:1"},
		"a destroy that runs the program": {images: images, run: run.Run{
			Operation: run.Destroy, Project: state.Project, Program: source, Options: run.Options{RunProgram: true},
		}, runtime: "python", read: true, want: controller},
		"a destroy whose project is not known": {images: images, run: run.Run{Operation: run.Destroy, Program: source}, runtime: "nodejs", read: true, want: "nodejs:1"},
		"a destroy whose runtime is not known": {images: images, run: run.Run{
			Operation: run.Destroy, Project: run.Project{Name: "app"}, Program: source,
		}, runtime: "nodejs", read: true, want: "nodejs:1"},
		"a destroy without a source": {images: images, run: run.Run{Operation: run.Destroy, Project: run.Project{Name: "app"}}, want: controller},
	} {
		t.Run(name, func(t *testing.T) {
			var reads atomic.Int32
			s := runnerOn(t, newCluster(), func(o *Options) {
				if test.defaults != "" {
					o.Settings = withDefaults(t, test.defaults)
				}
				o.Image, o.RuntimeImages, o.PullPolicy = controller, test.images, corev1.PullNever
				o.Runtime = func(_ context.Context, artifact run.Artifact) (string, error) {
					reads.Add(1)
					s := NewWithT(t)
					s.Expect(artifact).To(Equal(*source.Artifact))
					return test.runtime, nil
				}
			})
			todo := oneRun("1", "app")
			if test.run.Operation != "" {
				todo.Operation = test.run.Operation
			}
			todo.Program, todo.Project, todo.Options = test.run.Program, test.run.Project, test.run.Options
			if test.template != "" {
				text, err := yaml.YAMLToJSON([]byte(test.template))
				s.Expect(err).NotTo(HaveOccurred())
				todo.Workspace = json.RawMessage(text)
			}
			s.Expect(s.Reserve("default", "app")).To(BeTrue())
			s.Expect(s.Runner.Start(todo)).To(Succeed())
			s.stepUntilCreated()
			pod := s.job().Spec.Template.Spec
			s.Expect(mainOf(&pod).Image).To(Equal(test.want))
			s.Expect(reads.Load() == 1).To(Equal(test.read))
			s.Expect(pod.InitContainers[0].Image).To(Equal(controller))
			if test.want == controller {
				s.Expect(mainOf(&pod).ImagePullPolicy).To(Equal(corev1.PullNever))
			} else if test.template != ownPatch {
				s.Expect(mainOf(&pod).ImagePullPolicy).To(BeEmpty(), "that of the controller is for its own image")
			}
		})
	}
}

// stepUntilCreated takes passes until the Job exists. What they wait for is outside of them.
func (s *started) stepUntilCreated() {
	s.test.Helper()
	s.Eventually(func() bool {
		s.step()
		return s.hasJob()
	}).Should(BeTrue())
}

// A source that does not answer must not keep passes over other runs waiting.
func TestARunWaitsForTheRuntimeOfItsProgram(t *testing.T) {
	type answer struct {
		runtime string
		err     error
	}
	answers := make(chan answer)
	s := start(t, func(o *Options) {
		o.RuntimeImages = map[string]string{"nodejs": "nodejs:1"}
		o.Runtime = func(context.Context, run.Artifact) (string, error) {
			a := <-answers
			return a.runtime, a.err
		}
	})
	s.update(s.key, func(known *record) { known.todo.Program.Artifact = &run.Artifact{Digest: "sha256:a"} })
	for range 2 {
		s.step()
	}
	s.Expect(s.hasJob()).To(BeFalse())
	away := errors.New("the source is away")
	answers <- answer{err: away}
	s.Eventually(func() error {
		_, err := s.Reconcile(t.Context(), s.key)
		return err
	}).Should(MatchError(away))
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(Equal("the source is away"), "the Stack says so")

	s.update(s.key, func(known *record) {
		known.create.runtime.since = known.create.runtime.since.Add(-createAllowance)
	})
	_, _ = s.Reconcile(t.Context(), s.key)
	s.Expect(s.get(s.key).slot.held).To(Equal(false), "others can have its slot")
	s.Expect(s.Look(ref("1"))).To(Equal(run.Running))

	go func() { answers <- answer{runtime: "nodejs"} }()
	s.Eventually(func() bool {
		_, _ = s.Reconcile(t.Context(), s.key)
		return s.hasJob()
	}).Should(BeTrue())
	s.Expect(mainOf(&s.job().Spec.Template.Spec).Image).To(Equal("nodejs:1"))
	s.step()
	s.Expect(s.get(s.key).slot.held).To(Equal(true))
}

func TestARunWhoseRuntimeCannotBeReadEnds(t *testing.T) {
	s := start(t, func(o *Options) {
		o.RuntimeImages = map[string]string{"nodejs": "nodejs:1"}
		o.Runtime = func(context.Context, run.Artifact) (string, error) { return "", errors.New("the source is away") }
	})
	s.update(s.key, func(known *record) {
		known.todo.Program.Artifact = &run.Artifact{Digest: "sha256:a"}
		known.create.runtime.since = time.Now().Add(-runtimePatience)
	})
	s.Eventually(func() run.Phase {
		_, _ = s.Reconcile(t.Context(), s.key)
		phase, _ := s.Look(ref("1"))
		return phase
	}).Should(Equal(run.Ended))
	_, result := s.Look(ref("1"))
	s.Expect(result.Outcome).To(Equal(run.PodFailed))
	s.Expect(result.Message).To(Equal("the Job of the run could not be created: the source is away"))
}
