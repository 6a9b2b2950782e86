// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// explain observes a Stack as flux pulumi debug does.
func explain(api client.Reader, stack *v1.Stack, options observe.Options) (*observe.Explanation, error) {
	return observe.Explain(context.Background(), api, stack, options, func() time.Time { return started })
}

func explainedWorld(t *testing.T) *world {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keys"}, Data: map[string][]byte{"KEY": []byte("k"), "OTHER": []byte(`a "quoted" one`)}}
	plain := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "plain"}, Data: map[string]string{"ZONE": "a"}}
	w := newWorld(t, append(programAndStack(), secret, plain)...)
	w.edit(func(s *v1.Stack) { s.Spec.Envs, s.Spec.EnvSecrets = []string{"plain"}, []string{"keys"} })
	return w
}

func TestExplainChangesNothingAndShowsNoSecret(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	explained, err := explain(w.Client, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.String()).To(Equal("Start update"))
	g.Expect(explained.Unreadable).To(BeEmpty())
	g.Expect(shown(explained)).To(Equal(map[string]string{"PULUMI_BACKEND_URL": "file:///state", "KEY": "[secret]", "OTHER": "[secret]", "ZONE": "a"}), "however short it is")
	g.Expect(w.writes).To(BeZero())

	// It decides like the controller, from the status that the controller has written.
	w.mustReconcile()
	explained, err = explain(w.Client, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Values).To(HaveLen(4), "in flight too")
	g.Expect(explained.Checks).To(HaveLen(1))
	g.Expect(explained.Checks[0].Found).To(MatchRegexp(`^update \S+ since \S+Z, of the process on pod-1: only that knows where it stands$`))
	w.runner.end(w.stack().Status.Run.ID, "Succeeded", "")
	w.mustReconcile()
	explained, err = explain(w.Client, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.Action).To(Equal(decide.InSync))
}

func TestExplainShowsTheInputsOfASuspendedStack(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
	options := observe.Options{NoCrossNamespaceRefs: true}
	explained, err := explain(w.Client, w.stack(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.Action).To(Equal(decide.MarkSuspended))
	g.Expect(explained.Values).To(HaveLen(4))
	g.Expect(explained.Unchecked).NotTo(ContainElement(HavePrefix("the config")))

	w.edit(func(s *v1.Stack) { s.Spec.EnvSecrets = []string{"absent"} })
	explained, err = explain(w.Client, w.stack(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.Action).To(Equal(decide.MarkSuspended))
	g.Expect(explained.Unchecked).To(ContainElement(And(HavePrefix("the config and the environment of a run: "), ContainSubstring("absent"))))
	g.Expect(explained.Missing).To(ConsistOf("spec.envSecrets[0]: Secret 'default/absent' not found"))
	g.Expect(explained.Values).To(HaveLen(2), "all others")
}

// The query is what usually is wrong.
func TestExplainShowsTheQueryOfTheBackend(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	w.edit(func(s *v1.Stack) {
		s.Spec.Backend = "s3://state?region=eu&endpoint=https://minio.example.com&s3ForcePathStyle=true&password=canary"
	})
	explained, err := explain(w.Client, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shown(explained)).To(HaveKeyWithValue("PULUMI_BACKEND_URL",
		"s3://state?region=eu&endpoint=https://minio.example.com&s3ForcePathStyle=true&password=[secret]"))
}

func TestExplainHonoursAPodWhereRunsAreJobs(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	w.edit(func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = &apiextensionsv1.JSON{Raw: []byte(`{"spec":{"image":"pulumi/pulumi-nodejs"}}`)}
	})
	options := observe.Options{NoCrossNamespaceRefs: true}
	explained, err := explain(w.Client, w.stack(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.Reason).To(Equal(v1.InvalidSpecReason))
	options.Jobs, options.DefaultServiceAccount = true, "deployer"
	explained, err = explain(w.Client, w.stack(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.String()).To(Equal("Start update"))
	g.Expect(explained.Unshown).To(ConsistOf("the kubeconfig in $HOME/.kube/config, with the rights of ServiceAccount default/deployer, unless spec.workspaceTemplate sets KUBECONFIG",
		"the variables of spec.workspaceTemplate and of the image of its pod"))
}

func TestExplainListsWhatMayNotBeRead(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	limited := interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
			if _, secret := object.(*corev1.Secret); secret {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, nil)
			}
			return c.Get(ctx, key, object, opts...)
		},
	})
	explained, err := explain(limited, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Unreadable).To(HaveLen(1))
	g.Expect(explained.Unreadable[0]).To(ContainSubstring(`secrets "keys" is forbidden`))
	g.Expect(explained.Decision.Reason).To(Equal(v1.InputsFailedReason))
	g.Expect(explained.Decision.Message).To(And(ContainSubstring(`secrets "keys" is forbidden`), Not(ContainSubstring("give the controller"))))
	g.Expect(explained.Missing).To(BeEmpty(), "it is reported once")
	g.Expect(shown(explained)).To(Equal(map[string]string{"PULUMI_BACKEND_URL": "file:///state", "ZONE": "a"}), "all others")
}

func TestExplainShowsTheOthersOfWhatNoRunCanBeGiven(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	w.edit(func(s *v1.Stack) {
		s.Spec.EnvSecrets = nil
		s.Spec.EnvRefs = map[string]v1.ResourceRef{
			"GOOD":    {Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: "b"}},
			"OTHERS":  {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Namespace: "elsewhere", Name: "keys", Key: "KEY"}},
			"OF_POD":  {Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: "HOSTNAME"}},
			"INVALID": {Type: v1.ResourceRefSecret},
			"NUL":     {Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: "\x00"}},
		}
	})
	explained, err := explain(w.Client, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Missing).To(ConsistOf(
		HavePrefix("spec.envRefs.OTHERS: can't access 'Secret/elsewhere/keys'"),
		HavePrefix("spec.envRefs.OF_POD: type Env reads from the controller itself"),
		HavePrefix("spec.envRefs.INVALID"),
		HavePrefix("spec.envRefs.NUL: the value contains a NUL byte"),
	))
	g.Expect(shown(explained)).To(Equal(map[string]string{"PULUMI_BACKEND_URL": "file:///state", "ZONE": "a", "GOOD": "b"}))
}

