// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package notify takes events off the hands of reconciles: the Kubernetes Event
// is written as ever, and what goes to notification-controller waits in a bounded
// queue, as fluxcd/pkg/runtime/events posts while its caller waits. It is sent again
// for as long as a notification-controller is away that moves to another node. What
// is worth an event, and what it says, must not be decided here.
package notify

import (
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

// DefaultSize is how many events may wait: what a thousand Stacks tell at once.
const DefaultSize = 1000

// Recorder tells of an event. It is what is needed of fluxcd/pkg/runtime/events.
type Recorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// Sender sends an event to notification-controller. It may block. The error is that
// of an event that has not arrived, and that the Sender has given up.
type Sender interface {
	Send(object client.Object, annotations map[string]string, eventtype, reason, message string) error
}

// Options of a Queue. All but Sender are required.
type Options struct {
	// Writer writes the Kubernetes Event. It must not block.
	Writer Recorder
	// Sender sends to notification-controller. Nil is nobody to send to.
	Sender Sender
	// Size is how many events may wait to be sent: at least 1.
	Size int
	// Scheme knows the kinds of the objects.
	Scheme *runtime.Scheme
	// Registerer gets the metrics.
	Registerer prometheus.Registerer
	// Log gets what cannot be sent.
	Log logr.Logger
}

// Queue tells of events without ever blocking. One goroutine sends, so that what
// is told of an object arrives in the order in which it happened.
type Queue struct {
	options Options
	dropped prometheus.Counter
	// done is closed when everything was sent, or given up.
	done chan struct{}
	// givenUp has the goroutine send nothing more.
	givenUp atomic.Bool

	mu      sync.Mutex
	closed  bool
	full    bool
	waiting chan event
}

// event is one that waits to be sent.
type event struct {
	object                     client.Object
	annotations                map[string]string
	eventtype, reason, message string
}

// New returns a Queue that sends until it is closed. It is no runnable of the
// manager: the results of the last runs are told of when the manager has ended.
// The error is that of the Registerer.
func New(options Options) (*Queue, error) {
	q := &Queue{
		options: options,
		done:    make(chan struct{}),
		waiting: make(chan event, max(options.Size, 1)),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pulumi_events_dropped_total",
			Help: "Number of events that notification-controller did not get because it was away for too long, refused them or was sent too many, or at the end of the controller.",
		}),
	}
	if err := options.Registerer.Register(q.dropped); err != nil {
		return nil, fmt.Errorf("failed to register the metrics of events: %w", err)
	}
	go q.work()
	return q, nil
}

// AnnotatedEventf tells of an event. One that only updates a commit status says
// nothing that the object does not show, and notification-controller hands it to
// git forges alone: it is sent, and no Kubernetes Event is written. A trace is the
// opposite, as it is with all Flux controllers: it is written and not sent.
func (q *Queue) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any) {
	if !updatesCommitStatus(annotations) {
		q.options.Writer.AnnotatedEventf(object, annotations, eventtype, reason, format, args...)
	}
	if q.options.Sender == nil || eventtype == eventv1.EventTypeTrace {
		return
	}
	involved, err := q.involved(object)
	if err != nil {
		q.options.Log.Error(err, "an event cannot be sent", "reason", reason)
		return
	}
	q.add(event{
		object: involved, annotations: maps.Clone(annotations),
		eventtype: eventtype, reason: reason, message: fmt.Sprintf(format, args...),
	})
}

func updatesCommitStatus(annotations map[string]string) bool {
	for key, value := range annotations {
		if strings.HasSuffix(key, "/"+eventv1.MetaCommitStatusKey) {
			return value == eventv1.MetaCommitStatusUpdateValue
		}
	}
	return false
}

// involved copies the part of the object that an event tells: a reconcile goes on
// to change its own, and a Stack with large outputs must not be kept a thousand
// times.
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
		// Those that the sender adds to what it sends.
		if strings.HasPrefix(key, eventv1.Group+"/") {
			metav1.SetMetaDataAnnotation(&part.ObjectMeta, key, value)
		}
	}
	return part, nil
}

// add has the event sent if there is room for it.
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
		// Once, and not for each of what may be thousands.
		q.full = true
		q.options.Log.Error(errors.New("the queue is full or closed"), "events for notification-controller are dropped")
	}
}

// work sends what waits until the queue is closed and empty.
func (q *Queue) work() {
	defer close(q.done)
	for e := range q.waiting {
		if q.givenUp.Load() {
			q.dropped.Inc()
			continue
		}
		if err := q.options.Sender.Send(e.object, e.annotations, e.eventtype, e.reason, e.message); err != nil {
			// The recorder has it in the log.
			q.dropped.Inc()
		}
	}
}

// Close takes no event any more, and returns when all that wait were sent. The
// error tells how many were not when ctx is done first.
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
		return fmt.Errorf("one event was being sent to notification-controller and %d were waiting: %w", len(q.waiting), context.Cause(ctx))
	}
}
