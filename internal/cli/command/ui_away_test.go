// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/ui/view"
)

// TestThePageShowsNoHalfOfAStack if the API server does not answer: it would have neither checks nor actions.
func TestThePageShowsNoHalfOfAStack(t *testing.T) {
	w := newWorld(t, "ui-away")
	w.apply("steered")
	for name, tt := range map[string]struct {
		err  error
		away bool
	}{
		"it is away":          {&url.Error{Op: "Get", URL: "https://10.0.0.1", Err: errors.New("connection refused")}, true},
		"it is slow":          {context.DeadlineExceeded, true},
		"it has too much":     {apierrors.NewTooManyRequests("later", 1), true},
		"it starts":           {apierrors.NewServiceUnavailable("not ready"), true},
		"a webhook is broken": {apierrors.NewInternalError(errors.New("failed calling webhook")), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			failing := interceptor.NewClient(w.api, interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return tt.err }})
			shown, err := (&pageCommands{session: &session{Environment: w.env}, api: failing}).Detail(t.Context(), w.network())
			if tt.away {
				g.Expect(err).To(MatchError(tt.err))
				g.Expect(shown).To(BeNil())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(shown).To(HaveField("Warnings", ContainElement(ContainSubstring("failed calling webhook"))))
			g.Expect(shown).To(HaveField("May", view.May{}))
		})
	}
}
