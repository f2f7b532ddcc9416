package tracker

import (
	"cmp"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// fleet contains the machines of a phase. It says which machines will leave, which machines are refused for waiting
// tasks because they are bad, and which machines are suspect because many of their attempts are slow. It also says
// how much a task is slowed on a machine by the way to the task's data.
//
// The host's numbers of machines may be any numbers. So inside the tracker a machine has an index, its place in the
// slice machines. Machines get their indices in the order in which events first mention them. A variable of type
// int32 contains the index of a machine, and a variable of type int contains the host's number.
type fleet struct {
	index    map[int]int32 // from the host's number of a machine to its index
	machines []machine
	count    int              // number of machines of the host, at least len(machines); 0 if not known
	leaving  int              // number of machines that will leave at a known time
	refused  int              // number of machines that are refused for waiting tasks
	record   *machines.Record // nil if nothing is known about machines
	member   machines.Member
	own      bool // the tracker made the record, because the host gave none
	path     func(task, machine int) float64
	pace     *pace // total progress of each machine, for LATE; nil if the policy does not read it
	avoided  avoidedMachines
}

// newFleet returns the fleet of a phase of which no event has mentioned a machine. Paces says that the policy reads the
// total progress of machines.
func newFleet(c *Config, record *machines.Record, own, paces bool) fleet {
	fl := fleet{count: c.Machines, record: record, own: own, path: c.Path}
	if paces {
		fl.pace = &pace{totals: totals{idle: c.Machines}}
	}
	return fl
}

// join makes the phase a member of the record, if there is one.
func (fl *fleet) join() {
	if fl.record != nil {
		fl.member = fl.record.Join()
	}
}

// avoidedMachines caches the list of machines that the record judges to be slow or failing.
type avoidedMachines struct {
	asOf     int // number of the event at which the list was read; 0 if the record has changed after that
	machines []int
}

// machine is a machine that an event has mentioned.
type machine struct {
	// The host's number of the machine.
	number int
	// The time at which the machine will leave; noTime if no such time is known.
	leaves time.Duration
	// Waiting tasks may not start on the machine, because it was bad when it last had a free slot.
	refused bool
	// The machine's total progress, as LATE defines it: the sum of the progress scores of its running and successful
	// attempts.
	total     float64
	suspicion suspicion
	// The time until which the machine is treated as beaten: an attempt on it was overtaken by a copy on another machine.
	// noTime if no attempt was, or if an attempt has succeeded on this machine since.
	beatenUntil time.Duration
	// The time from which the machine may again get machines.MostRunning observations at once. Each observation makes
	// it later. It is used only for a record that the tracker made.
	due time.Duration
}

// recorded has the facts of the fleet about an attempt that runs.
type recorded struct {
	// The age of the attempt, in seconds, at its last observation for the record of machines; 0 before the first.
	at float32
}

// site is the machine of an attempt, by the host's number, and the factor of the way to the task's data. The factor is
// 0 if the host has not given Config.Path.
type site struct {
	machine int
	path    float64
}

// site returns the site of an attempt of the task on a machine.
func (fl *fleet) site(task int, machine int32) site {
	on := site{machine: fl.number(machine)}
	if fl.path != nil {
		on.path = fl.pathFactor(task, on.machine)
	}
	return on
}

// recordAgain decides how often the record of machines gets an observation of a running attempt. After an
// observation, the attempt must age by an eighth of its age, and by half an interval in addition, before the next
// observation. By then the observation has changed, and there are far fewer observations than reports. The number is
// a choice.
const recordAgain = 8

// wants reports whether the record should now get an observation of an attempt that runs on a machine, because the
// attempt has aged enough since its last observation. If so, wants counts the observation.
func (fl *fleet) wants(last *recorded, machine int32, age, now, interval time.Duration) bool {
	before := time.Duration(float64(last.at) * 1e9)
	if fl.record == nil || machine == none || age < before+before/recordAgain+interval/2 ||
		!fl.admit(machine, now, interval) {
		return false
	}
	last.at = float32(age.Seconds())
	return true
}

// running tells the record how an attempt of a task runs on a machine. The number is that of the attempt.
func (fl *fleet) running(at time.Time, machine int32, task int, number int32, a machines.Attempt) {
	fl.avoided.asOf = 0
	fl.record.Running(at, fl.number(machine), fl.member.Key(task, int(number)), a)
}

// end tells the record how an attempt of a task has ended on a machine. The number is that of the attempt.
func (fl *fleet) end(at time.Time, machine int32, task int, number int32, a machines.Attempt, how machines.Outcome) {
	fl.avoided.asOf = 0
	fl.record.End(at, fl.number(machine), fl.member.Key(task, int(number)), a, how)
}

// succeeded counts an attempt that has ended with success on a machine. The machine is no longer beaten.
func (fl *fleet) succeeded(machine int32) {
	if machine != none {
		fl.machines[machine].suspicion.addEnded()
		fl.machines[machine].beatenUntil = noTime
	}
}

// forget forgets an attempt that has ended with success on a machine.
func (fl *fleet) forget(machine int32) {
	if machine == none {
		return
	}
	m := &fl.machines[machine]
	m.suspicion.forget()
	if fl.pace != nil {
		fl.pace.totals.appeared.Delete(m.total)
		m.total -= step(1)
		fl.pace.totals.appeared.Insert(m.total)
	}
}

// beaten records that a copy on another machine overtook an attempt on this machine, which is treated as beaten until
// the given time.
func (fl *fleet) beaten(machine int32, until time.Duration) { fl.machines[machine].beatenUntil = until }

// lost records that a machine is lost. Its slots are gone; and if the machine comes back, it may be healthy.
func (fl *fleet) lost(machine int32) {
	fl.refuse(machine, false)
	fl.machines[machine].beatenUntil = noTime
}

// admit reports whether the record should now get an observation of a running attempt on the machine. If so, admit
// counts the observation. The record that a tracker makes for itself gets at most machines.MostRunning observations
// of a machine in an interval, because it remembers no more running attempts. A record of the host gets all
// observations, because other trackers use it as well.
func (fl *fleet) admit(index int32, now, interval time.Duration) bool {
	if !fl.own {
		return true
	}
	m, each := &fl.machines[index], interval/machines.MostRunning
	if m.due > now+interval-each {
		return false
	}
	m.due = max(m.due, now) + each
	return true
}

// merge adds to the knowledge of the phases the observations that another process has made.
func (fl *fleet) merge(know *Knowledge, e *Event) error {
	if know == nil {
		return errors.ErrUnsupported
	}
	delta, err := base64.RawURLEncoding.DecodeString(e.Delta)
	if err != nil {
		return err
	}
	fl.avoided.asOf = 0
	return know.Merge(e.Time, delta)
}

// add returns the index of the machine with the host's number. If the machine is new, add gives it the next index. If
// the number is negative, add returns none.
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
		fl.machines = append(fl.machines, machine{number: number, leaves: noTime, beatenUntil: noTime})
		fl.pace.appear()
		if fl.count > 0 {
			fl.count = max(fl.count, len(fl.machines))
		}
	}
	return i
}

