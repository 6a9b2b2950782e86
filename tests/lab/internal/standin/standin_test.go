// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blang/semver"
	. "github.com/onsi/gomega"
	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/integration"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

func TestTheSchemasAreSound(t *testing.T) {
	for _, pkg := range Packages() {
		t.Run(pkg.Name, func(t *testing.T) {
			g := NewWithT(t)
			text, err := schemaOf(pkg)
			g.Expect(err).NotTo(HaveOccurred())
			var spec schema.PackageSpec
			g.Expect(json.Unmarshal([]byte(text), &spec)).To(Succeed())
			bound, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{AllowDanglingReferences: false})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(diagnostics.HasErrors()).To(BeFalse(), "%v", diagnostics)
			g.Expect(bound.Resources).NotTo(BeEmpty())
			g.Expect(bound.DisplayName).To(ContainSubstring("stand-in"))
		})
	}
}

func TestOnlySomePackagesAreStoodInFor(t *testing.T) {
	g := NewWithT(t)
	_, err := Find("azure")
	g.Expect(err).To(MatchError(`there is no stand-in for "azure", only for aws, command, gcp, kubernetes, pulumi-nodejs, random`))
}

// running is a stand-in behind all of pulumi-go-provider.
type running struct {
	*WithT
	integration.Server
	urn resource.URN
	dir string
}

func start(t *testing.T, token, name string, config property.Map) *running {
	t.Helper()
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "cloud")
	t.Setenv(CloudVariable, dir)
	pkg, err := Find(strings.Split(token, ":")[0])
	g.Expect(err).NotTo(HaveOccurred())
	built, err := New(pkg)
	g.Expect(err).NotTo(HaveOccurred())
	server, err := integration.NewServer(t.Context(), pkg.Name, semver.MustParse(pkg.Version), integration.WithProvider(built))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(server.Configure(p.ConfigureRequest{Args: config})).To(Succeed())
	return &running{WithT: g, Server: server, dir: dir, urn: resource.URN("urn:pulumi:dev::app::" + token + "::" + name)}
}

// texts returns properties from alternating keys and texts.
func texts(pairs ...string) property.Map {
	values := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = property.New(pairs[i+1])
	}
	return property.NewMap(values)
}

func (r *running) files() []string {
	files, err := filepath.Glob(filepath.Join(r.dir, "things", "*"))
	r.Expect(err).NotTo(HaveOccurred())
	return files
}

