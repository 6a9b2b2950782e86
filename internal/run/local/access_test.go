// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/inplace"
)

// accounts records what it is asked for.
type accounts struct {
	err    error
	dir    string
	opened []run.ServiceAccount
	tokens []identity.Token
	closed int
}

func (a *accounts) Open(ctx context.Context, dir string, account run.ServiceAccount, _ func(string)) (*run.ClusterAccess, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.opened, a.dir = append(a.opened, account), dir
	return &run.ClusterAccess{
		Tokens: func() []string { return []string{"a-token"} },
		Close:  func() { a.closed++ },
	}, ctx.Err()
}

func (a *accounts) OpenTokens(ctx context.Context, dir string, account run.ServiceAccount, tokens []identity.Token, _ func(string)) (*run.CloudAccess, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.opened, a.dir, a.tokens = append(a.opened, account), dir, tokens
	return &run.CloudAccess{Dir: dir, Tokens: func() []string { return []string{"a-cloud-token"} }, Close: func() { a.closed++ }}, ctx.Err()
}

// lookout is a driver that records its run, and what was closed by then.
type lookout struct {
	*accounts
	given  run.Run
	closed int
	result run.Result
}

func (l *lookout) Do(_ context.Context, _ pulumi.Directory, r run.Run, _ func(string)) run.Result {
	l.given, l.closed = r, l.accounts.closed
	l.result.Outcome = cmp.Or(l.result.Outcome, run.Succeeded)
	return l.result
}

func (f *fixture) do(r run.Run) run.Result {
	f.Expect(f.runner.Reserve(r.Namespace, r.Name)).To(BeTrue())
	f.Expect(f.runner.Start(r)).To(Succeed())
	f.Eventually(f.ended).Should(Receive())
	_, result := f.runner.Look(run.Ref{ID: r.ID})
	return *result
}

func TestAProgramHasTheKubeconfigOfItsAccount(t *testing.T) {
	own := map[string]string{"KUBECONFIG": "/mine"}
	for name, test := range map[string]struct {
		account run.ServiceAccount
		env     map[string]string
	}{
		"none":                           {},
		"none, and one of its own":       {env: own},
		"an account":                     {account: run.ServiceAccount{Namespace: "ns", Name: "deployer"}},
		"an account, beside its own one": {account: run.ServiceAccount{Namespace: "ns", Name: "deployer"}, env: own},
	} {
		t.Run(name, func(t *testing.T) {
			known := &accounts{}
			driver := &lookout{accounts: known}
			f := newFixture(t, func(o *Options) { o.Accounts, o.Driver = known, driver })
			r := aRun("1", "a")
			r.Account, r.Env = test.account, test.env
			f.Expect(f.do(r).Outcome).To(Equal(run.Succeeded))
			f.Expect(driver.given.Env).To(Equal(test.env), "no variable leads to the kubeconfig, which is where clients look")
			if test.account.Name == "" {
				f.Expect(known.opened).To(BeEmpty())
				return
			}
			f.Expect(known.opened).To(Equal([]run.ServiceAccount{test.account}))
			f.Expect(known.dir).To(Equal(filepath.Join(f.dir, "1", "home", ".kube")))
			f.Expect(driver.given.LateMasks()).To(Equal([]string{"a-token"}))
			f.Expect(driver.closed).To(BeZero(), "while the program runs")
			f.Expect(known.closed).To(Equal(1), "and no longer")
		})
	}
}

func TestReadingOutputsNeedsNoAccount(t *testing.T) {
	known := &accounts{}
	f := newFixture(t, func(o *Options) { o.Accounts, o.Driver = known, &lookout{accounts: known} })
	r := aRun("1", "a")
	r.Account, r.Operation = run.ServiceAccount{Namespace: "ns", Name: "deployer"}, run.ReadOutputs
	f.Expect(f.do(r).Outcome).To(Equal(run.Succeeded))
	f.Expect(known.opened).To(BeEmpty(), "no program is run")
}

