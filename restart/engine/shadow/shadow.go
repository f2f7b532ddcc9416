// Package shadow computes the time that a policy would have saved, from a batch that ran without the policy. It is for
// operators who want to see the bill before they let a policy act.
//
// A phase in shadow mode asks its policy and carries out nothing (engine.Config.Shadow). Afterwards [Replay] runs the
// batch twice in virtual time, once without a policy and once with it, and compares the two:
//
//	bill, err := shadow.Replay(shadow.Record{
//		Machines: machines, Work: work, Attempts: phase.Attempts(), Interval: time.Second, Lag: lag,
//	}, restart.LeastCost{}, restart.Limits{})
//	fmt.Println(bill)
//
// This prints a line such as:
//
//	saves 21 % to 38 %, by how many slow attempts were bad luck: 10.4s to 8.1s in place of 13.1s, with 9 copies and 0 restarts
//
// # Proven and possible savings
//
// An attempt may be slow for three reasons. Its machine is slow: then other attempts there were slow, too, and a copy
// on another machine is faster by the same factor. The attempt had bad luck, for example it hung: then a later attempt
// of the same task was faster, and a copy takes as long as that one. Or the task is long by itself: then a copy takes
// as long. A record of a batch without copies can't tell the last two apart if the task ran only once. Bill.Saved takes
// such a task for long, so every second of it is proven by the record. Bill.AtMost takes such an attempt for bad luck.
//
// The two simulations share everything else: the time of each attempt by its task, its number and its machine, the time
// that a submission takes, the slots. So errors of the model fall out of the comparison. An attempt that hung, or that was
// slow for its machine, takes the recorded time on every machine. A machine that was stopped for a while is simulated by the
// attempts that it lost.
package shadow

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Record is a batch that ran in shadow mode.
type Record struct {
	// Machines are the machines, with their slots. Prefetch is as in engine.MachinesConfig.
	Machines []engine.Machine
	Prefetch int
	// Work is the amount of work of each task, as the phase knew it; nil if it did not.
	Work []float64
	// NoCopy says of each task whether it may not be copied; nil means that all may.
	NoCopy []bool
	// NoRestart says of each task whether it may not be restarted; nil means that all may.
	NoRestart []bool
	// Attempts are the attempts of the phase, from engine.Phase.Attempts. A task without an attempt that has succeeded is
	// left out of the bill.
	Attempts []engine.Attempt
	// Reports says that attempts reported their progress.
	Reports bool
	// Interval is the time between two decisions, as in engine.Config.
	Interval time.Duration
	// Lag is the usual time from a submission to the begin of the attempt on a free slot, and from the end of an attempt
	// to the look that sees it.
	Lag time.Duration
	// Timeout and BackOff are as in engine.Config.
	Timeout time.Duration
	BackOff func(task, failures int) time.Duration
}

// Bill says how much time a policy would have saved. The zero Bill belongs to a batch without an ended task,
// or to a batch that ran without shadow mode.
type Bill struct {
	Tasks int // tasks in the bill
	// Why says why there is no bill, for example because it would be too large; empty if there is one. Replay returns an
	// error instead; a host that keeps the bill and not the error sets Why.
	Why string `json:",omitempty"`
	// Without and With are the simulated times of the batch without the policy and with it.
	Without, With time.Duration
	// SlotsWithout and SlotsWith are the slot times of all attempts.
	SlotsWithout, SlotsWith time.Duration
	// Copies and Restarts are the numbers of actions of the policy.
	Copies, Restarts int
	// Saved is the share of the time that the policy saves, as far as the record proves it; negative if the policy loses
	// time. AtMost is the share if every attempt that nothing else explains was slow by bad luck.
	Saved, AtMost float64
}

