package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// JSON writes the model as indented JSON.
func (r *Report) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// Style says how text may stand out.
type Style struct {
	// Bold makes a text bold; nil leaves it plain.
	Bold func(string) string
}

func (s Style) bold(text string) string {
	if s.Bold == nil {
		return text
	}
	return s.Bold(text)
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer, style Style) error {
	out := &printer{w: w}
	out.f("%s: %s, %s\n", r.Input.Name, counted(r.Input.Phases, "phase"), counted(r.Input.Tasks, "task"))
	for _, n := range r.Notes {
		out.f("  %s\n", n)
	}
	out.f("%s\n", style.bold(r.Headline))
	if r.Apart != nil {
		out.f("%s\n", strings.Join(r.Apart.lines(), "\n"))
	}
	if len(r.Policies) == 0 {
		return out.err
	}
	out.f("%v\n", r.Stragglers)
	if r.Causes != nil && r.Causes.Excess > 0 {
		out.f("%v\n", r.Causes)
	}
	if r.Setting != nil {
		out.f("%s\n", r.Setting.Text)
	}
	if r.Recorded != nil {
		out.f("%v\n", r.Recorded)
	}
	out.f("\n")
	if err := r.table(w); err != nil {
		return err
	}
	out.f(`
time      change of the phases' times; -20%% is a fifth less. p50 and p75: half, and a quarter, of the phases gain at
          least this much, each weighing by its time without action; all: change of the sum
resource  change of the time that slots were in use; +5%% costs a twentieth more
copies    launched beside a running copy; a restart kills it first
won       share of copies and restarts that ended their task before its own attempt would have
wasted    time of slots on attempts that did not end their task
(…)       no policies: every task takes its phase's mean, or the mean of the best three quarters [Mantri §6.1]
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
	out.f("\n%d events in %.1f s, %.1f million a second on a core.\n", r.Work.Events, r.Work.Seconds, r.Work.Rate/1e6)
	return out.err
}

// trust says how far the replay without action is from the log.
func (r *Report) trust(out *printer) {
	n := r.NoAction
	if n.Deviation != nil {
		out.f("\nWithout action the replay differs from the phase times that the log's attempts show, from the first start to the last\n"+
			"success, by %.2g%% in all, %.2g%% in the worst phase.", 100**n.Deviation, 100**n.WorstDeviation)
		if n.EnginePhases > 0 {
			out.f(" The engine itself, from submission to completion, gives %s for the\n%d phases that have such times; the replay %s.",
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
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.3f\t%.3f\t%s\t%s\t\n", p.Name, Change(p.P50.Mean), Change(p.P75.Mean), p.All.change(),
			p.Resource.change(), p.Copies.Mean, p.Restarts.Mean, won(p), Span(p.Wasted.Mean))
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

// change writes a reduction with its spread, if it has one.
func (f Figure) change() string {
	if spread := max(f.High-f.Mean, f.Mean-f.Low); spread >= 0.0005 {
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

// printer remembers the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
