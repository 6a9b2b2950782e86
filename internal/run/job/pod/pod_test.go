// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// fake is a Secret that merges patches like the API server.
type fake struct {
	mu      sync.Mutex
	secret  *corev1.Secret // nil if there is none
	version int
	patches int
	// before is called before each request, which fails with its error.
	before func(request string) error
	// lost applies the next patch but loses the response.
	lost bool
}

func newFake(data map[string][]byte) *fake {
	return &fake{secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "uid"}, Data: data}}
}

func (f *fake) Get(context.Context) (*corev1.Secret, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.before != nil {
		if err := f.before("get"); err != nil {
			return nil, err
		}
	}
	if f.secret == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("secrets"), "x")
	}
	f.secret.ResourceVersion = strconv.Itoa(f.version)
	return f.secret.DeepCopy(), nil
}

func (f *fake) Patch(_ context.Context, patch []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.before != nil {
		if err := f.before("patch"); err != nil {
			return err
		}
	}
	if f.secret == nil {
		return apierrors.NewNotFound(corev1.Resource("secrets"), "x")
	}
	var change struct {
		Metadata struct{ ResourceVersion string }
		Data     map[string]*[]byte
	}
	if err := json.Unmarshal(patch, &change); err != nil {
		return err
	}
	if v := change.Metadata.ResourceVersion; v != "" && v != strconv.Itoa(f.version) {
		return apierrors.NewConflict(corev1.Resource("secrets"), "x", errors.New("changed"))
	}
	for key, value := range change.Data {
		if value == nil {
			delete(f.secret.Data, key)
		} else {
			f.secret.Data[key] = *value
		}
	}
	f.version++
	f.patches++
	if f.lost {
		f.lost = false
		return errors.New("the answer was lost")
	}
	return nil
}

func (f *fake) writes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.patches
}

func (f *fake) data() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.secret.DeepCopy().Data
}

func anInput(t *testing.T) (data []byte, digest string) {
	data, digest, err := exchange.EncodeInput(exchange.Input{Run: run.Run{ID: "1", Operation: run.Update, Timeout: time.Hour}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return data, digest
}

func optionsFor(secret Secret, digest, uid string) Options {
	return Options{Secret: secret, Digest: digest, Self: exchange.Claim{Pod: "pod-" + uid, UID: uid, At: time.Unix(1000, 0).UTC()}, Log: logr.Discard()}
}

func TestARunIsClaimedOnce(t *testing.T) {
	g := NewWithT(t)
	data, digest := anInput(t)
	secret := newFake(map[string][]byte{exchange.RunKey: data})
	input, err := optionsFor(secret, digest, "a").claim(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(input.Run.ID).To(Equal("1"))
	g.Expect(secret.data()).NotTo(HaveKey(exchange.RunKey), "it is secret and no longer needed")
	_, err = optionsFor(secret, digest, "b").claim(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("another pod has the run")))
	g.Expect(Do(t.Context(), optionsFor(secret, digest, "b"))).To(Equal(job.ExitNotStarted))
	_, err = optionsFor(secret, digest, "a").claim(t.Context())
	g.Expect(err).To(HaveOccurred(), "not even by the same pod: how far it got is unknown")
}

func TestOnlyOneOfManyPodsClaimsTheRun(t *testing.T) {
	g := NewWithT(t)
	data, digest := anInput(t)
	secret := newFake(map[string][]byte{exchange.RunKey: data})
	var pods sync.WaitGroup
	won := make(chan string, 20)
	for i := range cap(won) {
		pods.Go(func() {
			if _, err := optionsFor(secret, digest, strconv.Itoa(i)).claim(t.Context()); err == nil {
				won <- strconv.Itoa(i)
			}
		})
	}
	pods.Wait()
	g.Expect(won).To(HaveLen(1))
}

func TestAClaimWithALostResponseIsRecognized(t *testing.T) {
	g := NewWithT(t)
	data, digest := anInput(t)
	secret := newFake(map[string][]byte{exchange.RunKey: data})
	secret.lost = true
	input, err := optionsFor(secret, digest, "a").claim(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(input.Run.ID).To(Equal("1"))
}

func TestARunGivenUpIsNotStarted(t *testing.T) {
	g := NewWithT(t)
	data, digest := anInput(t)
	secret := newFake(map[string][]byte{exchange.RunKey: data, exchange.ResultKey: []byte("x")})
	_, err := optionsFor(secret, digest, "a").claim(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("has withdrawn the run")))
	g.Expect(secret.writes()).To(BeZero())
}

func TestWhyARunIsNotStartedIsReported(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that there is no retry
	secret, died := newFake(nil), ""
	secret.before = func(string) error { return &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT} }
	o := optionsFor(secret, "", "a")
	o.Died = func(why string) { died = why }
	g.Expect(Do(ctx, o)).To(Equal(job.ExitUnreached))
	g.Expect(died).To(And(HavePrefix("claiming the run: "), ContainSubstring("dial: connection timed out")))
}

func TestABlockedNetworkAndALostClaimHaveDifferentExitCodes(t *testing.T) {
	secrets := corev1.Resource("secrets")
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"claimed by another pod": {&finalError{errors.New("another pod has the run")}, job.ExitNotStarted},
		"not found":              {apierrors.NewNotFound(secrets, "a"), job.ExitNotStarted},
		"forbidden":              {apierrors.NewForbidden(secrets, "a", errors.New("no Role")), job.ExitNotStarted},
		"dial timeout":           {&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, job.ExitUnreached},
		"deadline exceeded":      {context.DeadlineExceeded, job.ExitUnreached},
		"signalled to stop":      {fmt.Errorf("%w: %w", errTerminated, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), job.ExitUnreached},
		"signalled in a request": {fmt.Errorf("%w: %w", errTerminated, &url.Error{Op: "Get", URL: "https://a", Err: context.Canceled}), job.ExitStopped},
		"overloaded":             {apierrors.NewServiceUnavailable("later"), job.ExitNotStarted},
		"conflict":               {apierrors.NewConflict(secrets, "a", errors.New("changed")), job.ExitNotStarted},
	} {
		NewWithT(t).Expect(unclaimed(fmt.Errorf("claiming the run: %w", tc.err))).To(Equal(tc.want), name)
	}
}

