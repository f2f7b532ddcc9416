package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/internal/hosts"
)

const nowhere = hosts.Nowhere

// never stands for the time of what has not happened.
const never time.Duration = -1

// book is what is known of the tasks and their attempts: what is wanted, and what was seen.
type book struct {
	tasks    []task
	attempts map[string]*attempt
	room     []attempt  // for the next ones
	adopted  bool       // some attempt was adopted, so that a name may be taken
	waiting  []int      // tasks to submit; some may not wait any more, some may stand there twice
	sorted   bool       // they stand in order, each once
	pending  []*attempt // with a request that is not seen to have been carried out; some may not have one any more
	live     int        // attempts that the tracker takes to run or to be queued
	dying    int        // attempts that are cancelled and not known to have ended
	over     int        // tasks that have finished, were given up, or were not done when the phase was closed
}

type task struct {
	live         []*attempt        // that were not cancelled and are not known to have ended
	tried        []int             // hosts
	oneLive      [1]*attempt       // room for the first of live
	oneTried     [1]int            // room for the first of tried
	winner       *attempt          // whose result is the task's
	failed, lost int               // attempts
	withdrawn    int               // attempts that waited for a host that went away, while no other went on
	untraced     int               // attempts that were submitted and never seen
	dying        int               // attempts that are cancelled and not known to have ended
	why          *restart.Decision // why it waits; nil for the zero Decision
	alone        bool              // no two attempts may run at once
	waits        bool
	over         bool
	givenUp      bool
}

type attempt struct {
	id           string
	task, number int
	host         int               // nowhere if not known
	avoid        []string          // where it must not run, if the engine places
	why          *restart.Decision // of the request; nil for the zero Decision
	asOf         time.Time         // of the last report, as told
	submitted    time.Duration     // when it was first submitted, if it was not adopted
	since, asked time.Duration     // when what is requested was first asked for, and last
	seen         time.Duration     // when it was last shown, or never
	again        uint8             // how often the request was repeated
	pending      bool              // it stands among those with a request
	ahead        bool              // asOf was in the future
	adopted      bool              // it was not submitted here
	late         bool              // it began long before it was first told of, so its age is not known
	begun        bool
	dying, ended bool
	gone         bool // it counts as ended since it was missing for too long
	published    bool
}

// request returns what an attempt was asked for that has not been seen to have happened.
func (a *attempt) request(t *task) (op Op, open bool) {
	switch {
	case a.dying && !a.ended:
		return Cancel, true
	case t.winner == a:
		return Publish, !a.published
	}
	return Submit, !a.ended && !a.adopted && a.seen == never
}

// find returns the attempt of a name, or nil if it was never heard of. Most are among those of their task that go on.
func (b *book) find(id string, task int) *attempt {
	for _, a := range b.tasks[task].live {
		if a.id == id {
			return a
		}
	}
	return b.attempts[id]
}

// because returns where a decision is kept; nil for the zero Decision, which most requests have.
func because(d restart.Decision) *restart.Decision {
	if d == (restart.Decision{}) {
		return nil
	}
	kept := d // not d itself, which would be allocated for the zero Decision, too
	return &kept
}

// wait puts a task among those to submit, because of the decision or, if that is nil, for a reason that is none of the
// policy's.
func (b *book) wait(i int, why *restart.Decision) {
	if t := &b.tasks[i]; !t.waits && !t.over {
		t.waits, t.why = true, why
		b.waiting, b.sorted = append(b.waiting, i), false
	}
}

// add takes a new attempt to the book. Attempts are allocated many at once, and kept for as long as the phase.
func (b *book) add(a attempt) *attempt {
	if len(b.room) == 0 {
		b.room = make([]attempt, min(max(len(b.attempts), 8), 64))
	}
	kept := &b.room[0]
	b.room = b.room[1:]
	*kept = a
	b.attempts[a.id] = kept
	b.adopted = b.adopted || a.adopted
	return kept
}

// goes puts an attempt among those of its task that go on.
func (t *task) goes(a *attempt) {
	if t.live == nil {
		t.live = t.oneLive[:0]
	}
	t.live = append(t.live, a)
}

// enter counts an attempt in that the tracker has taken.
func (b *book) enter(a *attempt) {
	t := &b.tasks[a.task]
	t.goes(a)
	t.waits = false
	t.try(a.host)
	b.live++
}

// leave takes an attempt out of those that go on.
func (b *book) leave(a *attempt) {
	t := &b.tasks[a.task]
	if i := slices.Index(t.live, a); i >= 0 {
		t.live = slices.Delete(t.live, i, i+1)
		b.live--
	}
}

// die counts an attempt as one that ends some time.
func (b *book) die(a *attempt) {
	a.dying = true
	b.tasks[a.task].dying++
	b.dying++
}

// end counts an attempt as one that has ended.
func (b *book) end(a *attempt) {
	a.ended = true
	b.leave(a)
	if a.dying {
		b.tasks[a.task].dying--
		b.dying--
	}
}

// settle ends a task, with a result or without.
func (b *book) settle(t *task, winner *attempt) {
	t.over, t.waits, t.givenUp = true, false, false
	t.winner = winner
	b.over++
}

// note puts an attempt among those with a request.
func (b *book) note(a *attempt) {
	if !a.pending {
		a.pending = true
		b.pending = append(b.pending, a)
	}
}

// name returns a name that nothing has: an adopted attempt may be called as one of ours would be. Ours differ, since the
// tracker gives no number of a task twice.
func (b *book) name(task, number int) string {
	var text [40]byte
	name := string(strconv.AppendInt(append(strconv.AppendInt(text[:0], int64(task), 10), '.'), int64(number), 10))
	for b.adopted && b.attempts[name] != nil {
		name += "+"
	}
	return name
}

// numbered returns the attempt of a task that the tracker calls by this number.
func (t *task) numbered(number int) *attempt {
	for _, a := range t.live {
		if a.number == number {
			return a
		}
	}
	return nil
}

func (t *task) try(host int) {
	if host != nowhere && !t.wasOn(host) {
		if t.tried == nil {
			t.tried = t.oneTried[:0]
		}
		t.tried = append(t.tried, host)
	}
}

// wasOn reports whether an attempt of the task was ever on the host or submitted for it.
func (t *task) wasOn(host int) bool { return slices.Contains(t.tried, host) }

// on appends the hosts on which an attempt of the task is that was not cancelled.
func (t *task) on(list []int) []int {
	for _, a := range t.live {
		if a.host != nowhere {
			list = append(list, a.host)
		}
	}
	return list
}

// isOn reports whether an attempt of the task is there that was not cancelled.
func (t *task) isOn(host int) bool {
	return slices.ContainsFunc(t.live, func(a *attempt) bool { return a.host == host })
}
