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

// Controller runs the Jobs that name it in spec.managedBy. [New] makes a Controller. Only one may run at a time in a
// cluster: see [Controller.Run].
type Controller struct {
	config Config
	// syncTimeout is how long Run waits for the first lists. Tests set it.
	syncTimeout time.Duration
	jobs        cache.SharedIndexInformer
	pods        cache.SharedIndexInformer
	nodes       cache.SharedIndexInformer
	start       func(stop <-chan struct{})
	queue       workqueue.TypedRateLimitingInterface[string]
	metrics     *metrics
	events      record.EventRecorder

	// mu guards the fields below. One mutex serves all Jobs, because their phases share the hosts. A sync of 10,000 pods
	// holds it for about 20 ms. No request to the API server is made under it.
	mu        sync.Mutex
	hosts     *engine.Machines
	known     map[string]bool // nodes that the hosts know
	runs      map[string]*run // by key of the Job
	marks     marks
	announced map[string]bool // events that must not be repeated
}

// A Job is synced again firstRetry after a failed sync, then after twice that time, and so on up to lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// byJob is the name of the index of the pods by their Job.
const byJob = "job"

// New returns a controller. An error names the field of the configuration that is out of range, and its range.
func New(c Config) (*Controller, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	hosts, err := engine.NewMachines(engine.MachinesConfig{Record: c.Record})
	if err != nil {
		return nil, err
	}
	seen := newMetrics()
	k := &Controller{
		config: c, syncTimeout: syncTimeout, hosts: hosts, known: map[string]bool{}, runs: map[string]*run{},
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

// watch makes the caches of the Jobs, their pods and the nodes. The objects are cached without unread fields; see strip.
func (c *Controller) watch() {
	// Without Evict only this controller's own pods are cached. The cluster may have many more.
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
	_ = c.pods.AddIndexers(cache.Indexers{byJob: func(o any) ([]string, error) { // no error: the informer has not been started
		p := o.(*v1.Pod)
		return []string{p.Namespace + "/" + p.Labels[batchv1.JobNameLabel]}, nil
	}})
	c.start = func(stop <-chan struct{}) { f.Start(stop); pods.Start(stop) }
	_, _ = c.jobs.AddEventHandler(handler(func(_, o any) { c.jobChanged(o.(*batchv1.Job)) }))
	_, _ = c.pods.AddEventHandler(handler(c.podChanged))
	_, _ = c.nodes.AddEventHandler(handler(func(_, o any) { c.nodeChanged(o.(*v1.Node)) }))
}

// handler returns an event handler that calls changed with the object before the change, nil if it is new, and with the
// object after the change. For a deleted object it passes nil and the last known object.
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

// Run runs the controller until ctx ends, and returns the cause of ctx. Run returns an error if the API server does not
// list the Jobs, pods and nodes within two minutes. Run can be called once.
//
// Two controllers must not run at once: each controller decides correctly, but both together make twice the copies.
// Command straggler-controller elects one controller. The process may die at any time, and the next controller goes on.
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

// await waits until the caches are filled. If the API server does not list some objects in time, as when a role does not
// allow it, the error names them.
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

// Missing returns the kinds of objects that the API server has not listed yet: "jobs", "pods", "nodes". Missing returns
// none once the controller works. Missing may be called at any time and from any goroutine, such as by a readiness
// probe.
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

// work syncs one Job from the queue. work returns false when the queue has shut down.
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
		if again > 0 { // the next poll is not delayed by the error
			c.queue.AddAfter(key, again)
		}
		return true
	case again > 0:
		c.queue.AddAfter(key, again)
	}
	c.queue.Forget(key)
	return true
}

// strip removes the fields of an object that this package does not read, most of them large.
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
		if !c.manages(o) && !c.evicts(o) { // only the Job's name is read
			o.Spec, o.Status, o.Annotations = batchv1.JobSpec{}, batchv1.JobStatus{}, nil
		}
	}
	return o, nil
}