func TestATamperedRunIsNotStarted(t *testing.T) {
	g := NewWithT(t)
	data, _ := anInput(t)
	secret := newFake(map[string][]byte{exchange.RunKey: data})
	g.Expect(Do(t.Context(), optionsFor(secret, "sha256:another", "a"))).To(Equal(job.ExitFailed))
	ended, err := exchange.DecodeResult(secret.data()[exchange.ResultKey], time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ended.Outcome).To(Equal(run.PodFailed))
	g.Expect(ended.Interrupted).To(BeFalse())
	g.Expect(ended.Message).To(ContainSubstring("it was changed"))
}

func TestTheResultIsWrittenWhenTheAPIServerIsBack(t *testing.T) {
	g := NewWithT(t)
	secret := newFake(map[string][]byte{exchange.ProgressKey: []byte("{}")})
	failures := 4
	secret.before = func(string) error {
		if failures--; failures >= 0 {
			return errors.New("connection refused")
		}
		return nil
	}
	g.Expect(optionsFor(secret, "", "a").finish(run.Update, run.Result{Outcome: run.Failed, Message: "no"})).To(Equal(job.ExitFailed))
	g.Expect(secret.data()).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.ProgressKey))))
	g.Expect(optionsFor(secret, "", "a").finish(run.Update, run.Result{Outcome: run.Succeeded})).To(BeZero())
}

