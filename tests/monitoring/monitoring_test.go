// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// dashboard is the part of a Grafana dashboard that is used here.
type dashboard struct {
	Panels []struct {
		ID      int
		Title   string
		Type    string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, RefID string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var board dashboard
	if err := json.Unmarshal(repoFile(t, "config", "monitoring", "dashboards", "stacks.json"), &board); err != nil {
		t.Fatal(err)
	}
	return board
}

func TestTheDashboardNamesOnlyWhatThereIs(t *testing.T) {
	g := NewWithT(t)
	all := known(t)
	shown := map[string]bool{}
	for _, panel := range readDashboard(t).Panels {
		if panel.Type == "row" {
			continue
		}
		g.Expect(panel.Targets).NotTo(BeEmpty(), panel.Title)
		for _, target := range panel.Targets {
			q := parseQuery(target.Expr)
			g.Expect(q.metrics()).NotTo(BeEmpty(), target.Expr)
			for _, metric := range q.metrics() {
				shown[metric] = true
				g.Expect(all).To(HaveKey(metric), "%s: %s", panel.Title, target.Expr)
				for _, label := range append(q.selected[metric], q.grouped...) {
					g.Expect(all[metric]).To(ContainElement(label), "label %s of %s in %s", label, metric, panel.Title)
				}
			}
		}
	}
	for _, metric := range []string{
		"gotk_resource_info", "gotk_reconcile_duration_seconds_bucket", "pulumi_run_duration_seconds_bucket", "pulumi_run_duration_seconds_count",
		"pulumi_runs_in_flight", "pulumi_runs_waiting", "pulumi_resource_changes_total", "pulumi_events_dropped_total",
		"pulumi_drift_checks_total", "gotk_stack_drift_checked_timestamp_seconds", "gotk_stack_drifted_resources", "gotk_stack_missing_resources",
		"pulumi_policy_checks_total", "pulumi_policy_violations_total", "gotk_policyset_violating_stacks", "gotk_policyset_unchecked_stacks",
	} {
		g.Expect(shown).To(HaveKey(metric), "is on the dashboard")
	}
}

func TestTheDashboardIsWhole(t *testing.T) {
	g := NewWithT(t)
	board := readDashboard(t)
	variables := map[string]bool{"__rate_interval": true}
	for _, variable := range board.Templating.List {
		variables[variable.Name] = true
	}
	g.Expect(board.Templating.List[1].Definition).To(ContainSubstring("label_values(gotk_resource_info{"))
	ids, taken := map[int]bool{}, map[string]string{}
	for _, panel := range board.Panels {
		g.Expect(ids[panel.ID]).To(BeFalse(), "panel %d is there twice", panel.ID)
		ids[panel.ID] = true
		for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
			for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.H; y++ {
				place := fmt.Sprintf("%d,%d", x, y)
				g.Expect(taken[place]).To(BeEmpty(), "%s lies on it", panel.Title)
				taken[place] = panel.Title
			}
		}
		for _, target := range panel.Targets {
			for _, used := range regexp.MustCompile(`\$\{?([a-zA-Z_]+)`).FindAllStringSubmatch(target.Expr, -1) {
				g.Expect(variables).To(HaveKey(used[1]), target.Expr)
			}
			g.Expect(strings.Count(target.Expr, "(")).To(Equal(strings.Count(target.Expr, ")")), target.Expr)
		}
	}
}

func TestKubeStateMetricsReadsFieldsThatThereAre(t *testing.T) {
	g := NewWithT(t)
	var kinds []string
	for _, resource := range readStateMetrics(t).Spec.Resources {
		kind := resource.GroupVersionKind.Kind
		kinds = append(kinds, kind)
		schema := schemaOf(t, kind, resource.GroupVersionKind.Group, resource.GroupVersionKind.Version)
		for _, metric := range resource.Metrics {
			if path := metric.Each.Gauge.Path; path != nil {
				g.Expect(hasField(schema, path)).To(Succeed(), "%s of %s", metric.Name, kind)
			}
			for _, paths := range []map[string][]string{metric.Each.Info.LabelsFromPath, metric.LabelsFromPath} {
				for label, path := range paths {
					g.Expect(hasField(schema, path)).To(Succeed(), "label %s of %s", label, kind)
				}
			}
		}
	}
	g.Expect(kinds).To(Equal([]string{"Stack", "Program", "PolicySet"}))

	stack := schemaOf(t, "Stack", "pulumi.com", "v1")
	g.Expect(hasField(stack, []string{"spec", "source"})).NotTo(Succeed())
	g.Expect(hasField(stack, []string{"status", "conditions", "[type=Ready]", "state"})).NotTo(Succeed())
}

