package trace

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// The lines of the normal form, as they are written. Unknown values are left out.
type (
	hostLine struct {
		Host string `json:"host"`
		Rack string `json:"rack,omitempty"`
	}
	executorLine struct {
		Executor string `json:"executor"`
		Host     string `json:"host,omitempty"`
		Cores    int32  `json:"cores,omitempty"`
	}
	phaseLine struct {
		Job       string    `json:"job"`
		Phase     string    `json:"phase"`
		Tasks     int       `json:"tasks"`
		Kin       alike.Kin `json:"kin,omitzero"`
		Family    string    `json:"family,omitempty"`
		Submitted Opt       `json:"submitted,omitzero"`
		Completed Opt       `json:"completed,omitzero"`
		After     []any     `json:"after,omitempty"`
	}
	attemptLine struct {
		Job         string   `json:"job"`
		Phase       string   `json:"phase"`
		Task        int32    `json:"task"`
		Name        string   `json:"name,omitempty"`
		Attempt     int32    `json:"attempt"`
		Ready       Opt      `json:"ready,omitzero"`
		Start       Opt      `json:"start,omitzero"`
		Finish      Opt      `json:"finish,omitzero"`
		State       State    `json:"state"`
		Host        string   `json:"host,omitempty"`
		Executor    string   `json:"executor,omitempty"`
		Locality    Locality `json:"locality,omitzero"`
		Speculative Answer   `json:"speculative,omitzero"`
		Input       Opt      `json:"input,omitzero"`
		Shuffle     Opt      `json:"shuffle,omitzero"`
		Output      Opt      `json:"output,omitzero"`
		Preferred   []string `json:"preferred,omitempty"`
		Splits      []int64  `json:"splits,omitempty"`
	}
)

// Write writes the log in the normal form. Read makes the same phases, attempts, splits, hosts and executors from it,
// in the same order. Format, Records, Passed, NotRun and Faults are not written. The indexes in the log must be in
// range.
func Write(w io.Writer, log *Log) error {
	buffered := bufio.NewWriter(w)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	lw := lineWriter{put: encoder.Encode, log: log}
	if err := lw.all(); err != nil {
		return err
	}
	return buffered.Flush()
}

// lineWriter passes the lines of the normal form to put, up to the first error.
type lineWriter struct {
	put func(line any) error
	log *Log
	err error
}

func (w *lineWriter) all() error {
	w.places()
	for i := range w.log.Phases {
		w.phase(&w.log.Phases[i])
	}
	return w.err
}

func (w *lineWriter) line(line any) {
	if w.err == nil {
		w.err = w.put(line)
	}
}

func (w *lineWriter) places() {
	for i, h := range w.log.Hosts {
		if i > 0 {
			w.line(hostLine{h.Name, h.Rack})
		}
	}
	for i, e := range w.log.Executors {
		if i > 0 {
			w.line(executorLine{e.Name, w.host(e.Host), e.Cores})
		}
	}
}

func (w *lineWriter) host(i int32) string {
	if i == 0 {
		return ""
	}
	return w.log.Hosts[i].Name
}

func (w *lineWriter) phase(p *Phase) {
	line := phaseLine{
		Job: p.Job, Phase: p.Name, Tasks: p.Tasks, Kin: p.Kin, Family: p.Family, Submitted: p.Submitted, Completed: p.Completed,
	}
	for _, i := range p.DependsOn {
		if parent := &w.log.Phases[i]; parent.Job == p.Job {
			line.After = append(line.After, parent.Name)
		} else {
			line.After = append(line.After, [2]string{parent.Job, parent.Name})
		}
	}
	w.line(line)
	for i := range p.Attempts {
		w.attempt(p, &p.Attempts[i])
	}
}

func (w *lineWriter) attempt(p *Phase, a *Attempt) {
	line := attemptLine{
		Job: p.Job, Phase: p.Name, Task: a.Task, Attempt: a.Number,
		Ready: a.Ready, Start: a.Start, Finish: a.Finish, State: a.State,
		Host: w.host(a.Host), Locality: a.Locality, Speculative: a.Speculative,
		Input: a.Input, Shuffle: a.Shuffle, Output: a.Output,
	}
	if int(a.Task) < len(p.Names) {
		line.Name = p.Names[a.Task]
	}
	if a.Executor != 0 {
		line.Executor = w.log.Executors[a.Executor].Name
	}
	if a.Splits != 0 {
		line.Splits = w.log.Splits[a.Splits]
	}
	for _, host := range a.Preferred {
		line.Preferred = append(line.Preferred, w.log.Hosts[host].Name)
	}
	w.line(line)
}
