// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	psaapi "k8s.io/pod-security-admission/api"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// mountingDependencies is a run of a program with a volume for its dependencies. More is added to the
// spec of the pod.
func mountingDependencies(volume, more string) run.Run {
	r := withTemplate(fmt.Sprintf(`{spec: {podTemplate: {spec: {volumes: [{name: x, %s}], %s
  containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: /pulumi-dependencies}]}]}}}}`, volume, more))
	r.Program = run.Program{Artifact: &run.Artifact{URL: "http://source-controller/app.tar.gz", Digest: "sha256:abc"}}
	return r
}

const aClaim = `persistentVolumeClaim: {claimName: dependencies}`

func podFor(g *WithT, r run.Run) corev1.PodSpec {
	s := settings()
	s.DependencyCacheSize, s.namespaceUID = 1<<30, "u1"
	built, err := build(s, r)
	g.Expect(err).NotTo(HaveOccurred())
	return built.job.Spec.Template.Spec
}

// The program is in the container pulumi.
func TestOnlyTheKeeperCanWriteDependencies(t *testing.T) {
	g := NewWithT(t)
	pod := podFor(g, mountingDependencies(aClaim, `initContainers: [{name: bootstrap, resources: {limits: {memory: 512Mi}}}], securityContext: {runAsUser: 1000},`))
	writers := map[string]bool{}
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		for _, mount := range container.VolumeMounts {
			if mount.Name == "x" {
				writers[container.Name] = !mount.ReadOnly
			}
		}
	}
	g.Expect(writers).To(Equal(map[string]bool{mainContainer: false, keeperContainer: true}))
	g.Expect(pod.Containers[0].Name).To(Equal(keeperContainer), "no other image is pulled while the run waits for it")
	keeper := containerOf(pod.Containers, keeperContainer)
	g.Expect(keeper.Args).To(ContainElements("--namespace=team-a", "--namespace-uid=u1"))
	g.Expect(keeper.Image).To(Equal(settings().Image), "not that of the Stack")
	g.Expect(keeper.Resources.Limits.Memory().String()).To(Equal("512Mi"), "as the other container of the controller")
}

func TestTheKeeperHasTheUserOfTheRun(t *testing.T) {
	g := NewWithT(t)
	r := withTemplate(`{spec: {podTemplate: {spec: {volumes: [{name: x, ` + aClaim + `}],
  containers: [{name: pulumi, securityContext: {runAsUser: 1000}, volumeMounts: [{name: x, mountPath: /pulumi-dependencies/, subPath: team}]}]}}}}`)
	r.Program = run.Program{Artifact: &run.Artifact{}}
	keeper := containerOf(podFor(g, r).Containers, keeperContainer)
	g.Expect(*keeper.SecurityContext.RunAsUser).To(BeEquivalentTo(1000), "it could not use the socket")
	g.Expect(keeper.VolumeMounts[0].SubPath).To(Equal("team"))
}

func TestARunHasAKeeperOnlyIfItMayInstall(t *testing.T) {
	reads := []string{"--dependencies-dir=/pulumi-dependencies", "--namespace-uid=u1"}
	keeps := append(slices.Clone(reads), "--keeper=/pulumi-keeper/s")
	for name, tt := range map[string]struct {
		change func(*Settings, *run.Run)
		want   []string
	}{
		"an update":              {func(*Settings, *run.Run) {}, keeps},
		"a Program":              {func(_ *Settings, r *run.Run) { r.Program = aRun().Program }, nil},
		"a destroy":              {func(_ *Settings, r *run.Run) { r.Operation = run.Destroy }, nil},
		"a destroy by a program": {func(_ *Settings, r *run.Run) { r.Operation, r.Options.RunProgram = run.Destroy, true }, keeps},
		"nothing is kept":        {func(s *Settings, _ *run.Run) { s.DependencyCacheSize = 0 }, nil},
		"a program in Python":    {func(s *Settings, _ *run.Run) { s.runtime = "python" }, keeps},
		"a program in YAML":      {func(s *Settings, _ *run.Run) { s.runtime = "yaml" }, nil},
		"a program in Go":        {func(s *Settings, _ *run.Run) { s.runtime = "go" }, nil},
		"a policy pack":          {func(s *Settings, r *run.Run) { s.runtime, r.Policies = "yaml", make([]run.PolicyPack, 2) }, append(slices.Clone(keeps), "--snapshots=3")},
		"a pack of a Program":    {func(_ *Settings, r *run.Run) { r.Program, r.Policies = aRun().Program, make([]run.PolicyPack, 1) }, append(slices.Clone(keeps), "--snapshots=2")},
		"a destroy with packs":   {func(_ *Settings, r *run.Run) { r.Operation, r.Policies = run.Destroy, make([]run.PolicyPack, 1) }, nil},
		"an unknown namespace":   {func(s *Settings, _ *run.Run) { s.namespaceUID = "" }, nil},
		"a read-only mount": {func(_ *Settings, r *run.Run) {
			r.Workspace = withTemplate(mounting(aClaim, "/pulumi-dependencies", true)).Workspace
		}, reads},
		"a read-only claim": {func(_ *Settings, r *run.Run) {
			r.Workspace = mountingDependencies(`persistentVolumeClaim: {claimName: dependencies, readOnly: true}`, "").Workspace
		}, reads},
		"an image": {func(_ *Settings, r *run.Run) {
			r.Workspace = withTemplate(mounting("image: {reference: x}", "/pulumi-dependencies", true)).Workspace
		}, reads},
		"no volume": {func(_ *Settings, r *run.Run) { r.Workspace = nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, r := settings(), mountingDependencies(aClaim, "")
			s.DependencyCacheSize, s.namespaceUID = 1<<30, "u1"
			tt.change(&s, &r)
			built, err := build(s, r)
			g.Expect(err).NotTo(HaveOccurred())
			pod := built.job.Spec.Template.Spec
			args := mainOf(&pod).Args // the last is the digest of the run
			g.Expect(args[len(s.arguments(r)) : len(args)-1]).To(HaveExactElements(tt.want))
			g.Expect(len(pod.Containers) == 2).To(Equal(len(tt.want) >= len(keeps)))
			for _, mount := range mainOf(&pod).VolumeMounts {
				g.Expect(mount.Name == "x" && !mount.ReadOnly).To(BeFalse())
			}
		})
	}
}

