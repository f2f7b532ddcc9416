package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedv1core "k8s.io/client-go/kubernetes/typed/core/v1"
	restclient "k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2/ktesting"

	"github.com/straggler-go/straggler/restart"
)

var (
	podsKind = v1.SchemeGroupVersion.WithResource("pods")
	jobsKind = batchv1.SchemeGroupVersion.WithResource("jobs")
)

// server is client-go's fake clientset with the manners of the API server and of the garbage collector that upstream's tests
// of Jobs rely on: versions, conflicts, defaults, finalizers, graceful deletion, a check of each status, and watches that
// begin where a list has ended and lose nothing.
type server struct {
	*fake.Clientset
	mu      sync.Mutex
	changed *sync.Cond
	version int
	log     []change
	lag     time.Duration // of the events of Jobs
}

// change is one event, as all watches of its kind see it.
type change struct {
	kind    schema.GroupVersionResource
	version int
	event   watch.Event
}

// serving is the server of the test that runs.
var serving *server

func newServer() *server {
	s := &server{Clientset: fake.NewSimpleClientset()}
	s.changed = sync.NewCond(&s.mu)
	s.PrependReactor("*", "*", s.react)
	s.PrependWatchReactor("*", s.watch)
	return s
}

func (s *server) react(action clienttesting.Action) (bool, runtime.Object, error) {
	kind := action.GetResource()
	if kind != podsKind && kind != jobsKind || action.GetSubresource() != "" && action.GetSubresource() != "status" {
		return false, nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	namespace := action.GetNamespace()
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		o, err := s.create(kind, namespace, a.GetObject().DeepCopyObject())
		return true, o, err
	case clienttesting.UpdateActionImpl:
		o, err := s.update(kind, namespace, a.GetObject().DeepCopyObject(), a.GetSubresource() == "status")
		return true, o, err
	case clienttesting.PatchActionImpl:
		o, err := s.patch(kind, namespace, a)
		return true, o, err
	case clienttesting.DeleteActionImpl:
		return true, nil, s.remove(kind, namespace, a.Name, a.DeleteOptions)
	case clienttesting.DeleteCollectionActionImpl:
		list, err := s.list(kind, namespace)
		if err != nil {
			return true, nil, err
		}
		return true, nil, meta.EachListItem(list, func(o runtime.Object) error {
			return s.remove(kind, namespace, of(o).GetName(), a.DeleteOptions)
		})
	case clienttesting.ListActionImpl:
		list, err := s.list(kind, namespace)
		return true, list, err
	}
	return false, nil, nil
}

// client is a client of the server whose calls that list or make pods have to wait.
type client struct {
	*server
	lists, creates func(path string)
}

func (c client) CoreV1() typedv1core.CoreV1Interface { return core{c.server.CoreV1(), c} }

type core struct {
	typedv1core.CoreV1Interface
	of client
}

func (c core) Pods(namespace string) typedv1core.PodInterface {
	return pods{c.CoreV1Interface.Pods(namespace), c.of, "/api/v1/namespaces/" + namespace + "/pods"}
}

type pods struct {
	typedv1core.PodInterface
	of   client
	path string
}

func (p pods) Create(ctx context.Context, pod *v1.Pod, how metav1.CreateOptions) (*v1.Pod, error) {
	if p.of.creates != nil {
		p.of.creates(p.path)
	}
	return p.PodInterface.Create(ctx, pod, how)
}

func (p pods) List(ctx context.Context, how metav1.ListOptions) (*v1.PodList, error) {
	if p.of.lists != nil {
		p.of.lists(p.path)
	}
	return p.PodInterface.List(ctx, how)
}

// created answers each request.
func created(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody}, nil
}

func of(o runtime.Object) metav1.Object {
	m, err := meta.Accessor(o)
	if err != nil {
		panic(err)
	}
	return m
}

func conflict(kind schema.GroupVersionResource, name string) error {
	return apierrors.NewConflict(kind.GroupResource(), name, errors.New("it has changed"))
}

