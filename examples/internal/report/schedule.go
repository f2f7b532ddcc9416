package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// draw adds pictures of the phases whose times the first policy changes most, without action and under the policy.
func (r *Report) draw(phases []*sim.Phase, policies []compare.Entry, c *compare.Comparison) error {
	first := slices.IndexFunc(policies, func(e compare.Entry) bool { return !e.Clones })
	if first < 0 {
		return nil // no pictures of clones, which run beside the slots of the phase
	}
	with := c.Outcomes[first].Results
	order := make([]int, len(phases))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, c.ByChange(with))
	for _, i := range order[:min(len(order), mostSchedules)] {
		row := phase(phases[i], i, *c)
		if row.Stragglers == 0 {
			continue
		}
		before, _, err := spans(phases[i], compare.Entry{Policy: restart.Never{}}, r.Input.Seed, i, sim.Result{})
		if err != nil {
			return err
		}
		after, decided, err := spans(phases[i], policies[first], r.Input.Seed, i, with[i])
		if err != nil {
			return err
		}
		s := schedule(phases[i], i, before, after)
		s.Policy, s.Copies, s.Restarts = policies[first].Name, with[i].Copies, with[i].Restarts
		for k := range s.After {
			s.After[k].Decision = strings.Join(decided[s.After[k].Task], "; then ")
		}
		if !r.Input.Generated {
			s.eachBar(func(b *Bar) { b.Bytes = phases[i].Tasks[b.Task].Work })
		}
		r.Schedules = append(r.Schedules, s)
		if !slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.ID == i }) {
			r.Phases = append(r.Phases, row)
			r.PhasesLeftOut--
		}
	}
	return nil
}

// spans replays a phase, with the knowledge that the phase had in the result r. It returns its attempts, and for each task the decisions that were carried out.
func spans(
	p *sim.Phase, e compare.Entry, seed uint64, id int, r sim.Result,
) (all []sim.Span, decided acts, err error) {
	decided = acts{}
	o, err := e.Again(p, seed, id, r)
	if err != nil {
		return nil, nil, err
	}
	o.Witness = decided
	o.Spans = func(s sim.Span) { all = append(all, s) }
	_, err = sim.Run(p, o)
	return all, decided, err
}

// acts has the decisions about each task that were carried out, in words. It is a sim.Witness.
type acts map[int][]string

// Begins, Reported and Launched do nothing.
func (acts) Begins(*sim.Phase)                           {}
func (acts) Reported(tracker.Answer, []sim.Running, int) {}
func (acts) Launched(int, time.Duration)                 {}

// mostActs is the largest number of decisions in the text of a bar.
const mostActs = 3

// Acts records a decision that is carried out.
func (a acts) Acts(d tracker.Answer, _ []sim.Running) {
	if len(a[d.Task]) < mostActs {
		a[d.Task] = append(a[d.Task], inWords(d.Decision))
	}
}

// inWords writes a decision for people, such as "restarted: 21 min to go, a new attempt needs 19 min".
func inWords(d restart.Decision) string {
	text, _, _ := strings.Cut(d.Sentence(), ";")
	verb, _, _ := strings.Cut(text, ":")
	switch {
	case d.Action == restart.Kill:
		return "one attempt " + text
	case d.Remaining > 0 && d.Remaining < math.MaxInt64 && d.Fresh > 0:
		return fmt.Sprintf("%s: %s to go, a new attempt needs %s", verb, Span(d.Remaining.Seconds()),
			Span(d.Fresh.Seconds()))
	}
	return text
}

// eachBar calls change for each bar.
func (s *Schedule) eachBar(change func(b *Bar)) {
	for i := range s.Before {
		change(&s.Before[i])
	}
	for i := range s.After {
		change(&s.After[i])
	}
}

// schedule makes the picture of a phase. It chooses the slots that were in use last without action, and the slots that
// were in use last under the policy, because the phase waited for them.
func schedule(p *sim.Phase, id int, before, after []sim.Span) Schedule {
	s := Schedule{Phase: id}
	place := make([]float64, len(p.Slots)) // the better of the slot's two places, negative
	for k, spans := range [][]sim.Span{before, after} {
		ends := make([]float64, len(p.Slots))
		for _, span := range spans {
			if span.Slot >= 0 {
				ends[span.Slot] = max(ends[span.Slot], span.End.Seconds())
			}
		}
		for i, slot := range ranked(ends) {
			if k == 0 || -float64(i) > place[slot] {
				place[slot] = -float64(i)
			}
		}
		s.Seconds[k] = slices.Max(ends)
	}
	order := ranked(place)
	lanes := map[int32]int{}
	for _, slot := range order[:min(len(order), mostLanes)] {
		lanes[int32(slot)] = len(lanes)
		name := hostOf(p, int32(slot))
		if name == "" {
			name = fmt.Sprint("slot ", slot)
		}
		s.Names = append(s.Names, name)
	}
	slow, within := slowTasks(p), max(s.Seconds[0], s.Seconds[1])/mostJoined
	s.Before = join(toBars(p, before, lanes, slow), within)
	s.After = join(toBars(p, after, lanes, slow), within)
	bars := make([]int, len(lanes))
	s.eachBar(func(b *Bar) { bars[b.Lane]++ })
	for total := 0; s.Lanes < len(bars); s.Lanes++ {
		if total += bars[s.Lanes]; total > mostBars && s.Lanes > 0 {
			break
		}
	}
	hidden := func(b Bar) bool { return b.Lane >= s.Lanes }
	s.Before, s.After, s.Names = slices.DeleteFunc(s.Before, hidden), slices.DeleteFunc(s.After, hidden), s.Names[:s.Lanes]
	s.LanesLeftOut = len(order) - s.Lanes
	return s
}

// mostJoined is the number of parts into which the time of a picture is divided. Attempts of one slot that follow each
// other within one part are drawn as one bar.
const mostJoined = 150

// join joins the bars of a lane that follow each other within a time. So a lane has at most 2*mostJoined+1 bars.
func join(bars []Bar, within float64) []Bar {
	slices.SortStableFunc(bars, func(a, b Bar) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Start, b.Start))
	})
	joined := bars[:0]
	for _, b := range bars {
		if n := len(joined); n > 0 && joined[n-1].Lane == b.Lane && b.End-joined[n-1].Start <= within {
			last := &joined[n-1]
			start, count := last.Start, max(last.Joined, 1)+1
			if slices.Index(kinds, b.Kind) > slices.Index(kinds, last.Kind) {
				*last, b = b, *last
			}
			last.Start, last.End, last.Joined = start, max(last.End, b.End), count
			continue
		}
		joined = append(joined, b)
	}
	return joined
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

// kinds are the kinds of bars. Of the attempts that are drawn as one bar, the bar has the last of their kinds.
var kinds = []string{kindTask, kindStraggler, kindFailed, kindKilled, kindCopy}

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
