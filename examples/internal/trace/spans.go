package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// span is an event of a timeline with a duration. Its texts are indexes into timeline.text.
type span struct {
	name, cat, mnemonic, target int32
	step, stage                 int32 // arguments of the event
	host, thread                int32
	start, end                  float64 // in microseconds
	timed, ended                bool
}

// tasks makes attempts of the spans that are tasks. For Bazel they are the actions, and for Ray the calls of
// functions; all other spans are parts of these, or work of the engine itself. In other timelines, the outermost
// spans of each thread are tasks. If each thread has at most one outermost span, the spans without a span inside are
// tasks. A span and a span inside it are never both tasks, because the time would be counted twice. If most spans have
// a step as an argument, the steps are the phases.
func (t *timeline) tasks() {
	if t.steps() {
		return
	}
	for _, known := range []struct {
		what string
		is   func(cat string) bool
		of   func(s *span) (phase, task string)
	}{
		{"actions of Bazel", isBazelAction, t.bazelAction},
		{"calls of Ray", isRayTask, t.rayTask},
	} {
		if kept := t.keep(func(i int) bool { return known.is(t.text.of(t.all[i].cat)) }); len(kept) > 0 {
			t.leftOut(len(t.all)-len(kept), "they are not "+known.what)
			t.add(kept, known.of)
			return
		}
	}
	outermost, leaf := t.nesting()
	kept, why := t.keep(func(i int) bool { return outermost[i] }), "other spans of their thread contain them"
	if threads := t.threads(); len(kept) < len(t.all) && len(kept) <= threads {
		kept, why = t.keep(func(i int) bool { return leaf[i] }), "they contain other spans of their thread"
	}
	t.leftOut(len(t.all)-len(kept), why)
	t.add(kept, t.plainSpan(kept))
}

// steps makes a phase of each step, and of each thread in it a task, if at least half of the spans with an end have a step
// as an argument. The time of a task is the sum of the outermost spans with this step: a gap between two spans is a wait.
// The argument stage names the stage of a thread. A task with a span that has not ended is left out and counted.
func (t *timeline) steps() bool {
	type part struct{ step, thread int32 }
	ended, own, unfinished := 0, []span{}, map[part]bool{}
	for _, s := range t.all {
		switch {
		case s.ended:
			ended++
			if s.step > 0 {
				own = append(own, s)
			}
		case s.step > 0:
			unfinished[part{s.step, s.thread}] = true
		}
	}
	if len(own) == 0 || 2*len(own) < ended {
		return false
	}
	t.leftOut(len(t.all)-len(own), "they have no step")
	t.all = own
	outermost, _ := t.nesting()
	first := slices.MinFunc(own, func(a, b span) int { return cmp.Compare(a.start, b.start) }).start
	index, begin, took := map[part]int{}, []float64{}, []float64{}
	var parts []part
	for i, s := range own {
		if !outermost[i] {
			continue
		}
		key := part{s.step, s.thread}
		k, ok := index[key]
		if !ok {
			k = len(parts)
			index[key], parts, begin, took = k, append(parts, key), append(begin, s.start), append(took, 0)
		}
		t.inStage(t.log.Executors[s.thread].Name, nameOf([]byte(t.text.of(s.stage))))
		begin[k] = min(begin[k], s.start)
		took[k] += s.end - s.start
	}
	t.unfinished(len(unfinished))
	for k, key := range parts {
		if unfinished[key] {
			continue
		}
		i := t.phase("", "step "+nameOf([]byte(t.text.of(key.step))))
		t.log.Phases[i].Step = true
		start := int64(math.Round((begin[k] - min(first, 0)) / 1000))
		worker := []byte(t.log.Executors[key.thread].Name)
		a := Attempt{
			Task: t.task(i, -1, worker), Start: Known(start), Finish: Known(start + int64(math.Round(took[k]/1000))), State: Succeeded,
			Host: t.host(worker, nil), Executor: key.thread,
		}
		t.nameTask(i, a.Task, worker)
		t.builder.add(i, a)
	}
	return true
}

