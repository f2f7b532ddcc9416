package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Waits is who makes the others wait in the steps of a job with a barrier. Package estimate/causes finds them. All
// figures of the text, the page and the JSON are these.
type Waits struct {
	Steps int `json:"steps"`
	// Tied is the number of steps in which several workers were last together. They count for none of these workers.
	Tied int `json:"tied_steps"`
	// Incomplete is the number of steps that were left out because members are missing.
	Incomplete int `json:"incomplete_steps"`
	// Lacking are the workers that some steps lack because their times are impossible.
	Lacking []Lacking `json:"impossible_times,omitempty"`
	// Wait is the time of the slowest member beyond the median of its equals, the other members of its stage, and Second
	// beyond the next slowest, as shares of the steps' time.
	Wait   float64 `json:"wait_share"`
	Second float64 `json:"second_share"`
	// Last are the workers that were last most often. LeftOut is the number of further workers that were last.
	Last     []Last    `json:"last"`
	LeftOut  int       `json:"last_left_out"`
	Findings []Finding `json:"findings"`
	// Together is the share of the steps' time that is saved if all workers of the findings take the median of their equals
	// at once, and TogetherError its standard error; 0 if fewer than two are named.
	Together      float64 `json:"together_saved_share,omitempty"`
	TogetherError float64 `json:"together_saved_error,omitempty"`

	sized, staged bool // the log has amounts of work; the job has several stages
	alone         bool // each step has one worker
}

// Lacking is a worker with impossible times, and the number of steps that lack it.
type Lacking struct {
	Worker string `json:"worker"`
	Steps  int    `json:"steps"`
}

// Last tells how often a worker was the last of its step.
type Last struct {
	Worker string `json:"worker"`
	Steps  int    `json:"steps"`
	// Last is the number of steps in which it alone was last. Chance is the number of steps without a tie in which it would be
	// last if all members were equal.
	Last   int     `json:"last"`
	Chance float64 `json:"chance"`
	Saved  float64 `json:"saved_share"`
	// Error is the standard error of Saved; null for a single step, which has none.
	Error *float64 `json:"saved_error,omitempty"`
}

// Finding is a reason why the others wait.
type Finding struct {
	Reason string `json:"reason"`
	// Who is the machine, worker or place; empty for work, luck and too little evidence.
	Who   string  `json:"who,omitempty"`
	Times float64 `json:"times,omitempty"`
	Share float64 `json:"saved_share"`
	// Error is the standard error of Share; null for a single step, which has none.
	Error *float64 `json:"saved_error,omitempty"`
	// From and To are the first and the last slow step. Ended says that it was not slow after To.
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Ended bool   `json:"ended"`
	// While is the share of the time of these steps that is saved.
	While float64 `json:"saved_share_while_slow,omitempty"`
	// Last is the number of steps in which the worker, or a member of the stage, was last.
	Last int `json:"last,omitempty"`

	reason    causes.Reason
	stage     bool   // the place is a stage
	wholeTime bool   // it was slow in nearly all steps
	place     string // of the first and the last slow step among all
}

