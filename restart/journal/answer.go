package journal

import (
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// The words with which an answer begins: a decision's actions, and what the tracker answers besides.
var answerWords = [...]string{
	"keep", "duplicate", "restart", "kill", "start", wordTask, wordAttempt, wordEnds, wordWaits, wordIgnored,
}

const (
	wordTask    = "task"
	wordAttempt = "attempt"
	wordEnds    = "ends"
	wordWaits   = "waits"
	wordIgnored = "ignored"

	indent = "    "
	noTask = -1 // the event names the task
)

// answers writes below an event what the tracker answered. It also notes whether the tracker ignored the event.
type answers struct {
	text    []byte
	end     string // of a line
	ignored int    // of the ledger, before the event
}

// decision writes a decision, behind the task that it is about where the event does not say.
func (a *answers) decision(task int, d restart.Decision) {
	a.text = append(a.text, indent...)
	if task >= 0 {
		a.text = append(appendInt(a.text, wordTask+"=", task), ' ')
	}
	a.text = append(append(a.text, d.String()...), a.end...)
}

// attempt writes the number of an attempt, unless it is the first of its task, or none.
func (a *answers) attempt(n int) {
	if n > 0 {
		a.text = append(appendInt(append(a.text, indent...), wordAttempt+"=", n), a.end...)
	}
}

// numbers writes a list, unless it is empty.
func (a *answers) numbers(key string, list []int) {
	if len(list) == 0 {
		return
	}
	a.text = append(append(a.text, indent...), key...)
	for i, n := range list {
		if i > 0 {
			a.text = append(a.text, ',')
		}
		a.text = strconv.AppendInt(a.text, int64(n), 10)
	}
	a.text = append(a.text, a.end...)
}

const (
	endsAttempts = wordEnds + " attempt="
	waitTasks    = wordWaits + " task="
)

// close ends the answers to an event.
func (a *answers) close(t *restart.Tracker) {
	if t.Ledger().Ignored != a.ignored {
		a.text = append(append(append(a.text, indent...), wordIgnored...), a.end...)
	}
}

// feed tells the tracker of an event and writes its answers.
func (a *answers) feed(t *restart.Tracker, now time.Time, e *Event) {
	a.ignored = t.Ledger().Ignored
	switch e.Kind {
	case Slots:
		t.SetSlots(e.Slots)
	case Eligible:
		t.SetEligible(e.Task, !e.NoDuplicate, !e.NoRestart)
	case Start:
		a.attempt(t.Start(now, e.Task, e.Machine))
	case Submit:
		a.attempt(t.Submit(now, e.Task, e.Machine))
	case Begin:
		t.Begin(now, e.Task, e.Attempt, e.Machine)
	case Report:
		a.decision(noTask, t.Report(now, e.Task, e.Attempt, e.Progress))
	case GiveUp:
		t.GiveUp(now, e.Task)
	case Decide:
		a.decision(noTask, t.Decide(now, e.Task))
	case Next:
		a.decision(t.Next(now, e.Machine))
	case Sweep:
		t.Sweep(now, a.decision)
	case Finish:
		a.numbers(endsAttempts, t.Finish(now, e.Task, e.Attempt, nil))
	case Fail:
		t.Fail(now, e.Task, e.Attempt)
	case Kill:
		t.Kill(now, e.Task, e.Attempt)
	case Restart:
		t.Restart(now, e.Task, e.Attempt)
	case LoseMachine:
		a.numbers(waitTasks, t.LoseMachine(now, e.Machine, nil))
	case LoseOutput:
		t.LoseOutput(now, e.Task)
	}
	a.close(t)
}
