package engine

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// overtaken is why the other attempts of a finished task end.
func overtaken() restart.Decision {
	return restart.Decision{Action: restart.Kill, Reason: restart.Overtaken}
}

// end takes note that an attempt has ended.
func (p *Phase) end(at time.Time, a *attempt, seen *Attempt) {
	if a.ended {
		return
	}
	wasDying := a.dying
	if wasDying {
		took(&p.sight.parting, p.time.clock.Since-a.since)
	}
	p.hold(a.host, -1)
	p.book.end(a)
	p.moves.move(p.time.clock.Since)
	t := &p.book.tasks[a.task]
	chosen, some := p.scratch.chosen[a.task]
	switch {
	case t.over && seen.Published && !t.givenUp && !p.closed:
		t.winner, a.published, p.confirms = a, true, true
	case t.over:
	case seen.State == Succeeded && some && chosen != a.id: // another attempt's result is published
		p.lose(at, a, wasDying, Cancelled)
	case seen.State == Succeeded:
		p.succeed(at, a, wasDying, seen.Published)
	default:
		p.lose(at, a, wasDying, seen.State)
	}
}

// succeed ends a task. The result of an attempt that was cancelled is as good as any if it comes first; the tracker, to
// which that attempt has ended, is told of one more, which leaves no sample.
func (p *Phase) succeed(at time.Time, a *attempt, wasDying, published bool) {
	t := &p.book.tasks[a.task]
	if wasDying {
		a.number = p.tracker.Submit(at, a.task, a.host)
	}
	p.tracker.Finish(at, a.task, a.number)
	p.book.settle(t, a)
	if a.published = published; !published {
		p.ask(a, Publish, restart.Decision{})
	}
	for len(t.live) > 0 {
		p.cancel(t.live[0], overtaken())
	}
}

// lose makes up for an attempt that ended without a result, or gives its task up. One that was told to end was made up
// for then.
func (p *Phase) lose(at time.Time, a *attempt, wasDying bool, state State) {
	if wasDying {
		return
	}
	t := &p.book.tasks[a.task]
	switch state {
	case Failed:
		t.failed++
		p.tracker.Fail(at, a.task, a.number)
	case Lost:
		t.lost++
		p.tracker.Fail(at, a.task, a.number)
		if a.host != nowhere {
			p.hosts.set.Lose(a.host, p.time.wall)
		}
	default: // cancelled from outside
		t.lost++
		p.tracker.Kill(at, a.task, a.number)
	}
	switch {
	case len(t.live) > 0:
	case t.failed >= p.config.MaxFailures || t.lost >= p.config.MaxLost:
		p.book.settle(t, nil)
		t.givenUp = true
		p.tracker.GiveUp(at, a.task)
	default:
		p.book.wait(a.task, restart.Decision{})
	}
}

// cancel ends an attempt that the tracker has already taken out.
func (p *Phase) cancel(a *attempt, why restart.Decision) {
	p.book.leave(a)
	p.book.die(a)
	p.ask(a, Cancel, why)
}

// ask gives an action for the first time. It is repeated until it is seen to have been carried out.
func (p *Phase) ask(a *attempt, op Op, why restart.Decision) {
	a.why = nil
	if why != (restart.Decision{}) {
		a.why = &why
	}
	a.since, a.again = p.time.clock.Since, 0
	p.say(a, op)
	p.book.note(a)
}

// say gives an action.
func (p *Phase) say(a *attempt, op Op) {
	a.asked = p.time.clock.Since
	p.scratch.actions = append(p.scratch.actions, p.action(a, op))
}

func (p *Phase) action(a *attempt, op Op) Action {
	action := Action{Op: op, Task: a.task, ID: a.id, Host: p.hosts.set.Name(a.host)}
	if op == Submit {
		action.Avoid = a.avoid
	}
	if a.why != nil {
		action.Decision = *a.why
	}
	return action
}
