// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/acl"
	"github.com/fluxcd/pkg/runtime/features"
	. "github.com/onsi/gomega"
	flag "github.com/spf13/pflag"

	"github.com/flux-pulumi/pulumi-controller/internal/app"
)

// fluxDefaults are the flags shared with kustomize-controller and helm-controller, and
// their defaults.
func fluxDefaults() map[string]string {
	return map[string]string{
		"concurrent": "4", "default-service-account": "", "enable-leader-election": "false", "events-addr": "",
		"feature-gates": "", "graceful-shutdown-timeout": "10m0s", "health-addr": ":9440", "http-retry": "9",
		"interval-jitter-percentage": "5", "kube-api-burst": "300", "kube-api-qps": "50",
		"leader-election-lease-duration": "35s", "leader-election-release-on-cancel": "true",
		"leader-election-renew-deadline": "30s", "leader-election-retry-period": "5s",
		"log-encoding": "json", "log-level": "info", "max-retry-delay": "15m0s", "metrics-addr": ":8080",
		"min-retry-delay": "750ms", "requeue-dependency": "30s", "watch-all-namespaces": "true", "watch-label-selector": "",
		// The two defaults that differ from Flux's.
		"no-cross-namespace-refs": "true", "watch-configs-label-selector": "",
	}
}

// defaults lists all flags and their defaults.
func defaults(g *WithT) map[string]string {
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	g.Expect(bindFlags(fs, &app.Config{}, &acl.Options{}, &features.FeatureGates{})).To(Succeed())
	all := map[string]string{}
	fs.VisitAll(func(f *flag.Flag) {
		all[f.Name] = f.DefValue
		g.Expect(f.Value.String()).To(Equal(f.DefValue), "what is told of --%s is so", f.Name)
	})
	return all
}

func TestDefaultsAreFluxs(t *testing.T) {
	g := NewWithT(t)
	all := defaults(g)
	own := map[string]bool{}
	for name, value := range all {
		want, shared := fluxDefaults()[name]
		if !shared {
			own[name] = true
			continue
		}
		g.Expect(value).To(Equal(want), "--%s", name)
	}
	for name := range fluxDefaults() {
		g.Expect(all).To(HaveKey(name))
	}
	g.Expect(own).To(HaveLen(18), "acquire-plugins, allow-controller-refs, allow-preview-programs, cancel-grace, concurrent-drift-checks, concurrent-runs, concurrent-runs-per-namespace, data-dir, dependency-cache-size, pulumi-dir, "+
		"runner, runner-image, runner-images, runner-pod-security, runner-workspace-template, sandbox, sandbox-read-paths and sandbox-write-paths are this controller's: %v", own)
}

func TestDefaultsAreParsed(t *testing.T) {
	g := NewWithT(t)
	c, err := parse(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Interval.Percentage).To(BeEquivalentTo(5))
	g.Expect(c.RateLimiter.MinRetryDelay).To(Equal(750 * time.Millisecond))
	g.Expect(c.NoCrossNamespaceRefs).To(BeTrue())
	g.Expect(c.Watch.ConfigsLabelSelector).To(BeEmpty())
	g.Expect(c.AdditiveCELDependencyCheck).To(BeFalse())
	g.Expect(c.DisableConfigWatchers).To(BeFalse())
}

