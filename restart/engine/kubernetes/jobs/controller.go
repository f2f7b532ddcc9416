package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/straggler-go/straggler/restart/engine"
)

// Controller runs the Jobs whose spec.managedBy is the name of the controller. Make a Controller with [New]. Only one
// Controller may run in a cluster at a time: see [Controller.Run].
type Controller struct {
	config Config
	// syncTimeout is how long Run waits until the API server has listed all objects. Tests change it.
	syncTimeout time.Duration
	jobs        cache.SharedIndexInformer
	pods        cache.SharedIndexInformer
	nodes       cache.SharedIndexInformer
	start       func(stop <-chan struct{})
	queue       workqueue.TypedRateLimitingInterface[string]
	metrics     *metrics
	events      record.EventRecorder

	// mu guards the fields below. All Jobs use the same mutex, because their phases share the field machines. A sync of
	// a Job with 10,000 pods locks it for about 20 ms. No request to the API server is made while it is locked.
	mu        sync.Mutex
	machines  *engine.Machines
	known     map[string]bool // by name: the nodes that the field machines contains
	runs      map[string]*run // by key of the Job: "namespace/name"
	marks     marks
	announced map[string]bool // events that were recorded and shall not be repeated
}

// After a failed sync, a Job is synced again after a pause. The pause is firstRetry after the first failure in a row,
// twice as long after the second, and so on. It is at most lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// byJob is the name of the cache index by which the pods of a Job are found.
const byJob = "job"

// New returns a controller that does not run yet. If a field of the configuration is out of range, New returns an
// error with the name of the field and its range.
func New(c Config) (*Controller, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	machines, err := engine.NewMachines(engine.MachinesConfig{Knowledge: c.Knowledge})
	if err != nil {
		return nil, err
	}
	seen := newMetrics()
	k := &Controller{
		config: c, syncTimeout: syncTimeout, machines: machines, known: map[string]bool{}, runs: map[string]*run{},
		announced: map[string]bool{}, metrics: seen,
		marks: marks{evicted: map[string]time.Time{}, lifted: map[string]time.Time{}},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "jobs", MetricsProvider: seen.queue}),
	}
	if c.Registry != nil {
		if err := c.Registry.Register(k.metrics); err != nil {
			return nil, err
		}
	}
	k.watch()
	return k, nil
}

// watch makes the caches of the Jobs, of their pods and of the nodes. The method strip removes the fields that this
// package does not read, before an object is put into a cache.
func (c *Controller) watch() {
	// Without Evict, the cache contains only the pods that this controller has made. The cluster may have many more
	// pods.
	selector := ManagedLabel + "=true"
	if c.config.Evict {
		selector = batchv1.JobNameLabel
	}
	f := informers.NewSharedInformerFactoryWithOptions(c.config.Client, 0, informers.WithNamespace(c.config.Namespace),
		informers.WithTransform(c.strip))
	pods := informers.NewSharedInformerFactoryWithOptions(c.config.Client, 0, informers.WithNamespace(c.config.Namespace),
		informers.WithTransform(c.strip),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	c.jobs, c.nodes = f.Batch().V1().Jobs().Informer(), f.Core().V1().Nodes().Informer()
	c.pods = pods.Core().V1().Pods().Informer()
	// AddIndexers returns no error before the informer is started
	_ = c.pods.AddIndexers(cache.Indexers{byJob: func(o any) ([]string, error) {
		p := o.(*v1.Pod)
		return []string{p.Namespace + "/" + p.Labels[batchv1.JobNameLabel]}, nil
	}})
	c.start = func(stop <-chan struct{}) { f.Start(stop); pods.Start(stop) }
	_, _ = c.jobs.AddEventHandler(handler(func(_, o any) { c.jobChanged(o.(*batchv1.Job)) }))
	_, _ = c.pods.AddEventHandler(handler(c.podChanged))
	_, _ = c.nodes.AddEventHandler(handler(func(_, o any) { c.nodeChanged(o.(*v1.Node)) }))
}

// handler returns an event handler that calls changed after each change of an object. The first argument of changed
// is the object before the change, or nil if the object is new. The second argument is the object after the change.
// For a deleted object, the first argument is nil, and the second argument is the last known state of the object.
func handler(changed func(was, is any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { changed(nil, o) },
		UpdateFunc: changed,
		DeleteFunc: func(o any) {
			if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = d.Obj
			}
			changed(nil, o)
		},
	}
}

