package tracker

import (
	"encoding/base64"
	"errors"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
)

// MachineRecord is what is known of the machines of a cluster; [machines.Record] is one. The tracker tells it of what
// runs and ends, and asks it where a copy would be as slow. Share one among the phases of a cluster; to share it among
// trackers on several goroutines, wrap it in a MachineRecord of your own that locks. [Tracker.Merge]
// needs one that has the method Merge of [machines.Record], too: a wrapper passes it on.
type MachineRecord interface {
	estimate.Factors
	Join() machines.Member
	Running(now time.Time, machine int, key uint64, a machines.Attempt) bool
	End(now time.Time, machine int, key uint64, a machines.Attempt, how machines.Outcome) bool
	Elsewhere(machines ...int) (factor float64, known int)
	Judge(machine int) machines.Verdict
	AppendAvoid(dst []int) []int
	AddProgress(now time.Time, machine int, change float64) bool
	Progress(machine int) (total float64, of *estimate.Empirical)
}

// fleet is what a phase knows of its machines: their places, which it numbers in the order in which they appear, since
// the host's numbers may be any; who leaves, who is refused and who is behind; and the ways to the data.
type fleet struct {
	index   map[int]int32
	list    []machine
	known   int // how many machines there are, at least those that were heard of; 0 if not known
	leaving int // machines that are known to leave
	refuses int // machines that are refused
	record  MachineRecord
	member  machines.Member
	own     *machines.Record // the record, if the host has given none and the policy wants one; nil otherwise
	path    func(task, machine int) float64
	pace    *pace // nil if the policy does not read it
	slow    slow
	taken   [maxTried]int
}

// slow are the machines that the record holds to be slow or failing.
type slow struct {
	asOf     int // the event; 0: the record has been told of something since
	machines []int
}

// machine is one that was heard of.
type machine struct {
	number  int
	leaves  time.Duration // when it leaves; noTime if that is not known
	refused bool          // a slot of it was offered for waiting tasks, and not wanted
	total   float64       // LATE's total progress
	ended   int32         // copies that have ended on it with success
	overdue int32         // copies on it that run longer than usual
	behind  bool          // too many are overdue for chance
	due     time.Duration // when the own record may be told of machines.MostRunning copies at once again
}

// admit lets the tracker tell the record of one more running copy of a machine now, or not. The tracker tells its own record
// of as many in an interval as the record remembers (machines.MostRunning), and a record that the host has given of every
// copy: others tell it, too.
func (f *fleet) admit(place int32, now, interval time.Duration) bool {
	if f.own == nil {
		return true
	}
	m, each := &f.list[place], interval/machines.MostRunning
	if m.due > now+interval-each {
		return false
	}
	m.due = max(m.due, now) + each
	return true
}

// merge tells the record what another process has seen.
func (f *fleet) merge(e *Event) error {
	record, ok := f.record.(interface {
		Merge(now time.Time, delta []byte) error
	})
	if !ok {
		return errors.ErrUnsupported
	}
	delta, err := base64.RawURLEncoding.DecodeString(e.Delta)
	if err != nil {
		return err
	}
	f.slow.asOf = 0
	return record.Merge(e.Time, delta)
}

// of returns the place of a machine; none if it is negative.
func (f *fleet) of(number int) int32 {
	if number < 0 {
		return none
	}
	i, ok := f.index[number]
	if !ok {
		if f.index == nil {
			f.index, f.list = map[int]int32{}, make([]machine, 0, 8)
		}
		i = int32(len(f.list))
		f.index[number] = i
		f.list = append(f.list, machine{number: number, leaves: noTime})
		f.pace.appear()
		if f.known > 0 {
			f.known = max(f.known, len(f.list))
		}
	}
	return i
}

// seen returns the place of a machine if it has one, and none otherwise.
func (f *fleet) seen(number int) int32 {
	if number < 0 {
		return none
	}
	if i, ok := f.index[number]; ok {
		return i
	}
	return none
}

// number returns the host's number of a place; -1 for none.
func (f *fleet) number(place int32) int {
	if place == none {
		return none
	}
	return f.list[place].number
}

// refuse notes whether a machine's slots are wanted.
func (f *fleet) refuse(place int32, refused bool) {
	if place == none || f.list[place].refused == refused {
		return
	}
	if f.list[place].refused = refused; refused {
		f.refuses++
	} else {
		f.refuses--
	}
}

// refusedSlots is how many of the phase's slots are on machines that are refused: there no waiting task may start.
func (f *fleet) refusedSlots(slots int) int {
	if f.refuses == 0 {
		return 0
	}
	return f.refuses * max(1, slots/max(f.known, len(f.list))) // those heard of, if nobody has said how many there are
}

// leave notes when a machine leaves; noTime takes it back.
func (f *fleet) leave(number int, at time.Duration) {
	place := f.seen(number)
	if place == none && at != noTime {
		place = f.of(number)
	}
	if place == none {
		return
	}
	if f.list[place].leaves != noTime {
		f.leaving--
	}
	if f.list[place].leaves = at; at != noTime {
		f.leaving++
	}
}

// stays returns how long a machine stays; noTime if nothing is said of it.
func (f *fleet) stays(place int32, now time.Duration) time.Duration {
	if f.leaving == 0 || place == none || f.list[place].leaves == noTime {
		return noTime
	}
	return max(num.Sub(f.list[place].leaves, now), 0)
}

// way returns what the way to its data costs a copy of the task on a machine.
func (f *fleet) way(task, machine int) float64 {
	if f.path == nil {
		return 1
	}
	if factor := f.path(task, machine); factor > 0 && num.Finite(factor) {
		return factor
	}
	return 1
}

// location returns locationFactor of one more copy of a task on a machine: that of the machine and that of the way to
// the data. Where no machine asks, it is that of the best place that is open to the copy; 0 if nothing is known of
// places.
func (f *fleet) location(b *book, task int32, machine int) float64 {
	if f.record == nil && f.path == nil {
		return 0
	}
	factor := 1.0
	switch {
	case f.record == nil:
	case machine >= 0:
		factor = f.record.Factor(machine)
	default:
		factor = f.elsewhere(b, task)
	}
	return factor * f.way(int(task), max(machine, none))
}

// elsewhere returns the factor of the best machine on which no copy of the task runs: an average one if there are
// machines of which nothing is known.
func (f *fleet) elsewhere(b *book, task int32) float64 {
	taken := f.taken[:0]
	for i := b.tasks[task].copies; i != none && len(taken) < cap(taken); i = b.copies.all[i].next {
		if machine := f.number(b.copies.all[i].machine); machine != none {
			taken = append(taken, machine)
		}
	}
	factor, known := f.record.Elsewhere(taken...)
	if known == 0 || f.known == 0 || known < f.known-len(taken) {
		return 1
	}
	return factor
}
