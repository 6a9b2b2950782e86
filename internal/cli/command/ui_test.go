// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
)

// browser has opened the page of a command.
type browser struct {
	w       *world
	address *url.URL
	client  *http.Client
	said    *lockedBuffer
}

// lockedBuffer is written and read concurrently.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// open runs flux pulumi ui with the flags, and opens the address that it prints.
func (w *world) open(flags ...string) *browser {
	w.t.Helper()
	g := NewWithT(w.t)
	b := &browser{w: w, said: &lockedBuffer{}}
	out, written := io.Pipe()
	env := w.env
	env.Out, env.Err = written, b.said
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, env, append([]string{"ui", "--kubeconfig", w.kubeconfig, "--namespace", w.namespace}, flags...))
		_ = written.Close()
	}()
	w.t.Cleanup(func() {
		stop()
		NewWithT(w.t).Expect(<-ended).To(Equal(0), b.said.String())
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred(), b.said.String())
	b.address, err = url.Parse(strings.TrimSpace(line))
	g.Expect(err).NotTo(HaveOccurred())
	jar, err := cookiejar.New(nil)
	g.Expect(err).NotTo(HaveOccurred())
	b.client = &http.Client{Jar: jar}
	code, text := b.request(http.MethodGet, "/?"+b.address.RawQuery, "")
	g.Expect(code).To(Equal(http.StatusOK), text)
	b.address.RawQuery = ""
	return b
}

func (b *browser) send(method, path, body string) *http.Response {
	b.w.t.Helper()
	g := NewWithT(b.w.t)
	request, err := http.NewRequestWithContext(b.w.t.Context(), method, "http://"+b.address.Host+path, strings.NewReader(body))
	g.Expect(err).NotTo(HaveOccurred())
	if method == http.MethodPost {
		request.Header.Set("Origin", "http://"+b.address.Host)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Flux-Pulumi", "1")
	}
	response, err := b.client.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	b.w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (b *browser) request(method, path, body string) (int, string) {
	b.w.t.Helper()
	response := b.send(method, path, body)
	text, err := io.ReadAll(response.Body)
	NewWithT(b.w.t).Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(text)
}

// get reads an answer about a Stack.
func (b *browser) get(path string, into any) {
	b.w.t.Helper()
	g := NewWithT(b.w.t)
	code, text := b.request(http.MethodGet, "/api/stacks/"+b.w.namespace+"/"+path, "")
	g.Expect(code).To(Equal(http.StatusOK), text)
	g.Expect(json.Unmarshal([]byte(text), into)).To(Succeed())
}

func (b *browser) act(path, body string) (int, string) {
	b.w.t.Helper()
	return b.request(http.MethodPost, "/api/stacks/"+b.w.namespace+"/"+path, body)
}

// rows reads the next changes of the list of Stacks, by name.
func (b *browser) rows(from *bufio.Reader) map[string]view.Row {
	b.w.t.Helper()
	g := NewWithT(b.w.t)
	for {
		line, err := from.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
		if line != "event: stacks\n" {
			continue
		}
		line, err = from.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
		var event struct{ Upserts []view.Row }
		g.Expect(json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &event)).To(Succeed())
		found := map[string]view.Row{}
		for _, row := range event.Upserts {
			if row.Namespace == b.w.namespace {
				found[row.Name] = row
			}
		}
		if len(found) > 0 {
			return found
		}
	}
}

// event reads the first event of the name about a Stack.
func (b *browser) event(stack, name string, into any) {
	b.w.t.Helper()
	g := NewWithT(b.w.t)
	from := bufio.NewReader(b.send(http.MethodGet, "/api/stacks/"+b.w.namespace+"/"+stack+"/live", "").Body)
	for line := ""; line != "event: "+name+"\n"; {
		var err error
		line, err = from.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
	}
	data, err := from.ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), into)).To(Succeed())
}

func TestThePageShowsStacksAndWhatChanges(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-changes")
	w.apply("reconcile")
	b := w.open("--no-open")
	stream := b.send(http.MethodGet, "/api/stacks", "")
	list := bufio.NewReader(stream.Body)
	g.Expect(b.rows(list)).To(HaveKey("network"))
	stack := &v1.Stack{}
	g.Expect(w.api.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "network"}, stack)).To(Succeed())
	stack.Status.LastAppliedRevision = "main@sha1:9a8f4c4a"
	changed := time.Now()
	g.Expect(w.api.Status().Update(t.Context(), stack)).To(Succeed())
	g.Expect(b.rows(list)["network"].Revision).To(Equal("main@sha1:9a8f4c4a"))
	g.Expect(time.Since(changed)).To(BeNumerically("<", time.Second))

	code, graph := b.request(http.MethodGet, "/api/graph?focus="+w.namespace+"/network", "")
	g.Expect(code).To(Equal(http.StatusOK))
	g.Expect(graph).To(ContainSubstring(w.namespace + "/network"))
	code, page := b.request(http.MethodGet, "/", "")
	g.Expect(code).To(Equal(http.StatusOK))
	g.Expect(page).To(ContainSubstring("app.js"))
}

