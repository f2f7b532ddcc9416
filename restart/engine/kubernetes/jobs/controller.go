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

// Controller runs the Jobs that name it. Make one with [New], and have one at a time run: see [Controller.Run].
type Controller struct {
	config  Config
	within  time.Duration // for which Run waits for the first lists
	jobs    cache.SharedIndexInformer
	pods    cache.SharedIndexInformer
	nodes   cache.SharedIndexInformer
	start   func(stop <-chan struct{})
	queue   workqueue.TypedRateLimitingInterface[string]
	metrics *metrics
	events  record.EventRecorder

	// Of what follows. One for all Jobs, since their phases share the hosts: a look at 10,000 pods holds it for some 20 ms.
	// The API server is not asked under it.
	mu    sync.Mutex
	hosts *engine.Machines
	known map[string]bool // nodes that the hosts know
	runs  map[string]*run
	marks marks
	said  map[string]bool // events that are not to be repeated
}

// A Job whose sync has failed is looked at again after firstRetry, then after twice that, and so on to lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// byJob is an index of the pods: by the name of their Job.
const byJob = "job"

// New returns a controller, or an error that names the field of the configuration that is out of range.
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
		config: c, within: syncWithin, hosts: hosts, known: map[string]bool{}, runs: map[string]*run{}, said: map[string]bool{},
		metrics: seen,
		marks:   marks{evicted: map[string]time.Time{}, lifted: map[string]time.Time{}},
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

// watch makes the caches. They hold the Jobs, their pods without what nobody reads here, and the nodes.
func (c *Controller) watch() {
	selector := ManagedLabel + "=true"
	if c.config.Evict {
		selector = batchv1.JobNameLabel
	}
	f := informers.NewSharedInformerFactoryWithOptions(c.config.Client, 0, informers.WithNamespace(c.config.Namespace),
		informers.WithTransform(c.slim))
	pods := informers.NewSharedInformerFactoryWithOptions(c.config.Client, 0, informers.WithNamespace(c.config.Namespace),
		informers.WithTransform(c.slim),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	c.jobs, c.nodes = f.Batch().V1().Jobs().Informer(), f.Core().V1().Nodes().Informer()
	c.pods = pods.Core().V1().Pods().Informer()
	_ = c.pods.AddIndexers(cache.Indexers{byJob: func(o any) ([]string, error) { // it has not been started
		p := o.(*v1.Pod)
		return []string{p.Namespace + "/" + p.Labels[batchv1.JobNameLabel]}, nil
	}})
	c.start = func(stop <-chan struct{}) { f.Start(stop); pods.Start(stop) }
	_, _ = c.jobs.AddEventHandler(handler(func(_, o any) { c.jobChanged(o.(*batchv1.Job)) }))
	_, _ = c.pods.AddEventHandler(handler(c.podChanged))
	_, _ = c.nodes.AddEventHandler(handler(func(_, o any) { c.nodeChanged(o.(*v1.Node)) }))
}

// handler calls what takes an object as it was, nil if it is new, and as it is, or was last.
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

// Run works until the context ends. Two controllers must not run at once: what each of them decides is sound, but they
// would make twice the copies; see command straggler-controller, which elects one. It may die at any point: the next
// one lists what there is and goes on. It can be called once.
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

// syncWithin is for how long Run waits for the first lists of Jobs, pods and nodes.
const syncWithin = 2 * time.Minute

// await waits until the caches are filled. It is an error that names the objects if the API server does not list them, as
// where a role does not allow it.
func (c *Controller) await(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	if cache.WaitForCacheSync(within.Done(), c.jobs.HasSynced, c.pods.HasSynced, c.nodes.HasSynced) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("kubernetes/jobs: no list of %s within %v: is the controller allowed to list and watch them?",
		strings.Join(c.Missing(), ", "), c.within)
}

// Missing names the kinds of objects that the API server has not listed yet, of jobs, pods and nodes. None are missing once
// the controller works. It may be called at any time, such as for a readiness probe.
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

// work takes a Job from the queue, and reports whether there may be another.
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
		if again > 0 { // the look that is due is not put off by the error
			c.queue.AddAfter(key, again)
		}
		return true
	case again > 0:
		c.queue.AddAfter(key, again)
	}
	c.queue.Forget(key)
	return true
}

// slim takes out of an object what nobody reads here, and most of which is large.
func (c *Controller) slim(o any) (any, error) {
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
		if !c.manages(o) && !c.evicts(o) { // nobody reads more of it than its name
			o.Spec, o.Status, o.Annotations = batchv1.JobSpec{}, batchv1.JobStatus{}, nil
		}
	}
	return o, nil
}
