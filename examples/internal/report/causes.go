package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/why"
)

// Causes has the causes of stragglers in all phases, as far as the log shows them. Package estimate/causes finds
// them.
type Causes struct {
	// Excess is the time that stragglers took beyond the medians of their phases, in seconds. Parts divides it among
	// the causes, the largest part first.
	Excess float64 `json:"excess_seconds"`
	Parts  []Part  `json:"parts"`
	// Wait is the difference between the slowest task and the mean task of a phase, in seconds, summed over the
	// phases. WaitParts divides it among the causes, the largest part first.
	Wait      float64 `json:"wait_seconds"`
	WaitParts []Part  `json:"wait_parts"`
	// Machines are the slow machines, the worst first. MachinesLeftOut is the number of further slow machines.
	Machines        []Machine `json:"machines,omitempty"`
	MachinesLeftOut int       `json:"machines_left_out"`
	// Recurring are tasks that are slow in most phases of their kind, on any machine, the worst first.
	// RecurringLeftOut is the number of further such tasks.
	Recurring        []Recurring `json:"recurring,omitempty"`
	RecurringLeftOut int         `json:"recurring_left_out"`
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

// Recurring is a task that is slow in most phases.
type Recurring struct {
	Job    string  `json:"job"`
	Task   string  `json:"task"`
	Ratio  float64 `json:"ratio"`
	Phases int     `json:"phases"`
	Slow   int     `json:"slow_phases"`
}

// mostMachines is the largest number of listed machines and of listed recurring tasks.
const mostMachines = 20

// SameTask is the cause of stragglers that are slow in most phases. Their time is subtracted from the unknown cause.
const SameTask = "same-task"

const sameTaskRemedy = "look at the work of the task; a copy would do the same work"

// Explain adds the causes of stragglers. replayed are the phases of the replay, and phases the facts about the same
// phases. numbers has, for each phase, the number of each task in the log; nil if the order is the same. names are
// the names of the machines.
func (r *Report) Explain(replayed []*sim.Phase, phases []causes.Phase, numbers [][]int32, names []string) {
	c := &Causes{}
	bill := causes.Charge(phases)
	recurring, beyond := why.Recur(replayed)
	for _, t := range recurring[:min(len(recurring), mostMachines)] {
		c.Recurring = append(c.Recurring, Recurring{t.Job, t.Task, t.Ratio, t.Phases, t.Slow})
	}
	c.RecurringLeftOut = len(recurring) - len(c.Recurring)
	same := 0.0
	var excess time.Duration
	parts := map[causes.Cause]float64{}
	rows := map[int]*Phase{}
	for i := range r.Phases {
		rows[r.Phases[i].ID] = &r.Phases[i]
	}
	for i, p := range phases {
		c.Known.add(p)
		if len(bill.Machines) > 0 {
			p.Factor = bill.Factor
		}
		found := causes.Explain(p)
		r.causeOfBars(i, replayed[i], found, numbers)
		excess += found.Excess
		own := 0.0 // share of the excess of recurring tasks, as far as it has no other cause
		if found.Excess > 0 {
			own = min(beyond[i].Seconds()/found.Excess.Seconds(), found.Parts.Unknown)
			found.Parts.Unknown -= own
			same += own * found.Excess.Seconds()
		}
		for cause := range everyCause {
			parts[cause] += found.Parts.Of(cause) * found.Excess.Seconds()
		}
		if row := rows[i]; row != nil && found.Excess > 0 {
			row.Causes = shares(func(cause causes.Cause) float64 { return found.Parts.Of(cause) }, own)
		}
	}
	c.Excess = excess.Seconds()
	c.Parts = shares(func(cause causes.Cause) float64 { return parts[cause] / max(c.Excess, 1e-9) }, same/max(c.Excess, 1e-9))
	c.Wait = bill.Wait.Seconds()
	c.WaitParts = shares(bill.Parts().Of, 0)
	for _, s := range bill.Machines[:min(len(bill.Machines), mostMachines)] {
		c.Machines = append(c.Machines, Machine{names[s.Index], s.Ratio, s.Tasks, s.Slow, s.Phases})
	}
	c.MachinesLeftOut = len(bill.Machines) - len(c.Machines)
	r.Causes = c
}

// causeOfBars sets the causes of the stragglers in the pictures of a phase.
func (r *Report) causeOfBars(phase int, p *sim.Phase, found causes.Report, numbers [][]int32) {
	for k := range r.Schedules {
		if r.Schedules[k].Phase != phase {
			continue
		}
		cause := map[int32]string{} // by the number of the task in the log
		for _, o := range found.Outliers {
			number := int32(o.Task)
			if phase < len(numbers) && numbers[phase] != nil {
				number = numbers[phase][o.Task]
			}
			cause[number] = o.Cause.String()
		}
		r.Schedules[k].eachBar(func(b *Bar) {
			if b.Kind == kindStraggler {
				b.Cause = cause[p.Tasks[b.Task].Number]
			}
		})
	}
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

// everyCause yields all causes.
func everyCause(yield func(causes.Cause) bool) {
	for c := causes.Unknown; c <= causes.Contention; c++ {
		if !yield(c) {
			return
		}
	}
}

// shares returns the causes with a share of at least 0.05 %, the largest first, and the unknown cause last. same is
// the share of SameTask.
func shares(of func(causes.Cause) float64, same float64) []Part {
	list := []Part{}
	if same >= 0.0005 {
		list = append(list, Part{SameTask, same, sameTaskRemedy})
	}
	for c := range everyCause {
		if share := of(c); share >= 0.0005 {
			list = append(list, Part{c.String(), share, c.Remedy()})
		}
	}
	sortParts(list)
	return list
}

// String returns sentences that list the causes with their shares, the slowest machine and the slowest recurring task.
func (c *Causes) String() string {
	if c.Excess == 0 {
		return ""
	}
	var texts []string
	for _, p := range c.Parts {
		texts = append(texts, fmt.Sprintf("%s %s", p.Cause, Percent(p.Share)))
	}
	text := fmt.Sprintf("Why: together, stragglers took %s more than the medians of their phases. Causes: %s.", Span(c.Excess), strings.Join(texts, ", "))
	if len(c.Machines) > 0 {
		m := c.Machines[0]
		text += fmt.Sprintf(" Machine %s is slow in most of its %s: at the median, its tasks take %.1f times the expected time.", m.Name,
			counted(m.Phases, "phase"), m.Ratio)
		if more := len(c.Machines) + c.MachinesLeftOut - 1; more > 0 {
			text += fmt.Sprintf(" So %s %s.", plural(more, "is", "are"), counted(more, "other machine"))
		}
		if !slices.ContainsFunc(c.Parts, func(p Part) bool { return p.Cause == causes.Machine.String() }) {
			text += " This shows only over many phases together. In no single phase is a straggler's time charged to its machine, " +
				"because the machine has no more slow tasks there than chance explains."
		}
	}
	if len(c.Recurring) > 0 {
		t := c.Recurring[0]
		text += fmt.Sprintf(" Task %s is slow in %d of %s: at the median, it takes %.1f times the median of its phase.", t.Task, t.Slow,
			counted(t.Phases, "phase"), t.Ratio)
		if more := len(c.Recurring) + c.RecurringLeftOut - 1; more > 0 {
			text += fmt.Sprintf(" So %s %s.", plural(more, "is", "are"), counted(more, "other task"))
		}
	}
	return text + c.Known.doubts()
}

// doubts returns a sentence about the causes that cannot show because most tasks lack the facts; empty if none lacks.
func (k Known) doubts() string {
	bytes, machines := 2*k.Bytes >= k.Tasks, 2*k.Machines >= k.Tasks
	switch {
	case bytes && machines:
		return ""
	case machines:
		return " The bytes that most tasks read are not known, so data cannot show as a cause."
	case bytes:
		return " The machines of most tasks are not known, so no machine can show as a cause."
	}
	return " The bytes and the machines of most tasks are not known, so neither data nor a machine can show as a cause."
}