// SetWaits adds who makes the others wait. apart says that no policy is replayed, so that the report has nothing else.
func (r *Report) SetWaits(s *why.Steps, apart bool) {
	w := &Waits{Steps: len(s.Labels), Tied: s.Tied, Incomplete: s.Incomplete, Wait: s.Wait, Second: s.Second,
		Together: s.Together, TogetherError: s.TogetherError, sized: s.Sized, staged: len(s.Stages) > 1,
		alone: s.Tasks == len(s.Labels)}
	for _, l := range s.Lacking {
		w.Lacking = append(w.Lacking, Lacking{"worker " + l.Worker + inStage(l.Group, w.staged), l.Steps})
	}
	const mostLast = 10
	for _, l := range s.Lags[:min(len(s.Lags), mostLast)] {
		w.Last = append(w.Last, Last{who(s, l.Machine, l.Stage, l.Replica), l.Steps, l.Last, l.Chance, l.Saved, errorOf(l.Error, l.Steps)})
	}
	w.LeftOut = len(s.Lags) - len(w.Last)
	for _, f := range s.Findings {
		g := Finding{
			Reason: f.Reason.String(), Times: f.Times, Share: f.Share, Error: errorOf(f.Error, s.Steps), Ended: f.Ended, While: f.While,
			Last: f.Last, reason: f.Reason, wholeTime: 10*(f.To-f.From+1) >= 9*s.Steps,
		}
		switch f.Reason {
		case causes.SlowMachine, causes.SlowWorker:
			g.Who = who(s, f.Machine, f.Stage, f.Replica)
		case causes.SlowPlace:
			g.Who = "stage " + name(s.Stages, f.Stage)
			if g.stage = f.Replica < 0; !g.stage {
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
		r.Apart, r.Input.Phases, r.Input.Tasks = nil, w.Steps, s.Tasks
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
	return text + inStage(name(s.Stages, stage), stage >= 0 && len(s.Stages) > 1)
}

// inStage names the stage of a worker, if the job has several.
func inStage(stage string, several bool) string {
	if !several {
		return ""
	}
	return " (stage " + stage + ")"
}

// errorOf returns a standard error over a number of steps; nil if they are too few to have one.
func errorOf(err float64, steps int) *float64 {
	if steps < 2 {
		return nil
	}
	return &err
}

// String returns sentences about what the slowest member costs, who is last, and what the steps lack.
func (w *Waits) String() string {
	if w.alone {
		return "Each step has one worker, so nobody waits." + w.lacks()
	}
	text := fmt.Sprintf("The slowest worker of a step costs %s of the steps' time beyond the median of its equals, and %s beyond "+
		"the next slowest.", Percent(w.Wait), Percent(w.Second))
	if len(w.Last) > 0 {
		l := w.Last[0]
		often := fmt.Sprintf(" %s is last in %s;", upper(l.Worker), w.often(l))
		if float64(l.Last) < rarely*float64(l.Steps) {
			often = fmt.Sprintf(" No worker is last often: %s is last most often, in %s;", l.Worker, w.often(l))
		}
		text += fmt.Sprintf("%s if all were alike, each would be last in %.3g.", often, l.Chance)
	}
	switch {
	case w.Tied == 0:
	case w.Tied == w.Steps:
		text += " In each step several workers are last together, so none is the last."
	default:
		text += fmt.Sprintf(" In %d of %d steps several workers are last together, which counts for none of them.", w.Tied, w.Steps)
	}
	if w.Incomplete > 0 {
		text += fmt.Sprintf(" %s %s left out, because members are missing.",
			words.Counted(w.Incomplete, "step"), words.Plural(w.Incomplete, "is", "are"))
	}
	return text + w.lacks()
}

// often writes in how many steps a worker was last. Last.Last and Last.Chance count only steps without a tie, so the text
// says of how many such steps. If the worker lacks some steps, the number of its ties is not known.
func (w *Waits) often(l Last) string {
	switch {
	case w.Tied == 0:
		return fmt.Sprintf("%d of %s", l.Last, words.Counted(l.Steps, "step"))
	case l.Steps == w.Steps:
		return fmt.Sprintf("%d of the %s without a tie", l.Last, words.Counted(w.Steps-w.Tied, "step"))
	}
	return fmt.Sprintf("%d of its steps without a tie", l.Last)
}

// mostLacking is the number of workers with impossible times that the diagnosis names.
const mostLacking = 3

// lacks returns the sentences about the workers that steps lack.
func (w *Waits) lacks() string {
	if len(w.Lacking) == 0 {
		return ""
	}
	var who []string
	for _, l := range w.Lacking[:min(mostLacking, len(w.Lacking))] {
		who = append(who, fmt.Sprintf("%s in %s", short(l.Worker), words.Counted(l.Steps, "step")))
	}
	if more := len(w.Lacking) - len(who); more > 0 {
		who = append(who, words.Counted(more, "other worker"))
	}
	return fmt.Sprintf(" Impossible times: %s. Such a step lacks the worker, although the others may wait for it.", series(who))
}

// upper begins a text with a capital.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// rarely is the share of the steps below which the worker that is last most often is not last often, and below which the
// steps without a time of a worker leave little in doubt.
const rarely = 0.1

// inDoubt reports whether many steps lack a worker, so that the others may wait for it.
func (w *Waits) inDoubt() bool {
	return slices.ContainsFunc(w.Lacking, func(l Lacking) bool { return float64(l.Steps) >= rarely*float64(w.Steps) })
}

// mostFindings is the number of findings that the diagnosis names.
const mostFindings = 5

// shown returns the findings that the diagnosis names.
func (w *Waits) shown() []Finding { return w.Findings[:min(mostFindings, len(w.Findings))] }

// known reports whether the steps show who, or what, makes the others wait.
func (w *Waits) known() bool {
	r := w.Findings[0].reason
	return r != causes.Luck && r != causes.NotEnough
}

// workers returns the number of machines, workers and positions among the findings.
func (w *Waits) workers() (n int) {
	for _, f := range w.Findings {
		if f.Who != "" && !f.stage {
			n++
		}
	}
	return n
}

// why returns the sentences about the reasons.
func (w *Waits) why() string {
	var texts, fixed []string // fixed are workers whose machine and position never parted
	for _, f := range w.shown() {
		texts = append(texts, f.why(w))
		if f.reason == causes.SlowWorker {
			fixed = append(fixed, f.Who)
		}
	}
	switch len(fixed) {
	case 0:
	case 1:
		texts = append(texts, fmt.Sprintf("The machine and the position of %s never parted, so this log can't tell which of the two is at "+
			"fault.", fixed[0]))
	default:
		texts = append(texts, "The machine and the position of each of these workers never parted, so this log can't tell which of the "+
			"two is at fault.")
	}
	if more := len(w.Findings) - mostFindings; more > 0 {
		texts = append(texts, fmt.Sprintf("And %s.", words.Counted(more, "more reason")))
	}
	return strings.Join(texts, " ")
}

// do returns the advice.
func (w *Waits) do() string {
	var texts, exchange []string
	if w.inDoubt() {
		texts = append(texts, "Correct the impossible times first: the others may wait for such a worker.")
	}
	for _, f := range w.shown() {
		if f.reason == causes.SlowWorker && !f.Ended {
			exchange = append(exchange, f.Who)
			continue
		}
		if s := f.do(w); s != "" {
			texts = append(texts, s)
		}
	}
	ofIts, ofTheir := "", ""
	if w.staged {
		ofIts, ofTheir = " of its stage", " of their stages"
	}
	switch len(exchange) {
	case 0:
	case 1:
		texts = append(texts, fmt.Sprintf("Let the machine of %s change places with that of a healthy worker%s. If the position is "+
			"still slow, the position is at fault. If the slowness moves with the machine, replace the machine.", exchange[0], ofIts))
	default:
		texts = append(texts, fmt.Sprintf("Let the machines of %s change places with those of healthy workers%s. If a position is "+
			"still slow, the position is at fault. If the slowness moves with a machine, replace the machine.", series(exchange), ofTheir))
	}
	return strings.Join(texts, " ")
}

// saves returns the sentences about what the advice saves.
func (w *Waits) saves() string {
	var texts []string
	even := false // a share is that of even work or of stages of equal length
	for _, f := range w.shown() {
		if s := f.saves(); s != "" {
			texts = append(texts, s)
			even = even || f.stage || f.reason == causes.UnevenWork
		}
	}
	if w.Together > 0 {
		all := "both"
		if n := w.workers(); n > 2 {
			all = fmt.Sprintf("all %d", n)
		}
		texts = append(texts, fmt.Sprintf("If %s named workers did so at once, that would save %s.", all, saved(w.Together, &w.TogetherError)))
	}
	if even && len(texts) > 1 {
		texts = append(texts, "The changes affect one another, so their shares don't add up.")
	}
	return strings.Join(texts, " ")
}

// series joins names as in "a, b and c".
func series(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// saved writes a share that is saved, with its interval if it has one.
func saved(share float64, err *float64) string {
	if err == nil {
		return Percent(share)
	}
	return fmt.Sprintf("%s (±%.1f)", Percent(share), 100*errors95**err)
}

// why returns the sentence about the reason.
func (f *Finding) why(w *Waits) string {
	when := ""
	switch {
	case f.wholeTime:
	case f.Ended:
		when = fmt.Sprintf(" from step %s to %s%s, where it cost %s, and it has ended", f.From, f.To, f.place, Percent(f.While))
	default:
		when = fmt.Sprintf(" since step %s%s, where it costs %s", f.From, f.place, Percent(f.While))
	}
	takes := fmt.Sprintf(" takes %s the median of its equals%s", multiple(f.Times), when)
	if f.Ended {
		takes = fmt.Sprintf(" took %s the median of its equals%s", multiple(f.Times), when)
	}
	switch f.reason {
	case causes.SlowMachine:
		return upper(f.Who) + takes + ", at several positions: its machine is slow."
	case causes.SlowWorker:
		return upper(f.Who) + takes + "."
	case causes.SlowPlace:
		if f.stage {
			return upper(f.Who) + fmt.Sprintf(" has the last worker in %d of %s, and takes %s as long as the other stages, on all its "+
				"machines: the place is at fault, not a machine.", f.Last, words.Counted(w.Steps, "step"), multiple(f.Times))
		}
		return upper(f.Who) + takes + ", with several machines: the place is at fault, not a machine."
	case causes.UnevenWork:
		shows := "the sizes explain the times"
		switch {
		case w.sized && w.staged:
			shows = "the sizes explain the times, or the times of one position agree in several stages"
		case w.staged:
			shows = "workers at one position of several stages, which have the same data, are slow in the same steps"
		}
		return "The work of the workers differs from step to step: " + shows + ". No machine is at fault for that."
	case causes.Luck:
		return w.luck()
	}
	if w.alone {
		return "A step of one worker has nobody to compare it with."
	}
	return "There is not enough evidence: the steps are too few, or follow one another too closely, or too few members do equal " +
		"work to tell which of them are slow."
}

// luck returns the sentence about steps in which no worker is slow for long.
func (w *Waits) luck() string {
	text := "No worker is slow for long"
	if w.inDoubt() {
		text = "Of the workers with possible times, none is slow for long"
	}
	switch {
	case !gains(w.Wait):
		return text + ": the slowest takes hardly longer than its equals."
	case w.Tied == w.Steps:
		return text + ", and none is last alone."
	}
	return text + ": now one is last, now another."
}

// do returns the advice about a finding that needs no exchange of workers.
func (f *Finding) do(w *Waits) string {
	switch f.reason {
	case causes.SlowMachine:
		return "Replace the machine of " + f.Who + "."
	case causes.SlowWorker:
		return fmt.Sprintf("Look at what ran beside %s from step %s to %s.", f.Who, f.From, f.To)
	case causes.SlowPlace:
		if f.stage {
			return fmt.Sprintf("Balance the stages: give %s less work.", f.Who)
		}
		return fmt.Sprintf("Give %s less work, or look at what is beside it.", f.Who)
	case causes.UnevenWork:
		return "Balance the work, such as by sorting sequences by their lengths, so that each worker gets as much."
	case causes.Luck:
		switch {
		case gains(w.Wait):
		case w.inDoubt():
			return ""
		default:
			return "Nothing: the workers hardly wait for one another."
		}
		return "Nothing about single workers. Fewer barriers, or less variation of all workers, would shorten the waits."
	}
	if w.alone {
		return "Record all workers of a step, and name the column that tells them apart by -worker."
	}
	return "Record more steps, with the stage and the machine of each worker, or let two machines change places and record again."
}

// saves returns the sentence about what the advice saves.
func (f *Finding) saves() string {
	would := "would save"
	if f.Ended {
		would = "would have saved"
	}
	switch {
	case f.reason == causes.UnevenWork:
		return fmt.Sprintf("Even work within each stage would save %s of the steps' time.", saved(f.Share, f.Error))
	case f.stage:
		return fmt.Sprintf("Stages of equal length would save %s of the steps' time.", saved(f.Share, f.Error))
	case f.Who != "":
		return fmt.Sprintf("If %s took the median of its equals, that %s %s of the steps' time.", f.Who, would, saved(f.Share, f.Error))
	}
	return ""
}

// diagnose writes the diagnosis of a report that has only steps.
func (w *Waits) diagnose(d *Diagnosis) {
	d.Slow, d.Why, d.Do = w.String(), w.why(), w.do()
	d.Saves = strings.TrimSpace(w.saves() + " A worker of a step can't be copied, so no saving by copies is shown.")
}

// advise puts the advice about the workers of steps before that of a report with policies. Whether a policy helps depends
// on whether a task of a step can run again elsewhere.
func (w *Waits) advise(d *Diagnosis) {
	d.Waits = w.String() + " " + w.why()
	if !w.known() {
		return
	}
	const condition = " For tasks that can run again elsewhere, unlike the workers of a training job: "
	if d.Do = w.do() + condition + d.Do; d.kind == nothing {
		d.Do = w.do()
	}
	d.Saves = w.saves() + condition + d.Saves
}

// table writes the workers that were last most often.
func (w *Waits) table(out *printer) {
	if len(w.Last) == 0 {
		return
	}
	out.f("\nThe workers that were last most often:\n")
	for _, l := range w.Last {
		out.f("  last in %s (%.3g if all were alike), %s would be saved: %s\n", w.often(l), l.Chance, saved(l.Saved, l.Error), short(l.Worker))
	}
	if w.LeftOut > 0 {
		out.f("  and %s\n", words.Counted(w.LeftOut, "other worker"))
	}
}
