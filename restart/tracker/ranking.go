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

func (a ranked) before(b ranked) bool { return a.gain > b.gain || a.gain == b.gain && a.task < b.task }

// push and pop keep the list a heap with the first on top.
func (r *ranking) push(x ranked) {
	r.list = append(r.list, x)
	for i := len(r.list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !r.list[i].before(r.list[parent]) {
			return
		}
		r.list[i], r.list[parent] = r.list[parent], r.list[i]
		i = parent
	}
}

func (r *ranking) pop() ranked {
	n := len(r.list) - 1
	top := r.list[0]
	r.list[0] = r.list[n]
	r.list = r.list[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			return top
		}
		if child+1 < n && r.list[child+1].before(r.list[child]) {
			child++
		}
		if !r.list[child].before(r.list[i]) {
			return top
		}
		r.list[i], r.list[child] = r.list[child], r.list[i]
		i = child
	}
}
