package tracker

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// ranking is the order of the candidates by what their copies gain, as of one moment: so that to give n idle slots to n
// candidates takes n decisions and some for each slot, and not n for each. It holds while nothing changes but for the
// copies that the slots are given to.
type ranking struct {
	holds   bool
	at      time.Duration
	allowed bool     // the budget allowed one more copy
	list    []ranked // a heap
	refusal refusal
}

// refusal is what a decision says of the slot, without the numbers of the task that happened to be asked about.
type refusal struct {
	reason           restart.Reason
	value, threshold float64
}

func refusalOf(d *restart.Decision) refusal {
	if d.Reason == restart.BudgetSpent {
		return refusal{reason: d.Reason}
	}
	return refusal{d.Reason, d.Value, d.Threshold}
}

func (r refusal) decision() restart.Decision {
	return restart.Decision{Reason: r.reason, Value: r.value, Threshold: r.threshold}
}

type ranked struct {
	gain time.Duration
	task int32
}

func before(a, b ranked) bool { return a.gain > b.gain || a.gain == b.gain && a.task < b.task }
