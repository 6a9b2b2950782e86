// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
)

// defaultPackStart is how long a policy pack may take to start: Node.js compiles one in TypeScript
// each time, in a minute on a quarter of a core. Nothing in Pulumi bounds it.
const defaultPackStart = 10 * time.Minute

// endStartingPacks ends the packs for which Pulumi waits when it is asked to stop. It would wait on
// until it is killed, and leave its lock. A pack that serves Pulumi, and does not answer, leaves no
// trace: all are ended then.
func (s *session) endStartingPacks() {
	var waiting []*policyPack
	for _, pack := range s.packs {
		if _, err := os.Lstat(pack.starting); err == nil {
			waiting = append(waiting, pack)
		}
	}
	if len(waiting) == 0 {
		waiting = s.packs
	}
	titles := make([]string, len(waiting))
	for n, pack := range waiting {
		titles[n] = pack.Title()
		// The environment of a pack has a home of its own.
		if _, err := process.EndMarked("HOME="+pack.dir.home(), s.driver.Grace.withDefaults().Kill); err != nil {
			s.say(fmt.Sprintf("ending %s: %v", pack.Title(), err))
		}
	}
	s.unready = strings.Join(titles, " and ") + " had not started"
}
