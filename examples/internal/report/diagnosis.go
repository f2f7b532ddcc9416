package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Diagnosis answers the four questions of a reader, each in sentences. The text and the page begin with it.
type Diagnosis struct {
	Slow  string `json:"how_slow"`
	Waits string `json:"who_waits,omitempty"`
	Why   string `json:"why,omitempty"`
	Do    string `json:"what_to_do"`
	Saves string `json:"what_it_saves"`
	// Cause is the cause with at least half of the time that stragglers cost; empty if there is no such cause.
	Cause string `json:"cause,omitempty"`

	kind advice // of Do
}

// advice is what kind of advice a diagnosis gives.
type advice int

const (
	act        advice = iota // against what is slow
	nothing                  // since stragglers cost little
	giveMore                 // another log: no phase of this one can show a straggler
	seeUnended               // first see to the tasks without a success: until then, little can be said
)

// Answer is a question of a reader with its answer.
type Answer struct{ Question, Text string }

// Lead returns the first sentence of the answer.
func (a Answer) Lead() string {
	lead, _, more := strings.Cut(a.Text, ". ")
	if more {
		lead += "."
	}
	return lead
}

// Rest returns all other sentences.
func (a Answer) Rest() string { return strings.TrimPrefix(a.Text, a.Lead()) }

// Answers returns the questions that have an answer.
func (d Diagnosis) Answers() []Answer {
	all := []Answer{
		{"How slow", d.Slow}, {"Who makes the others wait", d.Waits}, {"Why", d.Why}, {"What to do", d.Do},
		{"What it saves", d.Saves},
	}
	return slices.DeleteFunc(all, func(a Answer) bool { return a.Text == "" })
}

const (
	// mostOfCost is the share of the time that stragglers cost from which a cause is named.
	mostOfCost = 0.5
	// littleCost is the share of the phases' time below which stragglers cost little.
	littleCost = 0.01
	// errors95 times the standard error of a mean of many steps is exceeded in 1 of 20 cases.
	errors95 = 1.96
	// muchMore is the share of the phases' time that the best policy must save beyond the others to be named.
	muchMore = 0.01
)

// plain has the words for each cause: a name, an explanation or nothing, a remedy, and the help of a policy.
var plain = map[string]struct{ noun, means, remedy, policy string }{
	causes.Unknown.String(): {"unknown", "", "Try a copy, and see whether it is faster.", "copy or restart slow tasks"},
	causes.Data.String(): {"larger inputs", "",
		"Split the largest tasks, or start them first; a copy would take as long.", "start the largest tasks first"},
	causes.Path.String(): {"reads from other racks", "", "Run tasks where their input is.",
		"copy or restart slow tasks"},
	causes.Machine.String(): {"slow machines", "", "Keep work off the slow machines.", "copy or restart slow tasks"},
	causes.Contention.String(): {"busy moments", "tasks that began together were slow on every machine",
		"Start fewer tasks at once, or load programs and data before the tasks start.", "copy or restart slow tasks"},
	SameTask: {"tasks that are always slow", "",
		"Look at the work of these tasks, and split it; a copy would take as long.", ""},
}

// Diagnose writes the diagnosis and the headline. It reads all other parts of the report, so they must be complete.
func (r *Report) Diagnose() {
	d := &r.Diagnosis
	*d = Diagnosis{}
	switch {
	case r.waitsOnly:
		r.Waits.diagnose(d)
	case r.Apart != nil && len(r.Phases) == 0:
		r.Apart.diagnose(d)
		r.lookLonger(d)
	case r.Stragglers.Tasks == 0:
		d.Slow = r.addUnended(r.noStragglers())
		d.Do, d.kind = r.do("")
	default:
		d.Slow = r.addUnended(r.slow())
		d.Why, d.Cause = r.Causes.why(r.NoAction.Time * r.Stragglers.Cost)
		d.Do, d.kind = r.do(d.Cause)
	}
	if f := r.Failures; f != nil {
		d.Slow += f.fact(r.NoAction)
		switch advice := f.advice(r.NoAction); {
		case d.kind == nothing:
			d.Do = advice + " Stragglers cost little here."
		case r.Stragglers.Cost < littleCost:
			d.Do = advice + " " + d.Do
		default:
			d.Do += " " + advice
		}
	}
	if len(r.Policies) > 0 {
		d.Saves = r.saves()
	}
	if d.Saves == "" {
		d.Saves = "Nothing."
	}
	if u := r.Unended; u != nil && u.Missing() > 0 && len(r.Policies) > 0 {
		d.Saves += fmt.Sprintf(" The replay lacks %s without a success.", words.Counted(u.Missing(), "task"))
	}
	if r.Waits != nil && !r.waitsOnly {
		if r.Waits.advise(d); d.kind == giveMore { // a step of two workers can be compared with other steps
			d.Do = r.Waits.do()
		}
	}
	r.Headline = d.Slow + " " + d.Saves
}