func TestFeatureGatesAreRead(t *testing.T) {
	g := NewWithT(t)
	c, err := parse([]string{"--feature-gates=AdditiveCELDependencyCheck=true,DisableConfigWatchers=true"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.AdditiveCELDependencyCheck).To(BeTrue())
	g.Expect(c.DisableConfigWatchers).To(BeTrue())
}

// docs/flags.md has a row for each flag: | `--name` | `default` |.
func TestTheDocumentationHasAllFlags(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", "/tmp") // part of a default
	text, err := os.ReadFile(filepath.Join("docs", "flags.md"))
	g.Expect(err).NotTo(HaveOccurred())
	table, _, _ := strings.Cut(string(text), "\n## ")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| (?:`([^`]*)` )?\\|").FindAllStringSubmatch(table, -1) {
		documented[row[1]] = row[2]
	}
	g.Expect(documented).To(Equal(defaults(g)))
	for _, gate := range []string{"AdditiveCELDependencyCheck", "DisableConfigWatchers", "ObjectLevelWorkloadIdentity"} {
		g.Expect(string(text)).To(ContainSubstring("| `" + gate + "` |"))
	}
}

func TestCrossNamespaceRefsCanBeAllowed(t *testing.T) {
	g := NewWithT(t)
	c, err := parse([]string{"--no-cross-namespace-refs=false"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.NoCrossNamespaceRefs).To(BeFalse())
}

func TestBadFlagsAreNamed(t *testing.T) {
	for arg, want := range map[string]string{
		"--concurrent=0":                   "--concurrent must be at least 1",
		"--concurrent-runs=-1":             "--concurrent-runs must be at least 1",
		"--requeue-dependency=0s":          "--requeue-dependency must be positive",
		"--http-retry=-1":                  "--http-retry must not be negative",
		"--interval-jitter-percentage=100": "--interval-jitter-percentage must be less than 100",
		"--watch-all-namespaces=false":     "RUNTIME_NAMESPACE",
		"--no-such-flag":                   "no-such-flag",
		"--feature-gates=TimeTravel=true":  "--feature-gates: feature-gate 'TimeTravel' not supported",
		"--runner-images=nodejs":           "must be formatted as key=value",
		"--runner-images==a":               "--runner-images needs the name of a runtime before each image",
		"--runner-images=nodejs=A b":       "--runner-images: the image for nodejs is invalid",
	} {
		t.Run(arg, func(t *testing.T) {
			t.Setenv("RUNTIME_NAMESPACE", "")
			_, err := parse([]string{arg})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}

func TestOnlyNetworkVariablesArePassedToPulumi(t *testing.T) {
	g := NewWithT(t)
	env := map[string]string{"HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem", "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "^https://=https://mirror", "AWS_SECRET_ACCESS_KEY": "secret", "PULUMI_ACCESS_TOKEN": "token"}
	passed := passedEnv(func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	g.Expect(passed).To(Equal(map[string]string{"HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem", "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "^https://=https://mirror"}))
}

func TestWarningsOfFlagsThatDoNotFit(t *testing.T) {
	g := NewWithT(t)
	for arg, want := range map[string]string{
		"--default-service-account=default": "--default-service-account does not restrict programs with --runner=local",
		"--cancel-grace=10m":                "--cancel-grace (10m0s) should be less than --graceful-shutdown-timeout (10m0s)",
		"--graceful-shutdown-timeout=30s":   "--cancel-grace (5m0s) should be less than --graceful-shutdown-timeout (30s)",
		"--cancel-grace=9m":                 "",
	} {
		c, err := parse([]string{arg})
		g.Expect(err).NotTo(HaveOccurred())
		if want == "" {
			g.Expect(c.Warnings()).To(BeEmpty())
			continue
		}
		g.Expect(c.Warnings()).To(ConsistOf(HavePrefix(want)))
	}
}

func TestHelpIsNoError(t *testing.T) {
	const inside = "PULUMI_CONTROLLER_HELP"
	if os.Getenv(inside) != "" {
		os.Args = []string{app.Name, "--help"}
		main()
		return
	}
	g := NewWithT(t)
	help := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelpIsNoError$")
	help.Env = append(os.Environ(), inside+"=yes")
	var complaints strings.Builder
	help.Stderr = &complaints
	out, err := help.Output()
	g.Expect(err).NotTo(HaveOccurred(), "it ends with 0")
	g.Expect(string(out)).To(And(ContainSubstring("--events-addr"), ContainSubstring("--concurrent-runs")))
	g.Expect(complaints.String()).To(BeEmpty())
}

func TestImagesForRuntimes(t *testing.T) {
	g := NewWithT(t)
	c, err := parse([]string{"--runner-images=nodejs=registry.example.com:5000/a/nodejs:1@sha256:" + strings.Repeat("0", 64) + ",yaml=yaml", "--runner-images=go=other:2,typescript=c/d"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.RunnerImages).To(Equal(map[string]string{
		"nodejs": "registry.example.com:5000/a/nodejs:1@sha256:" + strings.Repeat("0", 64), "yaml": "yaml", "go": "other:2", "typescript": "c/d",
	}))
	g.Expect(c.Warnings()).To(ContainElement(HavePrefix(`--runner-images has an image for the runtime "typescript", which is none of Pulumi's own`)))
}

func TestNothingOfTheControllersOwnIdentityIsPassed(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{
		"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
		"AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "ARM_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CREDENTIALS", "CLOUDSDK_CONFIG",
		"PULUMI_ACCESS_TOKEN", "KUBECONFIG",
	} {
		t.Setenv(name, "the-controllers-own")
	}
	c, err := parse([]string{"--feature-gates=ObjectLevelWorkloadIdentity=true"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.ObjectLevelWorkloadIdentity).To(BeTrue())
	g.Expect(c.PassedEnv).NotTo(ContainElement("the-controllers-own"))
}
