package engine

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// overtaken is why the other attempts of a finished task end.
func overtaken() *restart.Decision {
	return &restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// end takes note that an attempt has ended.
func (v *view) end(at time.Time, a *attempt, seen *Attempt) {
	if a.ended {
		return
	}
	wasDying := a.dying
	if wasDying {
		took(&v.sight.parting, v.time.clock.Since-a.since)
	}
	v.hold(a.host, -1)
	v.book.end(a)
	v.moves.move(v.time.clock.Since)
	t := &v.book.tasks[a.task]
	chosen, some := v.scratch.chosen[a.task]
	switch {
	case t.over && seen.Published && !t.givenUp && !v.closed:
		t.winner, a.published = a, true
	case t.over:
	case seen.State == Succeeded && some && chosen != a.id: // another attempt's result is published
		v.lose(at, a, wasDying, Cancelled)
	case seen.State == Succeeded:
		v.succeed(at, a, wasDying, seen.Published)
	default:
		v.lose(at, a, wasDying, seen.State)
	}
}

// succeed ends a task. The result of an attempt that was cancelled is as good as any if it comes first; the tracker, to
// which that attempt has ended, is told of one more, which leaves no sample; so also where its age is not known.
func (v *view) succeed(at time.Time, a *attempt, wasDying, published bool) {
	t := &v.book.tasks[a.task]
	if a.late && !wasDying {
		v.tracker.Kill(at, a.task, a.number)
	}
	if wasDying || a.late {
		a.number = v.tracker.Submit(at, a.task, a.host)
	}
	v.tracker.Finish(at, a.task, a.number)
	v.book.settle(t, a)
	if a.published = published; !published {
		v.ask(a, Publish, nil)
	}
	for len(t.live) > 0 {
		v.cancel(t.live[0], overtaken())
	}
}

// lose makes up for an attempt that ended without a result, or gives its task up. One that was told to end was made up
// for then.
func (v *view) lose(at time.Time, a *attempt, wasDying bool, state State) {
	if wasDying {
		return
	}
	t := &v.book.tasks[a.task]
	switch state {
	case Failed:
		t.failed++
		v.tracker.Fail(at, a.task, a.number)
	case Lost:
		t.lost++
		v.tracker.Fail(at, a.task, a.number)
		if a.host != nowhere {
			v.hosts.set.Lose(a.host, v.time.wall)
		}
	default: // cancelled from outside
		t.lost++
		v.tracker.Kill(at, a.task, a.number)
	}
	switch {
	case len(t.live) > 0:
	case t.failed >= v.config.MaxFailures || t.lost >= v.config.MaxLost:
		v.book.settle(t, nil)
		t.givenUp = true
		v.tracker.GiveUp(at, a.task)
	default:
		v.book.wait(a.task, nil)
	}
}

// cancel ends an attempt that the tracker has already taken out.
func (v *view) cancel(a *attempt, why *restart.Decision) {
	v.book.leave(a)
	v.book.die(a)
	v.ask(a, Cancel, why)
}

// ask gives an action for the first time. It is repeated until it is seen to have been carried out.
func (v *view) ask(a *attempt, op Op, why *restart.Decision) {
	a.why = why
	a.since, a.again = v.time.clock.Since, 0
	v.say(a, op)
	v.book.note(a)
}

// say gives an action.
func (v *view) say(a *attempt, op Op) {
	a.asked = v.time.clock.Since
	v.scratch.actions = append(v.scratch.actions, v.action(a, op))
}

func (v *view) action(a *attempt, op Op) Action {
	action := Action{Op: op, Task: a.task, ID: a.id, Host: v.hosts.set.Name(a.host)}
	if op == Submit {
		action.Avoid = a.avoid
	}
	if a.why != nil {
		action.Decision = *a.why
	}
	return action
}
