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

// MachineRecord holds what attempts have shown of the machines of a cluster. [machines.Record] implements it. The
// tracker gives it observations of attempts that run and end, and reads its factors. Share one MachineRecord among the
// phases of a cluster. To share it among trackers on several goroutines, wrap it in a MachineRecord of your own that
// locks. [Tracker.Merge] also needs the method Merge of [machines.Record], so a wrapper should pass Merge on.
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

// fleet holds what a phase knows of its machines: which machines leave, which are refused, which are suspect, and how
// the way to the data slows tasks. The host's numbers of machines may be any. So the tracker counts machines in the
// order in which they appear: inside the tracker a machine is an int32, its index in list, and an int is the host's
// number.
type fleet struct {
	index   map[int]int32
	list    []machine
	known   int // number of machines, at least the machines in list; 0 if not known
	leaving int // number of machines that will leave
	refuses int // number of refused machines
	record  MachineRecord
	member  machines.Member
	own     *machines.Record // the record, if the tracker made it because the host gave none; nil otherwise
	path    func(task, machine int) float64
	pace    *pace // nil if the policy does not read it
	slow    slow
	taken   [maxTried]int
}

// avoided caches the machines that the record judges to be slow or failing.
type slow struct {
	asOf     int // the event at which machines was read; 0 if the record has changed since
	machines []int
}

// machine is a machine that appeared in an event.
type machine struct {
	number  int
	leaves  time.Duration // when it leaves; noTime if that is not known
	refused bool          // a slot was offered for waiting tasks, and refused
	total   float64       // LATE's total progress
	ended   int32         // attempts that ended there with success
	overdue int32         // attempts there that run for far longer than the median
	behind  bool          // more attempts are overdue than chance explains
	beaten  time.Duration // when a copy elsewhere ended before an attempt here; noTime if an attempt has ended here since
	due     time.Duration // the tracker's own record accepts machines.MostRunning attempts at once again at this time
}

// admit reports whether the record shall get an observation of a running attempt on a machine now. The tracker's own
// record gets at most machines.MostRunning of them in an interval, because it remembers no more. A record of the host
// gets all of them, because other trackers feed it, too.
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

// merge adds the observations of another process to the record.
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

// add returns the index of a machine, and adds the machine if it is new; none if the number is negative.
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

// find returns the index of a machine; none if the machine never appeared.
func (f *fleet) seen(number int) int32 {
	if number < 0 {
		return none
	}
	if i, ok := f.index[number]; ok {
		return i
	}
	return none
}

// number returns the host's number of a machine; -1 for none.
func (f *fleet) number(place int32) int {
	if place == none {
		return none
	}
	return f.list[place].number
}

// refuse records whether slots of a machine are refused for waiting tasks.
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

// refusedSlots returns how many of the phase's slots are on refused machines, where no waiting task may start.
func (f *fleet) refusedSlots(slots int) int {
	if f.refuses == 0 {
		return 0
	}
	return f.refuses * max(1, slots/max(f.known, len(f.list))) // if the host gave no number of machines, the machines that appeared count
}

// beaten returns when a copy elsewhere ended before an attempt on the machine; noTime if an attempt has ended there
// since.
func (f *fleet) beaten(number int) time.Duration {
	place := f.seen(number)
	if place == none {
		return noTime
	}
	return f.list[place].beaten
}

// leave records when a machine leaves; noTime takes it back.
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

// stays returns how long a machine stays; noTime if it has no known departure.
func (f *fleet) stays(place int32, now time.Duration) time.Duration {
	if f.leaving == 0 || place == none || f.list[place].leaves == noTime {
		return noTime
	}
	return max(num.Sub(f.list[place].leaves, now), 0)
}

// pathFactor returns the factor by which the way to its data slows an attempt of the task on a machine.
func (f *fleet) way(task, machine int) float64 {
	if f.path == nil {
		return 1
	}
	if factor := f.path(task, machine); factor > 0 && num.Finite(factor) {
		return factor
	}
	return 1
}

// location returns locationFactor for one more attempt of a task on a machine: the factor of the machine times the
// factor of the way to the data. For a negative machine, it is the factor of the best machine that the attempt can
// get. It is 0 if nothing is known of machines and ways.
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

// elsewhere returns the factor of the best machine on which no attempt of the task runs. If some machines are unknown,
// it is 1, the factor of an average machine.
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

// Progress of the machines, and machines that a copy should avoid.

// score replaces an attempt's progress score in the totals of its machine, in this phase and in the cluster. The
// paper's total counts tasks that run or have succeeded, so an attempt that ends otherwise leaves the total. Scores
// count in steps of 2^-24, so that their sums are exact: machines with the same progress compare equal, in whatever
// order the reports came.
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
	if f.record != nil && score != c.score && (f.own == nil || f.pace != nil) { // only LATE reads the tracker's own record here
		f.slow.asOf = 0
		f.record.AddProgress(at, m.number, score-c.score)
	}
}

// asking returns the progress of the machine that asks for work: in the cluster if that is known, otherwise in this
// phase.
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

// appendAvoid appends the machines on which no new attempt should run: machines that the record judges to be slow or
// failing, machines below a percentile of progress, and machines that leave. Event is the number of the event now.
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

// fromRecord returns the machines that the record judges to be slow or failing, at most as many as a decision can
// name. A record of the host is read once in each event, because others feed it. The tracker's own record is read
// again only after an observation.
func (f *fleet) avoided(told int) []int {
	s := &f.slow
	if s.asOf != told && (s.asOf == 0 || f.own == nil) {
		s.asOf, s.machines = told, f.record.AppendAvoid(s.machines[:0])
		s.machines = s.machines[:min(len(s.machines), restart.MaxAvoid)]
	}
	return s.machines
}

// appendBehind appends the machines with a total progress below LATE's percentile, least progress first. All decisions
// of one event share the list; the first takes O(machines).
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

// pace holds LATE's total progress of the machines, in this phase or, if there is a record, in the cluster. LATE calls
// machines below a percentile slow. Pace is kept only if the policy reads it.
type pace struct {
	totals totals
	behind behind
}

// appear counts a machine that appears for the first time.
func (p *pace) appear() {
	if p != nil {
		p.totals.heard.Insert(0)
		p.totals.idle = max(p.totals.idle-1, 0)
	}
}

// totals is the distribution of the total progress of all machines. A machine that never appeared has done nothing,
// and is only counted.
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

// Quantile returns a quantile of all values. The idle machines come first, with the value 0.
func (t *totals) Quantile(p float64) float64 {
	of := float64(min(max(p, 0), 1) * float64(t.Len()))
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < t.idle {
		return 0
	}
	return t.heard.At(i - t.idle)
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }

// behind holds the machines with the least progress at one event.
type behind struct {
	told     int // number of the event; 0 for none
	n        int
	machines [restart.MaxAvoid]int
	totals   [restart.MaxAvoid]float64 // ascending
}

// add inserts a machine after the machines with the same or less progress, if it is among the least.
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
