package shardqueue

import (
	"fmt"
	"strings"
	"time"
)

// Sessions returns the name and the session of each machine that is there.
func (q *Queue) Sessions() (all [][2]string) {
	for _, m := range q.machines {
		if m.present {
			all = append(all, [2]string{m.name, m.session})
		}
	}
	return all
}

// Passed reports whether all pieces have been run, and no test failed.
func (q *Queue) Passed() bool {
	if q.config == nil || q.done < len(q.pieces) {
		return false
	}
	for _, p := range q.pieces {
		if p.failed {
			return false
		}
	}
	return true
}

// Status returns the state of the queue for people: a line for the pieces, a line for each machine, and a line for each
// failed piece.
func (q *Queue) Status(now time.Time) string {
	if q.config == nil {
		return "the queue is not open: no machine has joined\n"
	}
	var text strings.Builder
	counts := make([][done + 1]int, len(q.machines)) // the pieces of each machine, by their status
	hold, left := 0, 0.
	for i, p := range q.pieces {
		switch p.status {
		case waiting:
			left += q.config.Pieces[i].Seconds
			continue
		case held:
			hold++
		}
		counts[p.by][p.status]++
	}
	fmt.Fprintf(&text, "%d of %d pieces done, %d held by machines, %d waiting: %v of tests\n",
		q.done, len(q.pieces), hold, len(q.pieces)-q.done-hold, duration(left).Round(time.Second))
	for m := range q.machines {
		of := &q.machines[m]
		state := "has left"
		if of.present {
			state = fmt.Sprintf("heard %v ago", q.silence(now, m).Round(time.Second))
		}
		fmt.Fprintf(&text, "machine %s: %d pieces done, %d held; tests take %.2f times as long as usual; %s\n",
			of.name, counts[m][done], counts[m][held], q.factor(m), state)
	}
	for i, p := range q.pieces {
		if p.failed {
			fmt.Fprintf(&text, "FAIL: %s on machine %s\n", q.config.Pieces[i].Package, q.machines[p.by].name)
		}
	}
	return text.String()
}
