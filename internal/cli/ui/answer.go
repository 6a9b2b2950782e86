// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// requestError is an error of what the page has sent.
type requestError struct {
	code int
	text string
}

func (e *requestError) Error() string { return e.text }

// readBody reads the small JSON object of a request.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &requestError{http.StatusUnsupportedMediaType, "the body must be JSON"}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.Join(errors.New("something follows the object"), more)
		}
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return &requestError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody)}
	case err != nil:
		return &requestError{http.StatusBadRequest, "reading the body: " + err.Error()}
	}
	return nil
}

// marshal returns a value as JSON, if that is not too long.
func marshal(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	switch {
	case err != nil:
		return nil, fmt.Errorf("writing the answer: %w", err)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("that is too long to show, with %d bytes: use the command line", len(data))
	}
	return data, nil
}

func answer(w http.ResponseWriter, value any) {
	data, err := marshal(value)
	if err != nil {
		fail(w, err)
		return
	}
	send(w, http.StatusOK, data)
}

// answerOr answers with the value or the error.
func answerOr(w http.ResponseWriter, value any, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, value)
}

// fail answers with an error in its own words, which are often those of the API server.
func fail(w http.ResponseWriter, err error) {
	refuse(w, codeOf(err), cluster.Explain(err).Error())
}

func refuse(w http.ResponseWriter, code int, text string) {
	data, err := json.Marshal(map[string]string{"error": bounded.Text(text, maxMessage)})
	if err != nil {
		data = []byte("{}") // no text fails
	}
	send(w, code, data)
}

func send(w http.ResponseWriter, code int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(data) // the browser may be gone
}

// codeOf returns the status of an error.
func codeOf(err error) int {
	var request *requestError
	var answered apierrors.APIStatus
	var away *url.Error
	switch {
	case errors.As(err, &request):
		return request.code
	case errors.Is(err, ErrNoPart):
		return http.StatusNotFound
	case errors.As(err, &answered) && answered.Status().Code >= 400 && answered.Status().Code != http.StatusUnauthorized:
		return int(answered.Status().Code) // unauthorized is a browser without the cookie
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.As(err, &away):
		return http.StatusBadGateway // the API server cannot be reached
	case cluster.IsUnreached(err):
		return http.StatusUnprocessableEntity // the command refuses
	}
	return http.StatusBadGateway
}