func (s *server) list(kind schema.GroupVersionResource, namespace string) (runtime.Object, error) {
	as := v1.SchemeGroupVersion.WithKind("Pod")
	if kind == jobsKind {
		as = batchv1.SchemeGroupVersion.WithKind("Job")
	}
	list, err := s.Tracker().List(kind, as, namespace)
	if err != nil {
		return nil, err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	m.SetResourceVersion(strconv.Itoa(s.version))
	return list, nil
}

func (s *server) create(kind schema.GroupVersionResource, namespace string, o runtime.Object) (runtime.Object, error) {
	m := of(o)
	m.SetNamespace(namespace)
	if m.GetName() == "" {
		m.SetName(m.GetGenerateName() + rand.String(5))
	}
	m.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	m.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	switch o := o.(type) {
	case *batchv1.Job:
		o.Status = batchv1.JobStatus{}
		setDefaults(o)
	case *v1.Pod:
		o.Status = v1.PodStatus{Phase: v1.PodPending}
	}
	s.version++
	m.SetResourceVersion(strconv.Itoa(s.version))
	if err := s.Tracker().Create(kind, o, namespace); err != nil {
		return nil, err
	}
	s.tell(kind, watch.Added, o)
	return o.DeepCopyObject(), nil
}

// update takes the status alone, or all but the status.
func (s *server) update(
	kind schema.GroupVersionResource, namespace string, o runtime.Object, status bool,
) (runtime.Object, error) {
	m := of(o)
	have, err := s.Tracker().Get(kind, namespace, m.GetName())
	if err != nil {
		return nil, err
	}
	if is := of(have).GetResourceVersion(); m.GetResourceVersion() != "" && m.GetResourceVersion() != is {
		return nil, conflict(kind, m.GetName())
	}
	have = have.DeepCopyObject()
	switch n := o.(type) {
	case *batchv1.Job:
		was := have.(*batchv1.Job)
		if !status {
			n.Status = was.Status
			break
		}
		is := was.DeepCopy()
		if is.Status = n.Status; is.Spec.ManagedBy != nil && is.Spec.Completions != nil {
			if wrong := police(was, is); len(wrong) > 0 {
				return nil, apierrors.NewBadRequest(fmt.Sprint(wrong))
			}
		}
		o = is
	case *v1.Pod:
		was := have.(*v1.Pod)
		if !status {
			n.Status = was.Status
			break
		}
		was.Status = n.Status
		o = was
	}
	return o, s.put(kind, o)
}

func (s *server) patch(
	kind schema.GroupVersionResource, namespace string, a clienttesting.PatchActionImpl,
) (runtime.Object, error) {
	have, err := s.Tracker().Get(kind, namespace, a.Name)
	if err != nil {
		return nil, err
	}
	var head struct{ Metadata struct{ UID types.UID } }
	if err := json.Unmarshal(a.Patch, &head); err != nil {
		return nil, err
	}
	if uid := head.Metadata.UID; uid != "" && uid != of(have).GetUID() {
		return nil, conflict(kind, a.Name)
	}
	_, o, err := clienttesting.ObjectReaction(s.Tracker())(a)
	if err != nil {
		return nil, err
	}
	o = o.DeepCopyObject()
	return o, s.put(kind, o)
}

// put keeps an object, unless it is deleted and neither a finalizer nor a kubelet holds it any more.
func (s *server) put(kind schema.GroupVersionResource, o runtime.Object) error {
	m := of(o)
	s.version++
	m.SetResourceVersion(strconv.Itoa(s.version))
	if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 {
		if grace := m.GetDeletionGracePeriodSeconds(); grace == nil || *grace == 0 {
			if err := s.Tracker().Delete(kind, m.GetNamespace(), m.GetName()); err != nil {
				return err
			}
			s.tell(kind, watch.Deleted, o)
			return nil
		}
	}
	if err := s.Tracker().Update(kind, o, m.GetNamespace()); err != nil {
		return err
	}
	s.tell(kind, watch.Modified, o)
	return nil
}

// remove deletes as the API server does: a pod that no kubelet has, and one that has ended, without any grace.
func (s *server) remove(kind schema.GroupVersionResource, namespace, name string, how metav1.DeleteOptions) error {
	o, err := s.Tracker().Get(kind, namespace, name)
	if err != nil {
		return err
	}
	o = o.DeepCopyObject()
	m := of(o)
	if p := how.Preconditions; p != nil && p.UID != nil && *p.UID != m.GetUID() {
		return conflict(kind, name)
	}
	if job, ok := o.(*batchv1.Job); ok {
		return s.removeJob(job, how)
	}
	p, grace := o.(*v1.Pod), int64(30)
	if how.GracePeriodSeconds != nil {
		grace = *how.GracePeriodSeconds
	}
	if p.Spec.NodeName == "" || p.Status.Phase == v1.PodFailed || p.Status.Phase == v1.PodSucceeded {
		grace = 0
	}
	if p.DeletionTimestamp == nil || grace == 0 {
		at := metav1.NewTime(time.Now().Add(time.Duration(grace) * time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	}
	return s.put(podsKind, p)
}

// removeJob deletes a Job, and has the garbage collector do what the options say of its pods: delete them after the Job or
// before it, or take the Job from their owners.
func (s *server) removeJob(job *batchv1.Job, how metav1.DeleteOptions) error {
	policy := metav1.DeletePropagationBackground
	if how.PropagationPolicy != nil {
		policy = *how.PropagationPolicy
	}
	holds := map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
	}[policy]
	if holds != "" {
		job.Finalizers = append(job.Finalizers, holds)
	}
	now := metav1.Now()
	job.DeletionTimestamp = &now
	if err := s.put(jobsKind, job); err != nil {
		return err
	}
	go func() {
		for range 600 {
			time.Sleep(50 * time.Millisecond)
			if s.collect(job, policy, holds) {
				return
			}
		}
	}()
	return nil
}

// collect looks after the pods of a Job that is deleted, and reports whether none is left.
func (s *server) collect(job *batchv1.Job, policy metav1.DeletionPropagation, holds string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.list(podsKind, job.Namespace)
	if err != nil {
		return true
	}
	left := 0
	for i := range list.(*v1.PodList).Items {
		p := &list.(*v1.PodList).Items[i]
		if owner := metav1.GetControllerOf(p); owner == nil || owner.UID != job.UID {
			continue
		}
		left++
		if policy == metav1.DeletePropagationOrphan {
			p.OwnerReferences = nil
			_ = s.put(podsKind, p)
		} else if p.DeletionTimestamp == nil {
			_ = s.remove(podsKind, p.Namespace, p.Name, metav1.DeleteOptions{})
		}
	}
	if left > 0 && policy != metav1.DeletePropagationOrphan {
		return false
	}
	if o, err := s.Tracker().Get(jobsKind, job.Namespace, job.Name); err == nil && of(o).GetUID() == job.UID && holds != "" {
		o = o.DeepCopyObject()
		of(o).SetFinalizers(slices.DeleteFunc(of(o).GetFinalizers(), func(f string) bool { return f == holds }))
		_ = s.put(jobsKind, o)
	}
	return true
}

// tell tells all watches of an event.
func (s *server) tell(kind schema.GroupVersionResource, what watch.EventType, o runtime.Object) {
	s.log = append(s.log, change{kind, s.version, watch.Event{Type: what, Object: o.DeepCopyObject()}})
	s.changed.Broadcast()
}

// watch begins a watch where the list has ended of which the version is named, or else now.
func (s *server) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	kind := action.GetResource()
	a, ok := action.(clienttesting.WatchActionImpl)
	if !ok || kind != podsKind && kind != jobsKind {
		return false, nil, nil
	}
	w := &watcher{s: s, kind: kind, namespace: a.Namespace, events: make(chan watch.Event), stop: make(chan struct{}),
		selector: a.WatchRestrictions.Labels}
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.version
	if is, err := strconv.Atoi(a.ListOptions.ResourceVersion); err == nil {
		since = is
	}
	for w.at = len(s.log); w.at > 0 && s.log[w.at-1].version > since; w.at-- {
	}
	if kind == jobsKind {
		w.lag = s.lag
	}
	go w.run()
	return true, w, nil
}

// watcher is a watch whose queue has no bound, so that a slow reader loses nothing.
type watcher struct {
	s         *server
	kind      schema.GroupVersionResource
	namespace string
	selector  labels.Selector
	at        int // the next event of the log
	lag       time.Duration
	events    chan watch.Event
	stop      chan struct{}
	once      sync.Once
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

func (w *watcher) Stop() {
	w.once.Do(func() {
		close(w.stop)
		w.s.mu.Lock()
		w.s.changed.Broadcast()
		w.s.mu.Unlock()
	})
}

func (w *watcher) stopped() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

func (w *watcher) run() {
	defer close(w.events)
	for {
		w.s.mu.Lock()
		for w.at == len(w.s.log) && !w.stopped() {
			w.s.changed.Wait()
		}
		if w.stopped() {
			w.s.mu.Unlock()
			return
		}
		c := w.s.log[w.at]
		w.at++
		w.s.mu.Unlock()
		m := of(c.event.Object)
		if c.kind != w.kind || w.namespace != "" && m.GetNamespace() != w.namespace ||
			w.selector != nil && !w.selector.Matches(labels.Set(m.GetLabels())) {
			continue
		}
		time.Sleep(w.lag)
		select {
		case w.events <- watch.Event{Type: c.event.Type, Object: c.event.Object.DeepCopyObject()}:
		case <-w.stop:
			return
		}
	}
}

// setDefaults sets what a Job leaves open, as the API server does.
func setDefaults(job *batchv1.Job) {
	s, uid := &job.Spec, string(job.UID)
	if s.Selector == nil {
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: uid}}
		s.Template.Labels = with(s.Template.Labels, legacyNameLabel, job.Name, legacyOwnerLabel, uid, batchv1.JobNameLabel, job.Name,
			batchv1.ControllerUidLabel, uid)
	}
	one, limit, mode, no := int32(1), int32(6), batchv1.NonIndexedCompletion, false
	policy := batchv1.TerminatingOrFailed
	if s.PodFailurePolicy != nil {
		policy = batchv1.Failed
	}
	if s.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions = &one
	}
	set := func(unset bool, to func()) {
		if unset {
			to()
		}
	}
	set(s.Parallelism == nil, func() { s.Parallelism = new(int32); *s.Parallelism = 1 })
	set(s.BackoffLimit == nil, func() { s.BackoffLimit = &limit })
	set(s.CompletionMode == nil, func() { s.CompletionMode = &mode })
	set(s.Suspend == nil, func() { s.Suspend = &no })
	set(s.PodReplacementPolicy == nil, func() { s.PodReplacementPolicy = &policy })
}