// slow returns sentences about the time that stragglers cost, and their number.
func (r *Report) slow() string {
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
	n := r.Stragglers.Tasks
	if n == 1 {
		return text + fmt.Sprintf(" It is 1 task (%s), which takes %s.", Percent(r.Stragglers.Share), times(r.slowest()))
	}
	return text + fmt.Sprintf(" They are %d tasks (%s): each takes more than 1.5 times the median of its phase, and the "+
		"slowest %s.", n, Percent(r.Stragglers.Share), multiple(r.slowest()))
}

// slowest returns the largest multiple of the median of its phase that a task takes.
func (r *Report) slowest() float64 {
	if len(r.Slowdown) == 0 {
		return 0
	}
	return r.Slowdown[len(r.Slowdown)-1].X
}

// why returns sentences about the causes of the cost of stragglers, and the cause with most of this cost. cost is in
// seconds.
func (c *Causes) why(cost float64) (text, cause string) {
	if c == nil {
		return "", ""
	}
	main := mainCause(c.CostParts)
	switch {
	case main == nil:
		return "No phase waited for its stragglers: when they ended, other tasks of the phase still ran.", ""
	case main.Share < mostOfCost:
		text = fmt.Sprintf("No single cause explains most of the cost of stragglers. The causes are: %s.", listed(c.CostParts))
	case main.Cause == causes.Unknown.String() && len(c.CostParts) == 1:
		text = "The log does not show the cause."
	case main.Cause == causes.Unknown.String():
		text = fmt.Sprintf("The log does not show the cause of most of the cost of stragglers, %s. Causes of the rest: %s.",
			Percent(main.Share), listed(c.CostParts[:len(c.CostParts)-1]))
	default:
		cause = main.Cause
		noun := plain[cause].noun
		text = fmt.Sprintf("%s explain %s of the cost of stragglers, %s", upper(noun), Percent(main.Share),
			Span(main.Share*cost))
		if means := plain[cause].means; means != "" {
			text += ": " + means
		}
		text += "."
	}
	if cause == "" && c.Place != nil {
		p := c.Place
		return text + fmt.Sprintf(" But %s on machine %s alone cost %s, in %s.", words.Counted(p.Stragglers, "straggler"),
			short(p.Machine), Span(p.Cost), words.Counted(p.Phases, "phase")), cause
	}
	text += c.machine() + c.recurringTask()
	if cause == "" {
		text += c.Known.doubts()
	}
	return text, cause
}

// do returns what to do against a cause, and which setting and policy help.
func (r *Report) do(cause string) (text string, kind advice) {
	var first *Policy
	if len(r.Policies) > 0 {
		first = &r.Policies[0]
	}
	helps := first != nil && gains(first.All.Mean)
	if r.few || r.Stragglers.Cost < littleCost && !(helps && first.All.Mean >= littleCost) {
		open := r.open()
		switch {
		case r.hangs():
			return r.lookUnended("first"), act
		case open != "" && r.alone():
			return r.lookUnended("first"), seeUnended
		case r.few:
			return "Give a log with more tasks in a phase: this log shows neither that there are stragglers nor that there are none.", giveMore
		case open != "":
			return open, seeUnended
		}
		return "Nothing: stragglers cost little here.", nothing
	}
	var texts []string
	if r.hangsLongest() {
		texts = append(texts, r.lookUnended("first"))
	}
	switch {
	case cause == causes.Machine.String() && len(r.Causes.Machines) > 0:
		texts = append(texts, "Keep work off "+r.Causes.slowMachines()+".")
	case cause != "":
		texts = append(texts, plain[cause].remedy)
	case r.hangsLongest():
	case r.Causes != nil && r.Causes.Place != nil:
		texts = append(texts, fmt.Sprintf("Look first at machine %s.", short(r.Causes.Place.Machine)))
	case len(r.Worst) > 0:
		texts = append(texts, r.Worst[0].look())
	}
	if r.hangs() && !r.hangsLongest() {
		when := "first"
		if len(texts) > 0 {
			when = "also"
		}
		texts = append(texts, r.lookUnended(when))
	}
	if s := r.Setting; s != nil && gains(s.Time) {
		texts = append(texts, fmt.Sprintf("In %s, set %s.", s.Engine, s.Setting))
	} else if s != nil {
		texts = append(texts, strings.TrimSpace(s.Engine+"'s own setting did not help in the replay. "+s.Text))
	}
	switch can := plain[cmp.Or(cause, causes.Unknown.String())].policy; {
	case helps && can != "":
		texts = append(texts, fmt.Sprintf("Let a policy such as %s %s.", first.Name, can))
	case first != nil && !helps:
		texts = append(texts, fmt.Sprintf("The policy %s did not help in the replay.", first.Name))
	}
	return strings.Join(texts, " "), act
}