func TestAnAccountThatCannotBeUsedHasAnOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		accounts inplace.Accounts
		timeout  time.Duration
		want     run.Outcome
		message  string
	}{
		"no such account":           {&accounts{err: errors.New("service account 'ns/gone' not found")}, 0, run.AccountFailed, "service account 'ns/gone' not found"},
		"a disk that is full":       {&accounts{err: &fs.PathError{Op: "write", Path: "token", Err: errors.New("no space left")}}, 0, run.WorkspaceFailed, "no space left"},
		"longer than the run takes": {&accounts{err: context.DeadlineExceeded}, time.Nanosecond, run.TimedOut, "deadline exceeded"},
		"no cluster":                {nil, 0, run.AccountFailed, "service account 'ns/gone' cannot be used here"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.Accounts = test.accounts })
			r := aRun("1", "a")
			r.Account = run.ServiceAccount{Namespace: "ns", Name: "gone"}
			if test.timeout > 0 {
				r.Timeout = test.timeout
			}
			result := f.do(r)
			f.Expect(result.Outcome).To(Equal(test.want), result.Message)
			f.Expect(result.Message).To(ContainSubstring(test.message))
			f.Expect(f.driver.starts()).To(BeEmpty())
		})
	}
}

func TestEveryKindOfRunHasTheIdentityOfItsAccount(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/deploy"
	for _, operation := range []run.Operation{run.Update, run.Preview, run.Destroy, run.Recover, run.ReadOutputs} {
		t.Run(string(operation), func(t *testing.T) {
			known := &accounts{}
			driver := &lookout{accounts: known}
			f := newFixture(t, func(o *Options) { o.Accounts, o.Identities, o.Driver = known, known, driver })
			r := aRun("1", "a")
			r.Operation, r.Account, r.Env = operation, run.ServiceAccount{Namespace: "ns", Name: "deployer"}, map[string]string{"OWN": "x"}
			r.Identity = identity.Identity{AWS: &identity.AWS{Role: role}}
			f.Expect(f.do(r).Outcome).To(Equal(run.Succeeded))
			dir := filepath.Join(f.dir, "1", "identity")
			f.Expect(known.tokens).To(Equal([]identity.Token{{File: "aws-token", Audience: "sts.amazonaws.com"}}))
			f.Expect(driver.given.Env).To(Equal(map[string]string{
				"OWN": "x", "AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": filepath.Join(dir, "aws-token"), "AWS_ROLE_SESSION_NAME": "ns.a",
			}))
			f.Expect(driver.given.LateMasks()).To(ContainElement("a-cloud-token"))
			f.Expect(driver.closed).To(BeZero(), "while the program runs")
			f.Expect(known.closed).To(Equal(len(known.opened)), "and no longer")
			f.Expect(dir).NotTo(BeADirectory(), "nothing of it is kept")
		})
	}
}

func TestARefusalNamesTheIdentityThatWasRefused(t *testing.T) {
	known := &accounts{}
	driver := &lookout{accounts: known, result: run.Result{Outcome: run.Failed, Message: "api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"}}
	f := newFixture(t, func(o *Options) { o.Accounts, o.Identities, o.Driver = known, known, driver })
	r := aRun("1", "a")
	r.Account = run.ServiceAccount{Namespace: "ns", Name: "deployer"}
	r.Identity = identity.Identity{AWS: &identity.AWS{Role: "arn:aws:iam::1:role/x"}}
	f.Expect(f.do(r).Message).To(Equal("api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity. " +
		"The program is role arn:aws:iam::1:role/x of AWS, audience sts.amazonaws.com, subject system:serviceaccount:ns:deployer: " +
		"check what this identity trusts, and what it may do"))
}

func TestAnIdentityThatCannotBeHadHasAnOutcome(t *testing.T) {
	known := &accounts{err: errors.New("not allowed")}
	f := newFixture(t, func(o *Options) { o.Identities = known })
	r := aRun("1", "a")
	r.Operation, r.Account = run.ReadOutputs, run.ServiceAccount{Namespace: "ns", Name: "deployer"}
	r.Identity = identity.Identity{AWS: &identity.AWS{Role: "arn:aws:iam::1:role/x"}}
	result := f.do(r)
	f.Expect(result.Outcome).To(Equal(run.AccountFailed))
	f.Expect(result.Message).To(Equal("not allowed"))
	f.Expect(f.driver.starts()).To(BeEmpty())
}
