// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// unseen has characters that a terminal interprets, or that break a line.
const unseen = "red \x1b[31m \x1b]0;a\a \u009b \u202e \ufeff \x7f end"

// withUnseen puts such characters into all texts of a Stack.
func (w *world) withUnseen() {
	w.t.Helper()
	g := NewWithT(w.t)
	data, list, err := inventory.Encode(inventory.List{Resources: []run.Resource{
		{URN: "urn:pulumi:dev::network::lab:index:Thing::a", Type: "lab:index:Thing", ID: "first\nsecond " + unseen}}})
	g.Expect(err).NotTo(HaveOccurred())
	w.keep("network-inventory", inventory.Key, data)
	text, err := json.Marshal(unseen)
	g.Expect(err).NotTo(HaveOccurred())
	w.status(func(s *v1.StackStatus) {
		s.Inventory = &v1.InventoryStatus{ConfigMap: "network-inventory", Digest: inventory.Digest(data), Count: int32(list.Count())}
		s.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionFalse, Reason: "UpdateFailed", Message: unseen, LastTransitionTime: metav1.Time{Time: now}}}
		s.Outputs = map[string]apiextensionsv1.JSON{"text": apiextensionsv1.JSON{Raw: text}}
	})
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: w.namespace, Name: "network"},
		InvolvedObject: corev1.ObjectReference{Namespace: w.namespace, Kind: "Stack", Name: "network"}, Reason: "Reported", Message: unseen,
	}
	g.Expect(w.api.Create(w.t.Context(), event)).To(Succeed())
}

func TestTextsFromTheClusterCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "visible")
	w.env.PollInterval = slowPolls
	w.apply("steered")
	w.withUnseen()
	for line, lines := range map[string]int{
		"get stacks network":                2,
		"trace stack network":               0,
		"tree stack network":                2,
		"events":                            2,
		"outputs stack network":             2,
		"history stack network":             0,
		"debug stack network":               0,
		"resume stack network --timeout 5s": 0,
		"preview stack\x1b[31m":             0,
		"logs --level \u202ered":            0,
	} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			done := w.run(line)
			for _, part := range []string{"\x1b", "\a", "\u009b", "\u202e", "\ufeff", "\x7f"} {
				g.Expect(done.out+done.err).NotTo(ContainSubstring(part), "%q", done.out+done.err)
			}
			if lines > 0 {
				g.Expect(strings.Count(done.out, "\n")).To(Equal(lines), done.out)
				g.Expect(done.out).To(MatchRegexp(`red \\(x1b|u001b)\[31m`))
			}
		})
	}
}

func TestMachineReadableOutputIsExact(t *testing.T) {
	w := newWorld(t, "visible-exact")
	w.apply("steered")
	w.withUnseen()
	for _, format := range []string{"json", "yaml"} {
		for line, path := range map[string]func(map[string]any) any{
			"get stack network": func(v map[string]any) any {
				return v["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["message"]
			},
			"outputs stack network": func(v map[string]any) any { return v["text"] },
		} {
			t.Run(line+" "+format, func(t *testing.T) {
				g := NewWithT(t)
				done := w.run(line + " -o " + format)
				g.Expect(done.exit).To(Equal(0), done.err)
				var values map[string]any
				g.Expect(yaml.Unmarshal([]byte(done.out), &values)).To(Succeed(), done.out)
				g.Expect(path(values)).To(Equal(unseen))
			})
		}
	}
}

func TestCharactersForbiddenInYAMLAreEscaped(t *testing.T) {
	for _, text := range []string{unseen, "next\u0085line", "line\u2028separator", "none\ufffe\uffff", "🙂 zażółć", `\u0007`, "tag\U000e0001", "private\ue000"} {
		g := NewWithT(t)
		var out strings.Builder
		g.Expect(printManifest(&out, map[string]any{text: text})).To(Succeed())
		var read map[string]any
		g.Expect(yaml.Unmarshal([]byte(out.String()), &read)).To(Succeed(), out.String())
		g.Expect(read).To(Equal(map[string]any{text: text}))
	}
}
