package restart

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Progress is what a copy reports of itself. Leave out what is not known.
type Progress struct {
	// Done is the work it has done since it began, in the units of Config.Work.
	Done float64
	// Score is its progress score in [0, 1]; if 0, Done divided by the task's work is used.
	Score float64
	// Remaining is the host's own estimate of t_rem, such as that of [estimate.Subphases]; if 0, Config.Model is used.
	Remaining time.Duration
}

// Report takes a progress report and answers what to do about the task. [Restart] and [Kill] are to be carried out, and
// then told to the tracker. [Duplicate] says that the task is worth a copy: launch one, or let [Tracker.Next] choose
// among all such tasks when a slot is free. Decision.Copy is the number of the attempt to kill.
//
// A report, even one that makes no sense, is a sign that its attempt runs: one that was submitted and has not begun begins
// now. What it has done by then has taken no time and gives no rate, so tell of the begin first if you know when it was.
func (t *Tracker) Report(now time.Time, task, attempt int, p Progress) Decision {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return Decision{Reason: NotRunning}
	}
	s, c := &t.tasks[task], &t.copies[i]
	if !c.begun() {
		t.begin(s, c)
	}
	if p.valid() {
		t.take(s, c, p)
	} else {
		t.ledger.Ignored++
	}
	return t.judge(task, askNone)
}

// valid reports whether a report makes sense.
func (p Progress) valid() bool {
	return p.Done >= 0 && p.Score >= 0 && num.Finite(p.Done) && num.Finite(p.Score)
}

// Finish records that an attempt has ended its task with success. It appends to dst the numbers of the task's other
// running or submitted attempts, which the host should kill and which the tracker takes as ended, and returns the longer
// slice. An attempt that never began may finish; it is no sample of a run time.
func (t *Tracker) Finish(now time.Time, task, attempt int, dst []int) []int {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return dst
	}
	s, c := &t.tasks[task], &t.copies[i]
	t.credit(s, c)
	if c.attempt != s.original {
		t.ledger.Won++
	}
	for j := s.copies; j != none; {
		next := t.copies[j].next
		if j != i {
			dst = append(dst, int(t.copies[j].attempt))
			if t.copies[j].attempt != s.original {
				t.ledger.Lost++
			}
			t.end(s, j, false)
		}
		j = next
	}
	if c.begun() {
		t.learn(s, c, t.age(c))
	}
	t.dropPace(c)
	t.setScore(s, c, 1)
	t.addPace(1, t.age(c))
	s.flags |= finished
	t.end(s, i, true)
	t.active--
	t.phase.Finished++
	t.ledger.Finished++
	t.count()
	t.dropCandidate(task)
	return dst
}

// Fail records that an attempt failed. If no other copy of the task runs, the task waits again. Its time is no sample.
func (t *Tracker) Fail(now time.Time, task, attempt int) {
	t.tick(now)
	if i := t.find(task, attempt); i != none {
		t.ledger.Failed++
		t.abandon(task, i, false)
	}
}

// Kill records that an attempt was killed: because a decision said so, or for the host's own reasons. If no other copy
// of the task runs, the task waits again.
func (t *Tracker) Kill(now time.Time, task, attempt int) {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return
	}
	if s := &t.tasks[task]; t.copies[s.copies].next != none { // another copy goes on
		t.expect(s, &t.copies[i])
		t.history(s).lastCopy = t.now
	}
	t.ledger.Pruned++
	t.abandon(task, i, true)
}

// Restart records that an attempt was killed in order to run the task again. If no other copy of it runs, the task waits;
// otherwise it goes on in the others, and gets its new copy by a Start, at once or after a later decision.
func (t *Tracker) Restart(now time.Time, task, attempt int) {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return
	}
	s := &t.tasks[task]
	t.expect(s, &t.copies[i])
	if t.copies[s.copies].next != none {
		t.history(s).lastCopy = t.now
	}
	t.history(s).restarts++
	t.ledger.Restarts++
	t.abandon(task, i, true)
}

// abandon ends a copy that did not finish. What a killed copy has shown of its rate stays a sample of the phase; to drop
// it would leave only the fast tasks in sight. What a failed copy has shown goes.
func (t *Tracker) abandon(task int, i int32, keepSample bool) {
	s, c := &t.tasks[task], &t.copies[i]
	if !keepSample {
		t.rates.Drop(int(c.sample))
	}
	t.end(s, i, false)
	if s.copies == none {
		t.active--
		t.enqueue(s, int32(task))
	}
	if !t.runs(s) {
		t.dropCandidate(task)
	}
	t.count()
}

// LoseMachine records that a machine is gone with all that ran on it or was submitted for it. It appends to dst the tasks
// that lost their last copy, which wait again, in no order of meaning but always the same, and returns the longer slice.
// O(copies).
func (t *Tracker) LoseMachine(now time.Time, machine int, dst []int) []int {
	t.tick(now)
	for i := range t.copies {
		c := &t.copies[i]
		if c.task == none || int(c.machine) != machine || machine < 0 {
			continue
		}
		task := int(c.task)
		t.ledger.Failed++
		t.abandon(task, int32(i), false)
		if t.tasks[task].copies == none {
			dst = append(dst, task)
		}
	}
	return dst
}

// LoseOutput records that the output of a finished task is lost and that it must run again: it waits.
func (t *Tracker) LoseOutput(now time.Time, task int) {
	t.tick(now)
	s := t.task(task)
	switch {
	case s == nil:
	case s.flags&finished == 0:
		t.ledger.Ignored++
	default:
		t.scores -= t.furthest(s)
		s.flags &^= finished
		t.phase.Finished--
		t.enqueue(s, int32(task))
	}
}