func TestHowLongARequestIsRetried(t *testing.T) {
	away, late := errors.New("connection refused"), fmt.Errorf("patch: %w", context.DeadlineExceeded)
	refused := apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("no role allows it"))
	type answer struct {
		after time.Duration
		err   error
	}
	for name, tc := range map[string]struct {
		answers []answer
		over    bool
	}{
		"down for minutes":                            {answers: []answer{{0, away}, {4 * time.Minute, away}}},
		"down for too long":                           {answers: []answer{{0, away}, {5 * time.Minute, away}}, over: true},
		"refused briefly":                             {answers: []answer{{0, refused}, {30 * time.Second, refused}}},
		"refused for too long":                        {answers: []answer{{0, refused}, {61 * time.Second, refused}}, over: true},
		"down for minutes, then refused briefly":      {answers: []answer{{0, away}, {3 * time.Minute, away}, {3*time.Minute + time.Second, refused}}},
		"down for minutes, then refused for too long": {answers: []answer{{0, away}, {3 * time.Minute, refused}, {4*time.Minute + time.Second, refused}}, over: true},
		"refused, down, refused again":                {answers: []answer{{0, refused}, {50 * time.Second, away}, {70 * time.Second, refused}}},
		"timeouts for minutes":                        {answers: []answer{{0, late}, {4 * time.Minute, late}}},
		"timeouts for too long":                       {answers: []answer{{0, late}, {5 * time.Minute, late}}, over: true},
		"another pod has the run":                     {answers: []answer{{0, &finalError{errors.New("another pod")}}}, over: true},
		"conflict":                                    {answers: []answer{{0, apierrors.NewConflict(corev1.Resource("secrets"), "x", nil)}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			began := time.Unix(1000, 0)
			left := patience{most: endPatience, began: began}
			for i, answer := range tc.answers {
				g.Expect(left.isOver(answer.err, began.Add(answer.after))).To(Equal(tc.over && i == len(tc.answers)-1))
			}
		})
	}
}

func TestACreationOfUnknownOutcomeIsReportedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		secret := newFake(map[string][]byte{})
		reporter := newReporter(secret, logr.Discard())
		defer reporter.close()
		reported := func() []string {
			synctest.Wait()
			return exchange.DecodeProgress(secret.data()[exchange.ProgressKey]).UnknownCreates
		}
		for i := range 100 {
			reporter.Progress(run.Progress{InFlight: i})
		}
		reporter.UnknownCreates([]string{"urn:a"})
		g.Expect(reported()).To(BeEmpty(), "another one may follow at once")
		time.Sleep(reportUrgentAfter)
		g.Expect(reported()).To(Equal([]string{"urn:a"}))
		time.Sleep(reportInterval - time.Millisecond)
		synctest.Wait()
		g.Expect(secret.writes()).To(Equal(1), "progress alone triggers no early write")
	})
}

func TestWhatARunWaitsForIsReportedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		secret := newFake(map[string][]byte{})
		reporter := newReporter(secret, logr.Discard())
		defer reporter.close()
		reported := func() string {
			synctest.Wait()
			return exchange.DecodeProgress(secret.data()[exchange.ProgressKey]).Progress.Waiting
		}
		reporter.Progress(run.Progress{Waiting: run.StartingProgram})
		time.Sleep(reportWaitingAfter - time.Millisecond)
		reporter.Progress(run.Progress{})
		time.Sleep(reportInterval - reportWaitingAfter)
		synctest.Wait()
		g.Expect(secret.writes()).To(BeZero(), "a short wait triggers no write")
		time.Sleep(time.Second)
		synctest.Wait()
		g.Expect(secret.writes()).To(Equal(1))

		reporter.Progress(run.Progress{Waiting: run.Installing})
		time.Sleep(reportWaitingAfter)
		g.Expect(reported()).To(Equal(run.Installing))
		time.Sleep(time.Minute)
		synctest.Wait()
		g.Expect(secret.writes()).To(Equal(2), "the same is not written again")
	})
}

func TestWhatIsFoundIsReportedBeforeTheRunContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		secret := newFake(map[string][]byte{})
		reporter := newReporter(secret, logr.Discard())
		defer reporter.close()
		reported := func() run.Found { return exchange.DecodeProgress(secret.data()[exchange.ProgressKey]).Found }
		found := run.Found{Backend: "file:///state"}
		g.Expect(reporter.Found(t.Context(), found)).To(Succeed())
		g.Expect(reported()).To(Equal(found))

		found.Emptied = true
		failing := func(err error) {
			secret.mu.Lock()
			defer secret.mu.Unlock()
			secret.before = func(string) error { return err }
		}
		for _, err := range []error{errors.New("no answer"), apierrors.NewNotFound(corev1.Resource("secrets"), "a")} {
			failing(err)
			g.Expect(reporter.Found(t.Context(), found)).To(MatchError(ContainSubstring(err.Error())))
		}
		g.Expect(reported().Emptied).To(BeFalse())
		failing(nil)
		time.Sleep(reportInterval)
		synctest.Wait()
		g.Expect(reported()).To(Equal(found), "it is reported again")
	})
}

