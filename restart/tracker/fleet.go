package tracker

import (
	"encoding/base64"
	"errors"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
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
	beaten  time.Duration // when a copy elsewhere ended before an attempt here; noTime if an attempt has ended here since
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
		f.list = append(f.list, machine{number: number, leaves: noTime, beaten: noTime})
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

// beaten returns when a copy elsewhere ended before an attempt on the machine; noTime if an attempt has ended there since.
func (f *fleet) beaten(number int) time.Duration {
	place := f.seen(number)
	if place == none {
		return noTime
	}
	return f.list[place].beaten
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

// How far the machines are, and which of them a copy should avoid.

// score exchanges a copy's progress score in the totals of its machine, of this phase and of the cluster. The paper's
// total is of tasks that run or have succeeded, so that of a copy that ends otherwise goes. Scores count in steps of
// 2^-24, which makes their sums exact: machines that have done the same compare equal, whatever the order of their
// reports.
func (f *fleet) score(at time.Time, c *attemptState, score float64) {
	if c.machine == none {
		return
	}
	m := &f.list[c.machine]
	if f.pace != nil {
		f.pace.totals.heard.Delete(m.total)
		m.total += step(score) - step(c.score)
		f.pace.totals.heard.Insert(m.total)
	}
	if f.record != nil && score != c.score && (f.own == nil || f.pace != nil) { // of its own nobody else asks for it
		f.slow.asOf = 0
		f.record.AddProgress(at, m.number, score-c.score)
	}
}

// asking describes the machine that asks for work: by what it did in the cluster if that is known, else in this phase.
func (f *fleet) asking(machine int) (m restart.MachineProgress) {
	switch {
	case f.pace == nil || machine < 0:
	case f.record != nil:
		if total, of := f.record.Progress(machine); of != nil && of.Len() > 0 {
			m.Total, m.Of = total, of
		}
	case f.pace.totals.Len() > 0:
		m.Of = &f.pace.totals
		if place := f.seen(machine); place != none {
			m.Total = f.list[place].total
		}
	}
	return m
}

// appendAvoid appends the machines on which no new copy should run: those that the record holds to be slow or failing,
// those behind a percentile of the machines' progress, as of the told-th event, and those that leave.
func (f *fleet) appendAvoid(dst []int, percentile float64, told int) []int {
	if f.record != nil {
		dst = append(dst, f.avoided(told)...)
	}
	dst = f.appendBehind(dst, percentile, told)
	if f.leaving > 0 {
		for i := range f.list {
			if f.list[i].leaves != noTime {
				dst = append(dst, f.list[i].number)
			}
		}
	}
	return dst
}

// avoided returns the machines that the record holds to be slow or failing, as many as a decision can name, as of the
// told-th event; of a record of the tracker's own, which nobody else tells, as of when it was last told.
func (f *fleet) avoided(told int) []int {
	s := &f.slow
	if s.asOf != told && (s.asOf == 0 || f.own == nil) {
		s.asOf, s.machines = told, f.record.AppendAvoid(s.machines[:0])
		s.machines = s.machines[:min(len(s.machines), restart.MaxAvoid)]
	}
	return s.machines
}

// appendBehind appends the machines whose total progress is below LATE's percentile, the one with the least first. They
// are the same for all tasks that one event asks about. O(machines) for the first of these.
func (f *fleet) appendBehind(dst []int, percentile float64, told int) []int {
	if percentile == 0 || f.pace == nil {
		return dst
	}
	if b := &f.pace.behind; b.told != told {
		b.told, b.n = told, 0
		var of estimate.Distribution
		bar := 0.
		for i := range f.list {
			m := f.asking(f.list[i].number)
			if m.Of == nil {
				continue
			}
			if m.Of != of {
				of, bar = m.Of, m.Of.Quantile(percentile)
			}
			if m.Total < bar {
				b.add(f.list[i].number, m.Total)
			}
		}
	}
	return append(dst, f.pace.behind.machines[:f.pace.behind.n]...)
}

// pace is LATE's total progress of the machines, of which it calls those slow that are behind: that of this phase, or
// that of the cluster where there is a record. It is kept only if the policy reads it.
type pace struct {
	totals totals
	behind behind
}

// appear takes note that one more machine was heard of.
func (p *pace) appear() {
	if p != nil {
		p.totals.heard.Insert(0)
		p.totals.idle = max(p.totals.idle-1, 0)
	}
}

// totals are the total progress of all machines, also of those of which nothing was heard yet: these have done nothing,
// and are only counted.
type totals struct {
	heard estimate.Empirical
	idle  int
}

func (t *totals) Len() int { return t.heard.Len() + t.idle }

func (t *totals) Mean() float64 { return t.heard.Mean() * (float64(t.heard.Len()) / float64(t.Len())) }

func (t *totals) CDF(x float64) float64 {
	if x < 0 || t.Len() == 0 {
		return 0
	}
	below := t.idle + t.heard.Rank(math.Nextafter(x, math.Inf(1)))
	return float64(below) / float64(t.Len())
}

// Quantile is that of all values, of which the idle ones, which are 0, come first.
func (t *totals) Quantile(p float64) float64 {
	of := float64(min(max(p, 0), 1) * float64(t.Len()))
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < t.idle {
		return 0
	}
	return t.heard.At(i - t.idle)
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }

// behind are the machines that have made least progress, as of an event.
type behind struct {
	told     int // the event; 0 for none
	n        int
	machines [restart.MaxAvoid]int
	totals   [restart.MaxAvoid]float64 // ascending
}

// add puts a machine behind those that have made as little progress, if it is among the least.
func (b *behind) add(machine int, total float64) {
	if b.n == len(b.totals) {
		if total >= b.totals[b.n-1] {
			return
		}
		b.n--
	}
	i := b.n
	for ; i > 0 && b.totals[i-1] > total; i-- {
		b.machines[i], b.totals[i] = b.machines[i-1], b.totals[i-1]
	}
	b.machines[i], b.totals[i] = machine, total
	b.n++
}
