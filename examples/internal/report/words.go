package report

import (
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// leastShown is the least share that Percent does not print as 0.0%.
const leastShown = 0.0005

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

// compared writes a reduction in words: 0.2 is "20.0% less", and -0.2 "20.0% more".
func compared(reduction float64) string {
	switch text := Percent(reduction); {
	case text == "0.0%":
		return "the same"
	case reduction < 0:
		return Percent(-reduction) + " more"
	default:
		return text + " less"
	}
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

// SpanIn writes a time in the unit that Span chooses for another, such as the longest time of a column of a table.
func SpanIn(seconds, longest float64) string {
	switch {
	case longest < 120:
		return fmt.Sprintf("%.3g s", seconds)
	case longest < 2*3600:
		return fmt.Sprintf("%.3g min", seconds/60)
	}
	return fmt.Sprintf("%.3g h", seconds/3600)
}

// String returns sentences about when stragglers started and how much they read.
func (s Stragglers) String() string {
	text := fmt.Sprintf("Of the stragglers, %d started in the first wave (first on their slots)", s.FirstWave)
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
	return fmt.Sprintf("dolly cloned %d phases, among them %d of the %d phases with at most 10 tasks. The time of the "+
		"cloned phases changed by %s. The cluster has %d slots: at most %s of them were charged to clones at once "+
		"(allowed: %.0f%%), and clones used %.2f%% of their time. %s",
		c.Phases, c.SmallCloned, c.Small, Change(c.Reduction), c.Capacity, Percent(c.Most), 100*c.Budget, 100*c.Held, chance)
}

func assumptions(phases []*sim.Phase, c compare.Comparison, generated bool) []string {
	list := []string{
		"Attempts report their progress every 10 s, or ten times in the time of a typical task if that is more often, but " +
			"at most 10,000 times in the longest attempt. The progress follows a model, which the option -progress chooses; " +
			"docs/progress.md shows the effect of each model.",
		"A copy that never ran takes the time of a successful attempt of its phase, scaled by the effect of the two " +
			"tasks' bytes. So a task that is long because of its data stays long. The successful attempt may be a slow attempt.",
		"Phases are replayed one by one. A kill takes no time, and nothing else runs on idle slots.",
		"Some policies use the shape of progress: how fast progress runs at the start, in the middle and at the end of an " +
			"attempt. They know the shape of all phases that began earlier, maps and reduces apart, like a host that keeps " +
			"this experience.",
		"dolly clones tasks when they first start, on slots beyond the slots of the phase, and does nothing else. The " +
			"log, or the generated workload, shows how many slots of the cluster are free.",
	}
	if c.Seeds > 1 {
		list = append(list, fmt.Sprintf("Each figure is the mean of %d draws of the times of copies that never ran.", c.Seeds))
	} else {
		list = append(list, "Each figure is from one draw of the times of copies that never ran. The option -seeds makes more draws.")
	}
	if n := compare.Chained(phases); n > 0 {
		list = append(list, fmt.Sprintf("Jobs' times: for %s, it is known which other phases' output is read. Such a "+
			"phase begins as long after the end of its last input phase as it did in the log. All other phases begin at "+
			"their time in the log.", words.Counted(n, "phase")))
	}
	const order = "The policies least-cost, mantri, sda, ese and largest-first start the largest waiting task first; " +
		"largest-first does nothing else. The other policies start tasks in the "
	if generated {
		return append(list, "The generated stragglers are as frequent and as long as in Mantri's paper (sections 3.1, "+
			"4.1, 4.2), and the same share of them is explained by data. No machine is slow.",
			order+"given order.")
	}
	list = append(list,
		"A slot opens at its time in the log, and rests between two tasks as long as it did there. If tasks waited in the log when "+
			"the slot ended its last task, it takes no task of the log from that time on, except to run as many as it did there. "+
			"If more tasks waited than other free slots took, the slot leaves then; and if slots opened later, it takes none "+
			"from the start of its last task on.",
		"The first wave is the first attempt on each slot. A copy that starts after the first wave takes its time from "+
			"attempts on the same machine after the first wave, if there are at least 5 of them. Otherwise it takes its time "+
			"from all attempts after the first wave, if there are at least 5.",
		"An attempt that failed in the log fails in the replay too, after it has reported half of the progress. Copies do "+
			"not fail. Where the log's own engine ran copies, only the attempt that ended the task is replayed, also without action.",
		order+"recorded order.")
	return list
}
