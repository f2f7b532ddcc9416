package report

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// SetUnended adds the tasks that have no successful attempt with known times.
func (r *Report) SetUnended(u why.Unended) {
	if u.Tasks() > 0 {
		r.Unended = &u
	}
}

const (
	// manyUnended is the share of the tasks above which little can be said without the tasks that have not ended. It is chosen, as
	// hungTimes is.
	manyUnended = 0.01
	// hungTimes is the multiple of the median of its phase from which a running task is taken for hung.
	hungTimes = 10
)

// hangs reports whether an attempt of a task without a success ran for more than 1.5 times the median of its phase.
func (r *Report) hangs() bool { return r.Unended != nil && r.Unended.Slow > 0 }

// alone reports whether none of the tasks without a success can be compared with others.
func (r *Report) alone() bool {
	return r.Unended != nil && len(r.Unended.Worst) > 0 && r.Unended.Worst[0].Times == 0
}

// hangsLongest reports whether an attempt of a task without a success ran for more than 1.5 times the median of its phase,
// and longer than every straggler.
func (r *Report) hangsLongest() bool {
	return r.hangs() && r.Unended.Worst[0].Longest().Times > r.slowest()
}

// open returns an advice if too many tasks have no success for a verdict on the others to say much, or if a running task can
// be compared with no other; empty otherwise. Tasks that succeeded at unknown times are not among them.
func (r *Report) open() string {
	u := r.Unended
	if u == nil {
		return ""
	}
	many := manyUnended * float64(u.Ended+u.Tasks())
	switch {
	case u.Unmeasured > 0 || float64(u.Running+u.Waiting) > many:
		return "Give a log in which these tasks have ended: until then, little can be said."
	case float64(u.Missing()) > many:
		return "See why these tasks failed or were killed: until they succeed, little can be said."
	}
	return ""
}

// noStragglers returns sentences for a report without a straggler.
func (r *Report) noStragglers() string {
	text := "No task took more than 1.5 times the median of its phase: there are no stragglers."
	switch {
	case r.few:
		text = fmt.Sprintf("No phase has %d tasks that ended and are alike: too few to call one of them slow.", causes.LeastTasks)
	case r.Unended != nil:
		text = "No task that ended took more than 1.5 times the median of its phase."
	}
	return text
}

// addUnended appends sentences about the tasks without a success to other sentences. If one of these tasks ran long, and the
// other sentences know of no slow task, its sentence comes first.
func (r *Report) addUnended(text string) string {
	switch own := r.unended(); {
	case own == "":
		return text
	case r.hangs() && r.Stragglers.Tasks == 0:
		return own + " " + text
	default:
		return text + " " + own
	}
}

// unended returns sentences about the tasks without a success; empty if there are none.
func (r *Report) unended() string {
	u := r.Unended
	if u == nil {
		return ""
	}
	var texts []string
	if n := u.Running; n > 0 {
		texts = append(texts, words.Counted(n, "task")+" had not ended when the log ended"+
			ran(": "+words.Plural(n, "it", "they")+" had run ", ": ", " had run ", u.RunningFor)+".")
	}
	if n := u.Stopped; n > 0 {
		texts = append(texts, words.Counted(n, "task")+" never succeeded: "+words.Plural(n, "it failed or was killed",
			"they failed or were killed")+ran(" after ", ", ", " after ", u.StoppedAfter)+".")
	}
	if n := u.Waiting; n > 0 {
		texts = append(texts, words.Counted(n, "task")+" had not begun when the log ended.")
	}
	if n := u.Unseen; n > 0 {
		texts = append(texts, fmt.Sprintf("The log has no attempt of %s.", words.Counted(n, "task")))
	}
	if n := u.Untimed; n > 0 {
		texts = append(texts, fmt.Sprintf("%s succeeded, but the log lacks %s times.", words.Counted(n, "task"),
			words.Plural(n, "its", "their")))
	}
	return strings.Join(texts, " ")
}

// ran writes how long tasks ran, such as ": they had run up to 50 times the median of their phase". It is empty if no time is
// known. If a median is known for all of them, or for none, the text begins with the words alone. Otherwise it begins with the
// mark, and the words each stand behind a number of tasks: ": 1 had run 3 times the median of its phase, and 1 had run 60 s in a
// phase without a median".
func ran(alone, mark, each string, t why.Ran) string {
	var texts []string
	kinds := min(t.Measured, 1) + min(t.Unmeasured, 1) + min(t.Untimed, 1)
	add := func(n int, time string) {
		switch {
		case n == 0:
		case kinds == 1:
			texts = append(texts, alone+time)
		default:
			texts = append(texts, fmt.Sprintf("%d%s%s", n, each, time))
		}
	}
	add(t.Measured, words.Plural(t.Measured, "", "up to ")+multiple(t.Times)+" the median of "+
		words.Plural(t.Measured, "its", "their")+" phase")
	unmeasured := words.Plural(t.Unmeasured, "", "up to ") + Span(t.Seconds)
	if kinds > 1 {
		unmeasured += words.Plural(t.Unmeasured, " in a phase without a median", " in phases without a median")
	}
	add(t.Unmeasured, unmeasured)
	switch {
	case kinds == 1 && t.Untimed == 0:
		return texts[0]
	case kinds <= 1:
		return ""
	}
	add(t.Untimed, "an unknown time")
	last := len(texts) - 1
	return mark + strings.Join(texts[:last], ", ") + ", and " + texts[last]
}

// lookUnended returns sentences that name the worst task without a success, and what to do about it. when is as in lookAt.
func (r *Report) lookUnended(when string) string {
	t := r.Unended.Worst[0]
	text := lookAt(when, t.Job, t.Phase, t.Task, t.Host)
	if !t.Running {
		return fmt.Sprintf("%s: it ran %s, and failed or was killed.", text, spent(t.UnendedAttempt))
	}
	text = fmt.Sprintf("%s: it had run %s, and had not ended.", text, spent(t.UnendedAttempt))
	if e := t.Earlier; e != nil {
		where := ""
		if e.Host != "" {
			where = " on machine " + short(e.Host)
		}
		text += fmt.Sprintf(" An earlier attempt%s ran %s, and failed or was killed.", where, spent(*e))
	}
	switch open := r.open(); {
	case t.Times >= hungTimes:
		text += " Give each attempt a timeout."
	case open != "":
		text += " " + open
	}
	return text
}

// spent writes the time of an attempt, and its multiple of the median if it is known.
func spent(a why.UnendedAttempt) string {
	text := Span(a.Seconds)
	if a.Times > 0 {
		text += ", " + times(a.Times)
	}
	return text
}

// lookLonger completes the diagnosis of tasks that are not known to be alike: it adds the tasks without a success. If one of
// them ran longer than the longest task that ended, the advice names it.
func (r *Report) lookLonger(d *Diagnosis) {
	u := r.Unended
	if u == nil {
		return
	}
	longest := 0.0
	if len(r.Apart.Longest) > 0 {
		longest = r.Apart.Longest[0].Seconds
	}
	if len(u.Worst) == 0 || u.Worst[0].Longest().Seconds <= longest {
		d.Slow += " " + r.unended()
		return
	}
	d.Slow = r.unended() + " " + d.Slow
	d.Do = r.lookUnended("first")
}
