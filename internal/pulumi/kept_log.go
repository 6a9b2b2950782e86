// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// keptLog keeps the end of what it passes on.
type keptLog struct {
	log  func(line string)
	tail runlog.Tail
}

func (k *keptLog) add(line string) {
	k.log(line)
	k.tail.Add(run.LogLine{At: time.Now().UTC(), Text: line})
}

// masked returns what was kept, without the secrets that are known by now.
func (k *keptLog) masked(masker *mask.Masker) *run.Log {
	log := k.tail.Log()
	if log == nil {
		return nil
	}
	for i := range log.Lines {
		text := &log.Lines[i].Text
		if cut, ok := strings.CutSuffix(*text, bounded.Sign); ok {
			*text = masker.ApplyCut(cut) + bounded.Sign // it may end in the midst of a secret
			continue
		}
		*text = masker.Apply(*text)
	}
	return log
}