// The rest stands in for what upstream's file has of the same name, or for names of packages that are not compiled.

// roundTrip is what a real server needs to answer. Tests list the pods right after they have changed a Job, and rely on the
// controller to be quicker.
const roundTrip = 150 * time.Millisecond

func setup(_ testing.TB, namespace string) (func(), *restclient.Config, clientset.Interface, *v1.Namespace) {
	serving = newServer()
	as := client{server: serving, lists: func(string) { time.Sleep(roundTrip) }}
	return func() {}, &restclient.Config{}, as, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
}

func newForConfigOrDie(*restclient.Config) clientset.Interface { return serving }

// runner gives a controller the signature that upstream's has.
type runner struct{ c *Controller }

func (r runner) Run(ctx context.Context, _ int) { _ = r.c.Run(ctx) }

func createJobControllerWithSharedInformers(
	tb testing.TB, config *restclient.Config, set informers.SharedInformerFactory,
) (runner, context.Context, context.CancelFunc) {
	tb.Helper()
	_, ctx := ktesting.NewTestContext(tb)
	ctx, cancel := context.WithCancel(ctx)
	if set != nil { // a test may look at the Jobs in it
		set.Batch().V1().Jobs().Informer()
	}
	as := client{server: serving}
	if config.WrapTransport != nil { // a test holds requests up
		transport := config.WrapTransport(roundTripperFunc(created))
		as.creates = func(path string) {
			_, _ = transport.RoundTrip(&http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}})
		}
	}
	c, err := New(Config{Client: as, Interval: time.Second, Policy: restart.Never{}})
	if err != nil {
		tb.Fatal(err)
	}
	return runner{c}, ctx, cancel
}

