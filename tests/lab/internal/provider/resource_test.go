// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/blang/semver"
	. "github.com/onsi/gomega"
	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/integration"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

const urn = resource.URN("urn:pulumi:dev::lab::lab:index:Thing::a")

// start runs the provider with an empty cloud.
func start(t *testing.T) (integration.Server, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cloud")
	server, err := newServer(t.Context(), dir)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return server, dir
}

// newServer returns the provider behind all of pulumi-go-provider.
func newServer(ctx context.Context, dir string) (integration.Server, error) {
	lab, err := New()
	if err != nil {
		return nil, err
	}
	server, err := integration.NewServer(ctx, Name, semver.MustParse(Version), integration.WithProvider(lab))
	if err != nil {
		return nil, err
	}
	return server, server.Configure(p.ConfigureRequest{Args: text("directory", dir)})
}

// text returns properties from alternating keys and texts.
func text(pairs ...string) property.Map {
	values := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = property.New(pairs[i+1])
	}
	return property.NewMap(values)
}

func nested(name string, pairs ...string) property.Map {
	return text("name", "a", "value", "one").Set(name, property.New(text(pairs...)))
}

func journal(t *testing.T, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(content)
}

func TestAPreviewLeavesNoTrace(t *testing.T) {
	g := NewWithT(t)
	server, dir := start(t)

	_, err := server.Create(p.CreateRequest{Urn: urn, Properties: nested("failures", "create", "no"), DryRun: true})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = server.Update(p.UpdateRequest{
		ID: "a-1", Urn: urn, State: text("name", "a"), Inputs: text("name", "a", "value", "two"), DryRun: true})
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(dir).NotTo(BeAnExistingFile())
}

func TestADirectoryThatIsNotAbsoluteIsRefused(t *testing.T) {
	g := NewWithT(t)
	server, _ := start(t)
	g.Expect(server.Configure(p.ConfigureRequest{Args: text("directory", "cloud")})).
		To(MatchError(ContainSubstring("absolute path")))
}

func TestAFailingOperationChangesNothing(t *testing.T) {
	g := NewWithT(t)
	server, dir := start(t)
	made, err := server.Create(p.CreateRequest{Urn: urn, Properties: text("name", "a", "value", "one")})
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(dir, "things", made.ID+".json")
	before, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	failing := nested("failures", "create", "no create", "read", "no read", "update", "no update", "delete", "no delete").
		Set("value", property.New("two"))

	_, err = server.Create(p.CreateRequest{Urn: urn, Properties: failing})
	g.Expect(err).To(MatchError("no create"))
	_, err = server.Read(p.ReadRequest{ID: made.ID, Urn: urn, Properties: failing, Inputs: failing})
	g.Expect(err).To(MatchError("no read"))
	_, err = server.Update(p.UpdateRequest{ID: made.ID, Urn: urn, State: made.Properties, Inputs: failing})
	g.Expect(err).To(MatchError("no update"))
	g.Expect(server.Delete(p.DeleteRequest{ID: made.ID, Urn: urn, Properties: failing})).To(MatchError("no delete"))

	g.Expect(os.ReadFile(file)).To(Equal(before))
	g.Expect(os.ReadDir(filepath.Join(dir, "things"))).To(HaveLen(1))
	g.Expect(strings.Count(journal(t, dir), `"phase":"failed"`)).To(Equal(4))
}

func TestAPartialCreateMakesTheThingAndFails(t *testing.T) {
	g := NewWithT(t)
	server, dir := start(t)

	made, err := server.Create(p.CreateRequest{Urn: urn, Properties: nested("failures", "partialCreate", "half made")})

	g.Expect(err).To(HaveOccurred())
	g.Expect(made.PartialState).To(Equal(&p.InitializationFailed{Reasons: []string{"half made"}}))
	g.Expect(filepath.Join(dir, "things", made.ID+".json")).To(BeARegularFile())
	g.Expect(journal(t, dir)).To(MatchRegexp(`"phase":"done".*"error":"half made"`))
}

