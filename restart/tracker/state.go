package tracker

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// A phase may have a million tasks. So two structs are kept small: taskState, the state of a task, and attemptState,
// the state of an attempt that runs or waits in an engine's queue. Facts that only few tasks have are kept in a
// history.

const (
	none        = -1 // no index: no task, no attempt, no machine
	maxMachines = 4  // number of machines that are remembered for a task: those of its latest attempts
)

// noTime stands for a time that is not known.
const noTime time.Duration = num.MinDuration

// taskState is the state of one task.
type taskState struct {
	work      float64
	newest    int32              // index of its newest attempt, the first of its linked list; none if it has no attempt
	launched  int32              // number of attempts launched so far
	original  int32              // number of the latest attempt that was launched while the task had no other attempt
	candidate int32              // index among the candidates, or none
	history   int32              // index into histories; none if the task has no history
	machines  [maxMachines]int32 // machines of its latest attempts, latest first; none in unused places
	flags     taskFlags
}

// history records the copies, restarts, lost outputs, checkpoints and trials of a task. Most tasks have no history.
type history struct {
	lastCopy time.Duration // time of the last copy, or of the last kill among several attempts; noTime if none
	restarts int32
	copies   int32
	killed   killed
	lost     int32 // number of attempts launched before the task's output was last lost; 0 if it was never lost
	saved    part  // part of the task's work that a checkpoint contains
	trial    restart.Trial
}

// newTask returns a task without attempts.
func newTask(work float64, known bool) taskState {
	s := taskState{
		work: work, newest: none, candidate: none, history: none, machines: [maxMachines]int32{none, none, none, none},
	}
	if known {
		s.flags = knownWork
	}
	return s
}

// newHistory returns the history of a task without a copy, a restart or a kill.
func newHistory() history { return history{lastCopy: noTime, killed: noKill()} }

// taskFlags is the set of the yes-or-no facts of a task.
type taskFlags uint16

const (
	finished taskFlags = 1 << iota
	waits
	queued // in the heap of waiting tasks; it may stay there for a while after it has started
	noCopy
	noRestart
	givenUp   // the host will not run the task again
	firstWave // its original attempt began while fewer tasks had begun than the phase has slots
	hasRun    // an attempt of the task has ever begun
	knownWork // the host has given the work of the task
	cloning   // in the list of tasks that may have fewer clones than they should
	forgotten // the task of this row was forgotten
)

// attemptState is the state of one attempt that runs or waits in an engine's queue. Another part may keep facts about the
// attempt in a struct of its own, and only that part writes the struct.
type attemptState struct {
	track track // of the forecast
	// The time of its begin. Before it has begun, the time of its submission; noTime if no slot was free at that time.
	start time.Duration
	// The progress score of its last report.
	score float64
	// The index of the task; none if this entry of the pool is free.
	task int32
	// The index of the task's next older attempt; in a free entry, the index of the next free entry.
	next     int32
	machine  int32
	attempt  int32
	recorded recorded // of the fleet
	// The attempt runs. Otherwise it waits in an engine's queue.
	begun bool
	unit  unit // of the check of units
	// The part of the task's work that a checkpoint contained when the attempt began.
	resumed part
}

// part is the share of a task's work that a checkpoint contains. The unit is 2^-16 of the work, which is small
// compared with the work that a checkpoint saves.
type part uint16

const (
	parts    = 1 << 16
	mostPart = parts - parts/1024 // a resumed attempt has at least a 1024th left: it must load the checkpoint, and end
)

// partOf returns an amount of work as a share of all the work of a task.
func partOf(work, all float64) part { return part(min(work/all*parts, mostPart)) }

// of returns the amount of work that the share p of the given work is.
func (p part) of(work float64) float64 { return float64(work * (float64(p) / parts)) }

// stint is the work that one attempt has to do: the work of its task without the work that a checkpoint contained.
// Estimates treat the attempt as an attempt of a task with only this work. The progress, the rate and the score of
// the attempt are relative to the stint. So little other code needs to know of checkpoints.
type stint float64

// stint returns the work of the task without the part that a checkpoint contains.
func (s *taskState) stint(saved part) stint {
	if saved == 0 {
		return stint(s.work)
	}
	return stint(s.work - saved.of(s.work))
}

// units returns the amount of work that stands for full progress: all the work of the attempt. If the attempt has no
// work, as for an empty partition, it is 1, because progress is then reported as a share.
func (w stint) units() float64 {
	if w == 0 {
		return 1
	}
	return float64(w)
}

// addMachine records that an attempt of the task was placed on a machine. The machine becomes the first in the list
// of the task's machines.
func (s *taskState) addMachine(machine int32) {
	if machine == none {
		return
	}
	at := slices.Index(s.machines[:], machine)
	if at < 0 {
		at = len(s.machines) - 1
	}
	copy(s.machines[1:at+1], s.machines[:at])
	s.machines[0] = machine
}

// ranOn reports whether the machine is in the list of machines on which the task was tried.
func (s *taskState) ranOn(machine int32) bool {
	return machine != none && slices.Contains(s.machines[:], machine)
}

// attemptPool stores the attempts that have not ended. The entry of an ended attempt is used again for a new attempt.
type attemptPool struct {
	all  []attemptState
	free int32 // index of the first free entry, or none
}

// take returns the index of a free entry, and adds an entry if none is free. When the pool is full, it grows at once
// to the number of attempts that may run (most), but at least to twice its size.
func (pool *attemptPool) take(most int) int32 {
	if i := pool.free; i != none {
		pool.free = pool.all[i].next
		return i
	}
	if n := len(pool.all); n == cap(pool.all) && n < most {
		pool.all = append(make([]attemptState, 0, max(most, 2*n)), pool.all...)
	}
	pool.all = append(pool.all, attemptState{})
	return int32(len(pool.all) - 1)
}

// give returns the entry with index i to the pool, so that it is free.
func (pool *attemptPool) give(i int32) {
	pool.all[i].task, pool.all[i].next = none, pool.free
	pool.free = i
}