// Run runs the controller until ctx ends, and returns the cause of ctx. Run returns an error if the API server does
// not list the Jobs, pods and nodes within two minutes. Run can be called only once.
//
// Two controllers must not run in a cluster at once, because together they would make twice as many copies. The
// command straggler-controller elects one controller. The process may die at any time, and another controller
// continues its work.
func (c *Controller) Run(ctx context.Context) error {
	if c.events = c.config.Events; c.events == nil {
		b := record.NewBroadcaster(record.WithContext(ctx))
		defer b.Shutdown()
		b.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: c.config.Client.CoreV1().Events(c.config.Namespace)})
		c.events = b.NewRecorder(scheme.Scheme, v1.EventSource{Component: "straggler-controller"})
	}
	c.start(ctx.Done())
	if err := c.await(ctx); err != nil {
		return err
	}
	var group sync.WaitGroup
	for range c.config.Workers {
		group.Go(func() {
			for c.work(ctx) {
			}
		})
	}
	if c.config.Taint.Effect != "" || c.config.Evict {
		group.Go(func() { c.taintAll(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	group.Wait()
	return context.Cause(ctx)
}

// syncTimeout is how long Run waits for the first lists of Jobs, pods and nodes.
const syncTimeout = 2 * time.Minute

// await waits until the API server has listed the Jobs, pods and nodes. If some kinds are not listed in time, for
// example because a role does not allow it, await returns an error with the names of these kinds.
func (c *Controller) await(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, c.syncTimeout)
	defer cancel()
	if cache.WaitForCacheSync(within.Done(), c.jobs.HasSynced, c.pods.HasSynced, c.nodes.HasSynced) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("kubernetes/jobs: no list of %s within %v: is the controller allowed to list and watch them?",
		strings.Join(c.Missing(), ", "), c.syncTimeout)
}

// Missing returns the kinds of objects that the API server has not listed yet: "jobs", "pods" or "nodes". When the
// API server has listed all kinds, the controller works, and Missing returns an empty list. Missing may be called at
// any time and from any goroutine, for example by a readiness probe.
func (c *Controller) Missing() (kinds []string) {
	if !c.jobs.HasSynced() {
		kinds = append(kinds, "jobs")
	}
	if !c.pods.HasSynced() {
		kinds = append(kinds, "pods")
	}
	if !c.nodes.HasSynced() {
		kinds = append(kinds, "nodes")
	}
	return kinds
}

// work takes one Job from the queue and syncs it. If the queue is empty, work waits. It returns false when the queue
// has shut down.
func (c *Controller) work(ctx context.Context) bool {
	key, quit := c.queue.Get()
	if quit {
		return false
	}
	defer c.queue.Done(key)
	began := time.Now()
	again, err := c.sync(ctx, key)
	c.metrics.synced(time.Since(began), err)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if !errors.Is(err, errStale) {
			c.metrics.log(key, err)
		}
		c.queue.AddRateLimited(key)
		if again > 0 { // so the next sync comes no later than without the error
			c.queue.AddAfter(key, again)
		}
		return true
	case again > 0:
		c.queue.AddAfter(key, again)
	}
	c.queue.Forget(key)
	return true
}

// strip removes the fields of an object that this package does not read, to save memory.
func (c *Controller) strip(o any) (any, error) {
	switch o := o.(type) {
	case *v1.Pod:
		o.ManagedFields = nil
		spec := v1.PodSpec{NodeName: o.Spec.NodeName}
		if gated(o) {
			spec.SchedulingGates, spec.Affinity = o.Spec.SchedulingGates, o.Spec.Affinity
		}
		o.Spec = spec
	case *v1.Node:
		o.ManagedFields = nil
		o.Status.Images = nil
	case *batchv1.Job:
		o.ManagedFields = nil
		if !c.manages(o) && !c.evicts(o) { // of a Job that is not watched, only the name is read
			o.Spec, o.Status, o.Annotations = batchv1.JobSpec{}, batchv1.JobStatus{}, nil
		}
	}
	return o, nil
}
