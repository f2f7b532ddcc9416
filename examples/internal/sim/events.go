package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/des"
)

func (r *run) clock() time.Time { return epoch.Add(r.now) }

// The kinds of events. Of events at the same instant, an end is handled before a beginning, and a report last.
const (
	ends   uint8 = iota // an attempt ends, with success or failure
	opens               // a slot becomes free
	wakes               // a failed task is back in the queue
	report              // an attempt reports
)

func (r *run) handle(e des.Event) {
	switch e.Kind() {
	case opens:
		r.open++
		r.tracker.SetSlots(r.open)
		at, _ := slices.BinarySearch(r.idle, e.ID)
		r.idle = slices.Insert(r.idle, at, e.ID)
		r.fill()
	case wakes:
		r.tasks[e.ID].ready = true
		r.fill()
	case ends:
		if r.lives(e) {
			r.ended(e.ID)
		}
	case report:
		if r.lives(e) {
			r.reports(e)
		}
	}
}

// lives reports whether the attempt of an event still runs. Events of a killed attempt stay in the queue and are
// ignored.
func (r *run) lives(e des.Event) bool {
	c := &r.attempts[e.ID]
	if c.attempt >= 0 && c.life == e.Life {
		return true
	}
	r.result.Events--
	return false
}

// reports tells the tracker of a report, and carries out its answer.
func (r *run) reports(e des.Event) {
	c := &r.attempts[e.ID]
	task, attempt := int(c.task), int(c.attempt)
	var d tracker.Answer
	share := 0.0
	if c.curve == nil {
		d = r.tracker.Decide(r.clock(), task)
	} else {
		share = c.curve(float64(r.now-c.start) / float64(c.end-c.start))
		if !c.succeeds {
			share /= 2 // an attempt that fails reports half of its progress
		}
		d = r.tracker.Report(r.clock(), task, attempt, tracker.Report{Score: share})
	}
	if r.watched(task) { // most events are reports, so their lines are not even prepared for other tasks
		said := "   -  "
		if c.curve != nil {
			said = fmt.Sprintf("%5.1f%%", 100*share)
		}
		r.say(task, attempt, fmt.Sprintf("%s  %v", said, d))
	}
	r.witnessReport(d, c)
	r.queue.Push(r.now+r.phase.Interval, report, e.ID, e.Life)
	switch d.Action {
	case restart.Restart, restart.Kill:
		r.kill(d)
		r.fill()
	case restart.Copy:
		r.fill()
	}
}

func (r *run) watched(task int) bool { return r.options.Watch != nil && task == r.options.WatchTask }

// say tells Options.Watch about an attempt, if its task is watched.
func (r *run) say(task, attempt int, what string) {
	if r.watched(task) {
		r.options.Watch(r.now, attempt, what)
	}
}

// ended handles the end of an attempt, with success or with failure.
func (r *run) ended(place int32) {
	c := r.attempts[place]
	task := int(c.task)
	s := &r.tasks[task]
	if !c.succeeds {
		r.tracker.Fail(r.clock(), task, int(c.attempt))
		r.say(task, int(c.attempt), "failed, as it did in the log")
		r.release(place, Failed)
		if s.running == 0 {
			r.queue.Push(r.now+r.wait(task), wakes, int32(task), 0)
		}
		return
	}
	losers := r.tracker.Finish(r.clock(), task, int(c.attempt))
	r.say(task, int(c.attempt), "finished")
	if c.extra && r.now < s.original {
		r.result.Won++
	}
	r.release(place, Succeeded)
	for _, attempt := range losers {
		r.say(task, attempt, "killed: another attempt of the task has finished")
		r.release(r.placeOf(task, attempt), Killed)
	}
	s.done = true
	r.apart += r.now
	r.pending--
	if r.pending == (len(r.tasks)+9)/10 { // the tasks that have not ended are the last tenth
		r.result.Tail = -r.now
	}
}

// kill carries out a decision to restart a task or to kill a copy.
func (r *run) kill(a tracker.Answer) {
	r.witnessAction(a)
	task := a.Task
	place := r.placeOf(task, a.Attempt)
	if a.Action == restart.Restart {
		r.tracker.Restart(r.clock(), task, a.Attempt)
	} else {
		r.tracker.Kill(r.clock(), task, a.Attempt)
	}
	r.release(place, Killed)
	if s := &r.tasks[task]; s.running == 0 {
		s.ready, s.left = true, true
		r.again = append(r.again, int32(task))
	}
}

func (r *run) placeOf(task, attempt int) int32 {
	return int32(slices.IndexFunc(r.attempts, func(c simAttempt) bool {
		return int(c.task) == task && int(c.attempt) == attempt
	}))
}

// release frees the place of an attempt, and its slot after a rest.
func (r *run) release(place int32, how Ending) {
	c := &r.attempts[place]
	if r.options.Spans != nil {
		r.options.Spans(Span{
			Start: c.start, End: r.now, Task: c.task, Slot: c.slot, Attempt: c.attempt, Launched: c.extra, Ending: how,
		})
	}
	r.tasks[c.task].running--
	c.attempt = -1
	r.free = append(r.free, place)
	if c.slot == noSlot {
		return
	}
	r.open--
	r.tracker.SetSlots(r.open)
	rest := r.phase.Rest
	if used := int(r.uses[c.slot]); used-1 < len(r.phase.Slots[c.slot].Rests) {
		rest = r.phase.Slots[c.slot].Rests[used-1]
	}
	if closes := r.phase.Slots[c.slot].Closes; closes == 0 || r.now+rest < closes {
		r.queue.PushByID(r.now+rest, opens, c.slot)
	}
}