func TestThePageDoesWhatTheCommandsDo(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-actions")
	w.apply("steered")
	b := w.open("--no-open")
	var detail view.Detail
	b.get("network", &detail)
	g.Expect(detail.May.Suspend).To(BeTrue())
	g.Expect(detail.May.Resume).To(BeFalse())
	for _, tt := range []struct {
		path, body string
		code       int
		says       string
	}{
		{"network/suspend", "{}", http.StatusOK, "stack suspended"},
		{"network/reconcile", "{}", http.StatusUnprocessableEntity, "suspended"},
		{"network/preview", "{}", http.StatusUnprocessableEntity, "suspended"},
		{"network/resume", "{}", http.StatusOK, "stack resumed"},
		{"network/reconcile", `{"force":true}`, http.StatusOK, "Stack annotated"},
		{"network/reconcile", `{"checkDrift":true}`, http.StatusOK, "Stack annotated"},
		{"network/preview", "{}", http.StatusOK, "Stack annotated"},
		{"network/delete", "{}", http.StatusNotFound, "no such part"},
		{"network/approve", `{"digest":"sha256:1"}`, http.StatusUnprocessableEntity, "64 hexadecimal digits"},
	} {
		code, text := b.act(tt.path, tt.body)
		g.Expect(code).To(Equal(tt.code), tt.path+text)
		g.Expect(text).To(ContainSubstring(tt.says), tt.path)
	}
	annotations := w.network().Annotations
	g.Expect(annotations).To(HaveKey("reconcile.fluxcd.io/forceAt"))
	g.Expect(annotations).To(HaveKey(v1.CheckDriftAnnotation))
	g.Expect(annotations).To(HaveKey(v1.PreviewRequestAnnotation))
}

func TestThePageApprovesExactlyThePlanThatItShows(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-approve")
	w.apply("steered")
	b := w.open("--no-open")
	first, shown := w.propose(examplePlan("one")), view.PlanAnswer{}
	b.get("network/plan", &shown)
	g.Expect(shown.Digest).To(Equal(first.Digest))
	g.Expect(shown.Plan.Steps).To(HaveLen(4))
	second := w.propose(examplePlan("two"))
	code, text := b.act("network/approve", `{"digest":"`+first.Digest+`"}`)
	g.Expect(code).To(Equal(http.StatusUnprocessableEntity))
	g.Expect(text).To(ContainSubstring("is not proposed"))
	g.Expect(w.decided()).To(BeEmpty())
	code, text = b.act("network/reject", `{"digest":"`+second.Digest+`","reason":" "}`)
	g.Expect(code).To(Equal(http.StatusUnprocessableEntity), text)
	code, text = b.act("network/reject", `{"digest":"`+second.Digest+`","reason":"not on a Friday"}`)
	g.Expect(code).To(Equal(http.StatusOK), text)
	g.Expect(w.decided()).To(HaveKeyWithValue(v1.RejectReasonAnnotation, "not on a Friday"))
	code, text = b.act("network/approve", `{"digest":"`+second.Digest+`"}`)
	g.Expect(code).To(Equal(http.StatusOK), text)
	g.Expect(text).To(ContainSubstring("plan approved as "))
	g.Expect(w.decided()).To(HaveKeyWithValue(v1.ApproveAnnotation, second.Digest))
}

func TestThePageHasNoOtherRightsThanThePerson(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-rights")
	w.apply("steered")
	w.allow("ui-reader", events, stacks)
	b := w.open("--no-open", "--as", "ui-reader")
	g.Expect(b.said.String()).To(ContainSubstring("the page shows those of ui-rights"))
	stream := b.send(http.MethodGet, "/api/stacks", "")
	g.Expect(b.rows(bufio.NewReader(stream.Body))).To(HaveKey("network"))
	var detail view.Detail
	b.get("network", &detail)
	g.Expect(detail.May).To(Equal(view.May{}))
	g.Expect(strings.Join(detail.Warnings, "\n")).To(ContainSubstring("these are the last results in the status"))
	code, text := b.act("network/suspend", "{}")
	g.Expect(code).To(Equal(http.StatusForbidden))
	g.Expect(text).To(ContainSubstring(`User \"ui-reader\" cannot patch resource \"stacks\"`))
	g.Expect(w.network().Spec.Suspend).To(BeFalse())
	code, text = b.request(http.MethodGet, "/api/stacks/default/network", "")
	g.Expect(code).To(Equal(http.StatusForbidden), text)
}

