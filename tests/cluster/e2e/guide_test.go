// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/bootstrap"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

const (
	fluxDir            = "clusters/production/flux-system/"
	controllerFile     = "clusters/production/pulumi-controller.yaml"
	infrastructureFile = "clusters/production/infrastructure.yaml"
	appsFile           = "clusters/production/apps.yaml"
)

// installFlux does the same as flux install.
func (w *world) installFlux() {
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", "tests/cluster/flux")
	for _, name := range []string{"source-controller", "kustomize-controller", "notification-controller"} {
		w.rolledOut(name)
	}
}

// guide plays a reader of docs/guides/flux-bootstrap.md, who saves what it says to save and types what it says to
// type.
type guide struct {
	*world
	text  string
	files sources.Files
	// fleet is the repository, and saved what is not pushed yet.
	fleet *sources.GitRepo
	saved sources.Files
	head  string
}

// followGuide follows the guide from start to end, with the forge, the image and the backend served by this machine.
func (w *world) followGuide() {
	text, err := bootstrap.Guide()
	w.Expect(err).NotTo(HaveOccurred())
	files, err := bootstrap.Saved()
	w.Expect(err).NotTo(HaveOccurred())
	g := &guide{world: w, text: text, files: files, saved: sources.Files{}}
	g.bootstrapFlux()

	project, commit := g.project()
	g.save(controllerFile, g.replace(controllerFile, "https://github.com/flux-pulumi/pulumi-controller\n", project+"\n",
		bootstrap.ImageCommit, commit,
		"registry.example.com/pulumi-controller\n", "ghcr.io/flux-pulumi/pulumi-controller\n", `newTag: "1"`, "newTag: latest"))
	shown := g.follow("Add the controller")
	g.Expect(shown).To(MatchRegexp(`pulumi-controller +1/1 +1 +1`))

	g.save(infrastructureFile, files[infrastructureFile])
	g.save("clusters/production/namespace.yaml", files["clusters/production/namespace.yaml"])
	g.save("infrastructure/production/programs.yaml", files["infrastructure/production/programs.yaml"])
	g.save("infrastructure/production/stacks.yaml", g.replace("infrastructure/production/stacks.yaml",
		"https://api.pulumi.com\n", g.backend()+"\n", "  envRefs:\n", "  envRefs:\n"+g.variables()))
	shown = g.follow("Add the infrastructure")
	g.Expect(shown).To(MatchRegexp(`names .*True`))
	g.Expect(shown).To(MatchRegexp(`\n[a-z]+-[a-z]+-[0-9a-f]+$`), "the output of the Stack")

	g.save(appsFile, files[appsFile])
	g.save("apps/production/app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: infrastructure}\n")
	g.push()
	g.reconcile()
	g.kubectl("--namespace", fluxSystem, "wait", "kustomization/apps", "--for=condition=Ready", "--timeout="+patience.String())
	g.kubectl("--namespace", "infrastructure", "get", "configmap", "app")

	g.remove(infrastructureFile, appsFile)
	shown = g.follow("Take it down")
	g.Expect(shown).To(ContainSubstring("No resources found in infrastructure namespace."))
	g.remove(controllerFile)
	g.reconcile()
	g.kubectl("--namespace", fluxSystem, "wait", "deployment/pulumi-controller", "--for=delete", "--timeout="+patience.String())
	g.kubectl("get", "crd", "stacks.pulumi.com", "programs.pulumi.com")
}

// bootstrapFlux does the same as flux bootstrap: it commits what it has installed, and makes Flux follow the
// repository. The CRDs accept Stacks, as in the guide of alerts.
func (g *guide) bootstrapFlux() {
	g.test.Helper()
	var err error
	g.fleet, err = g.git.NewRepo(g.ctx, "fleet")
	g.Expect(err).NotTo(HaveOccurred())
	sync := `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1m0s
  ref: {branch: ` + sources.Branch + `}
  url: ` + g.fleet.URL() + `
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 10m0s
  path: ./clusters/production
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
`
	g.save(fluxDir+"gotk-components.yaml", g.kubectl("kustomize", "tests/cluster/flux"))
	g.save(fluxDir+"gotk-sync.yaml", sync)
	g.save(fluxDir+"kustomization.yaml", g.files[fluxDir+"kustomization.yaml"])
	g.push()
	g.apply(sync)
	g.kubectl("--namespace", fluxSystem, "wait", "kustomization/flux-system", "--for=condition=Ready", "--timeout="+patience.String())
	// Patched by the guide, kustomize-controller has updated itself.
	g.rolledOut("kustomize-controller")
}

