package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// recording reads the journal of a restart/tracker.Tracker: one event a line, of one or several phases. The tracker's
// machines become hosts, and its sizes become bytes. Answers of the tracker are ignored, except for the numbers of
// attempts. An attempt that another attempt has overtaken is Killed.
type recording struct {
	*builder
	phases  int
	current int   // the current phase; -1 before the first
	since   int64 // start of the journal
	works   []float64
	copies  map[copyID]attemptRef
	started map[int]int      // for each task, the number of attempts that were started
	running map[int][]copyID // by task
	on      map[int][]copyID // for each machine, the attempts there, the newest last; some may have ended
	won     map[int]attemptRef
	last    copyID // that was started: its number may stand below it
}

// copyID is an attempt of a task, with the number that the tracker gave it.
type copyID struct{ task, number int }

func readJournal(l *lineReader) *builder {
	r := &recording{builder: newBuilder(Journal), current: -1}
	r.eachLine(l, r.line)
	r.setWorks()
	return r.builder
}

// isJournalLine reports whether a line is the first line of a phase of a journal, or an event in it.
func isJournalLine(line []byte) bool {
	if bytes.HasPrefix(line, []byte("phase ")) && bytes.IndexByte(line, '=') > 0 {
		_, err := journal.Parse(line)
		return err == nil
	}
	if len(line) == 0 || line[0] > '9' { // a time begins with a digit, a sign or a point
		return false
	}
	e, err := journal.ParseEvent(line)
	return err == nil && e.Kind.Timed()
}

// line reads a line. An answer is not an event; it begins with the word for the decision.
func (r *recording) line(line []byte) bool {
	switch word, rest, _ := bytes.Cut(line, []byte(" ")); {
	case line[0] == '#':
		r.pass([]byte("comments"))
		return true
	case string(word) == "phase":
		phases, err := journal.Parse(line)
		if err != nil || len(phases) != 1 {
			return false
		}
		r.begin(&phases[0].Config)
		return true
	case string(word) == "work":
		return r.work(rest)
	case string(word) == "since":
		since := momentOf(bytes.TrimSpace(rest), &r.log.Faults)
		r.since = since.Or(0)
		return since.Known()
	}
	e, err := journal.ParseEvent(line)
	if err != nil {
		return r.answer(line)
	}
	if r.current < 0 {
		r.begin(&tracker.Config{})
	}
	r.event(&e)
	return true
}

func (r *recording) begin(c *tracker.Config) {
	r.setWorks()
	r.phases++
	r.current = r.newPhase("", "phase "+strconv.Itoa(r.phases))
	r.works = c.Work
	if n := max(c.Tasks, len(c.Work)); n <= maxTask {
		r.log.Phases[r.current].Tasks = n
	}
	r.copies, r.started = map[copyID]attemptRef{}, map[int]int{}
	r.running, r.on, r.won = map[int][]copyID{}, map[int][]copyID{}, map[int]attemptRef{}
}

// work reads a line with further sizes.
func (r *recording) work(list []byte) bool {
	for field := range bytes.SplitSeq(list, []byte(",")) {
		w, err := strconv.ParseFloat(string(field), 64)
		if err != nil {
			w = math.NaN() // not known
		}
		r.works = append(r.works, w)
	}
	if r.current >= 0 && len(r.works) <= maxTask {
		p := &r.log.Phases[r.current]
		p.Tasks = max(p.Tasks, len(r.works))
	}
	return r.current >= 0
}

// setWorks sets the sizes of a phase's tasks. An unknown size is NaN.
func (r *recording) setWorks() {
	for c, ref := range r.copies {
		if c.task < len(r.works) && r.works[c.task] > 0 && r.works[c.task] < maxBytes {
			r.attempt(ref).Input = Known(int64(math.Ceil(r.works[c.task])))
		}
	}
	r.copies, r.works = nil, nil
}

