// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package notify keeps reconciles from waiting for notification-controller:
// fluxcd/pkg/runtime/events blocks its caller while it posts. Kubernetes Events are
// written directly, and events for notification-controller go through a bounded queue.
// They are retried for as long as a notification-controller takes to move to another
// node. What is worth an event, and what it says, must not be decided here.
package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// DefaultSize is how many events may wait: as many as a thousand Stacks emit at once.
const DefaultSize = 1000

// Recorder records an event. It is the part of fluxcd/pkg/runtime/events that is needed.
type Recorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// Sender sends an event to notification-controller. It may block. An error means that the
// event has not arrived, and that the Sender has given up.
type Sender interface {
	Send(object client.Object, annotations map[string]string, eventtype, reason, message string) error
}

// Options of a Queue. All but Sender are required.
type Options struct {
	// Writer writes the Kubernetes Event. It must not block.
	Writer Recorder
	// Sender sends to notification-controller. Nil means that there is none.
	Sender Sender
	// Size is how many events may wait to be sent, at least 1.
	Size int
	// Scheme knows the kinds of the objects.
	Scheme     *runtime.Scheme
	Registerer prometheus.Registerer
	// Log gets events that cannot be sent.
	Log logr.Logger
}

// Queue records events without ever blocking. A single goroutine sends them, so that the
// events of an object arrive in order.
type Queue struct {
	options Options
	dropped prometheus.Counter
	// done is closed when all events are sent or given up.
	done chan struct{}
	// givenUp makes the goroutine send nothing more.
	givenUp atomic.Bool

	mu      sync.Mutex
	closed  bool
	full    bool
	waiting chan event
}

// event is an event waiting to be sent.
type event struct {
	object                     client.Object
	annotations                map[string]string
	eventtype, reason, message string
}

// New returns a Queue that sends until closed. It is not a runnable of the manager,
// because the results of the last runs are reported after the manager has stopped. An
// error comes from the Registerer.
func New(options Options) (*Queue, error) {
	q := &Queue{
		options: options,
		done:    make(chan struct{}),
		waiting: make(chan event, max(options.Size, 1)),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pulumi_events_dropped_total",
			Help: "Number of events that notification-controller did not receive, because it was unavailable for too long, rejected them or was sent too many, or because the controller exited.",
		}),
	}
	if err := options.Registerer.Register(q.dropped); err != nil {
		return nil, fmt.Errorf("failed to register the metrics of events: %w", err)
	}
	go q.work()
	return q, nil
}

// AnnotatedEventf records an event. An event that only updates a commit status is sent
// without writing a Kubernetes Event: it says nothing that the object does not show, and
// notification-controller passes it only to git forges. A trace is the opposite, as in
// all Flux controllers: it is written but not sent. So is an event of an object of the
// cluster.
//
// The annotation with the key comment is what is sent in place of the message. It is not written:
// it may be longer than what a Kubernetes Event shows.
func (q *Queue) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any) {
	annotations, comment := withoutComment(annotations)
	if !updatesCommitStatus(annotations) {
		q.options.Writer.AnnotatedEventf(object, annotations, eventtype, reason, format, args...)
	}
	if q.options.Sender == nil || eventtype == eventv1.EventTypeTrace {
		return
	}
	involved, err := q.involved(object)
	if err != nil {
		q.options.Log.Error(err, "cannot send an event", "reason", reason)
		return
	}
	if involved.GetNamespace() == "" {
		return // notification-controller only takes events of objects in a namespace
	}
	q.add(event{
		object: involved, annotations: annotations,
		eventtype: eventtype, reason: reason, message: cmp.Or(comment, fmt.Sprintf(format, args...)),
	})
}

// withoutComment returns a copy of the annotations without the comment, and that.
func withoutComment(annotations map[string]string) (map[string]string, string) {
	comment, others := "", maps.Clone(annotations)
	for key, value := range annotations {
		if strings.HasSuffix(key, "/comment") {
			comment = value
			delete(others, key)
		}
	}
	return others, comment
}

func updatesCommitStatus(annotations map[string]string) bool {
	for key, value := range annotations {
		if strings.HasSuffix(key, "/"+eventv1.MetaCommitStatusKey) {
			return value == eventv1.MetaCommitStatusUpdateValue
		}
	}
	return false
}

// involved copies only the part of the object that an event needs: the reconcile
// continues to change the object, and a Stack with large outputs must not be kept a
// thousand times.
func (q *Queue) involved(object runtime.Object) (client.Object, error) {
	whole, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("a %T has no name", object)
	}
	gvk, err := apiutil.GVKForObject(whole, q.options.Scheme)
	if err != nil {
		return nil, fmt.Errorf("failed to find the kind of %s/%s: %w", whole.GetNamespace(), whole.GetName(), err)
	}
	part := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: whole.GetNamespace(), Name: whole.GetName(), UID: whole.GetUID(), ResourceVersion: whole.GetResourceVersion(),
	}}
	part.SetGroupVersionKind(gvk)
	for key, value := range whole.GetAnnotations() {
		// The sender adds these to what it sends.
		if strings.HasPrefix(key, eventv1.Group+"/") {
			metav1.SetMetaDataAnnotation(&part.ObjectMeta, key, value)
		}
	}
	return part, nil
}

// add queues the event, or drops it if there is no room.
func (q *Queue) add(e event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		select {
		case q.waiting <- e:
			q.full = false
			return
		default:
		}
	}
	q.dropped.Inc()
	if !q.full {
		// Logged once, not for each of what may be thousands of events.
		q.full = true
		q.options.Log.Error(errors.New("the queue is full or closed"), "dropped events for notification-controller")
	}
}

// work sends waiting events until the queue is closed and empty.
func (q *Queue) work() {
	defer close(q.done)
	for e := range q.waiting {
		if q.givenUp.Load() {
			q.dropped.Inc()
			continue
		}
		if err := q.options.Sender.Send(e.object, e.annotations, e.eventtype, e.reason, e.message); err != nil {
			// The recorder has logged it.
			q.dropped.Inc()
		}
	}
}

// Close stops accepting events, and returns when all waiting events are sent. If ctx is
// done first, the error says how many were not.
func (q *Queue) Close(ctx context.Context) error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.waiting)
	}
	q.mu.Unlock()
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
		q.givenUp.Store(true)
		return fmt.Errorf("one event was being sent to notification-controller and %d were queued: %w", len(q.waiting), context.Cause(ctx))
	}
}
