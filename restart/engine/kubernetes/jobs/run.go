package jobs

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// run is the controller's knowledge about a Job that runs. A run may be lost: from the first list of pods a new
// controller builds a new run.
type run struct {
	uid    types.UID // of the Job; a later Job of the same name has another
	spec   spec      // the Job's settings at the last sync
	phase  *engine.Phase
	polled bool                     // the phase was polled
	seen   map[types.UID]*podRecord // by UID of the pod
	soft   map[int]bool             // indexes with a pod that found no node because of the nodes to avoid
	list   []engine.Attempt         // buffer of attempts

	unmade []unmade

	noCopy map[int]bool // indexes that get no copy for now, because their last pod has failed

	sizes sizes

	counted tracker.Ledger // the ledger when it was added to the metrics last
	recount bool           // the phase is new, and will be told of attempts that are in the metrics already
}

// unmade is a pod that the engine has asked for and that does not exist yet: its index is in a pause, or the API server
// has refused the pod. The engine is told that the attempt waits in a queue. So the engine asks neither for the attempt
// again, nor for a copy.
type unmade struct {
	submit    engine.Action
	cancelled bool // the pod is not needed any more
}

// podRecord is the controller's knowledge about a pod.
type podRecord struct {
	id    string    // the attempt's name
	text  string    // the last progress annotation
	share float64   // the last progress, in [0, 1]
	asOf  time.Time // the time of the last progress
	shown bool      // the engine knows the attempt
	over  bool      // the engine knows its end
	past  bool      // an earlier phase of the Job knew its end
	begun time.Time // when the pod was first seen to run; zero if it ran before the first poll
	ended time.Time // when the pod was first seen to have ended; zero if it had ended before the first poll
}

// runOf returns the run of a Job. The run goes on as long as the Job's settings stay the same. If the pods' progress
// shows that indexes differ in size, the run gets a new phase. The controller is locked.
func (c *Controller) runOf(
	key string, uid types.UID, s spec, now time.Time, pods []*v1.Pod, preloaded bool,
) (r *run, err error) {
	r = c.runs[key]
	// A change of the settings needs a new phase, and so does a new Job of the same name.
	if r != nil && (r.uid != uid || !r.spec.sameRun(&s)) {
		r.close(now)
		r = nil
	}
	if r == nil {
		r = &run{uid: uid, seen: map[types.UID]*podRecord{}, soft: map[int]bool{}}
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
		if err = r.begin(s, c.hosts, preloaded); err != nil {
			delete(c.runs, key)
			return nil, err
		}
	}
	c.runs[key] = r
	return r, nil
}

// begin makes a phase. Copies are forbidden if two pods of an index must never run at once.
func (r *run) begin(s spec, hosts *engine.Machines, preloaded bool) (err error) {
	c := s.config(hosts)
	c.Preloaded = preloaded
	if r.phase, err = engine.New(c); err != nil {
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

// attempts lists the attempts for the engine: the pods in their order, and an attempt for each index that is over and
// has no pod left. A kubelet's times are whole seconds, so they are used only for events before the first poll of this
// controller. attempts takes O(pods + completions) time.
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
		// The end of a pod without a node is awaited only under podReplacementPolicy: Failed.
		a := engine.Attempt{ID: s.id, Task: i, Machine: pod.Spec.NodeName,
			State: state(pod, waits && (pod.Spec.NodeName != "" || replacesFailed(p.job)))}
		if a.State == engine.Succeeded && !p.completed[i] { // the pod was told to stop
			a.State = engine.Cancelled
		}
		a.Published = p.winners[i] == pod
		gone := a.State >= engine.Succeeded
		r.date(&a, s, pod, now)
		if a.State == engine.Running && !s.asOf.IsZero() {
			a.Progress, a.AsOf = tracker.Report{Score: s.share}, s.asOf
		}
		if s.past { // the record of nodes has this attempt already
			a.Machine = ""
		}
		s.shown, s.over = true, gone
		shown[i] = shown[i] || a.Published
		r.list = append(r.list, a)
	}
	// A new phase does not know a winner if its pod is gone. So the phase is told of an attempt that stands for such a
	// winner, and starts nothing in this index. An index that was given up is reported in the same way.
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

// listUnmade adds the unmade pods to the list. listUnmade forgets the pods that exist by now, and the cancelled pods.
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

// takeDue takes over the engine's requests for pods, and returns the actions to carry out now: all cancellations, and the
// pods of indexes without a pause, as far as there are free slots. takeDue records when the next pause ends.
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
			now = append(now, *a) // the pod may exist although its creation returned an error
		default:
			now = append(now, *a)
		}
	}
	// The slots of paused indexes are free for other indexes, but the Job must not have more active pods than its
	// parallelism.
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

// spareRetries forbids copies of an index that has failed, until its next pod has run for the typical time. A copy of a
// pod that will fail fails, too, and uses up the limit of failures twice as fast.
func (r *run) spareRetries(p *plan, pods []*v1.Pod) {
	if !r.spec.copies || len(p.setbacks)+len(r.noCopy) == 0 {
		return
	}
	// now becomes the set of the indexes without copies: each index with a failure, except if a pod of it has run for the
	// typical time.
	typical, now := p.typical(pods), map[int]bool{}
	for i := range p.setbacks {
		if i >= 0 && i < r.spec.tasks {
			now[i] = true
		}
	}
	for _, pod := range pods {
		if i := index(pod); now[i] && active(pod) {
			if begun, _ := span(pod); !begun.IsZero() && p.now.Sub(begun) >= typical {
				delete(now, i)
			}
		}
	}
	for i := range now {
		r.phase.SetEligible(i, false, true)
	}
	for i := range r.noCopy {
		if !now[i] {
			r.phase.SetEligible(i, true, true)
		}
	}
	r.noCopy = now
}

// typical returns the median run time of the winners. Before there is a winner, it returns the age of the oldest
// running pod of an index without failures.
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

// paused counts the unmade pods whose index is in a pause.
func (r *run) paused(p *plan) (n int) {
	for i := range r.unmade {
		if p.now.Before(p.pauseEnd(r.unmade[i].submit.Task)) {
			n++
		}
	}
	return n
}

// made forgets the unmade pods that exist now.
func (r *run) made(ids map[string]bool) {
	r.unmade = slices.DeleteFunc(r.unmade, func(h unmade) bool { return ids[h.submit.ID] })
}

// recordOf returns the record of a pod, and makes it if there is none.
func (r *run) recordOf(pod *v1.Pod) *podRecord {
	s := r.seen[pod.UID]
	if s == nil {
		s = &podRecord{id: attemptOf(pod)}
		r.seen[pod.UID] = s
	}
	return s
}

// date adds the begin and the end to an attempt. In the first poll of a phase both are the recorded times, or the
// kubelet's. In later polls the engine dates the attempts by the time of the poll, and only the begin of an ended pod
// is added.
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

// read reads the progress of the pods. A report without a time counts from when it was first seen.
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

// forget drops the records of pods that do not exist any more, once they are a third of all records.
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

// close closes the phase and releases its share of the hosts.
func (r *run) close(now time.Time) {
	r.phase.Close(now)
	r.phase.Release()
}