func TestOnlyTheErrorForTheEngineEchoesTheSecret(t *testing.T) {
	for name, test := range map[string]struct {
		failure  string
		wantEcho bool
	}{
		"a create that fails echoes when asked to":         {failure: "create", wantEcho: true},
		"a partial create echoes when asked to":            {failure: "partialCreate", wantEcho: true},
		"a create that fails does not echo without asking": {failure: "create"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server, dir := start(t)
			inputs := nested("failures", test.failure, "no").
				Set("secretValue", property.New("canary").WithSecret(true)).
				Set("echoInput", property.New(test.wantEcho))

			made, err := server.Create(p.CreateRequest{Urn: urn, Properties: inputs})

			g.Expect(err).To(HaveOccurred())
			message := err.Error()
			if made.PartialState != nil {
				message = strings.Join(made.PartialState.Reasons, "")
			}
			g.Expect(strings.Contains(message, "canary")).To(Equal(test.wantEcho), message)
			g.Expect(journal(t, dir)).NotTo(ContainSubstring("canary"))
		})
	}
}

func TestReadReportsDrift(t *testing.T) {
	g := NewWithT(t)
	server, dir := start(t)
	inputs := text("name", "a", "value", "one").Set("secretValue", property.New("canary").WithSecret(true))
	made, err := server.Create(p.CreateRequest{Urn: urn, Properties: inputs})
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(dir, "things", made.ID+".json")

	g.Expect(os.WriteFile(file, []byte(`{"name":"a","tags":{"by":"hand"}}`), 0o600)).To(Succeed())
	read, err := server.Read(p.ReadRequest{ID: made.ID, Urn: urn, Properties: made.Properties, Inputs: inputs})
	g.Expect(err).NotTo(HaveOccurred())
	want := text("name", "a").Set("tags", property.New(text("by", "hand"))).Set("secretValue", inputs.Get("secretValue"))
	g.Expect(read.ID).To(Equal(made.ID))
	g.Expect(read.Inputs).To(Equal(want))
	g.Expect(read.Properties).To(Equal(want))

	g.Expect(os.Remove(file)).To(Succeed())
	read, err = server.Read(p.ReadRequest{ID: made.ID, Urn: urn, Properties: made.Properties, Inputs: inputs})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.ID).To(BeEmpty(), "a thing that is gone")
	g.Expect(server.Delete(p.DeleteRequest{ID: made.ID, Urn: urn, Properties: made.Properties})).To(Succeed())
}

func TestAHeldOperationContinuesWhenItIsReleased(t *testing.T) {
	g := NewWithT(t)
	server, dir := start(t)
	ends := make(chan error, 1)
	go func() {
		_, err := server.Create(p.CreateRequest{Urn: urn, Properties: text("name", "a", "hold", "create")})
		ends <- err
	}()
	g.Eventually(func() string { content, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl")); return string(content) }, "1m").
		Should(ContainSubstring(`"phase":"begin"`))
	stopping := filepath.Join(dir, "told-to-stop")
	g.Expect(stopping).NotTo(BeAnExistingFile())
	g.Expect(server.Cancel()).To(Succeed())
	g.Eventually(stopping, "1m").Should(BeARegularFile())
	g.Consistently(ends, "300ms").ShouldNot(Receive(), "as a delay, it is not ended by the engine")
	g.Expect(filepath.Glob(filepath.Join(dir, "things", "*"))).To(BeEmpty())

	g.Expect(os.WriteFile(filepath.Join(dir, "released"), nil, 0o600)).To(Succeed())
	g.Eventually(ends, "1m").Should(Receive(BeNil()))
	g.Expect(filepath.Glob(filepath.Join(dir, "things", "*"))).To(HaveLen(1))
}

func TestCancelEndsAHangButNotADelay(t *testing.T) {
	g := NewWithT(t)
	server, dir := start(t)
	ends := make(chan error, 2)
	run := func(inputs property.Map) {
		_, err := server.Create(p.CreateRequest{Urn: urn, Properties: inputs})
		ends <- err
	}
	started := time.Now()
	go run(nested("delays", "create", "1500ms"))
	go run(text("name", "b", "hang", "create"))
	g.Eventually(func() string { content, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl")); return string(content) }, "1m").
		Should(And(ContainSubstring(`"name":"a"`), ContainSubstring(`"name":"b"`)))

	g.Expect(server.Cancel()).To(Succeed())

	g.Eventually(ends, "1m").Should(Receive(MatchError(ContainSubstring("was hanging"))))
	g.Eventually(ends, "1m").Should(Receive(BeNil()), "what was started is finished")
	g.Expect(time.Since(started)).To(BeNumerically(">=", 1500*time.Millisecond))
	things, err := filepath.Glob(filepath.Join(dir, "things", "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(things).To(ConsistOf(ContainSubstring("things/a-")))
	g.Expect(journal(t, dir)).To(MatchRegexp(`"phase":"cancelled","id":"b-`))
}
