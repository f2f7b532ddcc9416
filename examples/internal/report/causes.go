package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Causes has the causes of stragglers in all phases, as far as the log shows them. Package estimate/causes finds
// them.
type Causes struct {
	// Excess is the time that stragglers took beyond the medians of their phases, in seconds. Parts divides it among
	// the causes, the largest part first.
	Excess float64 `json:"excess_seconds"`
	Parts  []Part  `json:"parts"`
	// CostParts divides the time that stragglers cost the phases, Stragglers.Cost, among the causes: of each phase among
	// the stragglers on the slots for which the phase waited.
	CostParts []Part `json:"cost_parts"`
	// Wait is the difference between the slowest task and the mean task of a phase, in seconds, summed over the
	// phases.
	Wait float64 `json:"wait_seconds"`
	// Machines are the slow machines, the worst first. MachinesLeftOut is the number of further slow machines.
	Machines        []Machine `json:"machines,omitempty"`
	MachinesLeftOut int       `json:"machines_left_out"`
	// MachinesSaved is about the time that the phases would save if no attempt failed on the slow machines and no task there
	// took longer than the median of the tasks elsewhere, in seconds; 0 if slow machines are not the main cause. Less is saved
	// without these machines, because their slots are lost then.
	MachinesSaved float64 `json:"machines_saved_seconds"`
	// Recurring are tasks that are slow in most phases of their kind, on any machine, the worst first.
	// RecurringLeftOut is the number of further such tasks.
	Recurring        []why.Recurring `json:"recurring,omitempty"`
	RecurringLeftOut int             `json:"recurring_left_out"`
	// Place is the machine on which most of the cost of stragglers arose, whatever the cause; null if there is none.
	Place *why.Place `json:"place,omitempty"`
	// Known tells how many facts the log has. A cause cannot show if its facts are unknown.
	Known Known `json:"known"`
}

// Known has the number of tasks, and the numbers of tasks with known bytes and with a known machine.
type Known struct {
	Tasks    int `json:"tasks"`
	Bytes    int `json:"bytes"`
	Machines int `json:"machines"`
}

// Part is the share of a cause in a time.
type Part struct {
	Cause string  `json:"cause"`
	Share float64 `json:"share"`
	// Remedy is a short advice against the cause.
	Remedy string `json:"remedy"`
}

// Machine is a slow machine.
type Machine struct {
	Name string `json:"machine"`
	// Ratio is the time of its tasks divided by the expected time, at the median over its phases.
	Ratio  float64 `json:"ratio"`
	Tasks  int     `json:"tasks"`
	Slow   int     `json:"slow_tasks"`
	Phases int     `json:"phases"`
}

// mostMachines is the largest number of listed machines and of listed recurring tasks.
const mostMachines = 20

// SameTask is the cause of stragglers that are slow in most phases. Their time is subtracted from the unknown cause.
const SameTask = "same-task"

// Explain adds the causes of stragglers. replayed are the phases of the replay, and phases the facts about the same
// phases, with the tasks in the same order. names are the names of the machines.
func (r *Report) Explain(replayed []*sim.Phase, phases []causes.Phase, names []string) error {
	c := &Causes{}
	bill := causes.Charge(phases)
	recurring, slowIn := why.Recur(replayed)
	c.Recurring = recurring[:min(len(recurring), mostMachines)]
	c.RecurringLeftOut = len(recurring) - len(c.Recurring)
	excess, cost, seconds, places := tally{}, tally{}, 0.0, why.Places{}
	for i, p := range phases {
		c.Known.add(p)
		if len(bill.Machines) > 0 {
			p.Factor = bill.Factor
		}
		waits, err := why.Waits(replayed[i], r.costs[i])
		if err != nil {
			return err
		}
		places.Add(replayed[i], waits)
		own, waited := r.charge(i, replayed[i], causes.Explain(p), slowIn[i], waits)
		excess.add(own, 1)
		cost.add(waited, 1)
		c.Excess += own.sum()
		seconds += waited.sum()
	}
	r.keepWorst()
	c.Parts, c.CostParts = excess.parts(c.Excess), cost.parts(seconds)
	c.Wait = bill.Wait.Seconds()
	for _, s := range bill.Machines[:min(len(bill.Machines), mostMachines)] {
		c.Machines = append(c.Machines, Machine{names[s.Index], s.Ratio, s.Tasks, s.Slow, s.Phases})
	}
	c.MachinesLeftOut = len(bill.Machines) - len(c.Machines)
	c.Place = places.Worst(seconds, c.Known.Tasks)
	r.Causes, r.costs = c, nil
	if main := mainCause(c.CostParts); main == nil || main.Cause != causes.Machine.String() || len(bill.Machines) == 0 {
		return nil
	}
	slow := map[string]bool{}
	for _, s := range bill.Machines {
		slow[names[s.Index]] = true
	}
	saved, err := why.Replaced(replayed, func(machine string) bool { return slow[machine] })
	c.MachinesSaved = max(saved, 0)
	return err
}

// tally has a time, or the shares of a time, by cause.
type tally map[string]float64

// share sets the shares of the causes.
func (t tally) share(parts causes.Parts) {
	for c := causes.Unknown; c <= causes.Contention; c++ {
		t[c.String()] = parts.Of(c)
	}
}

// sum returns the time of all causes.
func (t tally) sum() (seconds float64) {
	for _, cause := range slices.Sorted(maps.Keys(t)) { // in order, so that the sum is always the same
		seconds += t[cause]
	}
	return seconds
}