// gains reports whether the text prints a reduction as more than 0.0%.
func gains(reduction float64) bool { return reduction >= leastShown }

// saves returns sentences about the savings of the first policy, of the engine's own setting, and of the best policy.
func (r *Report) saves() string {
	first, best := &r.Policies[0], r.best()
	named := []*Policy{first}
	texts := []string{r.saving("the policy "+first.Name, first.All, first.Resource.Mean)}
	most := first.All.Mean
	if s := r.Setting; s != nil && s.Policy != first.Name && gains(s.Time) {
		most = max(most, s.Time)
		time := Figure{s.Time, s.Time, s.Time}
		if i := slices.IndexFunc(r.Policies, func(p Policy) bool { return p.Name == s.Policy }); i >= 0 {
			time.Low, time.High = r.Policies[i].All.Low, r.Policies[i].All.High
			named = append(named, &r.Policies[i])
		}
		texts = append(texts, r.saving(s.Engine+"'s own setting", time, s.Resource))
		if s.Time > first.All.Mean {
			slices.Reverse(texts)
		}
	}
	if best.All.Mean > most+muchMore {
		texts = append(texts, r.saving("the policy "+best.Name, best.All, best.Resource.Mean))
		most = best.All.Mean
		named = append(named, best)
	}
	text := r.drawn(texts, named)
	if !r.few && most > r.Stragglers.Cost+leastShown {
		text += " A saving may be more than stragglers cost: a policy also starts the largest tasks first, and helps tasks " +
			"that take less than 1.5 times the median."
	}
	if r.Failures != nil && gains(most) {
		text += " No copy fails in the replay, so a saving may be too large."
	}
	if r.Diagnosis.Cause == SameTask {
		text = "These figures are too large. A copy of a task that is always slow takes as long, but in the replay it takes " +
			"the time of another task. " + text
	}
	switch cause := r.Diagnosis.Cause; {
	case cause == "" || r.Diagnosis.kind != act:
	case cause == causes.Machine.String() && r.Causes.MachinesSaved > 0:
		text = fmt.Sprintf("Keeping work off %s would have saved about %s: less if no other slots replace %s. ",
			r.Causes.slowMachines(), r.amount(r.Causes.MachinesSaved/r.NoAction.Time),
			words.Plural(len(r.Causes.Machines), "its slots", "their slots")) + text
	default:
		text += " The other advice has no figure."
	}
	if s := r.Sample; s != nil {
		text += fmt.Sprintf(" These figures are for %d phases, drawn at random from %d. Their standard errors are %.1f percentage points "+
			"for the cost of stragglers, and %.1f for the saving: more if a few phases, which were not drawn, have much of the time.",
			s.Drawn, s.Of, 100*s.Cost, 100*s.Saving)
	}
	if a := r.Apart; a != nil && a.Tasks > 0 {
		text += fmt.Sprintf(" These figures are for %s. No saving is claimed for the other %s, which %s not known to be alike.",
			words.Counted(r.Input.Tasks-a.Tasks, "task"), words.Counted(a.Tasks, "task"), words.Plural(a.Tasks, "is", "are"))
	}
	if m := r.Money; m != nil {
		text += fmt.Sprintf(" At a price of %g for one slot and one hour, the slot time costs %.2f without action and %.2f "+
			"with %s.", m.Cost, m.Before, m.With, first.Name)
	}
	return text
}

