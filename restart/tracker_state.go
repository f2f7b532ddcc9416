package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// There is one taskState for each task and one copyState for each copy that runs or is queued: a phase may have a million
// of them, and so they are packed. What few tasks have stands in a history.

type taskState struct {
	work      float64
	copies    int32           // the first of its copies, the newest; none if there is none
	attempts  int32           // launched so far
	original  int32           // the attempt that was last launched while no other ran
	candidate int32           // index into candidates, or none
	history   int32           // index into histories, or none if nothing was ever done about it
	tried     [maxTried]int32 // latest first, none where empty
	flags     taskFlags
}

// history is what was done about a task. Most tasks have none.
type history struct {
	lastCopy time.Duration // when a copy beside another was last launched, or killed; noTime if never
	expected time.Duration // when the copy that was its original would have ended; noTime while it may still do so
	restarts int
}

type taskFlags uint8

const (
	finished taskFlags = 1 << iota
	waits
	queued // in the waiting heap, whether it waits or not
	noDuplicate
	noRestart
	givenUp   // it will not be run again
	firstWave // its original began in the phase's first wave
	hasRun    // some attempt of it has ever begun
)

type copyState struct {
	progress  estimate.Progress
	start     time.Duration // when it began to run; noTime while it waits in an engine's queue
	readAll   time.Duration // age at which all work was first known to be done; noTime before
	remaining time.Duration // the host's own t_rem, or Unknown
	score     float64
	task      int32 // none if this place is free
	next      int32 // next copy of the task, or next free place
	machine   int32
	attempt   int32
	sample    int32 // in rates, or estimate.None
}

// begun reports whether a copy runs, and does not wait in an engine's queue.
func (c *copyState) begun() bool { return c.start != noTime }

const noTime time.Duration = num.MinDuration
