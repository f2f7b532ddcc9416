package jobs

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// run is the controller's knowledge about a running Job. It is not saved: a new controller makes it again from the
// Job and its pods.
type run struct {
	uid    types.UID // UID of the Job; a later Job of the same name has another UID
	spec   spec      // settings of the Job at the last sync
	phase  *engine.Phase
	config engine.Config            // of the phase
	wanted []wanted                 // in shadow mode: the decisions since the last sync
	polled bool                     // the method attempts was called for this phase before
	seen   map[types.UID]*podRecord // by UID of a pod: knowledge about this pod
	soft   map[int]bool             // indexes whose next pod may run on any node, because a pod found no node
	list   []engine.Attempt         // result of the method attempts, whose memory is used again

	unmade []unmade

	noCopy map[int]bool // indexes that get no copies for now, because they have failed

	sizes sizes

	counted tracker.Ledger // the part of the phase's ledger that is in the metrics
	recount bool           // the phase is new, and its first ledger contains attempts that are already in the metrics
}

// unmade is an attempt that the engine.Phase has submitted and that has no pod yet. The reason is a pause after a
// failure of its index, or an error of the API server. The attempt is reported to the engine.Phase as waiting in a
// queue. So the engine.Phase does not submit the attempt again, and submits no copy.
type unmade struct {
	submit    engine.Action
	cancelled bool // the pod is no longer needed
}

// podRecord is the controller's knowledge about one pod and its attempt.
type podRecord struct {
	id    string    // ID that the attempt has in the engine.Phase
	text  string    // text of the pod's last progress annotation
	share float64   // share of the work that is done, by this annotation, in [0, 1]
	asOf  time.Time // when this progress was measured
	shown bool      // the attempt was reported to the engine.Phase
	over  bool      // the end of the attempt was reported to the engine.Phase
	past  bool      // the end of the attempt was reported to an earlier phase of the Job
	begun time.Time // when a sync first saw the pod run; zero: it ran at the first sync already
	ended time.Time // when a sync first saw the pod's end; zero: it had ended at the first sync
}

// runOf returns the run of a Job, and makes a new run if the Job is new or its settings have changed. If the pods
// report that indexes differ in size, runOf makes a new phase for the run. preloaded says that another controller
// makes the pods. The caller has locked c.mu.
func (c *Controller) runOf(
	key string, job *batchv1.Job, s spec, now time.Time, pods []*v1.Pod, preloaded bool,
) (r *run, err error) {
	r = c.runs[key]
	// A new run is needed if the settings have changed, or if this is a new Job of the same name.
	if r != nil && (r.uid != job.UID || !r.spec.sameRun(&s)) {
		r.close(now)
		r = nil
	}
	if r == nil {
		r = &run{uid: job.UID, seen: map[types.UID]*podRecord{}, soft: map[int]bool{}}
	}
	r.spec = s
	r.read(pods, now)
	if s.work == nil {
		if s.work = r.sizes.renew(now, s.interval); s.work != nil && r.phase != nil {
			r.close(now)
			r.phase, r.recount, r.unmade = nil, true, nil
		}
	}
	if r.phase == nil {
		if err = c.begin(r, job, s, preloaded); err != nil {
			delete(c.runs, key)
			return nil, err
		}
	}
	c.runs[key] = r
	return r, nil
}

// begin makes a new engine.Phase for the Job. If two pods of an index must never run at once, begin forbids copies.
// preloaded says that another controller makes the pods.
func (c *Controller) begin(r *run, job *batchv1.Job, s spec, preloaded bool) (err error) {
	r.config = s.config(c.machines)
	r.config.Preloaded, r.config.Journal = preloaded, c.config.Journal && c.config.OnEnd != nil
	if s.shadow {
		r.config.Shadow = func(index int, d restart.Decision) { r.wanted = append(r.wanted, wanted{index, d}) }
	}
	if c.config.Configure != nil {
		c.config.Configure(job, &r.config)
	}
	if r.phase, err = engine.New(r.config); err != nil {
		return err
	}
	r.polled, r.noCopy = false, map[int]bool{}
	for i := range s.tasks {
		if !s.copies {
			r.phase.SetEligible(i, false, true)
		}
	}
	for _, seen := range r.seen {
		seen.past, seen.over = seen.past || seen.over, false
	}
	return nil
}

