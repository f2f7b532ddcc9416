package pool

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

const (
	largestBill = 1 << 17 // the number of billed items, times the number of goroutines, is about this many at most
	fewBilled   = 512     // this many items are billed, whatever the number of goroutines
	mostChecks  = 10_000  // the bill has at most this many checks of the running attempts in the time that Map took
)

// call is an attempt that has ended.
type call struct {
	item         int
	size         float64
	begun, ended time.Time
	ok           bool // the attempt returned a result
}

// mostBilled returns the number of items in the bill.
func (p *pool) mostBilled() int { return max(largestBill/len(p.workers), fewBilled) }

// show calls the function of the option OnAction with the first copy or restart of an item that the policy wants at
// two checks in a row.
func (p *pool) show(d *tracked, why restart.Decision) {
	if why.Action != restart.Copy && why.Action != restart.Restart || !p.confirm(d) {
		return
	}
	w := d.attempts[0].by
	w.mu.Lock()
	first := w.item == d.item && !w.shown
	w.shown = w.shown || first
	w.mu.Unlock()
	if first && p.onAction != nil {
		p.onAction(d.item, d.numbered(why))
	}
}

// computeBill returns the bill of the option Shadow. Each goroutine is a machine with one slot. No machine is slow, so
// the attempts have no machine.
func (p *pool) computeBill(took time.Duration) shadow.Bill {
	r := shadow.Record{Interval: max(p.delta, took/mostChecks), Timeout: p.timeout}
	for i := range min(len(p.workers), p.mostBilled()) {
		r.Machines = append(r.Machines, engine.Machine{Name: strconv.Itoa(i), Slots: 1})
	}
	var calls []call
	for _, w := range p.workers {
		calls = append(calls, w.calls...)
	}
	slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.item, b.item) })
	if n := len(calls); p.config.work != nil && n > 0 {
		r.Work = make([]float64, calls[n-1].item+1)
	}
	for _, c := range calls {
		a := engine.Attempt{Task: c.item, State: engine.Failed, Begun: c.begun, Ended: c.ended}
		if c.ok {
			a.State = engine.Succeeded
		}
		if r.Attempts = append(r.Attempts, a); r.Work != nil {
			r.Work[c.item] = c.size
		}
	}
	b, err := shadow.Replay(r, p.policy, p.limits)
	if err != nil {
		b.Why = err.Error()
	}
	return b
}
