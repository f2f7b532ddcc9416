package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

// toy is a simulated cluster around client-go's fake clientset. It has an API server that checks a Job's status and
// keeps objects with finalizers, a scheduler that respects affinities by node name, and kubelets. It has a clock of
// its own, and nothing in it is random.
type toy struct {
	t      testing.TB
	client *fake.Clientset
	c      *Controller
	now    time.Time
	nodes  []string
	slots  int
	slow   map[string]float64
	dead   map[string]bool
	events *record.FakeRecorder

	takes   func(p *v1.Pod) time.Duration // how long a pod runs on a healthy node
	exits   func(p *v1.Pod) int32
	silent  bool // pods report no progress
	totals  bool // pods report their progress as a quotient, with the size of their index
	polite  bool // pods exit with 0 if they are told to stop
	began   map[types.UID]time.Time
	made    []*v1.Pod // all pods that were ever made
	writes  int       // number of writes that the API server has accepted
	failAt  int       // number of the write at which the controller dies; 0: it does not die
	deadNow bool
	uids    int

	versions int // of the Job
}

const jobKey = "default/j"

var errDied = errors.New("the controller has died")

func newToy(t testing.TB, job *batchv1.Job, change ...func(*toy, *Config)) *toy {
	y := &toy{
		t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), nodes: []string{"n0", "n1", "n2", "n3"}, slots: 4,
		slow: map[string]float64{}, dead: map[string]bool{}, began: map[types.UID]time.Time{},
		takes: func(*v1.Pod) time.Duration { return 20 * time.Second }, exits: func(*v1.Pod) int32 { return 0 },
		events: record.NewFakeRecorder(10000),
	}
	y.client = fake.NewSimpleClientset() // the new one takes ten times longer, for managed fields
	y.client.PrependReactor("create", "pods", y.create)
	y.client.PrependReactor("delete", "pods", y.remove)
	y.client.PrependReactor("patch", "pods", y.patch)
	y.client.PrependReactor("update", "jobs", y.updateJob)
	config := Config{}
	for _, f := range change {
		f(y, &config)
	}
	for _, name := range y.nodes {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
		require.NoError(t, y.client.Tracker().Add(n))
	}
	require.NoError(t, y.client.Tracker().Add(job))
	y.restart(config)
	return y
}

// restart starts a new controller.
func (y *toy) restart(config Config) {
	config.Client, config.Events, config.Now = y.client, y.events, func() time.Time { return y.now }
	config.Interval = or(config.Interval, time.Second)
	c, err := New(config)
	require.NoError(y.t, err)
	c.events = y.events
	y.c, y.deadNow = c, false
}

// write counts a write of the controller. The controller may die after this write.
func (y *toy) write() error {
	if y.deadNow {
		return errDied
	}
	y.writes++
	if y.writes == y.failAt {
		y.deadNow = true
	}
	return nil
}

func (y *toy) create(action clienttesting.Action) (bool, runtime.Object, error) {
	if err := y.write(); err != nil {
		return true, nil, err
	}
	p := action.(clienttesting.CreateAction).GetObject().(*v1.Pod)
	y.uids++
	p.UID, p.CreationTimestamp = types.UID(fmt.Sprint("pod-", y.uids)), metav1.NewTime(y.now)
	p.Status.Phase = v1.PodPending
	y.made = append(y.made, p.DeepCopy())
	return false, nil, nil
}

func (y *toy) remove(action clienttesting.Action) (bool, runtime.Object, error) {
	if err := y.write(); err != nil {
		return true, nil, err
	}
	a := action.(clienttesting.DeleteActionImpl)
	p, err := y.pod(a.Name)
	if err != nil {
		return true, nil, err
	}
	if p.DeletionTimestamp == nil {
		at := metav1.NewTime(y.now.Add(time.Second))
		p.DeletionTimestamp = &at
	}
	force := a.DeleteOptions.GracePeriodSeconds != nil && *a.DeleteOptions.GracePeriodSeconds == 0
	y.put(p, force)
	return true, p, nil
}

func (y *toy) patch(action clienttesting.Action) (bool, runtime.Object, error) {
	if err := y.write(); err != nil {
		return true, nil, err
	}
	_, o, err := clienttesting.ObjectReaction(y.client.Tracker())(action)
	if err != nil {
		return true, nil, err
	}
	y.put(o.(*v1.Pod), false)
	return true, o, nil
}