// attempts returns reports about the Job's attempts for the engine.Phase: one report for each pod, and one for each
// ended index that has no pod any more. Begins and ends are dated by the time of the sync that sees them. The
// kubelet's times are whole seconds, so they are used only for begins and ends before the first sync. attempts takes
// O(pods + completions) time.
func (r *run) attempts(now time.Time, p *plan, pods []*v1.Pod) []engine.Attempt {
	r.list = r.list[:0]
	waits := !r.spec.copies
	shown := make(indexes, r.spec.tasks)
	for _, pod := range pods {
		i := index(pod)
		if i < 0 || i >= r.spec.tasks {
			continue
		}
		s := r.recordOf(pod)
		if s.over {
			continue
		}
		// If two pods of an index must never run at once, a deleted pod is reported as ended only when it has ended.
		// A deleted pod without a node has never run. So this holds for such a pod only with podReplacementPolicy:
		// Failed.
		a := engine.Attempt{ID: s.id, Task: i, Machine: pod.Spec.NodeName,
			State: state(pod, waits && (pod.Spec.NodeName != "" || replacesFailed(p.job)))}
		if a.State == engine.Succeeded && !p.completed[i] { // it exited with 0 only because it was told to stop
			a.State = engine.Cancelled
		}
		a.Published = p.winners[i] == pod
		gone := a.State >= engine.Succeeded
		r.date(&a, s, pod, now)
		if a.State == engine.Running && !s.asOf.IsZero() {
			a.Progress, a.AsOf = tracker.Report{Score: s.share}, s.asOf
		}
		if s.past { // without a machine, because the record of nodes contains this attempt already
			a.Machine = ""
		}
		s.shown, s.over = true, gone
		shown[i] = shown[i] || a.Published
		r.list = append(r.list, a)
	}
	// If the winning pod of an index is gone, a new phase can't know that the index has a result. So this loop
	// reports a made-up attempt that has succeeded, and the phase starts nothing for the index. It does the same for
	// an index that was given up.
	for i := range shown {
		if over := p.completed[i] || p.givenUp[i]; over && !shown[i] {
			if _, has := r.phase.Winner(i); !has {
				r.list = append(r.list, engine.Attempt{
					ID: fmt.Sprintf("over.%d", i), Task: i, State: engine.Succeeded, Published: true,
				})
			}
		}
	}
	r.polled = true
	return r.listUnmade(pods)
}

// listUnmade appends to r.list a report for each attempt that has no pod yet. It removes from r.unmade the attempts
// whose pods exist by now, and the cancelled attempts.
func (r *run) listUnmade(pods []*v1.Pod) []engine.Attempt {
	if len(r.unmade) == 0 {
		return r.list
	}
	there := make(map[string]bool, len(pods))
	for _, pod := range pods {
		there[attemptOf(pod)] = true
	}
	r.unmade = slices.DeleteFunc(r.unmade, func(h unmade) bool {
		if there[h.submit.ID] {
			return true
		}
		a := engine.Attempt{ID: h.submit.ID, Task: h.submit.Task, State: engine.Queued}
		if h.cancelled {
			a.State = engine.Cancelled
		}
		r.list = append(r.list, a)
		return h.cancelled
	})
	return r.list
}

// takeDue returns the actions to carry out now. First it puts into r.unmade each attempt that the engine.Phase
// submits. Then it returns all cancellations, and as many submissions as there are free slots. It leaves out
// submissions for an index that is in a pause after a failure. takeDue also sets p.nextSync to the end of the next
// pause.
func (r *run) takeDue(p *plan, actions []engine.Action) (now []engine.Action) {
	for i := range actions {
		a := &actions[i]
		at := slices.IndexFunc(r.unmade, func(h unmade) bool { return h.submit.ID == a.ID })
		switch {
		case a.Op == engine.Submit && at < 0:
			r.unmade = append(r.unmade, unmade{submit: *a})
		case a.Op == engine.Submit:
		case a.Op == engine.Cancel && at >= 0:
			r.unmade[at].cancelled = true
			now = append(now, *a) // the pod may exist, even if the request to make it returned an error
		default:
			now = append(now, *a)
		}
	}
	// Other indexes may use the slots of indexes that are in a pause. But the Job must not have more active pods than
	// its parallelism.
	room := r.spec.slots - int(p.status.Active)
	for i := range r.unmade {
		h := &r.unmade[i]
		switch left := p.pauseEnd(h.submit.Task).Sub(p.now); {
		case h.cancelled:
		case left > 0:
			if p.nextSync == 0 || left < p.nextSync {
				p.nextSync = left
			}
		case room > 0:
			room--
			now = append(now, h.submit)
		}
	}
	return now
}

