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

// MachineRecord holds the observations of a cluster's machines. [machines.Record] implements it. The tracker gives it
// observations of attempts that run and end, and reads its factors. Share one MachineRecord among the phases of a
// cluster. To share it among trackers on several goroutines, wrap it in a MachineRecord of your own that locks.
// [Tracker.Merge] also needs the method Merge of [machines.Record], so a wrapper should pass Merge on.
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

// fleet holds the machines of a phase: which machines leave, which are refused, which are suspect, and how the way to
// the data slows tasks. The host's numbers of machines may be any. So the tracker counts machines in the order in
// which they appear: inside the tracker a machine is an int32, its index in machines, and an int is the host's number.
type fleet struct {
	index    map[int]int32
	machines []machine
	count    int // number of machines, at least len(machines); 0 if not known
	leaving  int // number of machines that will leave
	refused  int // number of refused machines
	record   MachineRecord
	member   machines.Member
	own      *machines.Record // the record, if the tracker made it because the host gave none; nil otherwise
	path     func(task, machine int) float64
	pace     *pace // nil if the policy does not read it
	avoided  avoidedMachines
	taken    [maxMachines]int
}

// avoidedMachines caches the machines that the record judges to be slow or failing.
type avoidedMachines struct {
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
	suspect bool          // more attempts are overdue than chance explains
	beaten  time.Duration // when a copy elsewhere last overtook an attempt here; noTime if an attempt has finished here since
	due     time.Duration // when the tracker's own record may get machines.MostRunning observations at once again
}

// admit reports whether the record shall get an observation of a running attempt on a machine now. If so, it counts
// the observation. The tracker's own record gets at most machines.MostRunning observations of a machine in an
// interval, because it remembers no more. A record of the host gets all observations, because other trackers feed it,
// too.
func (fl *fleet) admit(index int32, now, interval time.Duration) bool {
	if fl.own == nil {
		return true
	}
	m, each := &fl.machines[index], interval/machines.MostRunning
	if m.due > now+interval-each {
		return false
	}
	m.due = max(m.due, now) + each
	return true
}

// merge adds the observations of another process to the record.
func (fl *fleet) merge(e *Event) error {
	record, ok := fl.record.(interface {
		Merge(now time.Time, delta []byte) error
	})
	if !ok {
		return errors.ErrUnsupported
	}
	delta, err := base64.RawURLEncoding.DecodeString(e.Delta)
	if err != nil {
		return err
	}
	fl.avoided.asOf = 0
	return record.Merge(e.Time, delta)
}

// add returns the index of a machine, and adds the machine if it is new; none if the number is negative.
func (fl *fleet) add(number int) int32 {
	if number < 0 {
		return none
	}
	i, ok := fl.index[number]
	if !ok {
		if fl.index == nil {
			fl.index, fl.machines = map[int]int32{}, make([]machine, 0, 8)
		}
		i = int32(len(fl.machines))
		fl.index[number] = i
		fl.machines = append(fl.machines, machine{number: number, leaves: noTime, beaten: noTime})
		fl.pace.appear()
		if fl.count > 0 {
			fl.count = max(fl.count, len(fl.machines))
		}
	}
	return i
}

// find returns the index of a machine; none if the machine never appeared.
func (fl *fleet) find(number int) int32 {
	if number < 0 {
		return none
	}
	if i, ok := fl.index[number]; ok {
		return i
	}
	return none
}

// number returns the host's number of a machine; -1 for none.
func (fl *fleet) number(index int32) int {
	if index == none {
		return none
	}
	return fl.machines[index].number
}

// refuse records whether slots of a machine are refused for waiting tasks.
func (fl *fleet) refuse(index int32, refused bool) {
	if index == none || fl.machines[index].refused == refused {
		return
	}
	if fl.machines[index].refused = refused; refused {
		fl.refused++
	} else {
		fl.refused--
	}
}

// refusedSlots returns how many of the phase's slots are on refused machines, where no waiting task may start.
func (fl *fleet) refusedSlots(slots int) int {
	if fl.refused == 0 {
		return 0
	}
	all := max(fl.count, len(fl.machines)) // count is 0 if the host gave no number
	return fl.refused * max(1, slots/all)
}