func TestExplainShowsTheDefaultsOfAProgram(t *testing.T) {
	g := NewWithT(t)
	w := explainedWorld(t)
	w.says(map[string]any{"config": map[string]any{
		"size": map[string]any{"type": "integer", "default": int64(3)}, "zone": map[string]any{"type": "string", "default": "a"},
		"token": map[string]any{"type": "string", "secret": true, "default": "canary"},
		"copy":  map[string]any{"type": "string", "default": "with k in it"}, "lab:region": map[string]any{"value": "eu"},
	}})
	w.edit(func(s *v1.Stack) {
		s.Spec.Envs = nil
		s.Spec.Config = map[string]apiextensionsv1.JSON{"app:zone": {Raw: []byte(`"b"`)}}
	})
	explained, err := explain(w.Client, w.stack(), observe.Options{NoCrossNamespaceRefs: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Unshown).To(BeEmpty())
	g.Expect(shown(explained)).To(Equal(map[string]string{
		"PULUMI_BACKEND_URL": "file:///state", "KEY": "[secret]", "OTHER": "[secret]",
		"app:zone": `"b"`, "size": "3", "token": "[secret]", "copy": "[secret]", "lab:region": `"eu"`,
	}))
}

// shown returns the values by name.
func shown(explained *observe.Explanation) map[string]string {
	values := map[string]string{}
	for _, value := range explained.Values {
		values[value.Name] = value.Value
	}
	return values
}

func TestExplainNamesWhatTheControllerHasToWriteFirst(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) {
		s.Spec.ProgramRef, s.Spec.ProjectRepo, s.Spec.Branch = nil, "https://git.example.com/infra", "main"
	})
	options := observe.Options{NoCrossNamespaceRefs: true}
	explained, err := explain(w.Client, w.stack(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.Action).To(Equal(decide.KeepGitObjects))
	g.Expect(explained.Checks[len(explained.Checks)-1].Found).To(Equal("to be done: write GitRepository default/app"))
	g.Expect(w.writes).To(BeZero())

	w.mustReconcile()
	explained, err = explain(w.Client, w.stack(), options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Decision.Reason).To(Equal(meta.ArtifactFailedReason), "it is not fetched yet")
}

// The read-only side has no parser of programs, and reads what the controller found.
func TestExplainTakesTheFaultsOfAProgramFromItsStatus(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programOf(faulty()), programAndStack()[1])
	options := observe.Options{NoCrossNamespaceRefs: true}
	explainNow := func() *observe.Explanation {
		explained, err := explain(w.Client, w.stack(), options)
		g.Expect(err).NotTo(HaveOccurred())
		return explained
	}
	explained := explainNow()
	g.Expect(explained.Unchecked).To(ConsistOf("whether Program default/app is valid: its status does not say so yet for generation 1"))
	g.Expect(explained.Decision.String()).To(Equal("Start update"))

	w.reconcileProgram()
	explained = explainNow()
	g.Expect(explained.Unchecked).To(BeEmpty())
	g.Expect(explained.Decision.Reason).To(Equal(v1.ProgramInvalidReason))
	w.mustReconcile()
	g.Expect(explained.Decision.Message).To(Equal(conditions.GetMessage(w.stack(), meta.ReadyCondition)), "in the words of the controller")

	w.says(valid())
	g.Expect(explainNow().Unchecked).To(HaveLen(1), "what is said of another generation does not count")
	w.reconcileProgram()
	explained = explainNow()
	g.Expect(explained.Unchecked).To(BeEmpty())
	g.Expect(explained.Decision.String()).To(Equal("Start update"))
}

// A client of the API server has none of the indexes of the cache.
func TestExplainFindsWhatADeletedStackWaitsFor(t *testing.T) {
	for name, test := range map[string]struct {
		denied     bool
		unreadable int
	}{
		"of all namespaces": {false, 0},
		"of one namespace":  {true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := explainedWorld(t)
			w.edit(func(s *v1.Stack) {
				s.Spec.DestroyOnFinalize, s.Finalizers = true, []string{v1.StackFinalizer}
			})
			user := w.stack()
			user.ObjectMeta = metav1.ObjectMeta{Namespace: "default", Name: "user"}
			user.Spec.DependsOn = []v1.DependencyReference{{Name: w.stack().Name}}
			g.Expect(w.Client.Create(t.Context(), user)).To(Succeed())
			g.Expect(w.Client.Delete(t.Context(), w.stack())).To(Succeed())
			plain := interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					options := (&client.ListOptions{}).ApplyOptions(opts)
					if options.FieldSelector != nil {
						return apierrors.NewBadRequest("field label not supported: " + options.FieldSelector.String())
					}
					if test.denied && options.Namespace == "" {
						return apierrors.NewForbidden(schema.GroupResource{Group: "pulumi.com", Resource: "stacks"}, "", nil)
					}
					return c.List(ctx, list, opts...)
				},
			})
			explained, err := explain(plain, w.stack(), observe.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(explained.Decision.Message).To(ContainSubstring("default/user"))
			g.Expect(explained.Unreadable).To(HaveLen(test.unreadable))
		})
	}
}