func TestTheLifeOfABucket(t *testing.T) {
	r := start(t, "aws:s3/bucket:Bucket", "site", texts("region", "eu-west-1"))
	inputs := texts("acl", "private").Set("website", property.New(texts("indexDocument", "a.html")))

	checked, err := r.Check(p.CheckRequest{Urn: r.urn, Inputs: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(checked.Failures).To(BeEmpty())

	previewed, err := r.Create(p.CreateRequest{Urn: r.urn, Properties: inputs, DryRun: true})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(previewed.Properties.Get("websiteEndpoint").IsComputed()).To(BeTrue())
	r.Expect(r.dir).NotTo(BeADirectory(), "a preview leaves no trace")

	created, err := r.Create(p.CreateRequest{Urn: r.urn, Properties: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(created.ID).To(HavePrefix("site-"))
	r.Expect(created.Properties.Get("bucket").AsString()).To(Equal(created.ID))
	r.Expect(created.Properties.Get("websiteEndpoint").AsString()).To(Equal(created.ID + ".s3-website-eu-west-1.amazonaws.com"))
	r.Expect(r.files()).To(HaveLen(1))
	text, err := os.ReadFile(r.files()[0])
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(text).To(MatchJSON(`{"name":"site","tags":{"type":"aws:s3/bucket:Bucket"},` +
		`"value":"{\"acl\":\"private\",\"website\":{\"indexDocument\":\"a.html\"}}"}`))

	r.Expect(os.WriteFile(r.files()[0], []byte(`{"name":"site","value":"{\"acl\":\"public-read\"}"}`), 0o600)).To(Succeed())
	read, err := r.Read(p.ReadRequest{ID: created.ID, Urn: r.urn, Properties: created.Properties, Inputs: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(read.Inputs).To(Equal(texts("acl", "public-read")), "drift is seen")

	changes, err := r.Diff(p.DiffRequest{ID: created.ID, Urn: r.urn, State: read.Properties, OldInputs: read.Inputs, Inputs: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(changes.DetailedDiff).To(HaveLen(2))
	r.Expect(changes.DetailedDiff["acl"].Kind).To(Equal(p.Update))
	updated, err := r.Update(p.UpdateRequest{ID: created.ID, Urn: r.urn, State: read.Properties, OldInputs: read.Inputs, Inputs: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(updated.Properties).To(Equal(created.Properties))

	r.Expect(r.Delete(p.DeleteRequest{ID: created.ID, Urn: r.urn, Properties: created.Properties, OldInputs: inputs})).To(Succeed())
	r.Expect(r.files()).To(BeEmpty())
	read, err = r.Read(p.ReadRequest{ID: created.ID, Urn: r.urn, Properties: created.Properties, Inputs: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(read.ID).To(BeEmpty(), "it is gone")
}

func TestCheck(t *testing.T) {
	r := start(t, "aws:s3/bucketObject:BucketObject", "index.html", property.Map{})
	checked, err := r.Check(p.CheckRequest{Urn: r.urn, Inputs: texts("colour", "red")})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(checked.Failures).To(ConsistOf(
		p.CheckFailure{Property: "bucket", Reason: "it is required"},
		p.CheckFailure{Property: "colour", Reason: `there is no property "colour"`}))
}

func TestWhatReplaces(t *testing.T) {
	r := start(t, "aws:ec2/instance:Instance", "server", property.Map{})
	changes, err := r.Diff(p.DiffRequest{ID: "i-1", Urn: r.urn,
		OldInputs: texts("ami", "a", "instanceType", "small", "userData", "x"), Inputs: texts("ami", "b", "instanceType", "small")})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(changes.DetailedDiff).To(HaveLen(2))
	r.Expect(changes.DetailedDiff["ami"].Kind).To(Equal(p.UpdateReplace))
	r.Expect(changes.DetailedDiff["userData"].Kind).To(Equal(p.Delete))
}

func TestASecretIsNotInTheCloud(t *testing.T) {
	t.Setenv("GOOGLE_CREDENTIALS", "{}")
	r := start(t, "gcp:sql/user:User", "user", texts("project", "p"))
	checked, err := r.Check(p.CheckRequest{Urn: r.urn, Inputs: texts("instance", "db", "password", "hunter2")})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(checked.Inputs.Get("password").Secret()).To(BeTrue())
	created, err := r.Create(p.CreateRequest{Urn: r.urn, Properties: checked.Inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(created.Properties.Get("password").Secret()).To(BeTrue())
	text, err := os.ReadFile(r.files()[0])
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(string(text)).NotTo(ContainSubstring("hunter2"))
	read, err := r.Read(p.ReadRequest{ID: created.ID, Urn: r.urn, Properties: created.Properties, Inputs: checked.Inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(read.Inputs).To(Equal(checked.Inputs))
}

func TestAPasswordIsMadeOnce(t *testing.T) {
	r := start(t, "random:index/randomPassword:RandomPassword", "password", property.Map{})
	inputs := property.NewMap(map[string]property.Value{"length": property.New(16.0)})
	created, err := r.Create(p.CreateRequest{Urn: r.urn, Properties: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(created.Properties.Get("result").Secret()).To(BeTrue())
	r.Expect(created.Properties.Get("result").AsString()).To(HaveLen(16))
	read, err := r.Read(p.ReadRequest{ID: created.ID, Urn: r.urn, Properties: created.Properties, Inputs: inputs})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(read.Properties).To(Equal(created.Properties))
}

func TestTheIDOfAPetIsItsName(t *testing.T) {
	r := start(t, "random:index/randomPet:RandomPet", "pet", property.Map{})
	created, err := r.Create(p.CreateRequest{Urn: r.urn, Properties: property.NewMap(map[string]property.Value{"length": property.New(2.0)})})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(created.ID).To(MatchRegexp("^[a-z]+-[a-z]+-"))
}

func TestGCPNeedsAProjectCredentialsAndACloud(t *testing.T) {
	for name, test := range map[string]struct {
		config           property.Map
		credentials, dir string
		want             string
	}{
		"a project":          {credentials: "{}", dir: "/cloud", want: "no project is given"},
		"credentials":        {config: texts("project", "p"), dir: "/cloud", want: "no credentials are given"},
		"where the cloud is": {config: texts("project", "p"), credentials: "{}", want: CloudVariable + " is not set"},
		"an absolute path":   {config: texts("project", "p"), credentials: "{}", dir: "cloud", want: "must be an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOOGLE_CREDENTIALS", test.credentials)
			t.Setenv(CloudVariable, test.dir)
			_, err := gcp().Open(test.config)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestWhatIsProtectedStays(t *testing.T) {
	t.Setenv("GOOGLE_CREDENTIALS", "{}")
	r := start(t, "gcp:container/cluster:Cluster", "cluster", texts("project", "p"))
	for name, inputs := range map[string]property.Map{
		"by default":   {},
		"if said":      property.NewMap(map[string]property.Value{"deletionProtection": property.New(true)}),
		"not if given": property.NewMap(map[string]property.Value{"deletionProtection": property.New(false)}),
	} {
		created, err := r.Create(p.CreateRequest{Urn: r.urn, Properties: inputs})
		r.Expect(err).NotTo(HaveOccurred(), name)
		err = r.Delete(p.DeleteRequest{ID: created.ID, Urn: r.urn, Properties: created.Properties, OldInputs: inputs})
		if name == "not if given" {
			r.Expect(err).NotTo(HaveOccurred())
			continue
		}
		r.Expect(err).To(MatchError(ContainSubstring("deletionProtection")), name)
	}
	r.Expect(r.files()).To(HaveLen(2))
}

func TestGetAmi(t *testing.T) {
	r := start(t, "aws:s3/bucket:Bucket", "b", property.Map{})
	answer, err := r.Invoke(p.InvokeRequest{Token: "aws:ec2/getAmi:getAmi"})
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(answer.Return.Get("id").AsString()).To(HavePrefix("ami-"))
}