// beaten returns when a copy elsewhere last overtook an attempt on the machine; noTime if an attempt has finished
// there since.
func (fl *fleet) beaten(number int) time.Duration {
	index := fl.find(number)
	if index == none {
		return noTime
	}
	return fl.machines[index].beaten
}

// leave records when a machine leaves; noTime takes it back.
func (fl *fleet) leave(number int, at time.Duration) {
	index := fl.find(number)
	if index == none && at != noTime {
		index = fl.add(number)
	}
	if index == none {
		return
	}
	if fl.machines[index].leaves != noTime {
		fl.leaving--
	}
	if fl.machines[index].leaves = at; at != noTime {
		fl.leaving++
	}
}

// stays returns how long a machine stays; noTime if it has no known departure.
func (fl *fleet) stays(index int32, now time.Duration) time.Duration {
	if fl.leaving == 0 || index == none || fl.machines[index].leaves == noTime {
		return noTime
	}
	return max(num.Sub(fl.machines[index].leaves, now), 0)
}

// pathFactor returns the factor by which the way to its data slows an attempt of the task on a machine.
func (fl *fleet) pathFactor(task, machine int) float64 {
	if fl.path == nil {
		return 1
	}
	if factor := fl.path(task, machine); factor > 0 && num.Finite(factor) {
		return factor
	}
	return 1
}

// location returns locationFactor for one more attempt of a task on a machine: the factor of the machine times the
// factor of the way to the data. For a negative machine, it is the factor of the best machine that the attempt can
// get. It is 0 if nothing is known of machines and ways.
func (fl *fleet) location(b *book, task int32, machine int) float64 {
	if fl.record == nil && fl.path == nil {
		return 0
	}
	factor := 1.0
	switch {
	case fl.record == nil:
	case machine >= 0:
		factor = fl.record.Factor(machine)
	default:
		factor = fl.elsewhere(b, task)
	}
	return factor * fl.pathFactor(int(task), max(machine, none))
}

// elsewhere returns the factor of the best machine on which no attempt of the task runs. If some machines are unknown,
// it is 1, the factor of an average machine.
func (fl *fleet) elsewhere(b *book, task int32) float64 {
	taken := fl.taken[:0]
	for i := b.tasks[task].newest; i != none && len(taken) < cap(taken); i = b.attempts.all[i].next {
		if machine := fl.number(b.attempts.all[i].machine); machine != none {
			taken = append(taken, machine)
		}
	}
	factor, known := fl.record.Elsewhere(taken...)
	if known == 0 || fl.count == 0 || known < fl.count-len(taken) {
		return 1
	}
	return factor
}

// Progress of the machines, and machines that a copy should avoid.

// score replaces an attempt's progress score in the totals of its machine, in this phase and in the cluster. The
// paper's total counts tasks that run or have succeeded, so an attempt that ends otherwise leaves the total. Scores
// count in steps of 2^-24, so that their sums are exact: machines with the same progress compare equal, in whatever
// order the reports came.
func (fl *fleet) score(at time.Time, a *attemptState, score float64) {
	if a.machine == none {
		return
	}
	m := &fl.machines[a.machine]
	if fl.pace != nil {
		fl.pace.totals.appeared.Delete(m.total)
		m.total += step(score) - step(a.score)
		fl.pace.totals.appeared.Insert(m.total)
	}
	// In the tracker's own record, only LATE reads the progress.
	if fl.record != nil && score != a.score && (fl.own == nil || fl.pace != nil) {
		fl.avoided.asOf = 0
		fl.record.AddProgress(at, m.number, score-a.score)
	}
}

// asking returns the progress of the machine that asks for work: in the cluster if that is known, otherwise in this
// phase.
func (fl *fleet) asking(machine int) (m restart.MachineProgress) {
	switch {
	case fl.pace == nil || machine < 0:
	case fl.record != nil:
		if total, of := fl.record.Progress(machine); of != nil && of.Len() > 0 {
			m.Total, m.Of = total, of
		}
	case fl.pace.totals.Len() > 0:
		m.Of = &fl.pace.totals
		if index := fl.find(machine); index != none {
			m.Total = fl.machines[index].total
		}
	}
	return m
}

