// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package languages

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// guide is a person who does what a page of docs/guides says, block by block, in a clone of the repository of the page.
type guide struct {
	*project
	blocks []manifests.Block
	// home is the directory of the person, at the one where the next command is typed.
	home, at string
	env      []string
	// here has what is named differently on this machine, in pairs.
	here []string
	// variables are what a Stack needs on this machine besides.
	variables map[string]string
}

// guideNamespace is the namespace of the pages.
const guideNamespace = "apps"

// seeing is how long a page may take to be right about what a command prints.
const seeing = 15 * time.Second

// newGuide opens a page. The files are what the repository has before.
func newGuide(t *testing.T, page string, files sources.Files) *guide {
	t.Helper()
	p := newRepository(t, files)
	g := &guide{project: p, home: filepath.Join(p.dir, "home")}
	p.Expect(os.Mkdir(g.home, 0o755)).To(Succeed())
	root, err := process.RepoRoot()
	p.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "docs", "guides", page))
	p.Expect(err).NotTo(HaveOccurred())
	g.blocks = manifests.Blocks(page, string(text))
	cli, err := system.NewFluxCLI(g.home, p.ControlPlane.KubeconfigPath())
	p.Expect(err).NotTo(HaveOccurred())
	g.env = []string{
		"HOME=" + g.home, "KUBECONFIG=" + p.ControlPlane.KubeconfigPath(), "FLUXCD_PLUGINS=" + cli.Plugins, "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + filepath.Join(p.world.dir, "image") + ":" + filepath.Dir(cli.Program) + ":/usr/bin:/bin",
		"PULUMI_ACCESS_TOKEN=pul-0123456789", "PULUMI_SKIP_UPDATE_CHECK=true", "npm_config_update_notifier=false", "npm_config_audit=false",
	}
	g.here = []string{
		"https://github.com/example/pets", p.repo.URL(), "https://github.com/example/infrastructure", p.repo.URL(),
		"https://api.pulumi.com", "file://" + filepath.Join(p.dir, "backend"),
	}
	g.variables = map[string]string{"PULUMI_CONFIG_PASSPHRASE": "passphrase"}
	g.clones()
	return g
}

// clones has the person clone the repository.
func (g *guide) clones() {
	g.test.Helper()
	bare := filepath.Join(g.world.dir, "git", g.namespace+".git")
	g.at = g.home
	g.types("git config --global user.name Test && git config --global user.email test@example.com\n" +
		"git clone --quiet " + bare + " repository && cd repository")
}

// follow does all that the page says.
func (g *guide) follow() {
	g.test.Helper()
	for _, block := range g.blocks {
		switch block.Language {
		case "sh":
			g.types(g.onThisMachine(block.Text))
		case "console":
			g.sees(block)
		default:
			g.saves(block)
		}
	}
}

// onThisMachine replaces what is named differently here.
func (g *guide) onThisMachine(text string) string {
	namespaced := regexp.MustCompile(`(namespace: |-n )`+guideNamespace+`\b`).ReplaceAllString(text, "${1}"+g.namespace)
	return strings.NewReplacer(g.here...).Replace(namespaced)
}

// types has a shell run commands that succeed. The next ones find its variables and its directory.
func (g *guide) types(commands string) (printed string) {
	g.test.Helper()
	printed, err := g.tries(commands)
	g.Expect(err).NotTo(HaveOccurred(), "%s\n%s", commands, printed)
	return printed
}

func (g *guide) tries(commands string) (printed string, err error) {
	g.test.Helper()
	ctx, cancel := context.WithTimeout(g.test.Context(), patience)
	defer cancel()
	session, at := filepath.Join(g.home, ".session"), filepath.Join(g.home, ".at")
	printed, err = process.Shell(ctx, g.at, g.env,
		"touch '"+session+"'; . '"+session+"'\n"+commands+"\nexport -p >'"+session+"'; pwd >'"+at+"'\n")
	if dir, readErr := os.ReadFile(at); readErr == nil {
		g.at = strings.TrimSpace(string(dir))
	}
	return printed, err
}

// sees types the commands of a block until they print what the page shows of each: the controller may be a moment behind. A
// page that shows something else fails the test, which goes on, to find all that is to be corrected.
func (g *guide) sees(block manifests.Block) {
	g.test.Helper()
	for _, typed := range strings.Split("\n"+block.Text, "\n$ ")[1:] {
		command, shown, _ := strings.Cut(typed, "\n")
		shown = g.likeOnThePage(g.onThisMachine(shown))
		var printed string
		err := wait.PollUntilContextTimeout(g.test.Context(), time.Second, seeing, true, func(context.Context) (bool, error) {
			text, _ := g.tries(g.onThisMachine(command)) // such as a preview, which fails if there is something to do
			printed = g.likeOnThePage(text)
			return pattern(shown).MatchString(printed), nil
		})
		if err != nil {
			g.test.Errorf("%s: %s\nThe page shows\n%s\nand this is\n%s", block.Name, command, shown, printed)
		}
	}
}