// String returns the bill as one line.
func (b Bill) String() string {
	switch {
	case b.Tasks == 0 && b.Why != "":
		return "there is no bill: " + b.Why
	case b.Tasks == 0:
		return "there is no bill: shadow mode is off, or no task has ended"
	}
	share, times := fmt.Sprintf("saves %.0f %%", 100*b.Saved), b.With.Round(time.Millisecond).String()
	switch {
	case b.AtMost > b.Saved:
		luck := time.Duration(b.luck() * float64(time.Second))
		share += fmt.Sprintf(" to %.0f %%, by how many slow attempts were bad luck", 100*b.AtMost)
		times += " to " + luck.Round(time.Millisecond).String()
	case b.Saved < 0:
		share = fmt.Sprintf("costs %.0f %%", -100*b.Saved)
	}
	return fmt.Sprintf("%s: %s in place of %v, with %d copies and %d restarts", share, times,
		b.Without.Round(time.Millisecond), b.Copies, b.Restarts)
}

// Add adds another bill. The shares are then computed from the sums of the times. Why stays the first one that is not
// empty.
func (b *Bill) Add(other Bill) {
	luck := b.luck() + other.luck()
	b.Why = cmp.Or(b.Why, other.Why)
	b.Tasks += other.Tasks
	b.Without += other.Without
	b.With += other.With
	b.SlotsWithout += other.SlotsWithout
	b.SlotsWith += other.SlotsWith
	b.Copies += other.Copies
	b.Restarts += other.Restarts
	if b.Without > 0 {
		b.Saved = 1 - b.With.Seconds()/b.Without.Seconds()
		b.AtMost = 1 - luck/b.Without.Seconds()
	}
}

// luck returns the time of the batch with the policy, in seconds, if slow attempts were bad luck.
func (b *Bill) luck() float64 { return float64((1 - b.AtMost) * b.Without.Seconds()) }

const (
	// A machine's factor is taken from the record if at least this many of its attempts have succeeded.
	fewest = 3
	// An attempt is slow, for Bill.AtMost, if it takes over this many times the median of its kind.
	slowTimes = 2
	// A simulation is given up after this many times the time that the record took, plus the time that all attempts take
	// one after another.
	longest = 4
	// A simulation is given up after this many steps: in a step an attempt is shown to the phase.
	mostSteps = 10_000_000
	// A record is replayed if its tasks, times the tasks that can run at once, are at most this many: some 10 s.
	largest = 4_000_000
)

// Replay returns the bill of a policy for a batch. It takes one simulated decision for each running attempt in each
// interval, three times: 160 tasks on 16 slots take some 20 ms, and 4,000 tasks on 1,000 slots some 10 s. A larger
// record is an error, and so are a simulation that does not end and a field that is out of range.
func Replay(r Record, policy restart.Policy, limits restart.Limits) (Bill, error) {
	bad := func(field string, value time.Duration, want string) (Bill, error) {
		return Bill{}, fmt.Errorf("restart/engine/shadow: Record.%s is %v, want %s", field, value, want)
	}
	switch {
	case r.Interval <= 0:
		return bad("Interval", r.Interval, "a positive duration")
	case r.Lag < 0:
		return bad("Lag", r.Lag, "a positive duration, or 0")
	case r.Timeout < 0:
		return bad("Timeout", r.Timeout, "a positive duration, or 0 for none")
	}
	m := r.model()
	bill := Bill{Tasks: len(m.tasks)}
	if len(m.tasks) == 0 {
		return bill, nil
	}
	slots := 0
	for _, machine := range r.Machines {
		slots += machine.Slots
	}
	if slots <= 0 {
		return Bill{}, fmt.Errorf("restart/engine/shadow: Record.Machines has %d slots, want 1 or more", slots)
	}
	if n := len(m.tasks); n*min(n, slots) > largest {
		return Bill{}, fmt.Errorf("restart/engine/shadow: Record.Attempts has %d tasks on %d slots, want a product of %d or less",
			n, slots, largest)
	}
	without, err := m.simulate(restart.Never{}, limits)
	if err != nil {
		return Bill{}, err
	}
	with, err := m.simulate(policy, limits)
	if err != nil {
		return Bill{}, err
	}
	m.takeSlowForLuck()
	luck, err := m.simulate(policy, limits)
	if err != nil {
		return Bill{}, err
	}
	bill.Without, bill.With = without.time, with.time
	bill.SlotsWithout, bill.SlotsWith = without.slots, with.slots
	bill.Copies, bill.Restarts = with.copies, with.restarts
	bill.Saved = 1 - with.time.Seconds()/without.time.Seconds()
	bill.AtMost = max(bill.Saved, 1-luck.time.Seconds()/without.time.Seconds())
	return bill, nil
}

