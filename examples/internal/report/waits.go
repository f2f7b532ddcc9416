package report

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Waits is who makes the others wait in the steps of a job with a barrier. Package estimate/causes finds them. All
// figures of the text, the page and the JSON are these.
type Waits struct {
	Steps int `json:"steps"`
	// Incomplete is the number of steps that were left out because members are missing.
	Incomplete int `json:"incomplete_steps"`
	// Wait is the time of the slowest member beyond the median of its equals, and Second beyond the next slowest, as shares
	// of the steps' time.
	Wait   float64 `json:"wait_share"`
	Second float64 `json:"second_share"`
	// Last are the workers that were last most often. LeftOut is the number of further workers that were last.
	Last     []Last    `json:"last"`
	LeftOut  int       `json:"last_left_out"`
	Findings []Finding `json:"findings"`
}

// Last tells how often a worker was the last of its step.
type Last struct {
	Worker string `json:"worker"`
	Steps  int    `json:"steps"`
	Last   int    `json:"last"`
	// Chance is the number of steps in which it would be last if all members were equal.
	Chance float64 `json:"chance"`
	Saved  float64 `json:"saved_share"`
	Error  float64 `json:"saved_error"`
}

// Finding is a reason why the others wait.
type Finding struct {
	Reason string `json:"reason"`
	// Who is the machine, worker or place; empty for work, luck and too little evidence.
	Who   string  `json:"who,omitempty"`
	Times float64 `json:"times,omitempty"`
	Share float64 `json:"saved_share"`
	Error float64 `json:"saved_error"`
	// From and To are the first and the last slow step. Ended says that it was not slow after To.
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Ended bool   `json:"ended"`
	// While is the share of the time of these steps that is saved.
	While float64 `json:"saved_share_while_slow,omitempty"`
	// Last is the number of steps in which the worker, or a member of the stage, was last.
	Last int `json:"last,omitempty"`

	reason    causes.Reason
	wholeTime bool   // it was slow in nearly all steps
	place     string // of the first and the last slow step among all
	another   string // worker to exchange it with
}

// SetWaits adds who makes the others wait. apart says that the report has nothing else: the members cannot be copied.
func (r *Report) SetWaits(s *why.Steps, apart bool) {
	w := &Waits{Steps: s.Steps, Incomplete: s.Incomplete, Wait: s.Wait, Second: s.Second}
	const mostLast = 10
	for _, l := range s.Lags[:min(len(s.Lags), mostLast)] {
		w.Last = append(w.Last, Last{who(s, l.Machine, l.Stage, l.Replica), l.Steps, l.Last, l.Chance, l.Saved, l.Error})
	}
	w.LeftOut = len(s.Lags) - len(w.Last)
	for _, f := range s.Findings {
		g := Finding{
			Reason: f.Reason.String(), Times: f.Times, Share: f.Share, Error: f.Error, Ended: f.Ended, While: f.While,
			Last: f.Last, reason: f.Reason, wholeTime: 10*(f.To-f.From+1) >= 9*s.Steps, another: "another worker",
		}
		switch f.Reason {
		case causes.SlowMachine, causes.SlowWorker:
			g.Who = who(s, f.Machine, f.Stage, f.Replica)
			if len(s.Stages) > 1 {
				g.another += " of its stage"
			}
		case causes.SlowPlace:
			g.Who = "stage " + name(s.Stages, f.Stage)
			if f.Replica >= 0 {
				g.Who = "position " + name(s.Positions, f.Replica)
			}
		}
		if s.Steps > 0 {
			g.From, g.To = s.Labels[f.From], s.Labels[f.To]
			g.place = fmt.Sprintf(" (%d to %d of %d)", f.From+1, f.To+1, s.Steps)
		}
		w.Findings = append(w.Findings, g)
	}
	r.Waits, r.waitsOnly = w, apart
	if apart {
		r.Input.Phases, r.Input.Tasks = s.Steps, s.Tasks
	}
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprint(i)
	}
	return names[i]
}

// who names a worker by its machine, with its stage if the job has several.
func who(s *why.Steps, machine, stage, replica int) string {
	text := "worker " + name(s.Machines, machine)
	if machine < 0 {
		text = "the worker at position " + name(s.Positions, replica)
	}
	if stage >= 0 && len(s.Stages) > 1 {
		text += " (stage " + name(s.Stages, stage) + ")"
	}
	return text
}

