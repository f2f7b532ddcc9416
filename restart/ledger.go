package restart

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Ledger counts what happened to the copies of a phase, and what it cost.
type Ledger struct {
	// Started is how many copies were started or submitted in all, Finished how many tasks ended with success.
	Started, Finished int
	// Copies is how many of them were launched while the task had another, and Restarts how many copies were killed so that
	// their task starts again.
	Copies, Restarts int
	// Won and Lost are how many of Copies ended their task, and how many ended because another one did. Pruned is how
	// many copies of any kind were killed but not by a restart.
	Won, Lost, Pruned int
	// Failed counts copies that failed or were lost with their machine.
	Failed int
	// Ignored counts what the tracker was told and could make no sense of.
	Ignored int
	// Used is the time that ended copies have run, in all: the slots' time, without that in an engine's queue. Wasted is
	// the part of it that did not end a task with success.
	Used, Wasted time.Duration
	// Saved is how much sooner tasks ended, in all, than was expected of their original copies when those were restarted,
	// pruned or overtaken. It rests on estimates of t_rem, and is negative if restarts did harm.
	Saved time.Duration
}

// Add adds the account of another phase.
func (l *Ledger) Add(other Ledger) {
	l.Started += other.Started
	l.Finished += other.Finished
	l.Copies += other.Copies
	l.Restarts += other.Restarts
	l.Won += other.Won
	l.Lost += other.Lost
	l.Pruned += other.Pruned
	l.Failed += other.Failed
	l.Ignored += other.Ignored
	l.Used = num.Add(l.Used, other.Used)
	l.Wasted = num.Add(l.Wasted, other.Wasted)
	l.Saved = num.Add(l.Saved, other.Saved)
}
