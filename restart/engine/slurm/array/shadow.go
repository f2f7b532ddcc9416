package array

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// billEvery is the least time between two lines of the log about the bill.
const billEvery = time.Minute

// logBill writes the time that the policy would have saved so far to the log, once a minute. No line is written while
// no task has ended.
func (r *run) logBill(now time.Time) {
	if !r.options.Shadow || now.Sub(r.billed) < billEvery {
		return
	}
	if b := r.replay(); b.Tasks > 0 {
		r.logf("so far, by the %d tasks that have ended, the policy %v", b.Tasks, b)
	}
	r.billed = time.Now() // the replay of a large array takes seconds
}

// replay returns the time that the policy would have saved so far, in shadow mode.
func (r *run) replay() shadow.Bill {
	if !r.options.Shadow {
		return shadow.Bill{}
	}
	attempts := r.phase.Attempts()
	record := shadow.Record{
		Machines: shadow.Machines(attempts, r.machines.List(), r.mostSlots),
		Work:     r.config.Work, Attempts: attempts, Reports: r.reported, Interval: r.config.Interval,
		Lag: r.lag(attempts), Timeout: r.config.Timeout, BackOff: r.config.BackOff,
	}
	if r.options.NoCopy {
		record.NoCopy = slices.Repeat([]bool{true}, len(r.tasks))
		record.NoRestart = record.NoCopy
	}
	bill, err := shadow.Replay(record, r.config.Policy, r.config.Limits)
	if err != nil {
		r.once("bill", "there is no bill: %v", err)
		bill.Why = err.Error()
	}
	return bill
}

// lag returns the time from the submission of the array to the begin of its first attempt, which had a free slot.
// Until an attempt has begun, it is Options.Lag.
func (r *run) lag(attempts []engine.Attempt) time.Duration {
	first := time.Duration(math.MaxInt64)
	for _, a := range attempts {
		if !a.Begun.IsZero() {
			first = min(first, max(a.Begun.Sub(r.submitted), 0))
		}
	}
	if first == math.MaxInt64 {
		return r.config.Lag
	}
	return first
}
