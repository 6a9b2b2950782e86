// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// cluster is an API server without nodes, and a cache that is never stale.
type cluster struct {
	client.WithWatch

	mu sync.Mutex
	// created lists the kinds created, in order. patches counts the patches of existing
	// Secrets, deletes the deletions.
	created []string
	patches int
	deletes int
	// fails returns the error of a creation, if any. lost does too, but the object is
	// created all the same.
	fails, lost func(object client.Object) error
	// tried is the error of a dry run of a pod, and admits changes it.
	tried  error
	admits func(pod *corev1.Pod) error
	// patching is called before each patch.
	patching func()
	// hangs is closed when the webhook for patches answers again, or nil. See hang.
	hangs chan struct{}
	// refuses is the error of each patch, if set.
	refuses error
	// undeletable is the error of each deletion, if set.
	undeletable error
	// unreadable is the error of each read, if set.
	unreadable error

	watched watched
}

// testScheme has only what the package uses: the fake client looks through all kinds of all groups at each patch.
var testScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	return scheme
})

func newCluster() *cluster {
	c := &cluster{}
	c.WithWatch = interceptor.NewClient(fake.NewClientBuilder().WithScheme(testScheme()).Build(), interceptor.Funcs{
		Create: c.create,
		Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			c.mu.Lock()
			c.patches++
			c.mu.Unlock()
			if c.patching != nil {
				c.patching()
			}
			if err := c.awaitWebhook(ctx); err != nil {
				return err
			}
			if c.refuses != nil {
				return c.refuses
			}
			err := api.Patch(ctx, object, patch, options...)
			c.watched.changed(object, err)
			return err
		},
		Update: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			err := api.Update(ctx, object, options...)
			c.watched.changed(object, err)
			return err
		},
		Delete: func(ctx context.Context, api client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			c.mu.Lock()
			c.deletes++
			undeletable := c.undeletable
			c.mu.Unlock()
			if undeletable != nil {
				return undeletable
			}
			last := object.DeepCopyObject().(client.Object)
			_ = api.Get(ctx, client.ObjectKeyFromObject(object), last) // its labels, if it is there
			err := api.Delete(ctx, object, options...)
			c.watched.changed(last, err)
			return err
		},
		Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := c.readError(); err != nil {
				return err
			}
			return api.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, api client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := c.readError(); err != nil {
				return err
			}
			return api.List(ctx, list, options...)
		},
	})
	return c
}

func (c *cluster) create(ctx context.Context, api client.WithWatch, object client.Object, options ...client.CreateOption) error {
	c.mu.Lock()
	fails, lost, tried := c.fails, c.lost, c.tried
	c.mu.Unlock()
	if pod, ok := object.(*corev1.Pod); ok && len((&client.CreateOptions{}).ApplyOptions(options).DryRun) > 0 {
		if c.admits != nil {
			return c.admits(pod)
		}
		return tried
	}
	if fails != nil {
		if err := fails(object); err != nil {
			return err
		}
	}
	if err := api.Create(ctx, object, options...); err != nil {
		return err
	}
	c.mu.Lock()
	c.created = append(c.created, typeName(object))
	c.mu.Unlock()
	c.watched.changed(object, nil)
	if lost != nil {
		return lost(object)
	}
	return nil
}

// hang makes the webhook for patches hang until the channel is closed. Runs may be reconciled
// meanwhile.
func (c *cluster) hang() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hangs = make(chan struct{})
	return c.hangs
}

func (c *cluster) awaitWebhook(ctx context.Context) error {
	c.mu.Lock()
	hangs := c.hangs
	c.mu.Unlock()
	if hangs == nil {
		return nil
	}
	select {
	case <-hangs:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cluster) readError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unreadable
}

func (c *cluster) setUnreadable(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unreadable = err
}

// cacheOf is a cache of the cluster that keeps the fields NewCache keeps.
type cacheOf struct {
	cache.Cache
	client.Reader
	watched *watched
}

func (c cacheOf) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := c.Reader.Get(ctx, key, object, options...); err != nil {
		return err
	}
	_, err := slim(object)
	return err
}

func (c cacheOf) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.Reader.List(ctx, list, options...); err != nil {
		return err
	}
	return meta.EachListItem(list, func(object runtime.Object) error {
		_, err := slim(object)
		return err
	})
}

func (c cacheOf) WaitForCacheSync(context.Context) bool { return true }

func (c cacheOf) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return c.watched, nil
}

// watched is an informer that reports every change.
type watched struct {
	cache.Informer
	mu      sync.Mutex
	handler toolscache.ResourceEventHandler
}

func (w *watched) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = handler
	return synced{}, nil
}

// synced is a handler that has seen all there was.
type synced struct {
	toolscache.ResourceEventHandlerRegistration
}

func (synced) HasSynced() bool { return true }