// model has the times of tasks and machines, as the record shows them.
type model struct {
	Record
	tasks  []task
	works  []float64 // by index of tasks; nil if not known
	factor map[string]float64
	median float64 // of the seconds of a task per work, on a machine of factor 1
	took   float64 // seconds from the first begin to the last end, plus the seconds of all attempts
}

// task is a task of the batch.
type task struct {
	index    int       // in the record
	attempts []attempt // in the record, in their order
	seconds  float64   // of a further attempt, on a machine of factor 1
	work     float64
}

// attempt is the course of an attempt.
type attempt struct {
	seconds float64      // on a machine of factor 1; on every machine if fixed is set
	fixed   bool         // it hung, or was slow for its machine: nothing says that another machine would change its time
	state   engine.State // in which it ends
	hangs   bool         // it makes no progress
}

// model computes the factors of the machines, and the times of the tasks.
func (r Record) model() *model {
	m := &model{Record: r, factor: map[string]float64{}}
	byMachine := map[string][]float64{}
	var all []float64
	for _, a := range r.Attempts {
		if a.State == engine.Succeeded {
			x := seconds(a) / r.work(a.Task)
			all, byMachine[a.Machine] = append(all, x), append(byMachine[a.Machine], x)
		}
	}
	if len(all) == 0 {
		return m
	}
	overall := median(all)
	for name, list := range byMachine {
		if m.factor[name] = 1; len(list) >= fewest {
			m.factor[name] = median(list) / overall
		}
	}
	m.median = overall
	byTask := map[int][]engine.Attempt{}
	var first, last time.Time
	for _, a := range r.Attempts {
		if a.Begun.IsZero() || a.State < engine.Succeeded {
			continue
		}
		byTask[a.Task] = append(byTask[a.Task], a)
		if first.IsZero() || a.Begun.Before(first) {
			first = a.Begun
		}
		if a.Ended.After(last) {
			last = a.Ended
		}
		m.took += seconds(a)
	}
	m.took += max(last.Sub(first).Seconds(), 0)
	for i, list := range byTask {
		t := task{index: i, seconds: -1, work: r.work(i)}
		for _, a := range list {
			x := seconds(a) / m.of(a.Machine)
			hangs := a.State > engine.Failed || r.Timeout > 0 && seconds(a) >= r.Timeout.Seconds()
			past := attempt{seconds: x, state: a.State, hangs: hangs}
			if hangs || x > slowTimes*m.median*t.work {
				past.seconds, past.fixed = seconds(a), true
			}
			t.attempts = append(t.attempts, past)
			if a.State == engine.Succeeded && (t.seconds < 0 || x < t.seconds) {
				t.seconds = x
			}
		}
		if t.seconds > 0 {
			m.tasks = append(m.tasks, t)
		}
	}
	slices.SortFunc(m.tasks, func(a, b task) int { return cmp.Compare(a.index, b.index) })
	for _, t := range m.tasks {
		if r.Work != nil {
			m.works = append(m.works, t.work)
		}
	}
	return m
}

// of returns the factor of a machine.
func (m *model) of(name string) float64 { return cmp.Or(m.factor[name], 1) }

func (r *Record) work(task int) float64 {
	if task < len(r.Work) && r.Work[task] > 0 && !math.IsInf(r.Work[task], 1) {
		return r.Work[task]
	}
	return 1
}

// takeSlowForLuck lets further attempts of slow tasks take the median time.
func (m *model) takeSlowForLuck() {
	for i := range m.tasks {
		if t := &m.tasks[i]; t.seconds > slowTimes*m.median*t.work {
			t.seconds = m.median * t.work
		}
	}
}

// seconds returns the run time of an attempt that has ended; at least a microsecond.
func seconds(a engine.Attempt) float64 { return max(a.Ended.Sub(a.Begun), time.Microsecond).Seconds() }

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
