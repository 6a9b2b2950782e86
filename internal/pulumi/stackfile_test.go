// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// artifactRun is an update of a program whose files are in the workspace.
func artifactRun(dir string) run.Run {
	return run.Run{
		ID: "id", Operation: run.Update, Stack: "dev", Backend: "file:///nowhere",
		Program: run.Program{Artifact: &run.Artifact{Dir: dir}},
	}
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	g := NewWithT(t)
	for name, text := range files {
		path := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	}
}

func testDirectory(t *testing.T) Directory {
	t.Helper()
	dir := Directory(t.TempDir())
	NewWithT(t).Expect(dir.Make()).To(Succeed())
	return dir
}

func TestPrepareMergesConfig(t *testing.T) {
	for name, test := range map[string]struct {
		file   string
		config map[string]json.RawMessage
		want   string
	}{
		"without config the program's file stays as it is": {
			file: "config: {a: 1}\n", want: "config: {a: 1}\n",
		},
		"values keep their type": {
			config: map[string]json.RawMessage{
				"text": json.RawMessage(`"5"`), "bool": json.RawMessage(`true`), "int": json.RawMessage(`5`),
				"float": json.RawMessage(`1.5`), "big": json.RawMessage(`123456789012345678901`),
				"list": json.RawMessage(`["a", {"b": "c"}]`), "aws:region": json.RawMessage(`"x"`),
			},
			want: "config:\n  aws:region: x\n  demo:big: \"123456789012345678901\"\n  demo:bool: true\n  demo:float: 1.5\n" +
				"  demo:int: 5\n  demo:list:\n    - a\n    - b: c\n  demo:text: \"5\"\n",
		},
		"the program's own values stay, but for those that the spec gives": {
			file: "secretsprovider: awskms://k\nencryptedkey: abc\nconfig:\n  a: mine\n  b: mine\n" +
				"  demo:c: {secure: v1:x}\nenvironment: [e]\n",
			config: map[string]json.RawMessage{"b": json.RawMessage(`"theirs"`)},
			want: "secretsprovider: awskms://k\nencryptedkey: abc\nconfig:\n  demo:a: mine\n  demo:b: theirs\n" +
				"  demo:c:\n    secure: v1:x\nenvironment:\n  - e\n",
		},
		"an encryptionsalt stays": {
			file:   "encryptionsalt: v1:x:y\n",
			config: map[string]json.RawMessage{"a": json.RawMessage(`"b"`)},
			want:   "encryptionsalt: v1:x:y\nconfig:\n  demo:a: b\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := testDirectory(t)
			files := map[string]string{"sub/Pulumi.yaml": "name: demo\nruntime: yaml\nresources: {}\n"}
			if test.file != "" {
				files["sub/Pulumi.dev.yaml"] = test.file
			}
			writeTree(t, dir.Workspace(), files)
			r := artifactRun("./sub")
			r.Config = test.config
			p, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.program).To(Equal(filepath.Join(dir.Workspace(), "sub")))
			g.Expect(p.project).To(Equal(run.Project{Name: "demo", Runtime: "yaml"}))
			g.Expect(p.stack).To(Equal("organization/demo/dev"))
			text, err := os.ReadFile(filepath.Join(dir.Workspace(), "sub", "Pulumi.dev.yaml"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).To(MatchYAML(test.want))
		})
	}
}