// answer ignores an answer of the tracker, except for the number that it gives to an attempt. The tracker may also
// reject the attempt.
func (r *recording) answer(text []byte) bool {
	word, _, _ := bytes.Cut(text, []byte(" "))
	word, number, _ := bytes.Cut(word, []byte("="))
	ref, some := r.copies[r.last]
	switch string(word) {
	case "keep", "copy", "restart", "kill", "start", "task", "ends", "waits":
	case "attempt":
		n, err := strconv.ParseInt(string(number), 10, 32)
		again := copyID{r.last.task, int(n)}
		if _, taken := r.copies[again]; some && err == nil && n >= 0 && !taken {
			r.forget(r.last)
			r.started[again.task] = again.number + 1
			r.attempt(ref).Number = int32(n)
			r.copies[again] = ref
			r.running[again.task] = append(r.running[again.task], again)
		}
	case "ignored":
		if some {
			r.forget(r.last)
			r.started[r.last.task]--
			r.attempt(ref).Task = -1 // it is no attempt
		}
	default:
		return false
	}
	r.pass([]byte("answers"))
	return true
}

// forget removes an attempt that was started.
func (r *recording) forget(c copyID) {
	delete(r.copies, c)
	r.running[c.task] = slices.DeleteFunc(r.running[c.task], func(other copyID) bool { return other == c })
}

func (r *recording) event(e *tracker.Event) {
	at := momentFrom(r.since+e.Time.UnixMilli(), true, &r.log.Faults)
	c := copyID{e.Task, e.Attempt}
	r.last = copyID{task: -1}
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		c.number = r.started[e.Task]
		if a := r.copy(c, e.Machine); a != nil {
			r.last = c
			r.started[e.Task]++
			if a.Ready = at; e.Kind == tracker.Started {
				a.Start = at
			}
		}
	case tracker.Begun:
		if a := r.copy(c, e.Machine); a != nil {
			a.Start = at
		}
	case tracker.Finished:
		r.stop(c, at, Succeeded)
		r.stopAll(r.running[e.Task], at, Killed)
	case tracker.Failed:
		r.stop(c, at, Failed)
	case tracker.Killed, tracker.Restarted:
		r.stop(c, at, Killed)
	case tracker.GivenUp:
		r.stopAll(r.running[e.Task], at, Killed)
	case tracker.MachineLost:
		r.stopAll(r.on[e.Machine], at, Failed)
		delete(r.on, e.Machine)
	case tracker.OutputLost:
		if ref, ok := r.won[e.Task]; ok {
			r.attempt(ref).State = Lost
		}
	default:
		r.pass([]byte(e.Kind.String()))
	}
}

// copy returns the attempt with an ID. It adds the attempt if it is new, and returns nil if there can be none.
func (r *recording) copy(c copyID, machine int) *Attempt {
	if c.task < 0 || c.task >= maxTask || c.number < 0 || c.number > math.MaxInt32 {
		r.log.Faults[NoTask]++
		return nil
	}
	ref, ok := r.copies[c]
	if !ok {
		ref = r.add(r.current, Attempt{Task: int32(c.task), Number: int32(c.number)})
		r.copies[c] = ref
		r.running[c.task] = append(r.running[c.task], c)
	}
	a := r.attempt(ref)
	if machine >= 0 {
		a.Host = r.host(fmt.Appendf(nil, "machine %d", machine), nil)
		r.on[machine] = append(r.on[machine], c)
	}
	return a
}

// stop ends an attempt.
func (r *recording) stop(c copyID, at Opt, state State) {
	a := r.copy(c, -1)
	switch {
	case a == nil:
	case a.State != Unfinished:
		r.log.Faults[Repeated]++
	default:
		a.Finish, a.State = at, state
		if state == Succeeded {
			r.won[c.task] = r.copies[c]
		}
		r.running[c.task] = slices.DeleteFunc(r.running[c.task], func(other copyID) bool { return other == c })
	}
}

// stopAll ends all attempts of the list that have not ended.
func (r *recording) stopAll(copies []copyID, at Opt, state State) {
	for _, c := range slices.Clone(copies) {
		if ref, ok := r.copies[c]; ok && r.attempt(ref).State == Unfinished {
			r.stop(c, at, state)
		}
	}
}
