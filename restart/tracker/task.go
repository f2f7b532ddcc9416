package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// There is one taskState for each task and one copyState for each copy that runs or is queued: a phase may have a
// million of them, and so they are packed. What few tasks have stands in a history.

const (
	none     = -1
	maxTried = 4 // machines of earlier attempts that are remembered for a task
)

const noTime time.Duration = num.MinDuration

type taskState struct {
	work      float64
	copies    int32           // the first of its copies, the newest; none if there is none
	attempts  int32           // launched so far
	original  int32           // the attempt that was last launched while no other ran
	candidate int32           // its place among the candidates, or none
	history   int32           // index into histories, or none if nothing was ever done about it
	tried     [maxTried]int32 // latest first, none where empty
	flags     taskFlags
}

// history is what was done about a task. Most tasks have none.
type history struct {
	lastCopy   time.Duration // when a copy beside another was last launched, or killed; noTime if never
	restarts   int32
	duplicates int32
	killed     int32 // the sample of the copy that was killed last, or estimate.NoSample
	killedOn   int32 // the place of its machine, or none
	lost       int32 // how many attempts the task had when its output was lost last; 0 if it never was
	saved      part  // of its work, that a checkpoint holds
	trial      trial
}

type taskFlags uint16

const (
	finished taskFlags = 1 << iota
	waits
	queued // in the waiting heap, whether it waits or not
	noDuplicate
	noRestart
	givenUp   // it will not be run again
	firstWave // its original began in the phase's first wave
	hasRun    // some attempt of it has ever begun
	knownWork // its work was given
	cloning   // in the list of tasks that may lack some of their first copies
)

type copyState struct {
	progress  estimate.Progress
	start     time.Duration // when it began to run; before, when it was submitted with a slot free for it, or noTime
	readAll   time.Duration // age at which all work was first known to be done; noTime before
	remaining time.Duration // the instant at which it ends by the host's own t_rem, or Unknown
	score     float64
	trail     survival.Trail
	atStage   float32 // the total that was predicted when it passed the last part of its progress; 0 if none was
	task      int32   // none if this place is free
	next      int32   // next copy of the task, or next free place
	machine   int32
	attempt   int32
	sample    int32   // in the unit times, or estimate.NoSample
	told      float32 // age in seconds at which the record of the machines was last told of it
	implied   float32 // seconds that its sample stands for
	begun     bool    // it runs, and does not wait in an engine's queue
	badUnits  bool    // its last report was of more work than there is
	resumed   part    // of the task that a checkpoint held when it began
}

// part is a share of a task's work that a checkpoint holds, in steps that are small beside what one saves.
type part uint16

const (
	parts    = 1 << 16
	mostPart = parts - parts/1024 // however much is saved, something is left: to load it, and to end
)

// partOf returns the part that some work is of all.
func partOf(work, all float64) part { return part(min(work/all*parts, mostPart)) }

// of returns the part of an amount of work.
func (p part) of(work float64) float64 { return float64(work * (float64(p) / parts)) }

// stint is the work of a copy: what its task has left behind a checkpoint. A copy counts as one of a task that has only
// that to do: its progress, its rate, its samples and its score are of it. So little else has to know of checkpoints.
type stint float64

// stint returns what is left of a task when so much of it was saved.
func (s *taskState) stint(saved part) stint {
	if saved == 0 {
		return stint(s.work)
	}
	return stint(s.work - saved.of(s.work))
}

// units is the work by which progress is measured. A copy without any work is done as soon as it reports; its progress
// is a share.
func (w stint) units() float64 {
	if w == 0 {
		return 1
	}
	return float64(w)
}

// tryMachine remembers a machine at the front of those that the task was tried on.
func (s *taskState) tryMachine(machine int32) {
	if machine == none {
		return
	}
	at := len(s.tried) - 1
	for i, m := range s.tried {
		if m == machine {
			at = i
			break
		}
	}
	copy(s.tried[1:at+1], s.tried[:at])
	s.tried[0] = machine
}

func (s *taskState) wasTried(machine int32) bool {
	if machine == none {
		return false
	}
	for _, m := range s.tried {
		if m == machine {
			return true
		}
	}
	return false
}

// pool holds the copies that have not ended, in places that are used again.
type pool struct {
	all  []copyState
	free int32 // the first free place, or none
}

// take returns a place. Once the first places are taken, the pool makes room at once for as many copies as are to run at
// most, and for twice as many as there are if slots are added one by one.
func (p *pool) take(most int) int32 {
	if i := p.free; i != none {
		p.free = p.all[i].next
		return i
	}
	if n := len(p.all); n == cap(p.all) && n < most {
		p.all = append(make([]copyState, 0, max(most, 2*n)), p.all...)
	}
	p.all = append(p.all, copyState{})
	return int32(len(p.all) - 1)
}

// give gives a place back.
func (p *pool) give(i int32) {
	p.all[i].task, p.all[i].next = none, p.free
	p.free = i
}
