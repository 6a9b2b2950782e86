// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"
)

// The texts are those of Pulumi 3.259.
func TestOutagesAreDistinguishedFromErrors(t *testing.T) {
	const (
		s3    = `read ".pulumi/meta.yaml": blob (key ".pulumi/meta.yaml") (code=Unknown): operation error S3: GetObject, `
		cloud = `performing HTTP request: Get "https://api.example.com/api/user": `
	)
	for name, test := range map[string]struct {
		message string
		want    bool
	}{
		"an object store with nothing at its port": {
			s3 + `exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , HostID: , request send failed, ` +
				`Get "http://127.0.0.1:1/b": dial tcp 127.0.0.1:1: connect: connection refused`, true},
		"an object store whose name is not known": {
			s3 + `request send failed, Get "http://x/": dial tcp: lookup x on 10.0.0.1:53: no such host`, true},
		"an object store that is busy": {
			s3 + `https response error StatusCode: 503, RequestID: , HostID: , api error ServiceUnavailable: Service Unavailable`, true},
		"an object store that refuses the credentials": {
			s3 + `https response error StatusCode: 403, RequestID: , HostID: , api error AccessDenied: Access Denied`, false},
		"a bucket that does not exist": {
			s3 + `https response error StatusCode: 404, RequestID: , HostID: , api error NoSuchBucket: The bucket 503 does not exist`, false},
		"a Pulumi Cloud with nothing at its port": {cloud + `dial tcp 127.0.0.1:1: connect: connection refused`, true},
		"a Pulumi Cloud that speaks no TLS":       {cloud + `tls: first record does not look like a TLS handshake`, true},
		"a certificate that is not trusted":       {cloud + `x509: certificate signed by unknown authority`, true},
		"a connection that is closed":             {cloud + `EOF`, true},
		"a Pulumi Cloud that is busy":             {`[503] <html>busy</html>`, true},
		"a Pulumi Cloud that limits the rate":     {`[429] Too Many Requests`, true},
		"a Pulumi Cloud that refuses the token":   {`[401] Unauthorized: invalid access token`, false},
		"what nobody will ever serve":             {`[501] Not Implemented`, false},
		"a directory that is not there":           {`unable to open state directory "file:///nowhere": stat /nowhere: no such file or directory`, false},
		"a directory that cannot be written":      {`write ".pulumi/meta.yaml": blob (key ".pulumi/meta.yaml") (code=Unknown): mkdir /sys/.pulumi: operation not permitted`, false},
		"a number in a text":                      {`bad value [503] in the config`, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(isAway(test.message)).To(Equal(test.want))
		})
	}
}

func TestAnUnreachableRegistryIsDistinguishedFromAMissingPlugin(t *testing.T) {
	g := NewWithT(t)
	g.Expect(isRegistryAway(`internal error loading package "random": rpc error: code = Unknown desc = could not find latest version ` +
		`for provider random: Get "https://api.github.com/": dial tcp: lookup api.github.com: no such host`)).To(BeTrue())
	g.Expect(isRegistryAway("error downloading provider random to file: failed to download plugin: random-4.0.0: failed all 5 attempts")).To(BeTrue())
	g.Expect(isRegistryAway("error downloading provider random to file: failed to download plugin: random-4.0.0: 404 HTTP error")).To(BeFalse())
	g.Expect(isRegistryAway("no resource plugin 'pulumi-resource-random' found in the workspace")).To(BeFalse())
	g.Expect(isRegistryAway("dial tcp: lookup api.example.com: no such host")).To(BeFalse(), "the program's own")
}
