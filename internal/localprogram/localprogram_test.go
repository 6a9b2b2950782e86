// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package localprogram

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestReferences(t *testing.T) {
	g := NewWithT(t)
	ref := NewReference("network-preview-x", []byte("data"))
	parsed, err := ParseReference(ref.String())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parsed).To(Equal(ref))
	g.Expect(ref.Revision()).To(Equal("local@" + ref.Digest))
	for _, value := range []string{"", "name", "@" + ref.Digest, "name@", "name@sha256:", "name@md5:00", "name@" + ref.Digest + "0", strings.Repeat("é", 4000)} {
		_, err := ParseReference(value)
		g.Expect(err).To(MatchError(ContainSubstring("is not <name of a ConfigMap>@sha256:<checksum>")), value)
		g.Expect(len(err.Error())).To(BeNumerically("<", 600))
	}
}

func TestOnlyWhatWasAskedForIsRead(t *testing.T) {
	big := make([]byte, MaxSize+1)
	for name, test := range map[string]struct {
		ref   Reference
		data  map[string][]byte
		wrong string
	}{
		"as asked":   {NewReference("a", []byte("data")), map[string][]byte{ArchiveKey: []byte("data")}, ""},
		"missing":    {NewReference("a", []byte("data")), map[string][]byte{ProgramKey: []byte("data")}, "it has no key program.tar.gz"},
		"changed":    {NewReference("a", []byte("data")), map[string][]byte{ArchiveKey: []byte("evil")}, "it was changed after the request"},
		"too large":  {NewReference("a", big), map[string][]byte{ArchiveKey: big}, "program.tar.gz has 786433 bytes, the limit is 786432"},
		"just right": {NewReference("a", big[1:]), map[string][]byte{ArchiveKey: big[1:]}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			read, err := test.ref.Read(nil, test.data, ArchiveKey)
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read).To(Equal(test.data[ArchiveKey]))
		})
	}
}

func TestATextIsReadWhereverTheConfigMapHasIt(t *testing.T) {
	g := NewWithT(t)
	ref := NewReference("a", []byte("{}"))
	read, err := ref.Read(map[string]string{ProgramKey: "{}"}, nil, ProgramKey)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(read)).To(Equal("{}"))
	_, err = ref.Read(map[string]string{ProgramKey: "[]"}, nil, ProgramKey)
	g.Expect(err).To(MatchError(ContainSubstring("it was changed after the request")))
}