func TestACancelInTheSecretStopsTheRun(t *testing.T) {
	g := NewWithT(t)
	secret := newFake(map[string][]byte{})
	life, end := context.WithCancelCause(t.Context())
	abort, done := make(chan struct{}), make(chan struct{})
	go func() {
		watchCancel(t.Context(), secret, logr.Discard(), time.Millisecond, end, abort)
		close(done)
	}()
	write := func(text string) {
		g.Expect(patchSecret(t.Context(), secret, map[string]any{exchange.CancelKey: []byte(text)}, nil)).To(Succeed())
	}
	write("rubbish")
	g.Consistently(life.Done(), 50*time.Millisecond).ShouldNot(BeClosed())
	failures := 3
	secret.mu.Lock()
	secret.before = func(request string) error {
		if failures--; request == "get" && failures >= 0 {
			return errors.New("connection refused")
		}
		return nil
	}
	secret.mu.Unlock()
	write("Gently")
	g.Eventually(life.Done(), time.Minute).Should(BeClosed())
	g.Expect(context.Cause(life)).To(Equal(run.ErrCancelled))
	g.Consistently(abort, 50*time.Millisecond).ShouldNot(BeClosed(), "what is in flight is finished")
	write("Now")
	g.Eventually(abort, time.Minute).Should(BeClosed())
	g.Eventually(done, time.Minute).Should(BeClosed())
}

func TestWhichVariablesOfThePodReachTheProgram(t *testing.T) {
	g := NewWithT(t)
	g.Expect(passed(mapOf([]string{
		"NODE_OPTIONS=--x=y", "PATH=/bin", "HOME=/root", "KUBERNETES_SERVICE_HOST=10.0.0.1", "POD_NAME=x", "HOSTNAME=x", "HTTPS_PROXY=http://proxy",
		"PULUMI_BACKEND_URL=file:///x", "PULUMI_OPTION_TARGET=x", "PULUMI_HOME=/x", "KUBECONFIG=/x",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=/x", // of EKS Pod Identity
	}), run.ServiceAccount{})).To(Equal(map[string]string{
		"NODE_OPTIONS": "--x=y", "HTTPS_PROXY": "http://proxy", "KUBECONFIG": "/x",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/x",
	}))
	deployer := run.ServiceAccount{Namespace: "apps", Name: "deployer"}
	g.Expect(passed(map[string]string{"KUBECONFIG": "/x"}, deployer)).To(BeEmpty(), "the program is to use the account")
}

func TestNoVariableOfThePodReachesAPolicyPack(t *testing.T) {
	g := NewWithT(t)
	proxies := map[string]string{"HTTPS_PROXY": "http://proxy", "NO_PROXY": ".svc"}
	environ := mapOf([]string{"NODE_OPTIONS=--require=/share/x.js", "PYTHONPATH=/x", "https_proxy=http://own", "NPM_CONFIG_REGISTRY=http://own"})
	ofProgram, ofPacks := variables(environ, exchange.Input{Proxies: proxies})
	g.Expect(ofProgram).To(And(HaveKeyWithValue("NODE_OPTIONS", "--require=/share/x.js"), HaveKeyWithValue("https_proxy", "http://own")))
	g.Expect(ofPacks).To(Equal(proxies))
}

