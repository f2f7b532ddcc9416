package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// draw adds pictures of the phases in which stragglers cost most, without action and under the first policy.
func (r *Report) draw(phases []*sim.Phase, policies []compare.Entry, outcomes []compare.Outcome) error {
	i := slices.IndexFunc(policies, func(e compare.Entry) bool { return !e.Clones })
	if i < 0 {
		return nil // no pictures of clones, which run beside the slots of the phase
	}
	known := outcomes[i].Results
	for _, row := range r.Phases[:min(len(r.Phases), mostSchedules)] {
		if row.Stragglers == 0 {
			continue
		}
		before, _, err := spans(phases[row.ID], compare.Entry{Policy: restart.Never{}}, r.Input.Seed, row.ID, nil)
		if err != nil {
			return err
		}
		after, decided, err := spans(phases[row.ID], policies[i], r.Input.Seed, row.ID, known[row.ID].Known)
		if err != nil {
			return err
		}
		s := schedule(phases[row.ID], row.ID, policies[i].Name, before, after)
		for k := range s.After {
			s.After[k].Decision = decided[s.After[k].Task]
		}
		if !r.Input.Generated {
			s.eachBar(func(b *Bar) { b.Bytes = phases[row.ID].Tasks[b.Task].Work })
		}
		r.Schedules = append(r.Schedules, s)
	}
	return nil
}

// spans replays a phase. It returns its attempts, and for each task the last decision that was carried out.
func spans(p *sim.Phase, e compare.Entry, seed uint64, id int, known *survival.Shape) (all []sim.Span, decided acts, err error) {
	decided = acts{}
	o := e.Options(seed, id)
	o.Shape, o.Witness = known, decided
	o.Spans = func(s sim.Span) { all = append(all, s) }
	_, err = sim.Run(p, o)
	return all, decided, err
}

// acts has the last decision about each task that was carried out. It is a sim.Witness.
type acts map[int]string

// Begins, Reported and Launched do nothing.
func (acts) Begins(*sim.Phase)                           {}
func (acts) Reported(tracker.Answer, []sim.Running, int) {}
func (acts) Launched(int, time.Duration)                 {}

// Acts records a decision that is carried out.
func (a acts) Acts(d tracker.Answer, _ []sim.Running) { a[d.Task] = d.String() }

// eachBar calls change for each bar.
func (s *Schedule) eachBar(change func(b *Bar)) {
	for i := range s.Before {
		change(&s.Before[i])
	}
	for i := range s.After {
		change(&s.After[i])
	}
}

// schedule makes the picture of a phase. It chooses the slots that were in use last, because the phase waited for
// them.
func schedule(p *sim.Phase, id int, policy string, before, after []sim.Span) Schedule {
	s := Schedule{Phase: id, Policy: policy}
	ends := make([]time.Duration, len(p.Slots))
	bars := make([]int, len(p.Slots))
	for _, span := range slices.Concat(before, after) {
		if span.Slot >= 0 {
			ends[span.Slot] = max(ends[span.Slot], span.End)
			bars[span.Slot]++
		}
	}
	order := make([]int, len(p.Slots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[b], ends[a]) })
	lanes := map[int32]int{}
	for total := 0; len(lanes) < min(len(order), mostLanes); {
		slot := order[len(lanes)]
		if total += bars[slot]; total > 2*mostBars && len(lanes) > 0 {
			break
		}
		lanes[int32(slot)] = len(lanes)
	}
	s.Lanes, s.LanesLeftOut = len(lanes), len(order)-len(lanes)
	slow := slowTasks(p)
	s.Before, s.After = toBars(p, before, lanes, slow), toBars(p, after, lanes, slow)
	return s
}

// hostOf returns the machine of a slot; empty if it is not known.
func hostOf(p *sim.Phase, slot int32) string {
	if slot < 0 || int(slot) >= len(p.Slots) {
		return ""
	}
	if m := p.Slots[slot].Machine; m >= 0 && m < len(p.Hosts) {
		return p.Hosts[m]
	}
	return ""
}

// slowTasks reports for each task whether it is a straggler.
func slowTasks(p *sim.Phase) []bool {
	slow := make([]bool, len(p.Tasks))
	for i, ratio := range compare.AppendRatios(nil, p) {
		slow[i] = ratio > compare.Slow
	}
	return slow
}

// toBars converts attempts to bars.
func toBars(p *sim.Phase, spans []sim.Span, lanes map[int32]int, slow []bool) []Bar {
	bars := []Bar{}
	for _, s := range spans {
		lane, shown := lanes[s.Slot]
		if !shown {
			continue
		}
		bars = append(bars, Bar{
			Lane: lane, Task: int(s.Task), Start: s.Start.Seconds(), End: s.End.Seconds(), Kind: kind(s, slow[s.Task]),
			Name: p.TaskName(int(s.Task)), Host: hostOf(p, s.Slot),
		})
	}
	return bars
}

// The kinds of bars.
const (
	kindTask      = "task"
	kindStraggler = "straggler"
	kindCopy      = "copy"
	kindFailed    = "failed"
	kindKilled    = "killed"
)

// kind returns the kind of the bar of an attempt.
func kind(s sim.Span, slow bool) string {
	switch {
	case s.Ending == sim.Killed:
		return kindKilled
	case s.Ending == sim.Failed:
		return kindFailed
	case s.Launched:
		return kindCopy
	case slow:
		return kindStraggler
	}
	return kindTask
}
