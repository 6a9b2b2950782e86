// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package typescript

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const passphrase = "passphrase of a person"

// person has the CLI of Pulumi, a backend, a copy of examples, and the kubeconfig of a cluster that has nothing yet.
type person struct {
	*WithT
	client.Client
	test           *testing.T
	dir, root, bin string
	kubeconfig     string
	home           string
}

// newPerson skips the test where the packages of the programs are not installed.
func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{WithT: NewWithT(t), test: t, dir: t.TempDir()}
	var err error
	p.root, err = process.RepoRoot()
	p.Expect(err).NotTo(HaveOccurred())
	p.bin = filepath.Join(p.root, "bin")
	if _, err := os.Stat(p.path("bin", "typescript")); err != nil {
		t.Skip("the packages of programs in TypeScript are not installed: `make bin/typescript` says why")
	}
	for _, name := range []string{"plane", "home", "state"} {
		p.Expect(os.Mkdir(filepath.Join(p.dir, name), 0o755)).To(Succeed())
	}
	plane, err := controlplane.Start(context.WithoutCancel(t.Context()), controlplane.Options{Dir: filepath.Join(p.dir, "plane")})
	p.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { p.Expect(plane.Stop()).To(Succeed()) })
	p.kubeconfig, p.home = plane.KubeconfigPath(), filepath.Join(p.dir, "home")
	p.Client, err = client.New(plane.RESTConfig(), client.Options{})
	p.Expect(err).NotTo(HaveOccurred())
	p.installProviders()
	p.offerFlux()
	return p
}

// path is that of a file in the repository.
func (p *person) path(elements ...string) string {
	return filepath.Join(append([]string{p.root}, elements...)...)
}

// installProviders puts the stand-ins on the PATH, for whichever version the packages ask.
func (p *person) installProviders() {
	p.test.Helper()
	p.Expect(os.Mkdir(filepath.Join(p.dir, "providers"), 0o755)).To(Succeed())
	for _, name := range []string{"kubernetes", "gcp"} {
		p.Expect(os.Symlink(p.path("bin", "lab", "pulumi-resource-standin"), filepath.Join(p.dir, "providers", "pulumi-resource-"+name))).To(Succeed())
	}
}

// offerFlux puts the manifests of Flux, which do not know Stacks, where the stand-in finds what the programs download.
func (p *person) offerFlux() {
	p.test.Helper()
	manifests, err := controlplane.Kustomize(p.test.Context(), p.path("tests", "cluster", "flux", "plain"))
	p.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(p.dir, "downloads", "github.com/fluxcd/flux2/releases/download/v2.9.5/install.yaml")
	p.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	p.Expect(os.WriteFile(file, manifests, 0o644)).To(Succeed())
}

// project is a directory with a copy of an example.
func (p *person) project(example string) string {
	p.test.Helper()
	dir := filepath.Join(p.dir, "projects", filepath.Base(example))
	p.Expect(os.CopyFS(dir, os.DirFS(p.path("examples", example)))).To(Succeed())
	return dir
}

// compiled is an example in TypeScript with its packages and index.js, which the real compiler has checked.
func (p *person) compiled(example string) string {
	p.test.Helper()
	dir := p.project(example)
	p.build(dir)
	return dir
}

// build makes the project ready for run.js.
func (p *person) build(dir string) {
	p.test.Helper()
	p.Expect(os.RemoveAll(filepath.Join(dir, "node_modules"))).To(Succeed())
	p.Expect(os.Symlink(p.path("bin", "typescript", "node_modules"), filepath.Join(dir, "node_modules"))).To(Succeed())
	driver, err := os.ReadFile("run.js")
	p.Expect(err).NotTo(HaveOccurred())
	p.Expect(os.WriteFile(filepath.Join(dir, "run.js"), driver, 0o644)).To(Succeed())
	p.run(dir, nil, "node", "node_modules/typescript/bin/tsc", "--noEmit", "false", "--outDir", ".")
}

// setting is a value of the configuration, in the words of the automation API.
type setting struct {
	Value  string `json:"value"`
	Secret bool   `json:"secret"`
}

// pulumi runs a command for the program, and returns how many resources it changed, by the operation.
func (p *person) pulumi(dir, command string, config map[string]setting) (changes map[string]int) {
	p.test.Helper()
	text, err := json.Marshal(config)
	p.Expect(err).NotTo(HaveOccurred())
	output := p.run(dir, []string{"CONFIG=" + string(text)}, "node", "run.js", command, "index.js", "dev")
	p.Expect(json.Unmarshal([]byte(output), &changes)).To(Succeed(), output)
	return changes
}

// run returns what a command prints.
func (p *person) run(dir string, variables []string, name string, args ...string) string {
	p.test.Helper()
	command := exec.CommandContext(p.test.Context(), name, args...)
	command.Dir = dir
	command.Env = append([]string{
		"HOME=" + p.home, "PATH=" + filepath.Join(p.dir, "providers") + ":" + p.bin + ":" + os.Getenv("PATH"),
		"STAND_IN_CLOUD=" + filepath.Join(p.dir, "cloud"), "STAND_IN_DOWNLOADS=" + filepath.Join(p.dir, "downloads"),
		"PULUMI_HOME=" + filepath.Join(p.dir, "home"), "PULUMI_BACKEND_URL=file://" + filepath.Join(p.dir, "state"),
		"PULUMI_CONFIG_PASSPHRASE=" + passphrase, "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
	}, variables...)
	if p.kubeconfig != "" {
		command.Env = append(command.Env, "KUBECONFIG="+p.kubeconfig)
	}
	var output, errors bytes.Buffer
	command.Stdout, command.Stderr = &output, &errors
	p.Expect(command.Run()).To(Succeed(), "%s %s: %s%s", name, strings.Join(args, " "), &errors, &output)
	return output.String()
}

// state is the text of the only file in the backend that has the state of the project.
func (p *person) state(project string) string {
	p.test.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "state", ".pulumi", "stacks", project, "dev.json"))
	p.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// made expects the object in the cluster.
func (p *person) made(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	p.test.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	p.Expect(p.Get(p.test.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object)).To(Succeed())
	return object
}

// madeAll expects all objects of a file in the cluster, which may have added defaults.
func (p *person) madeAll(file string) {
	p.test.Helper()
	text, err := os.ReadFile(file)
	p.Expect(err).NotTo(HaveOccurred())
	for _, document := range strings.Split(string(text), "\n---\n") {
		var object unstructured.Unstructured
		p.Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
		found := p.made(object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName())
		for field, value := range object.Object["spec"].(map[string]any) {
			p.Expect(found.Object["spec"]).To(HaveKeyWithValue(field, value))
		}
	}
}