func TestAVolumeIsRefusedThatProgramsOrOthersCouldWrite(t *testing.T) {
	for name, tt := range map[string]struct{ volume, more, want string }{
		"a directory of the node": {`hostPath: {path: /x}`, ``, "no persistentVolumeClaim"},
		"an image":                {`image: {reference: x}`, ``, "no persistentVolumeClaim"},
		"nothing that stays":      {`emptyDir: {}`, ``, "no persistentVolumeClaim"},
		"another writable mount": {aClaim, `initContainers: [{name: mine, image: x, volumeMounts: [{name: x, mountPath: /y}]}],`,
			"also in container mine at /y"},
		"a second volume of the claim": {aClaim + `}, {name: again, ` + aClaim, `initContainers: [{name: mine, image: x, volumeMounts: [{name: again, mountPath: /y}]}],`,
			"also in container mine at /y"},
		"processes that are shared":    {aClaim, `shareProcessNamespace: true,`, "shareProcessNamespace"},
		"processes of the node":        {aClaim, `hostPID: true,`, "hostPID"},
		"a container of the same name": {aClaim, `initContainers: [{name: dependencies, image: x}],`, "container dependencies"},
		"a volume of the same name":    {aClaim + `}, {name: pulumi-keeper, emptyDir: {}`, ``, "volume pulumi-keeper"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := settings()
			s.PodSecurity = psaapi.LevelPrivileged
			r := mountingDependencies(tt.volume, tt.more)
			r.Program = aRun().Program // the defaults of an administrator are checked without a source
			err := check(s, r)
			var fault *TemplateError
			g.Expect(err).To(BeAssignableToTypeOf(fault))
			g.Expect(err).To(MatchError(And(HavePrefix("spec.workspaceTemplate.spec.podTemplate mounts a volume at /pulumi-dependencies"), ContainSubstring(tt.want))))
		})
	}
}

func TestTheSnapshotsOfARunAreNotInADirectoryOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	err := check(settings(), withTemplate(`{spec: {podTemplate: {spec: {volumes: [{name: x, `+aClaim+`}],
  containers: [{name: pulumi, volumeMounts: [{name: x, mountPath: /pulumi-dependencies, subPathExpr: $(POD_NAME)}]}]}}}}`))
	g.Expect(err).To(MatchError(ContainSubstring("use subPath")))
}

// A volume may come from an earlier namespace of the same name.
func TestTheSnapshotsOfARunAreThoseOfItsNamespaceAndNotOfItsName(t *testing.T) {
	away := apierrors.NewServiceUnavailable("the API server is away")
	for name, tt := range map[string]struct {
		program run.Program
		err     error
		want    string
		reads   int
	}{
		"a source":                     {run.Program{Artifact: &run.Artifact{}}, nil, "--namespace-uid=u1", 1},
		"a Program":                    {aRun().Program, nil, "", 0},
		"a namespace that is not read": {run.Program{Artifact: &run.Artifact{}}, apierrors.NewForbidden(corev1.Resource("namespaces"), "default", nil), "", 1},
		"an API server that is away":   {run.Program{Artifact: &run.Artifact{}}, away, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			s := start(t, func(o *Options) {
				o.DependencyCacheSize = 1 << 30
				o.NamespaceUID = func(_ context.Context, namespace string) (string, error) {
					reads++
					NewWithT(t).Expect(namespace).To(Equal("default"))
					return "u1", tt.err
				}
			})
			s.update(s.key, func(known *record) {
				known.todo.Program, known.todo.Workspace = tt.program, mountingDependencies(aClaim, "").Workspace
			})
			_, err := s.Reconcile(t.Context(), s.key)
			s.Expect(reads).To(Equal(tt.reads))
			if tt.err == away {
				s.Expect(err).To(MatchError(ContainSubstring("failed to read namespace default: the API server is away")))
				s.Expect(s.hasJob()).To(BeFalse())
				return
			}
			s.Expect(err).NotTo(HaveOccurred())
			pod := s.job().Spec.Template.Spec
			uses := slices.IndexFunc(mainOf(&pod).Args, func(arg string) bool { return strings.HasPrefix(arg, "--namespace-uid=") })
			if tt.want == "" {
				s.Expect(uses).To(Equal(-1))
				s.Expect(mainOf(&pod).Args).NotTo(ContainElement(HavePrefix("--dependencies-dir=")))
			} else {
				s.Expect(mainOf(&pod).Args[uses]).To(Equal(tt.want))
			}
		})
	}
}
