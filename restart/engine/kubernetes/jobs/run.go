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

// run is what the controller remembers of a Job that runs. It can be lost: the first list of the next one tells a new
// phase all that is needed.
type run struct {
	uid    types.UID
	spec   spec
	phase  *engine.Phase
	polled bool
	seen   map[types.UID]*sight
	soft   map[int]bool // indexes of which a pod found no node while it avoided some
	list   []engine.Attempt

	held []held

	single map[int]bool // indexes that get no copy, since their last pod has failed

	sizes sizes

	counted tracker.Ledger // as the metrics have it
	retold  bool           // the phase is about to be told what one before it was told, and what is counted
}

// held is a pod that the engine has asked for and that is not made: its index is in its pause, or the API server refused
// the pod. The engine is shown an attempt that waits in a queue, so that it neither asks again nor asks for a copy.
type held struct {
	submit    engine.Action
	cancelled bool // it is not wanted any more
}

// sight is what was seen of a pod.
type sight struct {
	id    string // the attempt that it is
	text  string // its last progress
	share float64
	asOf  time.Time
	shown bool // the engine was told of it
	over  bool // and of its end
	past  bool // a phase before this one was
	// When it was first seen to run and to have ended; zero if that was when the controller began.
	begun, ended time.Time
}

// runOf returns the run of a Job, which goes on if the Job asks for the same as it did. Its phase is made anew where pods
// have told that indexes differ in size. The controller is locked.
func (c *Controller) runOf(
	key string, uid types.UID, s spec, now time.Time, pods []*v1.Pod, preloaded bool,
) (r *run, err error) {
	r = c.runs[key]
	if r != nil && (r.uid != uid || !r.spec.sameRun(&s)) {
		r.close(now)
		r = nil
	}
	if r == nil {
		r = &run{uid: uid, seen: map[types.UID]*sight{}, soft: map[int]bool{}}
	}
	r.spec = s
	r.read(pods, now)
	if s.work == nil {
		if s.work = r.sizes.renew(now, s.interval); s.work != nil && r.phase != nil {
			r.close(now)
			r.phase, r.retold, r.held = nil, true, nil
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

// begin begins a phase.
func (r *run) begin(s spec, hosts *engine.Machines, preloaded bool) (err error) {
	c := s.config(hosts)
	c.Preloaded = preloaded
	if r.phase, err = engine.New(c); err != nil {
		return err
	}
	r.polled, r.single = false, map[int]bool{}
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

// attempts lists what the engine is to know of the pods, in their order, and of the indexes that are over and of which
// no pod is left to tell. What a kubelet dates has whole seconds, so only what happened before this controller looked
// for the first time is dated by it. O(pods + completions).
func (r *run) attempts(now time.Time, p *plan, pods []*v1.Pod) []engine.Attempt {
	r.list = r.list[:0]
	waits := !r.spec.copies
	shown := make(indexes, r.spec.tasks)
	for _, pod := range pods {
		i := index(pod)
		if i < 0 || i >= r.spec.tasks {
			continue
		}
		s := r.sight(pod)
		if s.over {
			continue
		}
		// A pod that no node had is waited for under podReplacementPolicy: Failed alone.
		a := engine.Attempt{ID: s.id, Task: i, Machine: pod.Spec.NodeName,
			State: state(pod, waits && (pod.Spec.NodeName != "" || replacesFailed(p.job)))}
		if a.State == engine.Succeeded && !p.completed[i] { // it was told to stop
			a.State = engine.Cancelled
		}
		a.Published = p.winners[i] == pod
		gone := a.State >= engine.Succeeded
		r.date(&a, s, pod, now)
		if a.State == engine.Running && !s.asOf.IsZero() {
			a.Progress, a.AsOf = tracker.Report{Score: s.share}, s.asOf
		}
		if s.past { // what it says of its host is known
			a.Machine = ""
		}
		s.shown, s.over = true, gone
		shown[i] = shown[i] || a.Published
		r.list = append(r.list, a)
	}
	for i := range shown {
		if over := p.completed[i] || p.given[i]; over && !shown[i] {
			if _, has := r.phase.Winner(i); !has {
				r.list = append(r.list, engine.Attempt{
					ID: fmt.Sprintf("over.%d", i), Task: i, State: engine.Succeeded, Published: true,
				})
			}
		}
	}
	r.polled = true
	return r.listHeld(pods)
}

// listHeld adds the pods that are not made to the list, and forgets those that are there or are not wanted.
func (r *run) listHeld(pods []*v1.Pod) []engine.Attempt {
	if len(r.held) == 0 {
		return r.list
	}
	there := make(map[string]bool, len(pods))
	for _, pod := range pods {
		there[attemptOf(pod)] = true
	}
	r.held = slices.DeleteFunc(r.held, func(h held) bool {
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

// hold takes over the engine's requests for pods, and returns the actions that can be carried out now: the pods of indexes
// that are not in their pause, for which there is room, and all cancellations. It notes when the next pause ends.
func (r *run) hold(p *plan, actions []engine.Action) (now []engine.Action) {
	for i := range actions {
		a := &actions[i]
		at := slices.IndexFunc(r.held, func(h held) bool { return h.submit.ID == a.ID })
		switch {
		case a.Op == engine.Submit && at < 0:
			r.held = append(r.held, held{submit: *a})
		case a.Op == engine.Submit:
		case a.Op == engine.Cancel && at >= 0:
			r.held[at].cancelled = true
			now = append(now, *a) // the pod may have been made while the answer was lost
		default:
			now = append(now, *a)
		}
	}
	room := r.spec.slots - int(p.status.Active)
	for i := range r.held {
		h := &r.held[i]
		switch left := p.waits(h.submit.Task).Sub(p.now); {
		case h.cancelled:
		case left > 0:
			if p.wake == 0 || left < p.wake {
				p.wake = left
			}
		case room > 0:
			room--
			now = append(now, h.submit)
		}
	}
	return now
}

// spareRetries keeps copies from an index that has failed until its next pod has run for as long as its peers. A copy of a
// pod that is bound to fail fails as well, and spends the limit of failures twice as fast.
func (r *run) spareRetries(p *plan, pods []*v1.Pod) {
	if !r.spec.copies || len(p.setbacks)+len(r.single) == 0 {
		return
	}
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
	for i := range r.single {
		if !now[i] {
			r.phase.SetEligible(i, true, true)
		}
	}
	r.single = now
}

// typical is the median time that the pods took which have won. Before there is any it is for how long the oldest pod
// without a failure of its index has run.
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

// paused counts the pods that wait for the end of their index' pause.
func (r *run) paused(p *plan) (n int) {
	for i := range r.held {
		if p.now.Before(p.waits(r.held[i].submit.Task)) {
			n++
		}
	}
	return n
}

// made takes note of the pods that are made.
func (r *run) made(ids map[string]bool) {
	r.held = slices.DeleteFunc(r.held, func(h held) bool { return ids[h.submit.ID] })
}

func (r *run) sight(pod *v1.Pod) *sight {
	s := r.seen[pod.UID]
	if s == nil {
		s = &sight{id: attemptOf(pod)}
		r.seen[pod.UID] = s
	}
	return s
}

// date adds when a pod began and ended to what a phase is told for the first time.
func (r *run) date(a *engine.Attempt, s *sight, pod *v1.Pod, now time.Time) {
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

// read reads what pods say of how far they are. What is not dated is true as of when it was first seen.
func (r *run) read(pods []*v1.Pod, now time.Time) {
	for _, pod := range pods {
		i, text := index(pod), pod.Annotations[ProgressAnnotation]
		if i < 0 || i >= r.spec.tasks || text == "" {
			continue
		}
		s := r.sight(pod)
		if text == s.text {
			continue
		}
		s.text = text
		share, total, asOf, err := parseProgress(text)
		if err != nil {
			continue
		}
		r.sizes.tell(i, r.spec.tasks, total)
		if s.share, s.asOf = share, asOf; asOf.IsZero() {
			s.asOf = now
		}
	}
}

// forget drops what is remembered of pods that are no more.
func (r *run) forget(pods []*v1.Pod) {
	if len(r.seen) <= len(pods)+len(pods)/2+16 {
		return
	}
	kept := make(map[types.UID]*sight, len(pods))
	for _, pod := range pods {
		if s := r.seen[pod.UID]; s != nil {
			kept[pod.UID] = s
		}
	}
	r.seen = kept
}

// close ends the phase, so that its hosts hold nothing of it.
func (r *run) close(now time.Time) {
	r.phase.Close(now)
	r.phase.Release()
}