func schemaOf(t *testing.T, kind, group, version string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	g := NewWithT(t)
	var crd apiextensionsv1.CustomResourceDefinition
	g.Expect(yaml.Unmarshal(repoFile(t, "config", "crd", "bases", fmt.Sprintf("%s_%ss.yaml", group, strings.ToLower(kind))), &crd)).To(Succeed())
	g.Expect(crd.Spec.Names.Kind).To(Equal(kind))
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	g.Expect(at).To(BeNumerically(">=", 0), "version %s of %s", version, kind)
	return crd.Spec.Versions[at].Schema.OpenAPIV3Schema
}

// hasField follows a path of kube-state-metrics: names of fields, and [key=value]
// for an entry of a list.
func hasField(schema *apiextensionsv1.JSONSchemaProps, path []string) error {
	if path[0] == "metadata" {
		if !slices.Contains([]string{"name", "namespace"}, path[1]) {
			return fmt.Errorf("metadata.%s is not looked for here", path[1])
		}
		return nil
	}
	for _, step := range path {
		if key, isEntry := strings.CutPrefix(step, "["); isEntry {
			if schema.Items == nil {
				return fmt.Errorf("%s: not a list", step)
			}
			schema = schema.Items.Schema
			step, _, _ = strings.Cut(key, "=")
			if _, ok := schema.Properties[step]; !ok {
				return fmt.Errorf("an entry has no field %s", step)
			}
			continue
		}
		next, ok := schema.Properties[step]
		if !ok {
			return fmt.Errorf("no field %s in %v", step, path)
		}
		schema = &next
	}
	return nil
}

func TestTheFilesOfTheKustomizationAreThere(t *testing.T) {
	g := NewWithT(t)
	var kustomization struct {
		Resources          []string
		ConfigMapGenerator []struct{ Files []string }
	}
	g.Expect(yaml.Unmarshal(repoFile(t, "config", "monitoring", "kustomization.yaml"), &kustomization)).To(Succeed())
	files := slices.Clone(kustomization.Resources)
	for _, generator := range kustomization.ConfigMapGenerator {
		for _, file := range generator.Files {
			_, path, _ := strings.Cut(file, "=")
			files = append(files, path)
		}
	}
	g.Expect(files).To(ConsistOf("podmonitor.yaml", "dashboards/stacks.json", "kube-state-metrics.yaml"))
	for _, file := range files {
		g.Expect(repoFile(t, "config", "monitoring", file)).NotTo(BeEmpty())
	}
}

func TestThePageNamesTheMetricsThatThereAre(t *testing.T) {
	g := NewWithT(t)
	page := string(repoFile(t, "docs", "guides", "monitoring.md"))
	all := known(t)
	named := map[string]bool{}
	for _, found := range regexp.MustCompile(`\b(?:gotk|pulumi|controller_runtime|workqueue)_[a-z_]+\b`).FindAllString(page, -1) {
		named[found] = true
		g.Expect(all).To(HaveKey(found))
	}
	for metric := range all {
		if strings.HasPrefix(metric, "pulumi_") && !strings.HasSuffix(metric, "_bucket") && !strings.HasSuffix(metric, "_sum") && !strings.HasSuffix(metric, "_count") {
			g.Expect(named).To(HaveKey(metric), "is on the page")
			for _, label := range all[metric] {
				if !slices.Contains([]string{"namespace", "exported_namespace", "pod", "job"}, label) {
					g.Expect(page).To(ContainSubstring("`"+label+"`"), "label of %s", metric)
				}
			}
		}
	}
}