// project is the repository of this project, with the files of the work tree in one commit.
func (g *guide) project() (url, commit string) {
	g.test.Helper()
	repo, err := g.git.NewRepo(g.ctx, "pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	config, err := sources.ReadDir(filepath.Join(g.root, "config"))
	g.Expect(err).NotTo(HaveOccurred())
	files := sources.Files{}
	for name, content := range config {
		files["config/"+name] = content
	}
	commit, err = repo.Commit(g.ctx, files, "first")
	g.Expect(err).NotTo(HaveOccurred())
	return repo.URL(), commit
}

func (g *guide) save(path, content string) {
	g.test.Helper()
	g.Expect(content).NotTo(BeEmpty(), "the guide has no %s", path)
	g.saved[path] = content
}

// replace returns a file of the guide with texts replaced, each of which occurs once.
func (g *guide) replace(path string, pairs ...string) string {
	g.test.Helper()
	text := g.files[path]
	for i := 0; i < len(pairs); i += 2 {
		g.Expect(strings.Count(text, pairs[i])).To(Equal(1), "%q in %s", pairs[i], path)
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// push does git push of the saved files.
func (g *guide) push() {
	g.test.Helper()
	commit, err := g.fleet.Commit(g.ctx, g.saved, "change")
	g.Expect(err).NotTo(HaveOccurred())
	g.saved, g.head = sources.Files{}, commit
}

// remove does git rm, git commit and git push.
func (g *guide) remove(paths ...string) {
	g.test.Helper()
	commit, err := g.fleet.Remove(g.ctx, "removal", paths...)
	g.Expect(err).NotTo(HaveOccurred())
	g.head = commit
}

// reconcile does flux reconcile kustomization flux-system --with-source.
func (g *guide) reconcile() {
	g.test.Helper()
	g.kubectl("--namespace", fluxSystem, "annotate", "--overwrite", "gitrepository/flux-system",
		meta.ReconcileRequestAnnotation+"="+time.Now().Format(time.RFC3339Nano))
	g.kubectl("--namespace", fluxSystem, "wait", "kustomization/flux-system", "--timeout="+patience.String(),
		"--for=jsonpath={.status.lastAppliedRevision}="+sources.Branch+"@sha1:"+g.head)
}

// follow runs the commands of a section, and returns the output of kubectl.
func (g *guide) follow(heading string) string {
	g.test.Helper()
	_, section, found := strings.Cut(g.text, "\n## "+heading+"\n")
	g.Expect(found).To(BeTrue(), "the guide has no section %q", heading)
	section, _, _ = strings.Cut(section, "\n## ")
	var printed strings.Builder
	inShell := false
	for line := range strings.Lines(section) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "```"):
			inShell = line == "```sh"
		case inShell:
			printed.WriteString(g.typed(line))
		}
	}
	return printed.String()
}

// typed runs a line of the guide.
func (g *guide) typed(line string) string {
	g.test.Helper()
	switch {
	case strings.HasPrefix(line, "kubectl "):
		command := g.command("/bin/sh", "-c", line)
		command.Env = append(command.Env, "PULUMI_ACCESS_TOKEN=t0ken")
		output, err := command.CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%s: %s", line, output)
		return string(output)
	case strings.HasPrefix(line, "git add "), strings.HasPrefix(line, "git commit "):
	case line == "git push":
		g.push()
	case line == "flux reconcile kustomization flux-system --with-source":
		g.reconcile()
	default:
		g.test.Fatalf("this test does not know how to %q", line)
	}
	return ""
}