func TestThePageShowsNoSecretAndBoundsTexts(t *testing.T) {
	const canary = "canary-4be1c5"
	g := NewWithT(t)
	w := newWorld(t, "ui-secrets")
	w.apply("steered")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "network"}, StringData: map[string]string{"token": canary, "kubeconfig": canary}}
	g.Expect(w.api.Create(t.Context(), secret)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), secret) })
	stack := w.network()
	stack.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "network"}
	stack.Spec.EnvRefs = map[string]v1.ResourceRef{"TOKEN": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "network", Key: "token"}}}
	g.Expect(w.api.Update(t.Context(), stack)).To(Succeed())
	long := strings.Repeat("a", 1<<20)
	w.status(func(s *v1.StackStatus) {
		s.Outputs = map[string]apiextensionsv1.JSON{"kubeconfig": {Raw: []byte(`"[secret]"`)}, "long": {Raw: []byte(`"` + long + `"`)}}
		s.OutputsSecret = &v1.OutputsSecretStatus{Name: "network", Digest: "sha256:1"}
	})
	b := w.open("--no-open")
	for _, path := range []string{"", "/plan", "/drift", "/resources", "/events", "/logs"} {
		code, text := b.request(http.MethodGet, "/api/stacks/"+w.namespace+"/network"+path, "")
		g.Expect(code).To(Equal(http.StatusOK), path+text[:min(len(text), 1000)])
		g.Expect(text).NotTo(ContainSubstring(canary), path)
		g.Expect(len(text)).To(BeNumerically("<", 200_000), path)
	}
	var detail view.Detail
	b.get("network", &detail)
	g.Expect(detail.Outputs.Items).To(ContainElement(view.Output{Name: "kubeconfig", Secret: true}))
	g.Expect(strings.Join(detail.Warnings, "\n")).To(ContainSubstring("the page reads no Secrets"))
}

func TestTheBrowserIsOpenedWithoutTheTokenInItsArguments(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-open")
	opened := make(chan string, 1)
	w.env.Browse = func(_ context.Context, file string) error {
		opened <- file
		return nil
	}
	b := w.open()
	file := <-opened
	text, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(ContainSubstring("http://" + b.address.Host + "/?token="))
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(mode))
	}
	g.Expect(w.run("ui --port 70000").err).To(ContainSubstring("--port must be between 0 and 65535"))
	g.Expect(w.run("ui --port " + b.address.Port()).err).To(ContainSubstring("address already in use"))
}

func TestThePageShowsARunOfTheHistory(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-history")
	w.apply("steered")
	packed, err := history.Encode(history.Change{Plan: examplePlan("one")})
	g.Expect(err).NotTo(HaveOccurred())
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: history.ConfigMap("network")}, BinaryData: map[string][]byte{history.Key("d"): packed}}
	g.Expect(controllerutil.SetControllerReference(w.network(), kept, w.api.Scheme())).To(Succeed())
	g.Expect(w.api.Create(t.Context(), kept)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), kept) })
	w.status(func(s *v1.StackStatus) {
		s.History = meta.History{entry(time.Minute, "ReconciliationSucceeded", 1, map[string]string{"operation": "update", "run": "d", "changedIn": "d"})}
	})
	b := w.open("--no-open")
	var shown view.RunAnswer
	b.get("network/history/d", &shown)
	g.Expect(shown.Plan.Steps).To(HaveLen(4))
	code, text := b.request(http.MethodGet, "/api/stacks/"+w.namespace+"/network/history/x", "")
	g.Expect(code).To(Equal(http.StatusUnprocessableEntity))
	g.Expect(text).To(ContainSubstring("there is no record of run"))
}