// find returns the index of the machine with the host's number. If no event has mentioned the machine yet, find
// returns none.
func (fl *fleet) find(number int) int32 {
	if number < 0 {
		return none
	}
	if i, ok := fl.index[number]; ok {
		return i
	}
	return none
}

// number returns the machine number that the host uses, for an index of fleet.list. It returns -1 for the index none.
func (fl *fleet) number(index int32) int {
	if index == none {
		return none
	}
	return fl.machines[index].number
}

// refuse records whether the machine with the given index is refused for waiting tasks.
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

// refusedSlots estimates how many of the phase's slots are on machines that are refused for waiting tasks. It takes
// all machines to have the same number of slots.
func (fl *fleet) refusedSlots(slots int) int {
	if fl.refused == 0 {
		return 0
	}
	all := max(fl.count, len(fl.machines)) // count is 0 if the host did not give the number of machines
	return fl.refused * max(1, slots/all)
}

// beatenUntil returns the time until which the machine is treated as beaten; noTime if it is not.
func (fl *fleet) beatenUntil(number int) time.Duration {
	index := fl.find(number)
	if index == none {
		return noTime
	}
	return fl.machines[index].beatenUntil
}

// leave records the time at which a machine will leave. The time noTime says that the machine stays after all.
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

// stays returns how long a machine will stay from now on; noTime if it is not known to leave.
func (fl *fleet) stays(index int32, now time.Duration) time.Duration {
	if fl.leaving == 0 || index == none || fl.machines[index].leaves == noTime {
		return noTime
	}
	return max(num.Sub(fl.machines[index].leaves, now), 0)
}

// pathFactor returns how many times longer the task takes on the machine because of the way to its data.
func (fl *fleet) pathFactor(task, machine int) float64 {
	if fl.path == nil {
		return 1
	}
	if factor := fl.path(task, machine); factor > 0 && num.Finite(factor) {
		return factor
	}
	return 1
}

// location returns how many times longer a new attempt of the task takes on a machine than on an average machine. The
// Mantri paper calls this locationFactor. It is the product of two factors: of the machine, and of the way to the
// task's data. For a negative machine, it is the factor of the best machine that the attempt can get, and taken lists
// the machines on which attempts of the task run. If nothing is known about machines and ways, location returns 0.
func (fl *fleet) location(task, machine int, taken []int) float64 {
	if fl.record == nil && fl.path == nil {
		return 0
	}
	factor := 1.0
	switch {
	case fl.record == nil:
	case machine >= 0:
		factor = fl.record.Factor(machine)
	default:
		factor = fl.elsewhere(taken)
	}
	return factor * fl.pathFactor(task, max(machine, none))
}

// elsewhere returns how many times longer a task takes on the best machine that is not taken, compared with an average
// machine. If there are machines without observations, it returns 1.
func (fl *fleet) elsewhere(taken []int) float64 {
	factor, known := fl.record.Elsewhere(taken...)
	if known == 0 || fl.count == 0 || known < fl.count-len(taken) {
		return 1
	}
	return factor
}