func TestPluginsOfThePodAreLinked(t *testing.T) {
	g := NewWithT(t)
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	g.Expect(os.MkdirAll(filepath.Join(from, "resource-aws-v7.0.0"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(from, "resource-aws-v7.0.0", "pulumi-resource-aws"), []byte("x"), 0o755)).To(Succeed())
	o := Options{PluginsDir: from}
	for range 2 {
		g.Expect(o.linkPlugins(to)).To(Succeed())
	}
	info, err := os.Lstat(filepath.Join(to, "resource-aws-v7.0.0"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.IsDir()).To(BeTrue(), "Pulumi ignores a plugin directory that is a link")
	g.Expect(os.ReadFile(filepath.Join(to, "resource-aws-v7.0.0", "pulumi-resource-aws"))).To(Equal([]byte("x")))
	g.Expect(Options{PluginsDir: filepath.Join(from, "none")}.linkPlugins(to)).To(Succeed())
}

// As an image has them that was built with plugins in /pulumi-plugins: see docs/image.md.
func TestPulumiFindsThePluginsOfTheImage(t *testing.T) {
	g := NewWithT(t)
	cli, err := process.FindBin("pulumi")
	g.Expect(err).NotTo(HaveOccurred())
	image, home := t.TempDir(), t.TempDir()
	for _, plugin := range []string{"resource-aws-v7.0.0/pulumi-resource-aws", "analyzer-policies-v0.1.0/pulumi-analyzer-policies"} {
		path := filepath.Join(image, plugin)
		g.Expect(os.Mkdir(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	}
	g.Expect(Options{PluginsDir: image}.linkPlugins(filepath.Join(home, "plugins"))).To(Succeed())
	list := exec.CommandContext(t.Context(), cli, "plugin", "ls", "--json")
	list.Env = []string{"PULUMI_HOME=" + home, "HOME=" + home, "PULUMI_SKIP_UPDATE_CHECK=true"}
	text, err := list.Output()
	g.Expect(err).NotTo(HaveOccurred())
	var found []struct{ Name, Kind, Version string }
	g.Expect(json.Unmarshal(text, &found)).To(Succeed())
	g.Expect(found).To(ConsistOf(
		And(HaveField("Name", "aws"), HaveField("Kind", "resource"), HaveField("Version", "7.0.0")),
		And(HaveField("Name", "policies"), HaveField("Kind", "analyzer"), HaveField("Version", "0.1.0")),
	))
}

func TestPluginsThatMayNotBeReadAreSkipped(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	g := NewWithT(t)
	from, to := t.TempDir(), t.TempDir()
	g.Expect(os.Mkdir(filepath.Join(from, "lost+found"), 0)).To(Succeed())
	g.Expect(os.Mkdir(filepath.Join(from, "resource-a-v1.0.0"), 0o755)).To(Succeed())
	g.Expect(Options{PluginsDir: from, Log: logr.Discard()}.linkPlugins(to)).To(Succeed())
	g.Expect(os.ReadDir(to)).To(HaveExactElements(HaveField("Name()", "resource-a-v1.0.0")))
}

func TestARunWhosePodHasOtherCredentialsForItsCloudFails(t *testing.T) {
	for name, wants := range map[string]string{
		"AWS_ACCESS_KEY_ID": "the container of the run has the variable AWS_ACCESS_KEY_ID, from envFrom or its image, beside the annotation " +
			"eks.amazonaws.com/role-arn of service account 'apps/deployer', which gives the program another identity: remove one of the two",
		"AWS_WEB_IDENTITY_TOKEN_FILE":        "", // of the webhook of EKS
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"ARM_CLIENT_SECRET":                  "", // of a cloud in which it has no identity
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			secret := newFake(nil)
			bin := t.TempDir()
			g.Expect(os.WriteFile(filepath.Join(bin, "pulumi"), []byte("#!/bin/sh\nexit 1\n"), 0o700)).To(Succeed())
			o := Options{Secret: secret, WorkDir: t.TempDir(), Log: logr.Discard(), Accounts: &kubeconfig.Mounted{}, Environ: []string{name + "=x", "PATH=" + bin}}
			todo := run.Run{
				ID: filepath.Base(t.TempDir()) + name, Operation: run.Update, Stack: "dev", Namespace: "apps", Timeout: time.Minute,
				Account:  run.ServiceAccount{Namespace: "apps", Name: "deployer"},
				Identity: identity.Identity{AWS: &identity.AWS{Role: "arn:aws:iam::111122223333:role/deploy"}},
			}
			result := o.do(t.Context(), exchange.Input{Run: todo}, nil)
			if wants == "" {
				g.Expect(result.Message).NotTo(ContainSubstring("the container of the run has the variable"))
				return
			}
			g.Expect(result.Outcome).To(Equal(run.AccountFailed))
			g.Expect(result.Message).To(Equal(wants))
		})
	}
}