func (y *toy) updateJob(action clienttesting.Action) (bool, runtime.Object, error) {
	if err := y.write(); err != nil {
		return true, nil, err
	}
	job := action.(clienttesting.UpdateAction).GetObject().(*batchv1.Job)
	if job.ResourceVersion != y.job().ResourceVersion {
		return true, nil, apierrors.NewConflict(batchv1.Resource("jobs"), job.Name, errors.New("it has changed"))
	}
	y.versions++
	job.ResourceVersion = fmt.Sprint(y.versions)
	for _, wrong := range police(y.job(), job) {
		y.t.Errorf("the API server would refuse the status: %s\n%+v", wrong, job.Status)
	}
	return false, nil, nil
}

func (y *toy) pod(name string) (*v1.Pod, error) {
	o, err := y.client.Tracker().Get(v1.SchemeGroupVersion.WithResource("pods"), "default", name)
	if err != nil {
		return nil, err
	}
	return o.(*v1.Pod).DeepCopy(), nil
}

// put stores a pod, or removes it if it is deleted and has no finalizer.
func (y *toy) put(p *v1.Pod, force bool) {
	pods := v1.SchemeGroupVersion.WithResource("pods")
	gone := p.DeletionTimestamp != nil && len(p.Finalizers) == 0 && (force || terminal(p) || p.Spec.NodeName == "")
	if gone {
		require.NoError(y.t, y.client.Tracker().Delete(pods, "default", p.Name))
		return
	}
	require.NoError(y.t, y.client.Tracker().Update(pods, p, "default"))
}

func (y *toy) job() *batchv1.Job {
	o, err := y.client.Tracker().Get(batchv1.SchemeGroupVersion.WithResource("jobs"), "default", "j")
	require.NoError(y.t, err)
	return o.(*batchv1.Job)
}

// change changes the Job as its owner would.
func (y *toy) change(f func(*batchv1.Job)) {
	job := y.job().DeepCopy()
	f(job)
	require.NoError(y.t, y.client.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("jobs"), job, "default"))
}

// pods lists all pods, ordered by name.
func (y *toy) pods() (pods []*v1.Pod) {
	list, err := y.client.CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	require.NoError(y.t, err)
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	slices.SortFunc(pods, func(a, b *v1.Pod) int { return cmpText(a.Name, b.Name) })
	return pods
}

func cmpText(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// sync shows the controller all objects, and lets it sync the Job.
func (y *toy) sync() error {
	y.show()
	_, err := y.c.sync(context.Background(), jobKey)
	return err
}

// show puts all objects into the caches of the controller.
func (y *toy) show() {
	replace := func(to interface {
		Replace([]any, string) error
	}, objects ...any) {
		for i := range objects {
			objects[i], _ = y.c.strip(objects[i].(runtime.Object).DeepCopyObject())
		}
		require.NoError(y.t, to.Replace(objects, ""))
	}
	var pods, nodes, jobs []any
	for _, p := range y.pods() {
		pods = append(pods, p)
	}
	list, err := y.client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	require.NoError(y.t, err)
	for i := range list.Items {
		nodes = append(nodes, &list.Items[i])
	}
	if o, err := y.client.Tracker().Get(batchv1.SchemeGroupVersion.WithResource("jobs"), "default", "j"); err == nil {
		jobs = append(jobs, o)
	}
	replace(y.c.pods.GetIndexer(), pods...)
	replace(y.c.nodes.GetIndexer(), nodes...)
	replace(y.c.jobs.GetIndexer(), jobs...)
	for _, n := range nodes {
		y.c.nodeChanged(n.(*v1.Node))
	}
}

// step advances the cluster by a second.
func (y *toy) step() {
	if err := y.sync(); err != nil && !y.deadNow {
		require.NoError(y.t, err)
	}
	if y.deadNow {
		y.restart(Config{})
	}
	y.now = y.now.Add(time.Second)
	y.run()
}

// steps advances the cluster until the Job is over, by at most n seconds.
func (y *toy) steps(most int) *batchv1.Job {
	for i := 0; i < most && !finishedJob(y.job()); i++ {
		y.step()
	}
	return y.job()
}

// run does the work of the scheduler and the kubelets.
func (y *toy) run() {
	load := map[string]int{}
	pods := y.pods()
	for _, p := range pods {
		if !ended(p) {
			load[p.Spec.NodeName]++
		}
	}
	for _, p := range pods {
		if p.Spec.NodeName == "" && p.DeletionTimestamp == nil {
			if len(p.Spec.SchedulingGates) > 0 {
				continue
			}
			for _, n := range y.nodes {
				if load[n] < y.slots && !y.dead[n] && mayRun(p, n) {
					p.Spec.NodeName = n
					load[n]++
					break
				}
			}
			if p.Spec.NodeName != "" {
				p.Status.Phase = v1.PodRunning
				p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionTrue})
				at := metav1.NewTime(y.now.Truncate(time.Second))
				p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c",
					State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: at}}}}
				y.began[p.UID] = y.now
			} else {
				p.Status.Conditions = []v1.PodCondition{{
					Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable}}
			}
			y.put(p, false)
			continue
		}
		if p.Spec.NodeName != "" && !ended(p) && !y.dead[p.Spec.NodeName] {
			y.work(p)
		}
	}
}

