package report

import (
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// headline returns two sentences: the time that stragglers cost, and the time that the first policy would have saved.
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
		return headline(&alike) + fmt.Sprintf(" These figures are for %s. No saving is claimed for the other %s, which %s not known to be alike.",
			counted(r.Input.Tasks-r.Apart.Tasks, "task"), counted(r.Apart.Tasks, "task"), plural(r.Apart.Tasks, "is", "are"))
	case r.Stragglers.Tasks == 0:
		return "No task took more than 1.5 times the median of its phase: there are no stragglers."
	}
	text := fmt.Sprintf("Stragglers cost %s of the phases' time.", Percent(r.Stragglers.Cost))
	if time := r.NoAction.Time; time > 0 {
		whose := "the phases' " + Span(time)
		switch runs := r.NoAction.Runs; {
		case runs == time:
			whose = fmt.Sprintf("the %s that all runs of the same tasks take together", Span(time))
		case runs > 0:
			whose = fmt.Sprintf("the %s that the phases and all runs of the same tasks take together", Span(time))
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
		verb = "would have made the phases " + amount(r, -change) + " longer"
	}
	cost := " and used " + Percent(resource) + " less slot time"
	switch {
	case Percent(resource) == "0.0%":
		cost = " and used the same slot time"
	case resource < 0:
		cost = " and used " + Percent(-resource) + " more slot time"
	}
	text += fmt.Sprintf(" The policy %s %s%s.", p.Name, verb, cost)
	if change > r.Stragglers.Cost+0.0005 {
		text += " This saving is more than stragglers cost: the policy also changes the order of tasks, and helps slow tasks that take " +
			"less than 1.5 times the median."
	}
	return text
}

// amount writes a share of the phases' time as a duration and a percentage, such as "40.6 h (22.5%)".
func amount(r *Report, share float64) string {
	if r.NoAction.Time > 0 {
		return Span(share*r.NoAction.Time) + " (" + Percent(share) + ")"
	}
	return Percent(share)
}

// plural returns one if n is 1, and more otherwise.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Percent writes a share as a percentage: 0.2 is "20.0%".
func Percent(share float64) string {
	s := fmt.Sprintf("%.1f%%", 100*share)
	if s == "-0.0%" {
		return "0.0%"
	}
	return s
}

// Change writes a reduction as a signed change: a reduction of 0.2 is "-20.0%". A change that rounds to 0 has no sign.
func Change(reduction float64) string {
	s := fmt.Sprintf("%+.1f%%", -100*reduction)
	if s == "+0.0%" || s == "-0.0%" {
		return "0.0%"
	}
	return s
}

// Span writes a number of seconds as a duration in seconds, minutes or hours, such as "2 min" for 120.
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

// String returns sentences about how many tasks are stragglers, when they started and how much they read.
func (s Stragglers) String() string {
	text := fmt.Sprintf("%s (%s) %s more than 1.5 times the median of %s phase.", counted(s.Tasks, "task"), Percent(s.Share),
		plural(s.Tasks, "takes", "take"), plural(s.Tasks, "its", "their"))
	if s.Tasks == 0 {
		return text
	}
	text += fmt.Sprintf(" Of these stragglers, %d started in the first wave (first on their slots)", s.FirstWave)
	if s.Unknown == s.Tasks {
		return text + ". How many bytes they read is not known, or is 0."
	}
	text += fmt.Sprintf(", and %d read more than 1.5 times the median number of bytes.", s.MoreData)
	if s.Unknown > 0 {
		text += fmt.Sprintf(" For %d of them, the number of bytes is not known, or is 0.", s.Unknown)
	}
	return text
}

// String returns sentences about the phases that were cloned and the slots that the clones used.
func (c Cloning) String() string {
	chance := "The probability that a task straggles was never known."
	if c.Straggle != nil {
		chance = fmt.Sprintf("A task straggled with probability %.3f.", *c.Straggle)
	}
	if c.Phases == 0 {
		return fmt.Sprintf("dolly cloned no phase; the number of phases with at most 10 tasks is %d. %s", c.Small, chance)
	}
	return fmt.Sprintf("dolly cloned %d phases, among them %d of the %d phases with at most 10 tasks. The time of the cloned phases "+
		"changed by %s. The cluster has %d slots: at most %s of them were charged to clones at once (allowed: %.0f%%), and clones "+
		"used %.2f%% of their time. %s",
		c.Phases, c.SmallCloned, c.Small, Change(c.Reduction), c.Capacity, Percent(c.Most), 100*c.Budget, 100*c.Held, chance)
}

func assumptions(phases []*sim.Phase, c compare.Comparison, generated bool) []string {
	list := []string{
		"Attempts report their progress every 10 s, or ten times in the time of a typical task if that is more often, but at most 10,000 times in the longest attempt. The progress follows a model, which the option -progress chooses; docs/progress.md shows the effect of each model.",
		"A copy that never ran takes the time of a successful attempt of its phase, scaled by the effect of the two tasks' bytes. So a task that is long because of its data stays long. The successful attempt may be a slow attempt.",
		"Phases are replayed one by one. A kill takes no time, and nothing else runs on idle slots.",
		"Some policies use the shape of progress: how fast progress runs at the start, in the middle and at the end of an attempt. They know the shape of all phases that began earlier, maps and reduces apart, like a host that keeps this experience.",
		"dolly clones tasks when they first start, on slots beyond the slots of the phase, and does nothing else. The log, or the generated workload, shows how many slots of the cluster are free.",
	}
	if n := compare.Chained(phases); n > 0 {
		list = append(list, fmt.Sprintf("Jobs' times: for %s, it is known which other phases' output is read. Such a phase begins as long after the end of its last input phase as it did in the log. All other phases begin at their time in the log.", counted(n, "phase")))
	}
	const order = "The policies least-cost, mantri, sda, ese and largest-first start the largest waiting task first; largest-first does nothing else. The other policies start tasks in the "
	if generated {
		return append(list, "The generated stragglers are as frequent and as long as in Mantri's paper (sections 3.1, 4.1, 4.2), and the same share of them is explained by data. No machine is slow.",
			order+"given order.")
	}
	list = append(list,
		"A slot opens at its time in the log, and rests between two tasks as long as it did there. If the log gave a slot to other work while tasks of the phase waited, the slot closes at that time. Otherwise the slot stays open to the end of the phase.",
		"The first wave is the first attempt on each slot. A copy that starts after the first wave takes its time from attempts on the same machine after the first wave, if there are at least 5 of them. Otherwise it takes its time from all attempts after the first wave, if there are at least 5.",
		"An attempt that failed in the log fails in the replay too, after it has reported half of the progress. Copies do not fail. Where the log's own engine ran copies, only the attempt that ended the task is replayed, also without action.",
		order+"recorded order.")
	if c.Seeds > 1 {
		list = append(list, fmt.Sprintf("Each figure is the mean of %d draws of the times of copies that never ran.", c.Seeds))
	}
	return list
}
