package sim

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// fill asks the tracker for an answer for each open slot, until the tracker has no use for any slot.
func (r *run) fill() {
	refused := false // a slot has refused the waiting task, so all that have spent their tasks do
	for i := 0; i < len(r.idle); {
		slot := r.idle[i]
		if refused && r.spent(slot) {
			i++
			continue
		}
		closes := r.phase.Slots[slot].Closes
		if closes > 0 && r.now >= closes {
			r.close(i)
			continue
		}
		d := r.tracker.Next(r.clock(), r.phase.Slots[slot].Machine)
		switch d.Action {
		case restart.Copy:
			r.witnessAction(d)
			r.launch(d.Task, slot, true)
		case restart.Restart, restart.Kill:
			r.say(d.Task, d.Attempt, d.String())
			r.kill(d)
			refused = false
		case restart.Start:
			task := r.choose(d.Task)
			switch {
			case task < 0:
				return
			case !r.spent(slot) || !r.isRecorded(task):
				r.launch(task, slot, false)
			case closes > 0:
				r.close(i)
			default:
				refused = true
			}
		default:
			if d.Reason != restart.SameMachine && d.Reason != restart.SlowMachine {
				return
			}
			i++ // the tracker may want another slot, on a better machine
		}
	}
}

// spent reports whether a slot takes no more recorded attempts. It still takes what a policy has killed.
func (r *run) spent(slot int32) bool {
	p := &r.phase.Slots[slot]
	return p.Declines && r.now > p.Last && int(r.taken[slot]) > len(p.Rests)
}

// isRecorded reports whether the next attempt of a task is in the log.
func (r *run) isRecorded(task int) bool {
	s := &r.tasks[task]
	return !s.left && int(s.next) < len(r.phase.Tasks[task].Attempts)
}

// close takes an idle slot away.
func (r *run) close(i int) {
	r.idle = slices.Delete(r.idle, i, i+1)
	r.open--
	r.tracker.SetSlots(r.open)
}

// choose returns the waiting task to start. It is the tracker's choice if the largest task starts first, otherwise
// the next task in the recorded order. It is -1 if no waiting task is back in the queue yet.
func (r *run) choose(task int) int {
	if r.options.LargestFirst && r.tasks[task].ready {
		return task
	}
	for i, again := range r.again {
		if r.tasks[again].ready {
			r.again = slices.Delete(r.again, i, i+1)
			return int(again)
		}
	}
	for i := r.order; i < len(r.phase.Order); i++ {
		task := r.phase.Order[i]
		s := &r.tasks[task]
		spent := s.left || s.done || s.next > r.ordinal[i]
		switch {
		case spent && i == r.order:
			r.order++
		case !spent && s.ready && s.next == r.ordinal[i]:
			return int(task)
		}
	}
	return -1
}

// launch starts an attempt of a task on an idle slot: the next recorded attempt if there is one, otherwise an attempt
// with a drawn time. The task's clones start with its first attempt.
func (r *run) launch(task int, slot int32, beside bool) {
	s := &r.tasks[task]
	recorded := r.phase.Tasks[task].Attempts
	first := s.next == 0 && !s.left && !beside
	late := r.uses[slot] > 0 || r.now > r.phase.Slots[slot].Opens
	machine := r.phase.Slots[slot].Machine
	at, _ := slices.BinarySearch(r.idle, slot)
	r.idle = slices.Delete(r.idle, at, at+1)
	r.uses[slot]++
	if beside || !r.isRecorded(task) {
		r.begin(task, simAttempt{slot: slot, end: r.now + r.draw(task, machine, late), succeeds: true, extra: true}, machine, nil)
		return
	}
	s.original = r.now - recorded[s.next].Wait
	for _, a := range recorded[s.next:] {
		s.original += a.Wait + a.Duration
	}
	s.next++
	r.taken[slot]++
	r.begin(task, simAttempt{
		slot: slot, end: r.now + recorded[s.next-1].Duration, succeeds: int(s.next) == len(recorded),
	}, machine, recorded[s.next-1].Splits)
	for range r.options.Clones - 1 {
		if first {
			r.begin(task, simAttempt{slot: noSlot, end: r.now + r.draw(task, unknown, late), succeeds: true, extra: true}, unknown, nil)
		}
	}
}

// unknown is the machine of a clone.
const unknown = -1

// begin starts an attempt.
func (r *run) begin(task int, c simAttempt, machine int, splits *Splits) {
	place := r.place()
	c.start, c.task = r.now, int32(task)
	r.source.Seed(mix(r.options.Seed, uint64(task)), mix(uint64(r.tasks[task].begun), progressSeed))
	c.curve = r.curves(r.rand, c.end-c.start, splits)
	r.tasks[task].begun++
	c.life = r.attempts[place].life + 1
	c.attempt = int32(r.tracker.Start(r.clock(), task, machine))
	r.attempts[place] = c
	r.tasks[task].running++
	r.tasks[task].ready = false
	r.queue.Push(c.end, ends, place, c.life)
	if !r.silent {
		r.queue.Push(r.now+r.phase.Interval, report, place, c.life)
	}
	what := "started"
	if c.extra {
		what = "started by a decision; its time is drawn from other tasks of the phase"
	}
	r.say(task, int(c.attempt), what)
}

// draw returns the time of a copy that never ran. The time depends on the seed, the task, the number of draws for the
// task before, and on the machine and wave of the copy. So all policies meet the same luck.
func (r *run) draw(task, machine int, late bool) time.Duration {
	s := &r.tasks[task]
	s.drawn++
	r.source.Seed(mix(r.options.Seed, uint64(task)), mix(uint64(task), uint64(s.drawn)))
	takes := max(1, r.phase.Draw(r.rand, task, machine, late))
	if r.options.Witness != nil {
		r.options.Witness.Launched(task, takes)
	}
	return takes
}

func (r *run) place() int32 {
	if n := len(r.free); n > 0 {
		p := r.free[n-1]
		r.free = r.free[:n-1]
		return p
	}
	r.attempts = append(r.attempts, simAttempt{attempt: -1})
	return int32(len(r.attempts) - 1)
}

// wait returns the time from the failure of a task to its return to the queue.
func (r *run) wait(task int) time.Duration {
	if r.isRecorded(task) {
		return r.phase.Tasks[task].Attempts[r.tasks[task].next].Wait
	}
	return 0
}

// mix mixes two numbers to 64 bits, because generators with neighbouring seeds would begin alike.
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b + 1
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
