package report

import (
	"fmt"
	"strings"

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
	// manyUnended is the share of the tasks above which little can be said without the tasks that have not ended.
	manyUnended = 0.01
	// hungTimes is the multiple of the median of its phase from which a running task is taken for hung.
	hungTimes = 10
	// leastTasks is the least number of tasks of a phase in which a task can be compared with another.
	leastTasks = 2
	// tooFew is the advice if no phase has that many tasks.
	tooFew = "Give a log with more tasks in a phase: this log shows neither that there are stragglers nor that there are none."
	// giveEnds is the advice if too many tasks have not ended.
	giveEnds = "Give a log in which these tasks have ended: until then, little can be said."
)

// hangs reports whether a task without a success ran for more than 1.5 times the median of its phase.
func (r *Report) hangs() bool { return r.Unended != nil && r.Unended.Slow > 0 }

// hangsLongest reports whether a task without a success ran for more than 1.5 times the median of its phase, and longer
// than every straggler.
func (r *Report) hangsLongest() bool { return r.hangs() && r.Unended.Worst[0].Times > r.slowest() }

// open reports whether too many tasks have not ended for a verdict on the others to say much, or whether a running task
// can be compared with no other.
func (r *Report) open() bool {
	u := r.Unended
	if u == nil {
		return false
	}
	missing := u.Running + u.Waiting + u.Untimed
	return u.Unmeasured > 0 || float64(missing) > manyUnended*float64(u.Ended+u.Tasks())
}

// noStragglers returns sentences for a report without a straggler.
func (r *Report) noStragglers() string {
	text := "No task took more than 1.5 times the median of its phase: there are no stragglers."
	switch {
	case r.few:
		text = fmt.Sprintf("No phase has %d tasks that ended and are alike, so no task can be compared with another.", leastTasks)
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
			ran(words.Plural(n, ": it had run ", ": they had run up to "), u.LongestRunning, n)+".")
	}
	if n := u.Stopped; n > 0 {
		texts = append(texts, words.Counted(n, "task")+" never succeeded: "+words.Plural(n, "it failed or was killed",
			"they failed or were killed")+ran(words.Plural(n, " after ", " after up to "), u.LongestStopped, n)+".")
	}
	if n := u.Waiting; n > 0 {
		texts = append(texts, words.Counted(n, "task")+" had not begun when the log ended.")
	}
	if n := u.Untimed; n > 0 {
		texts = append(texts, fmt.Sprintf("%s succeeded, but the log lacks %s times.", words.Counted(n, "task"),
			words.Plural(n, "its", "their")))
	}
	return strings.Join(texts, " ")
}

// ran writes the time of the task that ran longest of a number of tasks, after other words; empty if the time is not known.
func ran(before string, t why.UnendedTask, of int) string {
	switch {
	case t.Seconds == 0:
		return ""
	case t.Times > 0:
		return before + multiple(t.Times) + " the median of " + words.Plural(of, "its", "their") + " phase"
	default:
		return before + Span(t.Seconds)
	}
}

// lookUnended returns sentences that name the worst task without a success, and what to do about it.
func (r *Report) lookUnended() string {
	t := r.Unended.Worst[0]
	text, measured := lookAt(t.Job, t.Phase, t.Task, t.Host), ""
	if t.Times > 0 {
		measured = ", " + times(t.Times)
	}
	if !t.Running {
		return fmt.Sprintf("%s: it ran %s%s, and failed or was killed.", text, Span(t.Seconds), measured)
	}
	text = fmt.Sprintf("%s: it had run %s%s, and had not ended.", text, Span(t.Seconds), measured)
	switch {
	case t.Times >= hungTimes:
		text += " Give each attempt a timeout."
	case r.open():
		text += " " + giveEnds
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
	if len(u.Worst) == 0 || u.Worst[0].Seconds <= longest {
		d.Slow += " " + r.unended()
		return
	}
	d.Slow = r.unended() + " " + d.Slow
	d.Do = r.lookUnended()
}