// work does for a running pod what a kubelet would do.
func (y *toy) work(p *v1.Pod) {
	usual := y.takes(p).Seconds() * max(y.slow[p.Spec.NodeName], 1)
	ran := y.now.Sub(y.began[p.UID]).Seconds()
	code, over := y.exits(p), ran >= usual
	if p.DeletionTimestamp != nil {
		code, over = 137, true
		if y.polite {
			code = 0
		}
	}
	if !over {
		if !y.silent {
			p.Annotations[ProgressAnnotation] = fmt.Sprintf("%.3f@%d", ran/usual, y.now.Unix())
			if n := y.takes(p).Seconds(); y.totals {
				p.Annotations[ProgressAnnotation] = fmt.Sprintf("%.3f/%g@%d", n*ran/usual, n, y.now.Unix())
			}
			y.put(p, false)
		}
		return
	}
	y.finish(p, code)
}

// finish ends a pod.
func (y *toy) finish(p *v1.Pod, code int32) {
	p.Status.Phase = v1.PodSucceeded
	if code != 0 {
		p.Status.Phase = v1.PodFailed
	}
	p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions,
		func(c v1.PodCondition) bool { return c.Type == v1.PodReady })
	end := &v1.ContainerStateTerminated{ExitCode: code, StartedAt: metav1.NewTime(y.began[p.UID].Truncate(time.Second)),
		FinishedAt: metav1.NewTime(y.now.Truncate(time.Second))}
	p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", State: v1.ContainerState{Terminated: end}}}
	y.put(p, false)
}

func mayRun(p *v1.Pod, node string) bool {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Operator == v1.NodeSelectorOpNotIn && slices.Contains(f.Values, node) {
				return false
			}
		}
	}
	return true
}

// indexedJob is a Job with n indexes that names this controller.
func indexedJob(n int32, change ...func(*batchv1.JobSpec)) *batchv1.Job {
	mode, manager := batchv1.IndexedCompletion, Manager
	limit := int32(6)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "default", UID: "job-1"}}
	template := v1.PodSpec{RestartPolicy: v1.RestartPolicyNever, Containers: []v1.Container{{Name: "c"}}}
	job.Spec = batchv1.JobSpec{
		Completions: &n, Parallelism: &n, CompletionMode: &mode, ManagedBy: &manager, BackoffLimit: &limit,
		Template: v1.PodTemplateSpec{Spec: template},
	}
	for _, f := range change {
		f(&job.Spec)
	}
	return job
}

// oneWinner checks that each complete index has one winner, and no other pod.
func oneWinner(t testing.TB, y *toy) {
	job := y.job()
	set, err := parseIndexes(job.Status.CompletedIndexes, int(*job.Spec.Completions))
	require.NoError(t, err)
	winners := map[string]int{}
	for _, p := range y.pods() {
		require.False(t, hasFinalizer(p), "pod %s still has its finalizer", p.Name)
		if p.Labels[WinnerLabel] == "true" {
			winners[p.Annotations[indexAnnotation]]++
			require.Equal(t, v1.PodSucceeded, p.Status.Phase)
		} else {
			require.NotEqual(t, v1.PodSucceeded, p.Status.Phase, "pod %s succeeded, did not win, and is still there", p.Name)
		}
	}
	for i, in := range set {
		want := 0
		if in {
			want = 1
		}
		require.Equal(t, want, winners[strconv.Itoa(i)], "winners of index %d", i)
	}
}
