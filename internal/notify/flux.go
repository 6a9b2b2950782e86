// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/fluxcd/pkg/runtime/events"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
)

// ForManager returns a Queue that writes Kubernetes Events like the manager, and sends to
// notification-controller at the address unless it is empty. The name is that of the
// controller.
func ForManager(mgr ctrl.Manager, address, name string, registerer prometheus.Registerer) (*Queue, error) {
	log := mgr.GetLogger()
	writer, err := events.NewRecorder(mgr, log, "", name)
	if err != nil {
		return nil, fmt.Errorf("failed to create the recorder of Kubernetes Events: %w", err)
	}
	options := Options{Writer: writer, Size: DefaultSize, Scheme: mgr.GetScheme(), Registerer: registerer, Log: log}
	if address != "" {
		sender, err := newSender(mgr.GetScheme(), log, address, name)
		if err != nil {
			return nil, err
		}
		options.Sender = sender
	}
	return New(options)
}

// unwritten discards Kubernetes Events, which the Writer has written already.
type unwritten struct{}

func (unwritten) Event(runtime.Object, string, string, string)          {}
func (unwritten) Eventf(runtime.Object, string, string, string, ...any) {}
func (unwritten) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
}

// closing reads responses to the end and closes them: the recorder of pkg/runtime closes
// no response body, and a connection with an open body is not reused.
type closing struct{ http.RoundTripper }

// maxAnswer bounds how much of a response is read, in bytes. notification-controller
// sends a line at most.
const maxAnswer = 4 << 10

func (c closing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, readErr := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err := errors.Join(readErr, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the response of notification-controller: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, nil
}