func (w *watched) changed(object client.Object, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.handler != nil {
		w.handler.OnUpdate(object, object)
	}
}

// started is a Runner with one run in a cluster, and the key of that run.
type started struct {
	*Runner
	*WithT
	test *testing.T
	api  *cluster
	key  key
}

// runnerOn returns a Runner for a cluster that may have runs already.
func runnerOn(t *testing.T, api *cluster, change ...func(*Options)) *started {
	t.Helper()
	options := Options{
		Settings: Settings{Image: "controller:1"}, Client: api, Reader: api, Cache: cacheOf{Reader: api, watched: &api.watched},
		Concurrent: 1, Wake: func(string, string) {}, Log: logr.Discard(),
	}
	for _, c := range change {
		c(&options)
	}
	s := &started{Runner: New(options), WithT: NewWithT(t), test: t, api: api, key: key{"default", "1"}}
	s.SetDefaultEventuallyTimeout(time.Minute) // other tests may keep the machine busy
	return s
}

func start(t *testing.T, change ...func(*Options)) *started {
	t.Helper()
	s := runnerOn(t, newCluster(), change...)
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
	s.Expect(s.Start(oneRun("1", "app"))).To(Succeed())
	return s
}

// claimedRun returns a Runner with one run whose pod is running and has claimed it.
func claimedRun(t *testing.T, change ...func(*Options)) *started {
	t.Helper()
	s := start(t, change...)
	s.step()
	s.pod(atWork)
	s.claim()
	s.step()
	return s
}

// goesOn returns a Runner with one run whose pod is running although it has a result: any
// program can write one.
func goesOn(t *testing.T, change ...func(*Options)) *started {
	t.Helper()
	s := claimedRun(t, change...)
	s.writeResult(run.Result{Outcome: run.Succeeded})
	s.step()
	return s
}

func oneRun(id, stack string) run.Run {
	return run.Run{ID: id, Namespace: "default", Name: stack, Operation: run.Update, Backend: "s3://state", Timeout: time.Hour}
}

// ref names a run of the tests.
func ref(id string) run.Ref { return run.Ref{ID: id, Namespace: "default", Name: "app"} }

// next is the Runner of the next controller.
func (s *started) next(change ...func(*Options)) *started {
	s.test.Helper()
	return runnerOn(s.test, s.api, change...)
}

// step reconciles the run once.
func (s *started) step() {
	s.test.Helper()
	_, err := s.reconcile(s.test.Context(), s.key)
	s.Expect(err).NotTo(HaveOccurred())
}

func (s *started) secret() *corev1.Secret {
	s.test.Helper()
	secret := &corev1.Secret{}
	s.Expect(s.api.Get(s.test.Context(), s.name(), secret)).To(Succeed())
	return secret
}

// name is the name of the run's objects.
func (s *started) name() client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: "pulumi-run-1"}
}

func (s *started) job() *batchv1.Job {
	s.test.Helper()
	job := &batchv1.Job{}
	s.Expect(s.api.Get(s.test.Context(), s.name(), job)).To(Succeed())
	return job
}

func (s *started) hasJob() bool { return s.has(&batchv1.Job{}) }

func (s *started) has(object client.Object) bool {
	s.test.Helper()
	err := s.api.Get(s.test.Context(), s.name(), object)
	s.Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// claim claims the run, as a pod does first.
func (s *started) claim() {
	s.test.Helper()
	secret := s.secret()
	delete(secret.Data, exchange.RunKey)
	secret.Data[exchange.ClaimKey] = []byte("{}")
	s.Expect(s.api.Update(s.test.Context(), secret)).To(Succeed())
}

// write writes the result and ends the pod.
func (s *started) write(ended run.Result) {
	s.test.Helper()
	s.writeResult(ended)
	s.pod(func(status *corev1.PodStatus) { status.Phase = corev1.PodSucceeded })
}

// writeResult writes a result, as anyone with the token of the pod can.
func (s *started) writeResult(ended run.Result) {
	s.test.Helper()
	data, err := exchange.EncodeResult(run.Update, ended)
	s.Expect(err).NotTo(HaveOccurred())
	secret := s.secret()
	secret.Data[exchange.ResultKey] = data
	s.Expect(s.api.Update(s.test.Context(), secret)).To(Succeed())
}

// phase is the phase of the run.
func (s *started) phase() run.Phase {
	phase, _ := s.Look(run.Ref{ID: "1", Namespace: "default"})
	return phase
}

// ended is the result of the run.
func (s *started) ended() *run.Result {
	s.test.Helper()
	phase, result := s.Look(run.Ref{ID: "1", Namespace: "default"})
	s.Expect(phase).To(Equal(run.Ended))
	return result
}

// typeName names the kind of an object.
func typeName(object client.Object) string { return fmt.Sprintf("%T", object) }
