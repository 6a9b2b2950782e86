// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"testing"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// FuzzHolder: no holder in a status proves that this process is dead, and a text that is
// no holder proves nothing.
func FuzzHolder(f *testing.F) {
	here, err := This("")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(here.Host, here.Instance)
	f.Add("other", here.Instance)
	f.Add(here.Host, "boot/1/2/3/4")
	f.Add(here.Host, "a/b/c")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, host, text string) {
		parsed, err := parseInstance(text)
		gone, proven := Prover{Here: here}.goneHere(v1.RunHolder{Host: host, Instance: text})
		if err != nil {
			if gone || proven {
				t.Errorf("%q, which is no instance, proves something", text)
			}
			return
		}
		if again, err := parseInstance(parsed.String()); err != nil || again != parsed {
			t.Errorf("%q became %q (%v)", parsed, again, err)
		}
		this, err := parseInstance(here.Instance)
		if err != nil {
			t.Fatal(err)
		}
		if gone && (parsed == this || host != here.Host) {
			t.Errorf("%s on %q is gone", text, host)
		}
	})
}
