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
	refusal restart.Decision
}

type ranked struct {
	gain time.Duration
	task int32
}

func before(a, b ranked) bool { return a.gain > b.gain || a.gain == b.gain && a.task < b.task }