// charge divides two times of a phase among the causes: the time of its stragglers beyond the median, and the cost of
// its stragglers. same has the recurring tasks of the phase, in order. The time of a recurring task without a known
// cause is charged to SameTask. waits has the cost of each task.
func (r *Report) charge(
	phase int, p *sim.Phase, found causes.Report, same []int, waits []float64,
) (excess, cost tally) {
	unknown := causes.Unknown.String()
	excess, cost = tally{}, tally{}
	cause := map[int]string{}
	for _, o := range found.Outliers {
		parts := tally{}
		parts.share(o.Parts)
		cause[o.Task] = o.Cause.String()
		if _, recurs := slices.BinarySearch(same, o.Task); recurs {
			parts[SameTask], parts[unknown] = parts[unknown], 0
			if o.Cause == causes.Unknown {
				cause[o.Task] = SameTask
			}
		}
		excess.add(parts, (o.Took - found.Median).Seconds())
		cost.add(parts, waits[o.Task])
	}
	if missed := r.costs[phase] - cost.sum(); missed > 0 {
		cost[unknown] += missed
	}
	r.blame(phase, p, cause, waits)
	for k := range r.Phases {
		if r.Phases[k].ID == phase && found.Excess > 0 {
			r.Phases[k].Causes = excess.parts(excess.sum())
		}
	}
	return excess, cost
}

// add adds a time that is divided among the causes.
func (t tally) add(shares tally, seconds float64) {
	for cause, share := range shares {
		t[cause] += float64(share * seconds)
	}
}

// parts returns the causes with at least 0.05 % of a total, the largest first, and the unknown cause last.
func (t tally) parts(total float64) []Part {
	list := []Part{}
	for cause, seconds := range t {
		if share := seconds / max(total, 1e-9); gains(share) {
			list = append(list, Part{cause, share, plain[cause].remedy})
		}
	}
	rank := func(p Part) float64 { // the unknown cause is last
		if p.Cause == causes.Unknown.String() {
			return -1
		}
		return p.Share
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a.Cause, b.Cause))
	})
	return list
}

// mainCause returns the cause with the largest share, which may be the unknown cause; nil for no causes.
func mainCause(parts []Part) *Part {
	if len(parts) == 0 {
		return nil
	}
	most := slices.MaxFunc(parts, func(a, b Part) int { return cmp.Compare(a.Share, b.Share) })
	return &most
}

// listed writes causes with their shares, such as "data 59.8%, unknown 40.2%".
func listed(parts []Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = plain[p.Cause].noun + " " + Percent(p.Share)
	}
	return strings.Join(texts, ", ")
}

// add counts the known facts of a phase.
func (k *Known) add(p causes.Phase) {
	for _, t := range p.Tasks {
		k.Tasks++
		if t.Bytes > 0 {
			k.Bytes++
		}
		if t.Machine >= 0 {
			k.Machines++
		}
	}
}

// String returns a sentence about the time that stragglers took beyond the medians.
func (c *Causes) String() string {
	return fmt.Sprintf("Together, stragglers took %s more than the medians of their phases: %s.", Span(c.Excess),
		listed(c.Parts))
}

// machine returns a sentence about the slowest machine; empty if no machine is slow in most of its phases.
func (c *Causes) machine() string {
	if len(c.Machines) == 0 {
		return ""
	}
	m := c.Machines[0]
	where := "its only phase"
	if m.Phases > 1 {
		where = "most of its " + words.Counted(m.Phases, "phase")
	}
	text := fmt.Sprintf(" Machine %s is slow in %s: at the median, its tasks take %.1f times the expected time.",
		short(m.Name), where, m.Ratio)
	if more := len(c.Machines) + c.MachinesLeftOut - 1; more > 0 {
		text += fmt.Sprintf(" So %s %s.", words.Plural(more, "is", "are"), words.Counted(more, "other machine"))
	}
	return text
}

// slowMachines names the slow machines, such as "machine n4 and 2 other slow machines".
func (c *Causes) slowMachines() string {
	text := "machine " + short(c.Machines[0].Name)
	if more := len(c.Machines) + c.MachinesLeftOut - 1; more > 0 {
		text += " and " + words.Counted(more, "other slow machine")
	}
	return text
}

// recurringTask returns a sentence about the worst recurring task; empty if there is none.
func (c *Causes) recurringTask() string {
	if len(c.Recurring) == 0 {
		return ""
	}
	t := c.Recurring[0]
	text := fmt.Sprintf(" Task %s is slow in %d of %s: at the median, it takes %s.", short(t.Task), t.Slow,
		words.Counted(t.Phases, "phase"), times(t.Ratio))
	if more := len(c.Recurring) + c.RecurringLeftOut - 1; more > 0 {
		text += fmt.Sprintf(" So %s %s.", words.Plural(more, "is", "are"), words.Counted(more, "other task"))
	}
	return text
}

// doubts returns a sentence about the causes that may not show because most tasks lack the facts; empty if none lacks.
func (k Known) doubts() string {
	var facts, hidden []string
	if 2*k.Bytes < k.Tasks {
		facts, hidden = append(facts, "bytes"), append(hidden, plain[causes.Data.String()].noun)
	}
	if 2*k.Machines < k.Tasks {
		facts, hidden = append(facts, "machines"), append(hidden, plain[causes.Machine.String()].noun)
	}
	if facts == nil {
		return ""
	}
	return fmt.Sprintf(" The %s of most tasks are not known, so %s may not show as a cause.",
		strings.Join(facts, " and "), strings.Join(hidden, " and "))
}