// startJobControllerAndWaitForCaches takes an option of the informers for the one that delays Jobs, which is all that
// upstream gives it.
func startJobControllerAndWaitForCaches(
	tb testing.TB, config *restclient.Config, options ...informers.SharedInformerOption,
) (context.Context, context.CancelFunc) {
	tb.Helper()
	serving.lag = 0
	if len(options) > 0 {
		serving.lag = 2 * fastSyncJobBatchPeriod
	}
	r, ctx, cancel := createJobControllerWithSharedInformers(tb, config, nil)
	go r.Run(ctx, 1)
	for len(r.c.Missing()) > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	return ctx, cancel
}

// createJobWithDefaults gives the Job to this controller, unless the test gives it to another, and makes it an Indexed one.
func createJobWithDefaults(
	ctx context.Context, client clientset.Interface, namespace string, job *batchv1.Job,
) (*batchv1.Job, error) {
	job = job.DeepCopy()
	if job.Name == "" {
		job.GenerateName = "test-job"
	}
	if len(job.Spec.Template.Spec.Containers) == 0 {
		job.Spec.Template.Spec.Containers = []v1.Container{{Name: "foo", Image: "bar"}}
	}
	if job.Spec.Template.Spec.RestartPolicy == "" {
		job.Spec.Template.Spec.RestartPolicy = v1.RestartPolicyNever
	}
	if job.Spec.ManagedBy == nil {
		manager, mode := Manager, batchv1.IndexedCompletion
		job.Spec.ManagedBy, job.Spec.CompletionMode = &manager, &mode
		if n := int32(1); job.Spec.Completions == nil {
			if job.Spec.Parallelism != nil {
				n = *job.Spec.Parallelism
			}
			job.Spec.Completions = &n
		}
	}
	return client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{})
}

