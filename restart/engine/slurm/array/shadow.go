package array

import (
	"maps"
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
	record := shadow.Record{
		Work: r.config.Work, Attempts: r.phase.Attempts(), Reports: r.reported, Interval: r.config.Interval,
		Lag: r.config.Lag, Timeout: r.config.Timeout, BackOff: r.config.BackOff,
	}
	if r.options.NoCopy {
		record.NoCopy = slices.Repeat([]bool{true}, len(r.tasks))
	}
	for _, name := range slices.Sorted(maps.Keys(r.size)) {
		record.Machines = append(record.Machines, engine.Machine{Name: name, Slots: r.size[name]})
	}
	r.fit(record.Machines)
	bill, err := shadow.Replay(record, r.config.Policy, r.config.Limits)
	if err != nil {
		r.once("bill", "there is no bill: %v", err)
	}
	return bill
}

// fit takes slots from the machines until all have no more slots than the array may use: Options.Slots, and N in
// --array=...%N. The largest machine loses its slots first.
func (r *run) fit(list []engine.Machine) {
	most := r.facts.Throttle
	if n := r.options.Slots; n > 0 && (most == 0 || n < most) {
		most = n
	}
	total := 0
	for _, m := range list {
		total += m.Slots
	}
	for most > 0 && total > most {
		largest := slices.MaxFunc(list, func(a, b engine.Machine) int { return a.Slots - b.Slots })
		i := slices.Index(list, largest)
		list[i].Slots--
		total--
	}
}
