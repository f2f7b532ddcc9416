package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/straggler-go/straggler/examples/internal/words"
)

// JSON writes the model as indented JSON.
func (r *Report) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// Style describes how a part of the text is emphasised. The zero value leaves all text plain.
type Style struct {
	// Bold returns a text in bold; nil leaves the text plain.
	Bold func(string) string
}

func (s Style) bold(text string) string {
	if s.Bold == nil {
		return text
	}
	return s.Bold(text)
}

// Text writes the report as plain text: diagnosis, table with its legend, and assumptions.
func (r *Report) Text(w io.Writer, style Style) error {
	out := &printer{w: w}
	phases := "phase"
	if r.waitsOnly {
		phases = "step"
	}
	out.f("%s: %s, %s\n", r.Input.Name, words.Counted(r.Input.Phases, phases), words.Counted(r.Input.Tasks, "task"))
	for _, n := range r.Notes {
		out.f("  %s\n", n)
	}
	for _, a := range r.Diagnosis.Answers() {
		out.f("%s %s\n", style.bold(a.Question+":"), a.Text)
	}
	if r.Apart != nil {
		out.f("%s\n", strings.Join(r.Apart.lines(), "\n"))
	}
	if r.waitsOnly {
		r.Waits.table(out)
	}
	if r.Against != nil {
		if err := r.Against.table(out); err != nil {
			return err
		}
	}
	if len(r.Policies) == 0 {
		return out.err
	}
	out.f("\n")
	if r.Stragglers.Tasks > 0 {
		out.f("%v\n", r.Stragglers)
	}
	if r.Causes != nil && r.Causes.Excess > 0 {
		out.f("%v\n", r.Causes)
	}
	if r.Recorded != nil {
		out.f("%v\n", r.Recorded)
	}
	out.f("\n")
	if err := r.table(w); err != nil {
		return err
	}
	out.f(`
time      change of the phases' times; -20%% means a fifth less. p50: half of the phases gain at least this much; p75: a
          quarter of them do. Each phase is weighted by its time without action. all: change of the sum
resource  change of the slot time, the time that slots are in use; +5%% means a twentieth more
copies    attempts that a policy starts beside a running attempt of the same task
restarts  attempts that a policy kills so that their task starts anew
won       share of the copies and restarts that ended their task before the task's own attempt would have
wasted    slot time of attempts that did not end their task
(…)       for comparison, not policies: every task takes the mean of its phase (no-skew), or the mean of the fastest
          three quarters of the tasks (chop-tail) [Mantri §6.1]
`)
	for _, p := range r.Policies {
		if p.Cloning != nil {
			out.f("\n%v\n", p.Cloning)
		}
	}
	r.trust(out)
	out.f("\nAssumptions:\n")
	for _, a := range r.Assumptions {
		out.f("  - %s\n", a)
	}
	out.f("\nThe replay simulated %d events in %.1f s: %.1f million events per second on one core.\n", r.Work.Events,
		r.Work.Seconds, r.Work.Rate/1e6)
	return out.err
}

// trust writes by how much the replay without action differs from the log.
func (r *Report) trust(out *printer) {
	n := r.NoAction
	if n.Deviation != nil {
		out.f("\nCheck: without action, the times of the phases in the replay differ from the log by %.2g%% in all, and "+
			"by %.2g%% in the\nworst phase. The time of a phase in the log is the time from its first start to its last success.",
			100**n.Deviation, 100**n.WorstDeviation)
		if n.EnginePhases > 0 {
			out.f("\nThe engine recorded %s from submission to completion for %d of the phases; the replay of these phases takes %s.",
				Span(n.Engine), n.EnginePhases, Span(n.EngineReplayed))
		}
		out.f("\n")
	}
}

func (r *Report) table(w io.Writer) error {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "policy\ttime p50\ttime p75\ttime all\tresource\tcopies/task\trestarts/task\twon\twasted\t")
	fmt.Fprintf(table, "no action\t\t\t%s\t%s\t\t\t\t%s\t\n",
		Span(r.NoAction.Time), Span(r.NoAction.Used), Span(r.NoAction.Wasted))
	for _, p := range r.Policies {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%s\t%s\t\n", p.Name, Change(p.P50.Mean), Change(p.P75.Mean),
			p.All.change(), p.Resource.change(), p.Copies.Mean, p.Restarts.Mean, won(p), Span(p.Wasted.Mean))
	}
	for _, i := range r.Ideals {
		fmt.Fprintf(table, "(%s)\t%s\t%s\t%s\t\t\t\t\t\t\n", i.Name, Change(i.P50), Change(i.P75), Change(i.All))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// change writes a reduction as a change, such as "-20.0%", and its spread over the seeds if that is at least 0.05
// points.
func (f Figure) change() string {
	if spread := max(f.High-f.Mean, f.Mean-f.Low); spread >= leastShown {
		return fmt.Sprintf("%s ±%.1f", Change(f.Mean), 100*spread)
	}
	return Change(f.Mean)
}

func won(p Policy) string {
	if p.Won == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*p.Won.Mean)
}

// printer writes formatted text and keeps the first error. It writes nothing after an error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
