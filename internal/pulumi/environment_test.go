// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// TestAUserWithoutAnEntryHasAName checks the variable from which Pulumi takes the user
// of its locks if /etc/passwd has no entry. tests/image has such a user.
func TestAUserWithoutAnEntryHasAName(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&Driver{}).environment("/run", run.Run{})).To(ContainElement("USER=" + strconv.Itoa(os.Getuid())))
	g.Expect((&Driver{}).environment("/run", run.Run{Env: map[string]string{"USER": "me"}})).To(ContainElement("USER=me"), "what a Stack sets counts")
}

func TestJavaFindsTheHomeOfTheRun(t *testing.T) {
	g := NewWithT(t)
	home := Directory("/run").home()
	g.Expect((&Driver{}).environment("/run", run.Run{})).To(ContainElements("HOME="+home, "MAVEN_OPTS=-Duser.home="+home, "GRADLE_USER_HOME="+home+"/.gradle"))
	g.Expect((&Driver{}).environment("/run", run.Run{Env: map[string]string{"MAVEN_OPTS": "-Xmx1g"}})).To(ContainElement("MAVEN_OPTS=-Duser.home=" + home + " -Xmx1g"))
	g.Expect((&Driver{}).environment("/run", run.Run{Env: map[string]string{"MAVEN_OPTS": "-Duser.home=/m2"}})).To(ContainElement("MAVEN_OPTS=-Duser.home=/m2"))
}