// waitForEvent looks for an event of the Job among those of the core API, which this controller writes.
func waitForEvent(ctx context.Context, _ watch.Interface, uid types.UID, reason string) error {
	if reason == "" {
		return nil
	}
	return wait.PollUntilContextTimeout(ctx, waitInterval, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		list, err := serving.CoreV1().Events("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(list.Items, func(e v1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == uid
		}), nil
	})
}

// The metrics of the built-in controller are its own; this one has others.
func validateCounterMetric(context.Context, *testing.T, string, metricLabelsWithValue) {}

func resetMetrics() {}

const (
	metricsAdd                                  = "add"
	metricsDelete                               = "delete"
	metricsJobByExternalControllerTotal         = ""
	metricsJobFinishedIndexesTotal              = ""
	metricsJobFinishedNum                       = ""
	metricsJobPodsCreationTotal                 = ""
	metricsJobPodsFinished                      = ""
	metricsPodFailuresHandledByFailurePolicy    = ""
	metricsTerminatedPodsTrackingFinalizerTotal = ""
)

// Feature gates are the API server's and the built-in controller's. All that the tests turn on are on in 1.37.
type featuregatetestingFeatureOverrides map[string]bool

func featuregatetestingSetFeatureGateDuringTest(...any)                 {}
func featuregatetestingSetFeatureGatesDuringTest(...any)                {}
func featuregatetestingSetFeatureGateEmulationVersionDuringTest(...any) {}

var featureDefaultFeatureGate any

const (
	featuresJobManagedBy                                = "JobManagedBy"
	featuresMutablePodResourcesForSuspendedJobs         = "MutablePodResourcesForSuspendedJobs"
	featuresMutableSchedulingDirectivesForSuspendedJobs = "MutableSchedulingDirectivesForSuspendedJobs"
)

// What these variables bound here has bounds of its own.
var (
	jobcontrollerMaxUncountedPods          = mostUncounted
	jobcontrollerMaxPodCreateDeletePerSync = maxCreates
	jobcontrollerSyncJobBatchPeriod        = batchPeriod
)

func utilCreateGCController(...any) func() { return func() {} } // the server has one

func podutilIsPodReady(p *v1.Pod) bool { return condition(p, v1.PodReady) }

func podutilIsPodTerminal(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodFailed || p.Status.Phase == v1.PodSucceeded
}