// pattern matches a text that is shown. A line ... stands for any.
func pattern(shown string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shown), `\.\.\.`, `(?s:.*)`) + "$")
}

// likeOnThePage writes what is printed here as the page has it: whatever differs from run to run is left out.
func (g *guide) likeOnThePage(printed string) string {
	printed = strings.ReplaceAll(printed, g.namespace, guideNamespace)
	for _, replaced := range []struct{ pattern, by string }{
		{`[ \t]+`, " "}, {`(?m) $`, ""},
		{`steady-heron-\w+`, "steady-heron"}, {`\b[0-9a-f]{8,64}\b`, "#"}, {`\b\d+(\.\d+)?(ms|s|m|h)(\d+s)?\b`, "~"}, {`\d+ bytes`, "# bytes"},
	} {
		printed = regexp.MustCompile(replaced.pattern).ReplaceAllString(printed, replaced.by)
	}
	return strings.TrimSpace(printed)
}

// fileOf matches the name of the file at the end of the text before a block.
var fileOf = regexp.MustCompile("`([^`\\s]+)`[^`]*:\\s*$")

// saves writes a block to the file that the page names before it. A part of a spec is added to the Stack in the file.
func (g *guide) saves(block manifests.Block) {
	g.test.Helper()
	named := fileOf.FindStringSubmatch(block.Before)
	g.Expect(named).NotTo(BeNil(), "%s: the page names no file for the block", block.Name)
	path, text := filepath.Join(g.at, named[1]), g.onThisMachine(block.Text)
	if strings.HasPrefix(text, "spec:\n") {
		text = g.merged(path, text)
	}
	if strings.Contains(text, "\nkind: "+v1.StackKind+"\n") {
		text = g.withVariables(text)
	}
	if strings.Contains(text, "\nkind: "+sourcev1.OCIRepositoryKind+"\n") {
		text = g.changed(text, sourcev1.OCIRepositoryKind, func(source *unstructured.Unstructured) {
			g.Expect(unstructured.SetNestedField(source.Object, true, "spec", "insecure")).To(Succeed()) // it is on the loopback address
		})
	}
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
}

// changed returns the manifest with the object of a kind changed.
func (g *guide) changed(manifest, kind string, change func(object *unstructured.Unstructured)) string {
	g.test.Helper()
	objects, err := manifests.Unit{Name: "the manifest", Text: manifest}.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	var documents []string
	found := 0
	for _, object := range objects {
		if object.GetKind() == kind {
			change(object)
			found++
		}
		text, err := yaml.Marshal(object)
		g.Expect(err).NotTo(HaveOccurred())
		documents = append(documents, string(text))
	}
	g.Expect(found).To(Equal(1), manifest)
	return strings.Join(documents, "---\n")
}

// merged adds the fields of a fragment to the Stack in a file.
func (g *guide) merged(path, fragment string) string {
	g.test.Helper()
	manifest, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	var fields map[string]any
	g.Expect(yaml.Unmarshal([]byte(fragment), &fields)).To(Succeed())
	return g.changed(string(manifest), v1.StackKind, func(stack *unstructured.Unstructured) { merge(stack.Object, fields) })
}

// merge adds the fields to an object. Objects in both are merged, except for those of a type, such as references.
func merge(object, fields map[string]any) {
	for name, value := range fields {
		within, isObject := value.(map[string]any)
		there, isThere := object[name].(map[string]any)
		if isObject && isThere && within["type"] == nil {
			merge(there, within)
			continue
		}
		object[name] = value
	}
}

// withVariables adds the variables of this machine that the Stack does not set itself.
func (g *guide) withVariables(manifest string) string {
	g.test.Helper()
	return g.changed(manifest, v1.StackKind, func(stack *unstructured.Unstructured) {
		for name, value := range g.variables {
			if _, isSet, _ := unstructured.NestedMap(stack.Object, "spec", "envRefs", name); isSet {
				continue
			}
			reference := map[string]any{"type": string(v1.ResourceRefLiteral), "literal": map[string]any{"value": value}}
			g.Expect(unstructured.SetNestedMap(stack.Object, reference, "spec", "envRefs", name)).To(Succeed())
		}
	})
}
