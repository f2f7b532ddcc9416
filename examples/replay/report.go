package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/straggler-go/straggler/restart"

	"straggler-examples/internal/sim"
)

// print writes the report for people.
func print(w io.Writer, c comparison, phases []*sim.Phase) error {
	fmt.Fprintf(w, "%s: %d phases, %d tasks\n", c.Input, c.Phases, c.Tasks)
	for _, n := range c.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	fmt.Fprintf(w, "%v\n\n", survey(phases))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "policy\ttime p50\ttime p75\ttime all\tresource\tcopies/task\trestarts/task\twon\twasted\t")
	fmt.Fprintf(table, "no action\t\t\t%s\t%s\t\t\t\t%s\t\n", span(c.Baseline.Time), span(c.Baseline.Used), span(c.Baseline.Wasted))
	for _, o := range c.Outcomes {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%s\t%s\t\n",
			o.Policy, signed(o.P50), signed(o.P75), signed(o.All), signed(o.Resource), o.Copies, o.Restarts, won(o), span(o.Wasted))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, `
time      change of the phases' completion times; -20% is a fifth less. p50 and p75: half, and a quarter, of the phases
          gain at least this much, each weighing by its time without action; all: change of the sum
resource  change of the time that slots were in use; +5% costs a twentieth more
copies    launched beside a running copy; a restart kills it first
won       share of copies and restarts that ended their task before its own attempt would have
wasted    time of slots on attempts that did not end their task`)
	for _, o := range c.Outcomes {
		if o.Cloning != nil {
			fmt.Fprintf(w, "\n%v\n", o.Cloning)
		}
	}
	if c.Baseline.Recorded {
		fmt.Fprintf(w, "\nWithout action the replay differs from the recorded phase times by %.2g%% in all, %.2g%% in the worst phase.\n",
			c.Baseline.Deviation, c.Baseline.WorstDeviation)
	}
	fmt.Fprintln(w, "\nAssumptions:")
	for _, a := range c.Assumptions {
		fmt.Fprintf(w, "  - %s\n", a)
	}
	_, err := fmt.Fprintf(w, "\n%d events in %.1f s, %.1f million a second on a core.\n", c.Events, c.Seconds, c.Rate/1e6)
	return err
}

// signed writes a reduction as the change that it is, without a sign if it rounds to none.
func signed(reduction float64) string {
	s := fmt.Sprintf("%+.1f%%", -reduction)
	if s == "+0.0%" || s == "-0.0%" {
		return "0.0%"
	}
	return s
}

func won(o outcome) string {
	if o.Won == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *o.Won)
}

// span writes seconds in a unit that people read.
func span(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.3g min", seconds/60)
	case seconds < 10_000*3600:
		return fmt.Sprintf("%.4g h", seconds/3600)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}

func assumptions(recorded bool) []string {
	list := []string{
		"Copies report their progress every 10 s or ten times in a typical task's life, whichever is more often, yet at most 10,000 times in the longest attempt; progress is linear in time.",
		"A copy that never ran takes its time from a successful attempt of its phase, scaled by what the two tasks' bytes explain, so tasks that are long because of their data stay long. The attempt may be a slow one.",
		"Phases are replayed one by one; what one phase saves does not start the next one sooner. Killing takes no time, and nothing else runs on slots that stay idle.",
	}
	list = append(list, "dolly clones tasks when they first start, on slots beyond the phase's own, and does nothing else; the cluster's other slots are those that the log, or the generated workload, shows to be free.")
	const order = "mantri, and largest-first, which does nothing else, start waiting tasks by size; the other policies keep the "
	if recorded {
		list = append(list,
			"Slots open when they did in the log, rest between tasks as long as they did, close where the log gave them to others while tasks waited, and otherwise stay to the end of the phase.",
			"A copy that starts after the first wave, the attempts that were the first on their slots, takes its time from the same machine after the first wave if there are at least 5 such attempts, else from all after the first wave, if 5.",
			"Attempts that failed in the log fail in the replay, having reported half the progress; copies do not fail. Where the log's own engine ran copies, the winner counts as the task's one attempt, also without action.",
			order+"recorded order.")
	} else {
		list = append(list, "Stragglers are as frequent, as long, and as much explained by data as Mantri's paper states (sections 3.1, 4.1, 4.2); no machine is slow.",
			order+"given order.")
	}
	return list
}

// stragglers says how many tasks take over 1.5 times the median of their phase, the paper's definition [Mantri §4.1].
// What they read is not known of all of them.
type stragglers struct{ tasks, outliers, first, data, unknown int }

func survey(phases []*sim.Phase) (s stragglers) {
	for _, p := range phases {
		durations := make([]time.Duration, len(p.Tasks))
		works := make([]float64, 0, len(p.Tasks)) // those that are known
		for i, t := range p.Tasks {
			durations[i] = last(p, i)
			if t.Work > 0 {
				works = append(works, t.Work)
			}
		}
		middle, usual := middleOf(durations), middleOf(works)
		for i, d := range durations {
			s.tasks++
			if float64(d) <= 1.5*float64(middle) {
				continue
			}
			s.outliers++
			if p.Tasks[i].First {
				s.first++
			}
			switch work := p.Tasks[i].Work; {
			case work == 0:
				s.unknown++
			case work > 1.5*usual:
				s.data++
			}
		}
	}
	return s
}

// middleOf is the middle value, the higher one of two; 0 if there is none.
func middleOf[T float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func (s stragglers) String() string {
	text := fmt.Sprintf("%d tasks (%.1f%%) take over 1.5 times the median of their phase", s.outliers, percent(float64(s.outliers), float64(s.tasks)))
	if s.outliers == 0 {
		return text + "."
	}
	text += fmt.Sprintf("; of these %d started in the first wave", s.first)
	if s.unknown == s.outliers {
		return text + "; what they read is not known."
	}
	text += fmt.Sprintf(" and %d read over 1.5 times the median bytes", s.data)
	if s.unknown > 0 {
		text += fmt.Sprintf("; what %d read is not known", s.unknown)
	}
	return text + "."
}

// list writes the phases with what mantri would save in each, most first.
func list(w io.Writer, phases []*sim.Phase, seed uint64) error {
	none, _, err := replayAll(phases, entry{policy: restart.Never{}}, seed, func() {})
	if err != nil {
		return err
	}
	mantri, _, err := replayAll(phases, entries()[0], seed, func() {})
	if err != nil {
		return err
	}
	order := make([]int, len(phases))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(none[b].Time-mantri[b].Time, none[a].Time-mantri[a].Time)
	})
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "phase\tjob\tname\ttasks\tslots\ttime\twith mantri\tslowest task\tits time\t")
	for _, i := range order {
		p := phases[i]
		slowest := 0
		for j := range p.Tasks {
			if last(p, j) > last(p, slowest) {
				slowest = j
			}
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%d\t%s\t%s\t%d/%d\t%s\t\n", i, p.Job, p.Name, len(p.Tasks), len(p.Slots),
			span(none[i].Time.Seconds()), span(mantri[i].Time.Seconds()), i, slowest, span(last(p, slowest).Seconds()))
	}
	return table.Flush()
}

func last(p *sim.Phase, task int) time.Duration {
	attempts := p.Tasks[task].Attempts
	return attempts[len(attempts)-1].Duration
}