// drawn joins clauses about the savings of policies, and says on how many draws they rest. A policy that starts no attempt
// needs no draw.
func (r *Report) drawn(clauses []string, policies []*Policy) string {
	lead, scatter := "", ""
	if slices.ContainsFunc(policies, func(p *Policy) bool { return p.Copies.Mean > 0 || p.Restarts.Mean > 0 }) {
		lead, scatter = "In one draw of how long copies take, ", " The option -seeds 20 shows the scatter."
		if n := r.Input.Seeds; n > 1 {
			lead, scatter = fmt.Sprintf("In %d draws of how long copies take, ", n), ""
		}
		if r.few {
			scatter = " Such a figure may be chance: a copy takes the time of one of the few tasks of its phase." + scatter
		}
	}
	text := lead + clauses[0]
	for _, clause := range clauses[1:] {
		text += " " + upper(clause)
	}
	return upper(text) + scatter
}

// saving returns a clause about the saving of a policy or a setting, with its full stop. time and slots are shares of the phases' time
// and of the slot time.
func (r *Report) saving(whose string, time Figure, slots float64) string {
	verb := "would have saved "
	if time.Mean < 0 {
		verb = "would have made the phases longer by "
		time = Figure{-time.Mean, -time.High, -time.Low}
	}
	var scatter []string
	if low, high := Percent(time.Low), Percent(time.High); r.Input.Seeds > 1 && low != high {
		scatter = []string{fmt.Sprintf("from %s to %s", low, high)}
	}
	if Percent(time.Mean) == "0.0%" {
		verb = "would have changed nothing"
		if scatter != nil {
			verb += " on average (" + scatter[0] + ")"
		}
	} else {
		verb += r.amount(time.Mean, scatter...)
	}
	return whose + " " + verb + " and used " + compared(slots) + " slot time."
}

// amount writes a share of the phases' time, such as "5.67 min (14.0%)". A mean has its scatter after the share.
func (r *Report) amount(share float64, scatter ...string) string {
	time, shares := Span(share*r.NoAction.Time), append([]string{Percent(share)}, scatter...)
	if r.NoAction.Time <= 0 {
		time, shares = Percent(share), scatter
	}
	if scatter != nil {
		time += " on average"
	}
	if len(shares) == 0 {
		return time
	}
	return time + " (" + strings.Join(shares, ", ") + ")"
}

// diagnose writes the diagnosis of tasks that are not known to be alike.
func (a *Apart) diagnose(d *Diagnosis) {
	d.Why = "No task can be called slow, since the tasks are not known to be alike."
	d.Saves = fmt.Sprintf("No saving can be claimed for %s of %s: the tasks are not known to be alike.",
		words.Counted(a.Tasks, "task"), words.Counted(a.Phases, "phase"))
	if len(a.Longest) == 0 {
		return
	}
	l := a.Longest[0]
	d.Slow = fmt.Sprintf("The longest of %s is %s: it alone takes %s of the %s of phase %s.", words.Counted(a.Tasks, "task"),
		short(l.Task), Span(l.Seconds), Span(l.PhaseSeconds), named(l.Job, l.Phase))
	d.Do = fmt.Sprintf("Look first at task %s: no order of the tasks makes its phase shorter than this task.",
		short(l.Task))
	this := "this task"
	if part := l.Part; part != nil {
		this = short(l.Task)
		d.Slow += fmt.Sprintf(" Its longest part is %s, which takes %s.", short(part.Task), Span(part.Seconds))
		if part.Seconds >= mostOfCost*l.Seconds {
			d.Do = fmt.Sprintf("Look first at %s, which takes %s of the %s of %s.", short(part.Task), Span(part.Seconds),
				Span(l.Seconds), this)
		}
	}
	for _, next := range a.Longest[1:] {
		if next.Job == l.Job && next.Phase == l.Phase {
			if next.Seconds == l.Seconds {
				break
			}
			d.Saves = fmt.Sprintf("If %s were as short as the next longest of its phase, %s, that would save at most %s. ",
				this, Span(next.Seconds), Span(l.Seconds-next.Seconds)) + d.Saves
			break
		}
	}
	if len(a.Packing) > 0 {
		if b := a.Packing[0]; Span(b.LargestFirst) != Span(b.Seconds) {
			d.Do = "Start the longest tasks first. " + d.Do
			d.Saves = fmt.Sprintf("If no task waits for another and the longest tasks start first on the same %s, "+
				"phase %s takes %s instead of %s. ", words.Counted(b.Slots, "slot"), named(b.Job, b.Phase), Span(b.LargestFirst),
				Span(b.Seconds)) + d.Saves
		}
	}
}