func TestPrepareFollowsTheProjectFile(t *testing.T) {
	g := NewWithT(t)
	dir := testDirectory(t)
	writeTree(t, dir.Workspace(), map[string]string{
		"Pulumi.json":         `{"name": "demo", "runtime": "yaml", "stackConfigDir": "settings"}`,
		"Pulumi.yaml":         "name: other\nruntime: yaml\nresources: {}\n",
		"settings/unused.txt": "",
	})
	r := artifactRun("/")
	r.Config = map[string]json.RawMessage{"a": json.RawMessage(`"b"`)}
	p, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.project.Name).To(Equal("demo"), "Pulumi takes the JSON file first")
	text, err := os.ReadFile(filepath.Join(dir.Workspace(), "settings", "Pulumi.dev.json"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(MatchJSON(`{"config": {"demo:a": "b"}}`))
}

func TestPrepareRefuses(t *testing.T) {
	project := "name: demo\nruntime: yaml\n"
	for name, test := range map[string]struct {
		files map[string]string
		edit  func(*run.Run)
		want  string
	}{
		"a program without a project file": {
			want: `no Pulumi.yaml in the directory "/" of the program's source`,
		},
		"a directory that leads out, by staying in": {
			edit: func(r *run.Run) { r.Program.Artifact.Dir = "../../etc" },
			want: `no Pulumi.yaml in the directory "/etc"`,
		},
		"a project file that is not YAML": {
			files: map[string]string{"Pulumi.yaml": "name: ["}, want: "the project file of the program",
		},
		"a project file without a name": {
			files: map[string]string{"Pulumi.yaml": "runtime: yaml"}, want: "name",
		},
		"an option that no project has": {
			files: map[string]string{"Pulumi.yaml": project + "options: {refresh: never}\n"}, want: "the project file of the program",
		},
		"a default for a provider in a project file": {
			files: map[string]string{"Pulumi.yaml": project + "config: {'aws:region': {default: x}}\n"}, want: "use the 'value' attribute instead of 'default'",
		},
		"a type for a provider in a project file": {
			files: map[string]string{"Pulumi.yaml": project + "config: {'aws:region': {type: string, value: x}}\n"}, want: "should not define a type",
		},
		"a stack of another project": {
			files: map[string]string{"Pulumi.yaml": project},
			edit:  func(r *run.Run) { r.Stack = "organization/other/dev" },
			want:  `belongs to the project "other"`,
		},
		"stack settings that are not YAML": {
			files: map[string]string{"Pulumi.yaml": project, "Pulumi.dev.yaml": "config: ["},
			edit:  func(r *run.Run) { r.Config = map[string]json.RawMessage{"a": json.RawMessage(`1`)} },
			want:  "the stack settings Pulumi.dev.yaml of the program",
		},
		"settings outside the artifact": {
			files: map[string]string{"Pulumi.yaml": project + "stackConfigDir: ../../..\n"},
			edit:  func(r *run.Run) { r.Config = map[string]json.RawMessage{"a": json.RawMessage(`1`)} },
			want:  "path escapes",
		},
		"a config key that is none": {
			files: map[string]string{"Pulumi.yaml": project},
			edit:  func(r *run.Run) { r.Config = map[string]json.RawMessage{"a:b:c": json.RawMessage(`1`)} },
			want:  `config key "a:b:c"`,
		},
		"null as config": {
			files: map[string]string{"Pulumi.yaml": project},
			edit:  func(r *run.Run) { r.Config = map[string]json.RawMessage{"a": json.RawMessage(`null`)} },
			want:  "null is not a value",
		},
		"a secret without a passphrase": {
			files: map[string]string{"Pulumi.yaml": project},
			edit:  func(r *run.Run) { r.Secrets = map[string]string{"a": "b"} },
			want:  "set PULUMI_CONFIG_PASSPHRASE",
		},
		"a key that is plain and secret": {
			files: map[string]string{"Pulumi.yaml": project},
			edit: func(r *run.Run) {
				r.Secrets = map[string]string{"a": "b"}
				r.Config = map[string]json.RawMessage{"a": json.RawMessage(`1`)}
			},
			want: "both as a plain value and as a secret",
		},
		"two names of a key, one plain and one secret": {
			files: map[string]string{"Pulumi.yaml": project},
			edit: func(r *run.Run) {
				r.Secrets = map[string]string{"a": "b"}
				r.Config = map[string]json.RawMessage{"demo:a": json.RawMessage(`1`)}
			},
			want: `"a" and "demo:a" are two names of one config value of the project "demo": remove one of the two`,
		},
		"two names of a plain key": {
			files: map[string]string{"Pulumi.yaml": project},
			edit: func(r *run.Run) {
				r.Config = map[string]json.RawMessage{"demo:a": json.RawMessage(`1`), "a": json.RawMessage(`1`)}
			},
			want: `"a" and "demo:a" are two names of one config value`,
		},
		"two names of a secret key, which only the CLI can encrypt": {
			files: map[string]string{"Pulumi.yaml": project, "Pulumi.dev.yaml": "secretsprovider: awskms://key"},
			edit:  func(r *run.Run) { r.Secrets = map[string]string{"demo:config:a": "b", "demo:a": "c"} },
			want:  `"demo:a" and "demo:config:a" are two names of one config value`,
		},
		"a config key without a namespace before its colon": {
			files: map[string]string{"Pulumi.yaml": project},
			edit:  func(r *run.Run) { r.Config = map[string]json.RawMessage{":a": json.RawMessage(`1`)} },
			want:  `config key ":a": it has no namespace before the colon`,
		},
		"an encryptionsalt that is none": {
			files: map[string]string{"Pulumi.yaml": project, "Pulumi.dev.yaml": "encryptionsalt: nonsense"},
			edit: func(r *run.Run) {
				r.Secrets, r.Env = map[string]string{"a": "b"}, map[string]string{grammar.PassphraseVariable: "x"}
			},
			want: "the encryptionsalt in Pulumi.dev.yaml is not one of Pulumi's",
		},
		"an environment variable that the controller owns": {
			edit: func(r *run.Run) { r.Env = map[string]string{"PULUMI_HOME": "/x"} },
			want: "PULUMI_HOME cannot be set",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testDirectory(t)
			writeTree(t, dir.Workspace(), test.files)
			r := artifactRun("")
			if test.edit != nil {
				test.edit(&r)
			}
			_, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestAProgramCannotSetWhatBelongsToTheProject(t *testing.T) {
	g := NewWithT(t)
	dir := testDirectory(t)
	r := run.Run{
		ID: "id", Operation: run.Update, Stack: "dev", Backend: "file:///nowhere",
		Project: run.Project{Name: "demo", Runtime: "yaml"},
		Program: run.Program{YAML: []byte("backend: {url: file:///elsewhere}\n")},
	}
	_, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(dir.Workspace(), "Pulumi.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(Equal("name: demo\nruntime: yaml\n"))
}

func TestSecretsAreEncryptedWithTheSaltOfTheProgram(t *testing.T) {
	g := NewWithT(t)
	settings := &workspace.ProjectStack{Config: config.Map{}}
	r := run.Run{
		Backend: "file:///nowhere", Secrets: map[string]string{"pw": "hunter2"},
		Env: map[string]string{grammar.PassphraseVariable: "right"},
	}
	left, err := addSecrets(t.Context(), settings, "Pulumi.dev.yaml", "demo", r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
	salt := settings.EncryptionSalt

	_, err = addSecrets(t.Context(), settings, "Pulumi.dev.yaml", "demo", r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(settings.EncryptionSalt).To(Equal(salt), "a salt that is there is used")

	r.Env[grammar.PassphraseVariable] = "wrong"
	_, err = addSecrets(t.Context(), settings, "Pulumi.dev.yaml", "demo", r)
	g.Expect(err).To(MatchError(ContainSubstring("incorrect passphrase")))

	settings.SecretsProvider, settings.EncryptionSalt = "awskms://key", ""
	left, err = addSecrets(t.Context(), settings, "Pulumi.dev.yaml", "demo", r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(Equal(r.Secrets), "the CLI has to talk to the key management service")
}

func FuzzStackFile(f *testing.F) {
	f.Add("config: {a: 1, demo:b: {secure: v1:x}, c: [1, {d: e}]}\nencryptionsalt: v1:a:b\n")
	f.Add("environment: [a]\nsecretsprovider: passphrase\n")
	f.Add("config:\n  a:b:c: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		project := &workspace.Project{Name: "demo"}
		settings, err := parseStackFile(project, "Pulumi.dev.yaml", []byte(text))
		if err != nil {
			return
		}
		if err := mergeConfig(settings, "demo", map[string]json.RawMessage{"x": json.RawMessage(`{"y":[1]}`)}); err != nil {
			t.Fatal(err)
		}
		written, err := encoding.YAML.Marshal(settings)
		if err != nil {
			return
		}
		if _, err := parseStackFile(project, "Pulumi.dev.yaml", written); err != nil {
			t.Errorf("what was written cannot be read: %v\n%s", err, written)
		}
	})
}

func TestTheProjectOfAProgramHasItsPackagesAndItsValuesForProviders(t *testing.T) {
	g := NewWithT(t)
	dir := testDirectory(t)
	r := run.Run{
		ID: "id", Operation: run.Update, Stack: "dev", Backend: "file:///nowhere",
		Project: run.Project{Name: "demo", Runtime: "yaml"},
		Program: run.Program{YAML: []byte("outputs: {}\n"), Config: map[string]any{"aws:region": "eu-west-1"}, Packages: map[string]string{"random": "4.16.0"}},
	}
	_, err := (&Driver{Cache: t.TempDir()}).prepare(t.Context(), dir, r)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(dir.Workspace(), "Pulumi.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(MatchYAML("name: demo\nruntime: yaml\nconfig: {'aws:region': {value: eu-west-1}}\n"))
	text, err = os.ReadFile(filepath.Join(dir.Workspace(), "sdks", "random.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(MatchYAML("packageDeclarationVersion: 1\nname: random\nversion: 4.16.0\n"))
}
