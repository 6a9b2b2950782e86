// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/manifests"
)

// stagesOf returns the stages of the Dockerfile by their names, each as its lines without comments.
func stagesOf(t *testing.T) map[string][]string {
	t.Helper()
	stages := map[string][]string{}
	name := "" // before the first stage
	for _, line := range lines(t, "Dockerfile") {
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if strings.HasPrefix(line, "FROM ") {
			_, name, _ = strings.Cut(line, " AS ")
		}
		stages[name] = append(stages[name], line)
	}
	return stages
}

// basesOf returns the images that the variants are built on, by variant.
func basesOf(t *testing.T) map[string]string {
	t.Helper()
	bases := map[string]string{}
	for _, line := range lines(t, "Dockerfile") {
		if found := regexp.MustCompile(`^ARG PULUMI_([A-Z]+)=(.+)$`).FindStringSubmatch(line); found != nil {
			bases[strings.ToLower(found[1])] = found[2]
		}
	}
	return bases
}

func TestTheVariantsOfTheImage(t *testing.T) {
	g := NewWithT(t)
	stages, bases := stagesOf(t), basesOf(t)
	g.Expect(slices.Sorted(maps.Keys(bases))).To(ConsistOf(manifests.Variants()), "those of flux pulumi install")

	module := strings.Join(lines(t, "hack/tools/pulumi/go.mod"), "\n")
	version := regexp.MustCompile(`(?m)^github\.com/pulumi/pulumi/pkg/v3 v([0-9.]+)`).FindStringSubmatch(module)
	g.Expect(version).To(HaveLen(2))
	of := regexp.MustCompile(`:([0-9.]+)`).FindStringSubmatch(bases["go"])
	g.Expect(of).To(HaveLen(2))
	g.Expect(semver.MustParse(of[1]).LTE(semver.MustParse(version[1]))).To(BeTrue(), "no version later than the tested one")
	for variant, base := range bases {
		g.Expect(base).To(MatchRegexp(`^pulumi/pulumi(-`+variant+`)?:`+regexp.QuoteMeta(of[1])+`(@sha256:[0-9a-f]{64})?$`), "the same Pulumi in all variants")
		stage := stages[variant]
		g.Expect(stage[0]).To(Equal("FROM ${PULUMI_" + strings.ToUpper(variant) + "} AS " + variant))
		g.Expect(stage[len(stage)-1]).To(Equal(last(stages["image"])), "it starts as the image without a variant does")
		g.Expect(stage).To(ContainElements("USER 65534:65534", "WORKDIR /"))
		g.Expect(strings.Join(stage, "\n")).NotTo(ContainSubstring("RUN"), "for another architecture, that would be emulated")
	}
	g.Expect(last(lines(t, "Dockerfile"))).To(Equal("FROM image"), "without --target, there is no variant")

	for name, stage := range stages {
		if name != "" && regexp.MustCompile(`^FROM .*[/:]`).MatchString(stage[0]) {
			g.Expect(stage[0]).To(ContainSubstring("@sha256:"), "every image is named by its digest, or in an argument")
		}
	}
}

// last returns the last line that is not empty.
func last(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if line != "" {
			return line
		}
	}
	return ""
}

func TestAReleaseHasAllVariants(t *testing.T) {
	g := NewWithT(t)
	var workflow struct {
		Jobs map[string]struct {
			Outputs  map[string]string
			Strategy struct {
				Matrix struct{ Variant []string }
			}
			Needs any
			Steps []struct {
				Run  string
				With map[string]any
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(repository, ".github/workflows/release.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(yaml.Unmarshal(text, &workflow)).To(Succeed())
	g.Expect(workflow.Jobs["variants"].Strategy.Matrix.Variant).To(ConsistOf(manifests.Variants()))

	// Nothing is pushed before it is known that there is a base for each variant, and latest moves when all is there.
	g.Expect(slices.Collect(maps.Keys(workflow.Jobs["bases"].Outputs))).To(ConsistOf(manifests.Variants()))
	g.Expect(workflow.Jobs["image"].Needs).To(Equal("bases"))
	g.Expect(workflow.Jobs["latest"].Needs).To(ConsistOf("image", "variants", "manifests"))
	for name, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if tags, isPushed := step.With["tags"]; isPushed {
				g.Expect(tags).NotTo(ContainSubstring("latest"), name)
			}
			if name != "latest" {
				g.Expect(step.Run).NotTo(ContainSubstring(":latest"), name)
				continue
			}
			for _, variant := range manifests.Variants() {
				if strings.Contains(step.Run, "imagetools create") {
					g.Expect(step.Run).To(ContainSubstring(" -"+variant+" "), "it moves, too")
				}
			}
		}
	}
}

// TestTheDigestOfAnImageOfPulumi runs the script of a release with a docker that only answers.
func TestTheDigestOfAnImageOfPulumi(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("there is no jq, which the runners of GitHub have")
	}
	bases := basesOf(t)
	pinned := "sha256:" + strings.Repeat("a", 64)
	const both = `{"platform": {"os": "linux", "architecture": "amd64"}}, {"platform": {"os": "linux", "architecture": "arm64"}}`
	index := func(digest, platforms string) string {
		return `{"digest": "` + digest + `", "manifests": [` + platforms + `]}`
	}
	tag, _, _ := strings.Cut(bases["nodejs"], "@")
	_, version, _ := strings.Cut(tag, ":")
	for name, test := range map[string]struct {
		variant, index, version string
		want, fails             string
	}{
		"an image":                  {"nodejs", index(pinned, both), "v" + version, tag + "@" + pinned, ""},
		"of another version":        {"nodejs", index(pinned, both), "v3.1.0", "", "has Pulumi v3.1.0"},
		"of one architecture":       {"nodejs", index(pinned, `{"platform": {"os": "linux", "architecture": "amd64"}}`), "v" + version, "", "is not for linux/arm64"},
		"that is no index":          {"nodejs", `{"digest": "` + pinned + `"}`, "v" + version, "", "is not for linux/amd64"},
		"with no digest":            {"nodejs", index("", both), "v" + version, "", "is not an image with a version and a digest"},
		"that the registry has not": {"nodejs", "", "", "", "the registry has no " + bases["nodejs"]},
		"of a variant that is not":  {"cobol", index(pinned, both), "v" + version, "", "the Dockerfile has no ARG PULUMI_COBOL"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bin := t.TempDir()
			docker := "#!/bin/sh\ncase $1 in buildx) [ -n \"$INDEX\" ] && echo \"$INDEX\" ;; run) echo \"$VERSION\" ;; esac\n"
			g.Expect(os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o755)).To(Succeed())
			script := exec.CommandContext(t.Context(), "hack/pulumi-image.sh", test.variant)
			script.Dir = repository
			script.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "INDEX="+test.index, "VERSION="+test.version)
			output, err := script.CombinedOutput()
			if test.fails != "" {
				g.Expect(err).To(HaveOccurred())
				g.Expect(string(output)).To(ContainSubstring(test.fails))
				return
			}
			g.Expect(err).NotTo(HaveOccurred(), "%s", output)
			g.Expect(string(output)).To(Equal(test.want + "\n"))
		})
	}
}