func (t *timeline) keep(want func(i int) bool) (kept []int) {
	for i := range t.all {
		if want(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

func (t *timeline) leftOut(n int, why string) {
	if n > 0 {
		t.hint(fmt.Sprintf("left out: %d of %d spans: %s", n, len(t.all), why))
	}
}

func isBazelAction(cat string) bool { return cat == "action processing" }

// bazelAction names the phase of an action by its kind. In old profiles the kind is the first word of the name.
func (t *timeline) bazelAction(s *span) (phase, task string) {
	phase, name := t.text.of(s.mnemonic), t.text.of(s.name)
	if phase == "" {
		phase, _, _ = strings.Cut(name, " ")
	}
	if target := t.text.of(s.target); target != "" {
		return phase, target + " " + name
	}
	return phase, name
}

func isRayTask(cat string) bool { return cat == "task" || strings.HasPrefix(cat, "task::") }

func (t *timeline) rayTask(s *span) (phase, task string) {
	if name, ok := strings.CutPrefix(t.text.of(s.cat), "task::"); ok {
		return name, ""
	}
	return t.text.of(s.name), ""
}

// plainSpan names phases by the names of the spans. If names are hardly repeated, as with paths, it uses the
// categories.
func (t *timeline) plainSpan(kept []int) func(s *span) (phase, task string) {
	const few = 20
	names := map[int32]bool{}
	for _, i := range kept {
		names[t.all[i].name] = true
	}
	if byCategory := len(names) > few && 2*len(names) > len(kept); byCategory {
		return func(s *span) (phase, task string) { return t.text.of(s.cat), t.text.of(s.name) }
	}
	return func(s *span) (phase, task string) { return t.text.of(s.name), "" }
}

func (t *timeline) threads() int {
	seen := map[int32]bool{}
	for i := range t.all {
		seen[t.all[i].thread] = true
	}
	return len(seen)
}

// nesting finds the spans that are in no other span of their thread, and the spans that contain no other span.
func (t *timeline) nesting() (outermost, leaf []bool) {
	outermost, leaf = make([]bool, len(t.all)), make([]bool, len(t.all))
	order := make([]int, len(t.all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &t.all[i], &t.all[j]
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var around []int // open spans of the thread; each ends before the span below it
	for k, i := range order {
		s := &t.all[i]
		if k > 0 && t.all[order[k-1]].thread != s.thread {
			around = around[:0]
		}
		for len(around) > 0 {
			if end := t.all[around[len(around)-1]].end; end > s.start && end >= s.end {
				break
			}
			around = around[:len(around)-1]
		}
		if leaf[i] = true; !s.ended { // the span contains nothing that is known
			outermost[i] = true
			continue
		}
		if outermost[i] = len(around) == 0; !outermost[i] {
			leaf[around[len(around)-1]] = false
		}
		around = append(around, i)
	}
	return outermost, leaf
}

// add makes attempts of spans. If a time is below 0, the clock is relative, and all times are shifted.
func (t *timeline) add(kept []int, named func(s *span) (phase, task string)) {
	first := 0.0
	for _, i := range kept {
		if s := &t.all[i]; s.timed {
			first = min(first, s.start)
		}
	}
	at := func(micros float64, known bool) Opt {
		millis := math.Round((micros - first) / 1000)
		if !known || millis < 0 || millis > maxTime {
			return Opt{}
		}
		return Known(int64(millis))
	}
	for _, i := range kept {
		s := &t.all[i]
		phase, task := named(s)
		p := t.phase("", nameOf([]byte(phase)))
		a := Attempt{Task: t.count(p), Start: at(s.start, s.timed), Finish: at(s.end, s.ended), Host: s.host, Executor: s.thread}
		if s.ended {
			a.State = Succeeded
		}
		t.nameTask(p, a.Task, []byte(task))
		t.builder.add(p, a)
	}
}
