package fairshare

import (
	"log/slog"
	"strconv"
	"time"
)

// Task is a running task that might be killed. The order of the tasks is the host's.
//
// Safe for concurrent use.
type Task struct {
	Pool      int       // without children
	Machine   int       // host's index
	Started   time.Time // of this attempt
	Slots     int64     // units that it holds; less than 1 counts as 1
	Protected bool      // never kill it: it cannot be repeated, or is about to end
	Dying     bool      // killed already, and still counted in its pool's usage
}

func (t *Task) slots() int64 { return max(1, t.Slots) }

// Fate is what a plan means for a task, and why.
type Fate uint8

const (
	// Spared means the task could have been killed but was not needed: all claims are met, or those that are not belong
	// to pools whose parents have their share.
	Spared Fate = iota
	// Killed means the task is a victim.
	Killed
	// AtShare means that killing it would take its pool, or a pool above it, below its fair share.
	AtShare
	// Shielded means the task or its pool is protected.
	Shielded
	// Doomed means the task is dying already; it counts as gone.
	Doomed
	// Foreign means that Pool is not a pool without children.
	Foreign
)

var fateNames = [...]string{
	Spared: "spared", Killed: "killed", AtShare: "at share", Shielded: "shielded", Doomed: "doomed", Foreign: "foreign",
}

// String returns the fate in words.
func (f Fate) String() string { return nameOf(fateNames[:], uint8(f)) }

// Victim is a task to kill and the pool for which what it held should be kept.
//
// Safe for concurrent use.
type Victim struct{ Task, For int }

// String returns the victim as one line.
func (v Victim) String() string {
	return "kill task " + strconv.Itoa(v.Task) + " for pool " + strconv.Itoa(v.For)
}

// LogValue implements [slog.LogValuer].
func (v Victim) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("task", v.Task), slog.Int("for", v.For))
}

// Plan says which tasks to kill. Its slices are valid until the next call on the watch that made it.
//
// Not safe for concurrent use; one per Starvation.
type Plan struct {
	Claims  []Claim  // what was due, and what of it was found
	Victims []Victim // in the order in which they were chosen
	Fates   []Fate   // one a task; nil if nothing was claimed
}