// String returns sentences about what the slowest member costs, and who is last.
func (w *Waits) String() string {
	text := fmt.Sprintf("The slowest worker of a step costs %s of the steps' time beyond the median of its equals, and %s beyond "+
		"the next slowest.", Percent(w.Wait), Percent(w.Second))
	if len(w.Last) > 0 {
		l := w.Last[0]
		text += fmt.Sprintf(" %s is last in %d of %d steps; among equals it would be in %.3g.",
			upper(l.Worker), l.Last, l.Steps, l.Chance)
	}
	if w.Incomplete > 0 {
		text += fmt.Sprintf(" %s %s left out, because members are missing.",
			words.Counted(w.Incomplete, "step"), words.Plural(w.Incomplete, "is", "are"))
	}
	return text
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// saved writes the share that is saved, with its interval.
func (f *Finding) saved() string {
	return fmt.Sprintf("%s (±%.1f)", Percent(f.Share), 100*errors95*f.Error)
}

// why returns the sentence about the reason.
func (f *Finding) why() string {
	when := ""
	switch {
	case f.wholeTime:
	case f.Ended:
		when = fmt.Sprintf(" from step %s to %s%s, where it costs %s, and it has ended", f.From, f.To, f.place, Percent(f.While))
	default:
		when = fmt.Sprintf(" since step %s%s, where it costs %s", f.From, f.place, Percent(f.While))
	}
	takes := fmt.Sprintf(" takes %.3g times the median of its equals%s", f.Times, when)
	switch f.reason {
	case causes.SlowMachine:
		return upper(f.Who) + takes + ", at several positions: its machine is slow."
	case causes.SlowWorker:
		return upper(f.Who) + takes + ". Its machine never changed its position, so one of the two is at fault."
	case causes.SlowPlace:
		if strings.HasPrefix(f.Who, "stage") {
			return upper(f.Who) + fmt.Sprintf(" has the last worker in %s, and takes %.3g times as long as the other stages, on all its "+
				"machines: the place is at fault, not a machine.", words.Counted(f.Last, "step"), f.Times)
		}
		return upper(f.Who) + takes + ", with several machines: the place is at fault, not a machine."
	case causes.UnevenWork:
		return "The work of the workers differs from step to step: sizes explain the times, or the times of one replica agree in " +
			"several stages. No machine is at fault."
	case causes.Luck:
		return "No worker is slow for long: now one is last, now another."
	}
	return "There is not enough evidence: the steps are too few, or follow one another too closely, or fewer than three members " +
		"do equal work."
}

// do returns the advice.
func (f *Finding) do() string {
	switch f.reason {
	case causes.SlowMachine:
		return "Replace the machine of " + f.Who + "."
	case causes.SlowWorker:
		if f.Ended {
			return fmt.Sprintf("Look at what ran beside %s from step %s to %s.", f.Who, f.From, f.To)
		}
		return fmt.Sprintf("Exchange %s with %s: if the other is slow then, the position is at fault; otherwise replace the machine.",
			f.Who, f.another)
	case causes.SlowPlace:
		if strings.HasPrefix(f.Who, "stage") {
			return fmt.Sprintf("Balance the stages: give %s less work.", f.Who)
		}
		return fmt.Sprintf("Give %s less work, or look at what is beside it.", f.Who)
	case causes.UnevenWork:
		return "Balance the work, such as by sorting sequences by their lengths, so that each worker gets as much."
	case causes.Luck:
		return "Nothing about single workers. Fewer barriers, or less variation of all workers, would shorten the waits."
	}
	return "Record more steps, with the stage and the machine of each worker, or exchange two workers and record again."
}

// saves returns the sentence about what the advice saves.
func (f *Finding) saves() string {
	switch f.reason {
	case causes.SlowMachine, causes.SlowWorker:
		return fmt.Sprintf("If %s took the median of its equals, that would save %s of the steps' time.", f.Who, f.saved())
	case causes.SlowPlace:
		if strings.HasPrefix(f.Who, "stage") {
			return fmt.Sprintf("Even stages would save %s of the steps' time.", f.saved())
		}
		return fmt.Sprintf("If %s took the median of its equals, that would save %s of the steps' time.", f.Who, f.saved())
	case causes.UnevenWork:
		return fmt.Sprintf("Even work within each stage would save %s of the steps' time.", f.saved())
	}
	return ""
}

// diagnose writes the diagnosis of a report that has only steps.
func (w *Waits) diagnose(d *Diagnosis) {
	d.Slow = w.String()
	var whys, dos, saves []string
	for i := range w.Findings {
		f := &w.Findings[i]
		whys, dos = append(whys, f.why()), append(dos, f.do())
		if s := f.saves(); s != "" {
			saves = append(saves, s)
		}
	}
	const most = 3
	d.Why, d.Do = strings.Join(whys[:min(most, len(whys))], " "), strings.Join(dos[:min(most, len(dos))], " ")
	d.Saves = strings.Join(append(saves[:min(most, len(saves))], "A worker of a step cannot be copied, so no policy is replayed."), " ")
	if more := len(whys) - most; more > 0 {
		d.Why += fmt.Sprintf(" And %s.", words.Counted(more, "more reason"))
	}
}

// line returns the sentences for a report with policies.
func (w *Waits) line() string {
	text := w.String()
	for i := range w.Findings {
		if i == 0 {
			text += " " + w.Findings[i].why()
		}
	}
	return text
}

// table writes the workers that were last most often.
func (w *Waits) table(out *printer) {
	out.f("\nThe workers that were last most often:\n")
	for _, l := range w.Last {
		out.f("  last in %d of %d steps (%.3g among equals), %s (±%.1f) would be saved: %s\n", l.Last, l.Steps, l.Chance,
			Percent(l.Saved), 100*errors95*l.Error, short(l.Worker))
	}
	if w.LeftOut > 0 {
		out.f("  and %s\n", words.Counted(w.LeftOut, "other worker"))
	}
}