// The methods below sum the progress of each machine, and list the machines that a copy should avoid.

// score replaces the progress score of an attempt in the total of its machine: before by score. It does so both in this
// phase and in the record of the cluster. In the LATE paper, the total of a machine is the sum of the scores of its running and successful
// tasks. So an attempt that fails or is killed gets the score 0 here. Scores are rounded to multiples of 2^-24, so
// that their sums are exact. Then machines with the same progress have the same total, in whatever order the reports
// came.
func (fl *fleet) score(at time.Time, machine int32, before, score float64) {
	if machine == none {
		return
	}
	m := &fl.machines[machine]
	if fl.pace != nil {
		fl.pace.totals.appeared.Delete(m.total)
		m.total += step(score) - step(before)
		fl.pace.totals.appeared.Insert(m.total)
	}
	// Only LATE reads the progress in a record. So a record that the tracker made gets it only for LATE.
	if fl.record != nil && score != before && (!fl.own || fl.pace != nil) {
		fl.avoided.asOf = 0
		fl.record.AddProgress(at, m.number, score-before)
	}
}

// asking returns the total progress of the machine that asks for work, and the distribution of this total over all
// machines. It takes both from the record of the cluster if there is one, otherwise from this phase.
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

// appendAvoid appends to dst the machines on which no new attempt should run: machines that the record judges to be
// slow or failing, machines whose total progress is below a percentile, and machines that will leave. Event is the
// number of the current event.
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

// fromRecord returns the machines that the record judges to be slow or failing, at most restart.MaxAvoid, because a
// decision can list no more. A record of the host is read again at each event, because other trackers may have
// changed it. A record that the tracker made is read again only after an observation.
func (fl *fleet) fromRecord(event int) []int {
	s := &fl.avoided
	if s.asOf != event && (s.asOf == 0 || !fl.own) {
		s.asOf, s.machines = event, fl.record.AppendAvoid(s.machines[:0])
		s.machines = s.machines[:min(len(s.machines), restart.MaxAvoid)]
	}
	return s.machines
}

// appendBehind appends to dst the machines whose total progress is below LATE's percentile, in the order of their
// progress, least first, at most restart.MaxAvoid. The list is computed once for each event in O(machines log machines), and
// all decisions of the event use it.
func (fl *fleet) appendBehind(dst []int, percentile float64, event int) []int {
	if percentile == 0 || fl.pace == nil {
		return dst
	}
	pc := fl.pace
	if pc.behindAt != event {
		pc.behindAt, pc.behind = event, pc.behind[:0]
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
				pc.behind = append(pc.behind, machineTotal{fl.machines[i].number, m.Total})
			}
		}
		slices.SortStableFunc(pc.behind, func(a, b machineTotal) int { return cmp.Compare(a.total, b.total) })
		pc.behind = pc.behind[:min(len(pc.behind), restart.MaxAvoid)]
	}
	for _, m := range pc.behind {
		dst = append(dst, m.machine)
	}
	return dst
}

// pace contains the total progress of the machines that this phase uses. LATE calls a machine slow if its total is
// below a percentile. A tracker has a pace only if its policy reads these totals.
type pace struct {
	totals   totals
	behindAt int            // number of the event at which behind was computed; 0 if it never was
	behind   []machineTotal // the machines with the least total progress, ascending
}

// machineTotal is the number of a machine, and its total progress.
type machineTotal struct {
	machine int
	total   float64
}

// appear adds a machine that an event has mentioned for the first time. Its total progress is 0.
func (pc *pace) appear() {
	if pc != nil {
		pc.totals.appeared.Insert(0)
		pc.totals.idle = max(pc.totals.idle-1, 0)
	}
}

// totals is the distribution of the total progress of all machines. It stores the totals of the machines that events
// have contained. All other machines have done nothing for this phase, so only their number is stored.
type totals struct {
	appeared estimate.Empirical // totals of the machines that events have mentioned
	idle     int                // number of all other machines, whose total is 0
}

// Len returns the number of machines.
func (tot *totals) Len() int { return tot.appeared.Len() + tot.idle }

// Mean returns the mean, over all machines, of the total progress of a machine.
func (tot *totals) Mean() float64 {
	return tot.appeared.Mean() * (float64(tot.appeared.Len()) / float64(tot.Len()))
}

// CDF returns the share of machines whose total progress is at most x.
func (tot *totals) CDF(x float64) float64 {
	if x < 0 || tot.Len() == 0 {
		return 0
	}
	below := tot.idle + tot.appeared.Rank(math.Nextafter(x, math.Inf(1)))
	return float64(below) / float64(tot.Len())
}

// Quantile returns a quantile, over all machines, of the total progress of a machine. The machines that no event has
// mentioned have the total 0, so they come first.
func (tot *totals) Quantile(p float64) float64 {
	of := float64(min(max(p, 0), 1) * float64(tot.Len()))
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < tot.idle {
		return 0
	}
	return tot.appeared.At(i - tot.idle)
}

// step rounds a progress score to a multiple of 2^-24.
func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }
