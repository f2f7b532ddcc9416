package report

import (
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// headline says in a sentence what stragglers cost, and in another what the first policy would have saved.
func headline(r *Report) string {
	switch {
	case r.Apart != nil && len(r.Phases) == 0:
		return r.Apart.headline()
	case r.Apart != nil:
		alike := *r
		alike.Apart = nil
		if r.Apart.Tasks == 0 {
			return headline(&alike)
		}
		return headline(&alike) + fmt.Sprintf(" That is of the %s that are alike; of the other %s no saving is claimed.",
			counted(r.Input.Tasks-r.Apart.Tasks, "task"), counted(r.Apart.Tasks, "task"))
	case r.Stragglers.Tasks == 0:
		return "No task took over 1.5 times the median of its phase: there are no stragglers to mitigate."
	}
	text := fmt.Sprintf("Stragglers cost %s of the phases' time.", Percent(r.Stragglers.Cost))
	if time := r.NoAction.Time; time > 0 {
		whose := "the phases' " + Span(time)
		switch runs := r.NoAction.Runs; {
		case runs == time:
			whose = fmt.Sprintf("the %s that runs of the same tasks take, added up", Span(time))
		case runs > 0:
			whose = fmt.Sprintf("the %s that phases and, added up, runs of the same tasks take", Span(time))
		}
		text = fmt.Sprintf("Stragglers cost %s of %s (%s).", Span(time*r.Stragglers.Cost), whose, Percent(r.Stragglers.Cost))
	}
	if len(r.Policies) == 0 {
		return text
	}
	p := r.Policies[0]
	change, resource := p.All.Mean, p.Resource.Mean
	verb := "would have saved " + amount(r, change)
	switch {
	case Percent(change) == "0.0%":
		verb = "would have changed nothing"
	case change < 0:
		verb = "would have made it " + amount(r, -change) + " longer"
	}
	cost := ", for " + Percent(resource) + " less slot time"
	switch {
	case Percent(resource) == "0.0%":
		cost = ", at the same slot time"
	case resource < 0:
		cost = ", for " + Percent(-resource) + " more slot time"
	}
	text += fmt.Sprintf(" The policy %s %s%s.", p.Name, verb, cost)
	if change > r.Stragglers.Cost+0.0005 {
		text += " That is more than stragglers cost: it also helps tasks that are slow, but not 1.5 times, and changes their order."
	}
	return text
}

// amount writes a share of the phases' time, and how long that is.
func amount(r *Report, share float64) string {
	if r.NoAction.Time > 0 {
		return Span(share*r.NoAction.Time) + " (" + Percent(share) + ")"
	}
	return Percent(share)
}

// plural chooses a word by a number.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Percent writes a share as a percentage.
func Percent(share float64) string {
	s := fmt.Sprintf("%.1f%%", 100*share)
	if s == "-0.0%" {
		return "0.0%"
	}
	return s
}

// Change writes a reduction as the change that it is, without a sign if it rounds to none.
func Change(reduction float64) string {
	s := fmt.Sprintf("%+.1f%%", -100*reduction)
	if s == "+0.0%" || s == "-0.0%" {
		return "0.0%"
	}
	return s
}

// Span writes seconds in a unit that people read.
func Span(seconds float64) string {
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

// String says how frequent stragglers are, and what the log tells of why.
func (s Stragglers) String() string {
	text := fmt.Sprintf("%s (%s) %s over 1.5 times the median of %s phase", counted(s.Tasks, "task"), Percent(s.Share),
		plural(s.Tasks, "takes", "take"), plural(s.Tasks, "its", "their"))
	if s.Tasks == 0 {
		return text + "."
	}
	text += fmt.Sprintf("; of these %d started in the first wave", s.FirstWave)
	if s.Unknown == s.Tasks {
		return text + "; what they read is not known, or is nothing."
	}
	text += fmt.Sprintf(" and %d read over 1.5 times the median bytes", s.MoreData)
	if s.Unknown > 0 {
		text += fmt.Sprintf("; what %d read is not known, or is nothing", s.Unknown)
	}
	return text + "."
}

func (c Cloning) String() string {
	chance := "how often tasks straggle was never known."
	if c.Straggle != nil {
		chance = fmt.Sprintf("a task straggled with probability %.3f.", *c.Straggle)
	}
	if c.Phases == 0 {
		return fmt.Sprintf("dolly cloned no phase, %d of them having at most 10 tasks; %s", c.Small, chance)
	}
	return fmt.Sprintf("dolly cloned %d phases, %d of the %d with at most 10 tasks; the time of the cloned ones changed by %s. Of the "+
		"cluster's %d slots at most %s were charged to cloning at once, %.0f%% being allowed, and %.2f%% used over the whole time; %s",
		c.Phases, c.SmallCloned, c.Small, Change(c.Reduction), c.Capacity, Percent(c.Most), 100*c.Budget, 100*c.Held, chance)
}

func assumptions(phases []*sim.Phase, c compare.Comparison, generated bool) []string {
	list := []string{
		"Copies report their progress every 10 s or ten times in a typical task's life, whichever is more often, yet at most 10,000 times in the longest attempt; how their progress runs is modelled: -progress says how, and docs/progress.md what hangs on it.",
		"A copy that never ran takes its time from a successful attempt of its phase, scaled by what the two tasks' bytes explain, so tasks that are long because of their data stay long. The attempt may be a slow one.",
		"Phases are replayed one by one. Killing takes no time, and nothing else runs on slots that stay idle.",
		"What a phase shows of how progress runs is known in those that begin after it, of maps and of reduces apart, to the policies that read it, as to a host that keeps it from one phase to the next.",
		"dolly clones tasks when they first start, on slots beyond the phase's own, and does nothing else; the cluster's other slots are those that the log, or the generated workload, shows to be free.",
	}
	if n := compare.Chained(phases); n > 0 {
		list = append(list, fmt.Sprintf("Jobs' times: each of the %d phases whose input phases are known begins as long after the last of them as it did in the log; all others begin when they did.", n))
	}
	const order = "least-cost, mantri, sda, ese, and largest-first, which does nothing else, start waiting tasks by size; the other policies keep the "
	if generated {
		return append(list, "Stragglers are as frequent, as long, and as much explained by data as Mantri's paper states (sections 3.1, 4.1, 4.2); no machine is slow.",
			order+"given order.")
	}
	list = append(list,
		"Slots open when they did in the log, rest between tasks as long as they did, close where the log gave them to others while tasks waited, and otherwise stay to the end of the phase.",
		"A copy that starts after the first wave, the attempts that were the first on their slots, takes its time from the same machine after the first wave if there are at least 5 such attempts, else from all after the first wave, if 5.",
		"Attempts that failed in the log fail in the replay, having reported half the progress; copies do not fail. Where the log's own engine ran copies, the winner counts as the task's one attempt, also without action.",
		order+"recorded order.")
	if c.Seeds > 1 {
		list = append(list, fmt.Sprintf("Figures are means of %d draws of the times of copies that never ran.", c.Seeds))
	}
	return list
}
