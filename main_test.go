// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/acl"
	runtimeclient "github.com/fluxcd/pkg/runtime/client"
	"github.com/fluxcd/pkg/runtime/features"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	flag "github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
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
	g.Expect(bindFlags(fs, &config{}, &acl.Options{}, &features.FeatureGates{})).To(Succeed())
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
	g.Expect(own).To(HaveLen(12), "acquire-plugins, allow-controller-refs, allow-preview-programs, cancel-grace, concurrent-runs, concurrent-runs-per-namespace, data-dir, pulumi-dir, "+
		"runner, runner-image, runner-pod-security and runner-workspace-template are this controller's: %v", own)
}

func TestDefaultsAreParsed(t *testing.T) {
	g := NewWithT(t)
	c, err := parse(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.interval.Percentage).To(BeEquivalentTo(5))
	g.Expect(c.rateLimiter.MinRetryDelay).To(Equal(750 * time.Millisecond))
	g.Expect(c.noCrossNamespaceRefs).To(BeTrue())
	g.Expect(c.watch.ConfigsLabelSelector).To(BeEmpty())
	g.Expect(c.additiveCELDependencyCheck).To(BeFalse())
	g.Expect(c.disableConfigWatchers).To(BeFalse())
}

func TestFeatureGatesAreRead(t *testing.T) {
	g := NewWithT(t)
	c, err := parse([]string{"--feature-gates=AdditiveCELDependencyCheck=true,DisableConfigWatchers=true"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.additiveCELDependencyCheck).To(BeTrue())
	g.Expect(c.disableConfigWatchers).To(BeTrue())
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
	for _, gate := range []string{"AdditiveCELDependencyCheck", "DisableConfigWatchers"} {
		g.Expect(string(text)).To(ContainSubstring("| `" + gate + "` |"))
	}
}

func TestCrossNamespaceRefsCanBeAllowed(t *testing.T) {
	g := NewWithT(t)
	c, err := parse([]string{"--no-cross-namespace-refs=false"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.noCrossNamespaceRefs).To(BeFalse())
}

func TestWatchesPart(t *testing.T) {
	t.Setenv("RUNTIME_NAMESPACE", "flux-system")
	for _, test := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"--watch-label-selector=sharding.fluxcd.io/key=one"}, true},
		{[]string{"--watch-all-namespaces=false", "--no-cross-namespace-refs=false"}, true},
		{[]string{"--watch-all-namespaces=false"}, false},
	} {
		g := NewWithT(t)
		c, err := parse(test.args)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.watchesPart()).To(Equal(test.want), "%v", test.args)
	}
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
	env := map[string]string{"HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem", "AWS_SECRET_ACCESS_KEY": "secret", "PULUMI_ACCESS_TOKEN": "token"}
	passed := passedEnv(func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	g.Expect(passed).To(Equal(map[string]string{"HTTPS_PROXY": "http://proxy", "SSL_CERT_FILE": "/ca.pem"}))
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
			g.Expect(c.warnings()).To(BeEmpty())
			continue
		}
		g.Expect(c.warnings()).To(ConsistOf(HavePrefix(want)))
	}
}

func TestJitterStaysWithinItsPercentage(t *testing.T) {
	g := NewWithT(t)
	spread := jittered(5)
	seen := map[time.Duration]bool{}
	for range 200 {
		d := spread(time.Minute)
		g.Expect(d).To(And(BeNumerically(">=", 57*time.Second), BeNumerically("<=", 63*time.Second)))
		seen[d] = true
	}
	g.Expect(len(seen)).To(BeNumerically(">", 100))
	g.Expect(jittered(0)(time.Minute)).To(Equal(time.Minute))
}

func TestHelpIsNoError(t *testing.T) {
	const inside = "PULUMI_CONTROLLER_HELP"
	if os.Getenv(inside) != "" {
		os.Args = []string{controllerName, "--help"}
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

func TestTheClientLimitsItselfWhereTheServerDoesNot(t *testing.T) {
	for name, fair := range map[string]bool{"with Priority and Fairness": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if fair {
					w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", "1")
				}
			}))
			defer server.Close()
			restConfig := &rest.Config{Host: server.URL}
			limitRate(t.Context(), restConfig, runtimeclient.Options{QPS: 50, Burst: 300})
			if fair {
				g.Expect(restConfig.QPS).To(BeNumerically("<", 0))
				return
			}
			g.Expect(restConfig.QPS).To(BeEquivalentTo(50))
			g.Expect(restConfig.Burst).To(Equal(300))
		})
	}
}

func TestAWarningOfTheAPIServerIsLoggedOnce(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, text := range []string{
			"prefer another name",
			`metadata.finalizers: \"example.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts`,
			`metadata.finalizers: \"finalizer.stack.pulumi.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts`,
		} {
			w.Header().Add("Warning", `299 - "`+text+`"`)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}}`))
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "test",
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: server.URL}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test"}},
	}, kubeconfig)).To(Succeed())
	t.Setenv("KUBECONFIG", kubeconfig)
	restConfig, err := clusterConfig(t.Context(), config{})
	g.Expect(err).NotTo(HaveOccurred())
	clients, err := kubernetes.NewForConfig(restConfig)
	g.Expect(err).NotTo(HaveOccurred())

	var lines []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	for range 3 {
		_, err := clients.CoreV1().ConfigMaps("b").Get(ctx, "a", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(lines).To(ConsistOf(ContainSubstring("prefer another name"), ContainSubstring("example.com")), "that about our finalizer says nothing new")
}

func TestTheWorkspaceTemplateIsReadAtTheStart(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "template.yaml")
	_, err := readWorkspaceTemplate(path, job.Settings{})
	g.Expect(err).To(MatchError(And(ContainSubstring("--runner-workspace-template"), ContainSubstring("no such file"))))
	g.Expect(os.WriteFile(path, []byte("spec: {imagePullSecrets: []}"), 0o600)).To(Succeed())
	_, err = readWorkspaceTemplate(path, job.Settings{})
	g.Expect(err).To(MatchError("--runner-workspace-template: " + path + ": spec.imagePullSecrets is not known: remove it"))
	g.Expect(os.WriteFile(path, []byte("spec: {image: a}"), 0o600)).To(Succeed())
	defaults, err := readWorkspaceTemplate(path, job.Settings{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(defaults.Image).To(Equal("a"))
	_, err = readWorkspaceTemplate("", job.Settings{})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestTheDataDirectoryHasOneOwner(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "data")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	first, second := &dataDir{path: path}, &dataDir{path: path}
	g.Expect(first.Take()).To(And(MatchError(ContainSubstring("not a directory")), Not(MatchError(errInUse))))
	g.Expect(os.Remove(path)).To(Succeed())
	g.Expect(first.Take()).To(Succeed())
	g.Expect(first.Take()).To(Succeed(), "it has it")
	g.Expect(second.Take()).To(MatchError(errInUse))
	_, err := holders{dir: second}.Gone(t.Context(), v1.RunHolder{}, time.Time{})
	g.Expect(err).To(MatchError(errInUse), "what became of its runs is not known")
	first.Close()
	g.Expect(second.Take()).To(Succeed())
	second.Close()
}
