// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// careless is a Thing whose provider puts its secret input into the error of a failed
// creation.
func careless(value string) string {
	return "  t:\n    type: lab:index:Thing\n    properties: {name: t, secretValue: " + value + ", echoInput: true, failures: {create: no luck}}\n"
}

// A failing provider may print its inputs, and some of their secrets were never given
// to the run as secrets.
func TestSecretsInTheErrorOfAProviderAreMasked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// canary must not be visible in any of the forms.
		canary  string
		forms   []string
		program func(*lab) string
		edit    func(*run.Run)
		want    string // in the message
		variant bool
	}{
		"the secret output of another resource": {
			canary: "CANARYprovideroutput41",
			program: func(l *lab) string {
				return l.thing("secretValue: CANARYprovideroutput41") + careless(`"${a.secretValue}"`)
			},
		},
		"a literal that the program makes a secret": {
			canary:  "CANARYprogsecret40",
			program: func(l *lab) string { return l.thing("value: x") + careless("{fn::secret: CANARYprogsecret40}") },
		},
		"the default of secret config": {
			variant: true,
			canary:  "CANARYdefault42",
			program: func(l *lab) string {
				return "config: {pw: {type: string, secret: true, default: CANARYdefault42}}\n" + l.thing("value: x") + careless(`"${pw}"`)
			},
		},
		"the value of secret config": {
			variant: true,
			canary:  "CANARYvalue43",
			program: func(l *lab) string {
				return "config: {pw: {secret: true, default: CANARYvalue43}}\n" + l.thing("value: x") + careless(`"${pw}"`)
			},
		},
		"a variable with secret config in it": {
			variant: true,
			canary:  "CANARYtail45",
			program: func(l *lab) string {
				return "config: {user: {type: string, secret: true}}\n" + l.thing("value: x") + careless(`"db://zsadmin:CANARYtail45@x"`)
			},
			edit: func(r *run.Run) {
				r.Secrets = map[string]string{"user": "zsadmin"}
				r.Masks = []string{"db://zsadmin:CANARYtail45@x", "zsadmin"}
			},
		},
		"a secret of the state with secret config in it": {
			variant: true,
			canary:  "CANARYtail46",
			program: func(l *lab) string {
				return "config: {user: {type: string, secret: true}}\n" + l.thing(`secretValue: "${user}-CANARYtail46"`) + careless(`"${a.secretValue}"`)
			},
			edit: func(r *run.Run) {
				r.Secrets = map[string]string{"user": "zsadmin"}
				r.Masks = []string{"zsadmin"}
			},
		},
		"what Go escapes": {
			canary: "CANARYtail47",
			program: func(l *lab) string {
				return "config: {pw: {type: string, secret: true}}\n" + l.thing("value: x") + careless(`{"fn::toJSON": {p: "${pw}"}}`)
			},
			edit: func(r *run.Run) {
				r.Secrets = map[string]string{"pw": "a\u00a0\"b\\CANARYtail47"}
				r.Masks = []string{"a\u00a0\"b\\CANARYtail47"}
			},
			want: `no luck (input was "{\"p\":\"***\"}")`,
		},
		"a number": {
			canary: "4711471147", forms: []string{"4.711471147e+09"},
			program: func(l *lab) string {
				return "config: {pw: {type: integer, secret: true}}\n" + l.thing("value: x") + careless(`"${pw}"`)
			},
			edit: func(r *run.Run) {
				r.Secrets = map[string]string{"pw": "4711471147"}
				r.Masks = []string{"4711471147"}
			},
			want: "property secretValue value {[secret]} has a problem",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variant {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			r := l.update(test.program(l))
			if test.edit != nil {
				test.edit(&r)
			}
			dir, result := l.doIn(t.Context(), r)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring(cmp.Or(test.want, `lab:index:Thing (t): no luck (input was "***")`)))
			said := strings.Join(l.saidLines(), "\n")
			l.Expect(said).To(ContainSubstring("error: "+strings.TrimPrefix(result.Message, "lab:index:Thing (t): ")), "it is logged")
			for _, form := range append(test.forms, test.canary) {
				l.Expect(said).NotTo(ContainSubstring(form))
				l.Expect(result.Message).NotTo(ContainSubstring(form))
			}
			l.Expect(l.newCalls()).To(Equal([]string{"up", "stack export"}))
			l.Expect(l.find("plaintext", string(dir))).To(BeEmpty(), "the state is in no file")
		})
	}
}

// Literals are found in every file in which Pulumi YAML looks for a program.
func TestALiteralThatAProgramOfASourceMakesASecretIsMasked(t *testing.T) {
	t.Parallel()
	for file, place := range map[string]string{
		"Pulumi.yaml":     "",
		"Main.yaml":       "",
		"parts/Main.yaml": "main: parts\n",
	} {
		t.Run(file, func(t *testing.T) {
			if file != "Main.yaml" {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider().withStack()
			r := l.update("")
			r.Program = run.Program{Artifact: &run.Artifact{}}
			text := l.thing("value: x") + careless("{fn::secret: CANARYofasource44}")
			project := "name: demo\nruntime: yaml\n" + place
			dir := Directory(t.TempDir())
			files := map[string]string{"Pulumi.yaml": project}
			files[file] += text
			writeTree(t, dir.Workspace(), files)
			result := l.driver.Do(t.Context(), dir, r, func(string) {})
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring(`no luck (input was "***")`))
		})
	}
}

// exporting replaces the CLI's export of a state by the script.
func (l *lab) exporting(script string) {
	l.Helper()
	l.replacing("stack export", script)
}

// replacing replaces a command of the CLI by the script.
func (l *lab) replacing(command, script string) {
	l.Helper()
	path := filepath.Join(l.driver.Bin, "pulumi")
	text, err := os.ReadFile(path)
	l.Expect(err).NotTo(HaveOccurred())
	first, rest, _ := strings.Cut(string(text), "\n")
	script = first + "\ncase \"$*\" in *\"" + command + "\"*) " + script + ";; esac\n" + rest
	writeProgram(l.T, path, script)
}

func TestARunThatIsToStopDoesNotWaitForItsState(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	started := filepath.Join(t.TempDir(), "started")
	l.exporting("touch " + started + "; sleep 600")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var stopped time.Time
	go func() {
		ticker := time.NewTicker(pollInterval)
		defer ticker.Stop()
		for ; ctx.Err() == nil; <-ticker.C {
			if _, err := os.Stat(started); err == nil {
				stopped = time.Now()
				cancel(errors.New("enough"))
			}
		}
	}()
	result := l.do(ctx, l.update(l.thing("failures: {create: no luck}")))
	l.Expect(ctx.Err()).To(HaveOccurred(), "the state was not read")
	l.Expect(time.Since(stopped)).To(BeNumerically("<", readPatience))
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(HavePrefix("lab:index:Thing (a): the error is not shown"))
}
