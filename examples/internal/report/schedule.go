package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"

	"straggler-examples/internal/compare"
	"straggler-examples/internal/sim"
)

// draw adds pictures of the phases in which stragglers cost most, without action and under the first policy.
func (r *Report) draw(phases []*sim.Phase, policies []compare.Entry, outcomes []compare.Outcome) error {
	i := slices.IndexFunc(policies, func(e compare.Entry) bool { return !e.Clones })
	if i < 0 {
		return nil // clones run beside the phase's slots
	}
	known := outcomes[i].Results
	for _, row := range r.Phases[:min(len(r.Phases), mostSchedules)] {
		if row.Stragglers == 0 {
			continue
		}
		before, err := spans(phases[row.ID], compare.Entry{Policy: restart.Never{}}, r.Input.Seed, row.ID, nil)
		if err != nil {
			return err
		}
		after, err := spans(phases[row.ID], policies[i], r.Input.Seed, row.ID, known[row.ID].Known)
		if err != nil {
			return err
		}
		r.Schedules = append(r.Schedules, schedule(phases[row.ID], row.ID, policies[i].Name, before, after))
	}
	return nil
}

func spans(p *sim.Phase, e compare.Entry, seed uint64, id int, known *survival.Shape) (all []sim.Span, err error) {
	o := e.Options(seed, id)
	o.Shape = known
	o.Spans = func(s sim.Span) { all = append(all, s) }
	_, err = sim.Run(p, o)
	return all, err
}

// schedule picks the slots that were in use last in either picture: they are what the phase waited for.
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
	s.Before, s.After = toBars(before, lanes, slow), toBars(after, lanes, slow)
	return s
}

func slowTasks(p *sim.Phase) []bool {
	slow := make([]bool, len(p.Tasks))
	for i, ratio := range compare.AppendRatios(nil, p) {
		slow[i] = ratio > compare.Slow
	}
	return slow
}

func toBars(spans []sim.Span, lanes map[int32]int, slow []bool) []Bar {
	bars := []Bar{}
	for _, s := range spans {
		lane, shown := lanes[s.Slot]
		if !shown {
			continue
		}
		bars = append(bars, Bar{lane, int(s.Task), s.Start.Seconds(), s.End.Seconds(), kind(s, slow[s.Task])})
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