func TestThePageShowsTheRetainedHistoryOfAStackThatIsGone(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-retained")
	w.apply("steered")
	of := history.Record{Entry: entry(time.Minute, "ReconciliationSucceeded", 1, map[string]string{"operation": "destroy", "run": "d", "changedIn": "d", "approvedBy": "alice"}),
		Change: &history.Change{Plan: examplePlan("one")}}
	data, err := history.Put(nil, nil, of, 20)
	g.Expect(err).NotTo(HaveOccurred())
	for name, retained := range map[string]string{"retained": "retained", "forged": "other"} {
		kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: history.ConfigMap(name)}, BinaryData: data}
		history.Retain(kept, retained)
		g.Expect(w.api.Create(t.Context(), kept)).To(Succeed())
		t.Cleanup(func() { _ = w.api.Delete(context.Background(), kept) })
	}
	w.allow("ui-retained-reader", events, stacks)
	b := w.open("--no-open")
	type gone struct {
		Message string
		History []view.EndedRun
	}
	var shown gone
	b.event("retained", "gone", &shown)
	g.Expect(shown.Message).To(HaveSuffix("does not exist any more: these are the runs that were retained"))
	g.Expect(shown.History).To(HaveExactElements(And(HaveField("ID", "d"), HaveField("Operation", "destroy"), HaveField("ApprovedBy", "alice"), HaveField("HasPlan", true))))
	var run view.RunAnswer
	b.get("retained/history/d", &run)
	g.Expect(run.Plan.Steps).To(HaveLen(4))
	shown = gone{}
	b.event("forged", "gone", &shown)
	g.Expect(shown).To(Equal(gone{Message: "Stack " + w.namespace + "/forged does not exist"}), "that of another Stack is not shown as its own")
	code, text := b.request(http.MethodGet, "/api/stacks/"+w.namespace+"/forged/history/d", "")
	g.Expect(code).To(Equal(http.StatusNotFound), text)

	reader := w.open("--no-open", "--as", "ui-retained-reader")
	shown = gone{}
	reader.event("retained", "gone", &shown)
	g.Expect(shown).To(Equal(gone{Message: "Stack " + w.namespace + "/retained does not exist"}), "who may not read ConfigMaps sees none")
}

func TestThePageShowsTheStacksOfSeveralNamespaces(t *testing.T) {
	g := NewWithT(t)
	one, two := newWorld(t, "ui-one"), newWorld(t, "ui-two")
	one.apply("steered")
	two.apply("steered")
	one.allow("ui-several", events, stacks)
	two.allow("ui-several", events, stacks)
	for _, in := range []struct {
		*world
		flags []string
	}{{one, nil}, {one, []string{"--namespaces", "ui-one,ui-two"}}, {two, []string{"--namespaces", "ui-one", "--namespaces", "ui-two"}}} {
		b := in.open(append([]string{"--no-open", "--as", "ui-several"}, in.flags...)...)
		list := bufio.NewReader(b.send(http.MethodGet, "/api/stacks", "").Body)
		g.Expect(b.rows(list)).To(HaveKey("network"))
		g.Expect(strings.Contains(b.said.String(), "Name others with --namespaces")).To(Equal(in.flags == nil))
	}
	g.Expect(one.run("ui --namespaces ui_one").err).To(ContainSubstring(`"ui_one" is not the name of a namespace`))
	g.Expect(one.run("ui --namespaces " + strings.Repeat("a,", maxNamespaces) + "a").err).To(ContainSubstring("must not name more than 50"))
}

func TestThePageLetsNobodyDecideWhomAdmissionRefuses(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "ui-admission")
	w.apply("steered")
	of := w.propose(examplePlan("one"))
	named := metav1.ObjectMeta{Name: "ui-admission"}
	fail := admissionv1.Fail
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: named, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{v1.GroupVersion.Group}, APIVersions: []string{"v1"}, Resources: []string{"stacks"}},
			}}},
		},
		Validations: []admissionv1.Validation{{Expression: "!('" + v1.ApproveAnnotation + "' in object.metadata.?annotations.orValue({}))", Message: "only alice approves"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: named.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}
	b := w.open("--no-open")
	var detail view.Detail
	b.get("network", &detail)
	g.Expect(detail.May.Approve).To(BeTrue())
	g.Expect(w.decided()).To(BeEmpty(), "to ask is not to approve")
	for _, object := range []client.Object{policy, binding} {
		g.Expect(w.api.Create(t.Context(), object)).To(Succeed())
		t.Cleanup(func() { _ = w.api.Delete(context.Background(), object) })
	}
	g.Eventually(func() view.May {
		detail = view.Detail{}
		b.get("network", &detail)
		return detail.May
	}, time.Minute, 200*time.Millisecond).Should(And(HaveField("Approve", BeFalse()), HaveField("Reject", BeFalse()), HaveField("Reconcile", BeTrue())))
	code, text := b.act("network/approve", `{"digest":"`+of.Digest+`"}`)
	g.Expect(code).To(Equal(http.StatusUnprocessableEntity))
	g.Expect(text).To(ContainSubstring("only alice approves"))
	g.Expect(w.decided()).To(BeEmpty())
}
