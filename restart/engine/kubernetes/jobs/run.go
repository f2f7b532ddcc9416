package jobs

import (
	"fmt"
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

	counted tracker.Ledger // as the metrics have it
}

// sight is what was seen of a pod.
type sight struct {
	id    string // the attempt that it is
	text  string // its last progress
	share float64
	asOf  time.Time
	over  bool // the engine was told of its end
}

func newRun(uid types.UID, s spec, hosts *engine.Hosts, preloaded bool) (*run, error) {
	c := s.config(hosts)
	c.Preloaded = preloaded
	phase, err := engine.New(c)
	if err != nil {
		return nil, err
	}
	r := &run{uid: uid, spec: s, phase: phase, seen: map[types.UID]*sight{}, soft: map[int]bool{}}
	for i := range s.tasks {
		if !s.copies {
			phase.SetEligible(i, false, true)
		}
	}
	return r, nil
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
		a := engine.Attempt{ID: s.id, Task: i, State: state(pod, waits), Host: pod.Spec.NodeName}
		a.Published = p.winners[i] == pod
		gone := a.State >= engine.Succeeded
		if begun, ended := span(pod); !r.polled || gone && !begun.IsZero() {
			a.Begun = begun
			if gone && !r.polled {
				a.Ended = ended
			}
		}
		if a.State == engine.Running {
			r.progress(&a, s, pod, now)
		}
		s.over = gone
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
	return r.list
}

func (r *run) sight(pod *v1.Pod) *sight {
	s := r.seen[pod.UID]
	if s == nil {
		s = &sight{id: attemptOf(pod)}
		r.seen[pod.UID] = s
	}
	return s
}

// progress adds what a pod says of how far it is. What is not dated is true as of when it was first seen.
func (r *run) progress(a *engine.Attempt, s *sight, pod *v1.Pod, now time.Time) {
	text := pod.Annotations[ProgressAnnotation]
	if text == "" {
		return
	}
	if text != s.text {
		share, asOf, err := parseProgress(text)
		s.text = text
		if err == nil {
			if s.share, s.asOf = share, asOf; asOf.IsZero() {
				s.asOf = now
			}
		}
	}
	if !s.asOf.IsZero() {
		a.Progress, a.AsOf = report(s.share, r.workOf(a.Task)), s.asOf
	}
}

func (r *run) workOf(i int) float64 {
	if len(r.spec.work) > i {
		return r.spec.work[i]
	}
	return 1
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