// spareRetries forbids copies of an index that has failed, until a later pod of the index has run for the typical
// time. The reason: if a pod is going to fail, a copy of the pod will fail, too. Then the Job would reach its limit
// of failures twice as fast.
func (r *run) spareRetries(p *plan, pods []*v1.Pod) {
	if !r.spec.copies || len(p.setbacks)+len(r.noCopy) == 0 {
		return
	}
	// barred becomes the set of the indexes without copies. It contains each index with a failure, unless a running
	// pod of the index has run for the typical time.
	typical, barred := p.typical(pods), map[int]bool{}
	for i := range p.setbacks {
		if i >= 0 && i < r.spec.tasks {
			barred[i] = true
		}
	}
	for _, pod := range pods {
		if i := index(pod); barred[i] && active(pod) {
			if begun, _ := span(pod); !begun.IsZero() && p.now.Sub(begun) >= typical {
				delete(barred, i)
			}
		}
	}
	for i := range barred {
		r.phase.SetEligible(i, false, true)
	}
	for i := range r.noCopy {
		if !barred[i] {
			r.phase.SetEligible(i, true, true)
		}
	}
	r.noCopy = barred
}

// typical returns the median run time of the winning pods. As long as there is no winning pod, it returns the age of
// the oldest running pod whose index has not failed.
func (p *plan) typical(pods []*v1.Pod) (t time.Duration) {
	var took []time.Duration
	for _, pod := range p.winners {
		if pod == nil {
			continue
		}
		if begun, ended := span(pod); !begun.IsZero() && ended.After(begun) {
			took = append(took, ended.Sub(begun))
		}
	}
	if len(took) > 0 {
		slices.Sort(took)
		return took[len(took)/2]
	}
	for _, pod := range pods {
		if _, has := p.setbacks[index(pod)]; has || !active(pod) {
			continue
		}
		if begun, _ := span(pod); !begun.IsZero() {
			t = max(t, p.now.Sub(begun))
		}
	}
	return t
}

// paused returns the number of attempts without a pod whose index is in a pause after a failure.
func (r *run) paused(p *plan) (n int) {
	for i := range r.unmade {
		if p.now.Before(p.pauseEnd(r.unmade[i].submit.Task)) {
			n++
		}
	}
	return n
}

// made removes from r.unmade the attempts with these IDs, because their pods now exist.
func (r *run) made(ids map[string]bool) {
	r.unmade = slices.DeleteFunc(r.unmade, func(h unmade) bool { return ids[h.submit.ID] })
}

// recordOf returns the podRecord of a pod. If there is none, recordOf makes one.
func (r *run) recordOf(pod *v1.Pod) *podRecord {
	s := r.seen[pod.UID]
	if s == nil {
		s = &podRecord{id: attemptOf(pod)}
		r.seen[pod.UID] = s
	}
	return s
}

// date sets the begin and the end in the report a about a pod's attempt. In the first poll of a phase these are the
// times in the record s, or else the kubelet's times. In later polls date sets only the begin of an ended pod. The
// engine.Phase then uses the time of the poll for all other begins and ends.
func (r *run) date(a *engine.Attempt, s *podRecord, pod *v1.Pod, now time.Time) {
	gone := a.State >= engine.Succeeded
	begun, ended := span(pod)
	if r.polled {
		if a.State == engine.Running && s.begun.IsZero() {
			s.begun = now
		}
		if gone {
			s.ended = now
			a.Begun = begun
		}
		return
	}
	if a.Begun = s.begun; a.Begun.IsZero() {
		a.Begun = begun
	}
	if gone {
		if a.Ended = s.ended; a.Ended.IsZero() {
			a.Ended = ended
		}
	}
}

// read reads the progress annotation of each pod, and stores the progress in the pod's podRecord. If an annotation
// contains no time, the time at which it was first seen is used.
func (r *run) read(pods []*v1.Pod, now time.Time) {
	for _, pod := range pods {
		i, text := index(pod), pod.Annotations[ProgressAnnotation]
		if i < 0 || i >= r.spec.tasks || text == "" {
			continue
		}
		s := r.recordOf(pod)
		if text == s.text {
			continue
		}
		s.text = text
		share, total, asOf, err := parseProgress(text)
		if err != nil {
			continue
		}
		r.sizes.note(i, r.spec.tasks, total)
		if s.share, s.asOf = share, asOf; asOf.IsZero() {
			s.asOf = now
		}
	}
}

// forget deletes the records of pods that no longer exist. To save time, it does nothing until such records are about
// a third of all records.
func (r *run) forget(pods []*v1.Pod) {
	if len(r.seen) <= len(pods)+len(pods)/2+16 {
		return
	}
	kept := make(map[types.UID]*podRecord, len(pods))
	for _, pod := range pods {
		if s := r.seen[pod.UID]; s != nil {
			kept[pod.UID] = s
		}
	}
	r.seen = kept
}

// close closes the phase, and gives back its part of the nodes, so that the phases of other Jobs can use it.
func (r *run) close(now time.Time) {
	r.phase.Close(now)
	r.phase.Release()
}