// appendAvoid appends the machines on which no new attempt should run: machines that the record judges to be slow or
// failing, machines below a percentile of progress, and machines that leave. Event is the number of the event now.
func (fl *fleet) appendAvoid(dst []int, percentile float64, event int) []int {
	if fl.record != nil {
		dst = append(dst, fl.fromRecord(event)...)
	}
	dst = fl.appendBehind(dst, percentile, event)
	if fl.leaving > 0 {
		for i := range fl.machines {
			if fl.machines[i].leaves != noTime {
				dst = append(dst, fl.machines[i].number)
			}
		}
	}
	return dst
}

// fromRecord returns the machines that the record judges to be slow or failing, at most as many as a decision can
// name. A record of the host is read once in each event, because others feed it. The tracker's own record is read
// again only after an observation.
func (fl *fleet) fromRecord(event int) []int {
	s := &fl.avoided
	if s.asOf != event && (s.asOf == 0 || fl.own == nil) {
		s.asOf, s.machines = event, fl.record.AppendAvoid(s.machines[:0])
		s.machines = s.machines[:min(len(s.machines), restart.MaxAvoid)]
	}
	return s.machines
}

// appendBehind appends the machines with a total progress below LATE's percentile, least progress first. All decisions
// of one event share the list; the first takes O(machines).
func (fl *fleet) appendBehind(dst []int, percentile float64, event int) []int {
	if percentile == 0 || fl.pace == nil {
		return dst
	}
	if b := &fl.pace.slowest; b.event != event {
		b.event, b.n = event, 0
		var of estimate.Distribution
		bar := 0.
		for i := range fl.machines {
			m := fl.asking(fl.machines[i].number)
			if m.Of == nil {
				continue
			}
			if m.Of != of {
				of, bar = m.Of, m.Of.Quantile(percentile)
			}
			if m.Total < bar {
				b.add(fl.machines[i].number, m.Total)
			}
		}
	}
	return append(dst, fl.pace.slowest.machines[:fl.pace.slowest.n]...)
}

// pace holds LATE's total progress of the machines, in this phase or, if there is a record, in the cluster. LATE calls
// machines below a percentile slow. Pace is kept only if the policy reads it.
type pace struct {
	totals  totals
	slowest slowestMachines
}

// appear counts a machine that appears for the first time.
func (pc *pace) appear() {
	if pc != nil {
		pc.totals.appeared.Insert(0)
		pc.totals.idle = max(pc.totals.idle-1, 0)
	}
}

// totals is the distribution of the total progress of all machines. A machine that never appeared has done nothing,
// and is only counted.
type totals struct {
	appeared estimate.Empirical
	idle     int
}

func (tot *totals) Len() int { return tot.appeared.Len() + tot.idle }

func (tot *totals) Mean() float64 {
	return tot.appeared.Mean() * (float64(tot.appeared.Len()) / float64(tot.Len()))
}

func (tot *totals) CDF(x float64) float64 {
	if x < 0 || tot.Len() == 0 {
		return 0
	}
	below := tot.idle + tot.appeared.Rank(math.Nextafter(x, math.Inf(1)))
	return float64(below) / float64(tot.Len())
}

// Quantile returns a quantile of all values. The idle machines come first, with the value 0.
func (tot *totals) Quantile(p float64) float64 {
	of := float64(min(max(p, 0), 1) * float64(tot.Len()))
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < tot.idle {
		return 0
	}
	return tot.appeared.At(i - tot.idle)
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }

// slowestMachines holds the machines with the least progress at one event.
type slowestMachines struct {
	event    int // number of the event; 0 for none
	n        int
	machines [restart.MaxAvoid]int
	totals   [restart.MaxAvoid]float64 // ascending
}

// add inserts a machine after the machines with the same or less progress, if it is among the least.
func (slowest *slowestMachines) add(machine int, total float64) {
	if slowest.n == len(slowest.totals) {
		if total >= slowest.totals[slowest.n-1] {
			return
		}
		slowest.n--
	}
	i := slowest.n
	for ; i > 0 && slowest.totals[i-1] > total; i-- {
		slowest.machines[i], slowest.totals[i] = slowest.machines[i-1], slowest.totals[i-1]
	}
	slowest.machines[i], slowest.totals[i] = machine, total
	slowest.n++
}
