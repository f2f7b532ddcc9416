package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// These numbers are choices.
const (
	// A phase of at least 32 tasks adds the run times of 16 to 31 of its tasks to its kind. A smaller phase adds the run
	// times of all its tasks.
	sharedTasks = 16
	// The number of run times of other phases that a phase uses before its own tasks end. When a task of the phase
	// ends, its run time replaces a run time of another phase.
	mostOthers = 32
)

// link connects a phase with what the phases of its kind share. A nil link means that the phase shares no
// run times and no outcomes of trials.
type link struct {
	knowledge *Knowledge
	kind      *kind
	others    []runTime // run times of other phases, newest first; read before the phase has its own
	own       bool      // the Knowledge is that of the phase alone
	most      int       // the largest number of others
	stride    int       // a power of 2; the phase adds the run times of tasks whose index is a multiple of it
	published tally     // trials of the phase that the kind includes already
}

// tally contains the sums over the trials of a phase: how many were won and lost, their cost, and the stakes of open
// trials. The stake of a trial is the slot time that the trial puts at risk.
type tally struct {
	won, lost float64
	cost      time.Duration
	stakes    time.Duration
}

// newLink returns the link of a new phase; nil if the phase shares no run times. A growing phase without a kind gets a
// Knowledge of its own, which keeps its run times and its trials, and forgets them.
func newLink(c *Config) *link {
	switch shares := c.Knowledge.keeps(c.Kind); {
	case c.Recent > 0 && !shares:
		own := &Knowledge{config: KnowledgeConfig{Keep: c.Recent, Machines: machines.Config{MaxMachines: restart.Off}}}
		return &link{knowledge: own, kind: own.kind(""), own: true, most: mostEntries, stride: 1}
	case c.Recent > 0:
		return &link{knowledge: c.Knowledge, kind: c.Knowledge.kind(c.Kind), most: mostEntries, stride: 1}
	case !shares:
		return nil
	}
	ln := &link{knowledge: c.Knowledge, kind: c.Knowledge.kind(c.Kind), most: mostOthers, stride: 1}
	for len(c.Work)/ln.stride >= 2*sharedTasks {
		ln.stride *= 2
	}
	return ln
}

// refresh copies the run times of other phases of the kind, as long as the phase has no run time of its own. Own is the
// number of its own run times. Sized says that the works of the tasks are known. A growing phase has no run times of its
// own, because all are in the Knowledge. After the first own run time refresh does nothing: the kind then contains the
// phase's own run times as well, and the phase would use them twice.
func (ln *link) refresh(own int, sized bool) {
	if ln != nil && own == 0 {
		ln.others = ln.kind.appendRunTimes(ln.others[:0], ln.most, sized)
	}
}

// runTimes returns the run times of other phases, as far as this phase uses them. It leaves out one run time for each
// task of this phase that has ended with success.
func (ln *link) runTimes(successes int32) []runTime {
	if ln == nil {
		return nil
	}
	return ln.others[:max(len(ln.others)-int(successes), 0)]
}

// addRunTime adds an entry with the run time of an attempt to the kind. In a phase of many tasks, it adds only the run
// times of some tasks.
func (ln *link) addRunTime(now time.Time, task int, e entry, sizes bool) {
	if ln == nil || task&(ln.stride-1) != 0 || !(e.seconds <= estimate.MaxSample) {
		return
	}
	if sizes {
		e.about |= sized
	}
	ln.knowledge.add(now, ln.kind, e)
}

// results returns the numbers of won and lost trials of all phases of the kind. The phase takes them as its own.
func (ln *link) results() (won, lost float64) {
	ln.published.won, ln.published.lost = ln.kind.won, ln.kind.lost
	return ln.kind.won, ln.kind.lost
}

// knowsLosses reports whether phases of the same kind have lost trials. For these trials, the kind does not contain the
// run times of the tasks.
func (ln *link) knowsLosses() bool { return ln != nil && ln.kind.lost > 0 }

// publish adds to the kind the changes of the phase's trials since the last call. A trial may be counted as won at
// first, and as lost in the end. Then the kind contains a won trial and a lost trial. The result says whether a trial
// was won or lost.
func (ln *link) publish(now time.Time, is tally) (decided bool) {
	if ln == nil || is == ln.published {
		return false
	}
	was := ln.published
	ln.published = is
	ln.kind.risk(is.stakes, was.stakes)
	if is.won != was.won || is.lost != was.lost || is.cost != was.cost {
		cost := min(max(num.Sub(is.cost, was.cost).Seconds(), -estimate.MaxSample), estimate.MaxSample)
		ln.knowledge.add(now, ln.kind, entry{seconds: cost, lost: max(is.lost-was.lost, 0), won: max(is.won-was.won, 0)})
	}
	return is.won != was.won || is.lost != was.lost
}

// resume is called for a phase that was restored from a snapshot. The kind already includes the cost of the phase's
// trials, but not the stakes of its open trials, so resume adds the stakes. The stake of a trial is the slot time that
// it puts at risk. No snapshot of a Knowledge contains stakes. If it did, a phase that is never restored would leave its
// stakes in the kind for ever.
func (ln *link) resume(is tally) {
	if ln != nil {
		ln.published = is
		ln.kind.risk(is.stakes, 0)
	}
}

// ofKind returns two sums over the trials of all phases of the same kind: the slot time that trials have cost, and
// the slot time at risk in open trials. If the phase shares no run times, the sums are those of this phase.
func (ln *link) ofKind(is tally) (cost, stakes time.Duration) {
	if ln == nil {
		return is.cost, is.stakes
	}
	cost = num.Add(ln.kind.cost, num.Sub(is.cost, ln.published.cost))
	stakes = num.Sub(num.Add(ln.kind.stakes, is.stakes), ln.published.stakes)
	return cost, stakes
}
