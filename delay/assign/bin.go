package assign

import (
	"slices"
	"time"
)

// bin holds the samples of jobs of about one size.
type bin struct {
	lags        ring[time.Duration] // one that was cut short as its complement, which is negative
	compute     ring[time.Duration]
	own, shared ring[transfer]
	known       bool
	model       Model // as of the latest refresh, with sorted samples and without a job
	answers     ring[answer]
}

type transfer struct{ bytes, seconds float64 }

// answer is the choice for a job since the latest refresh.
type answer struct {
	job    Job // without its tasks
	choice Choice
}

// maxAnswers is how many answers a bin remembers: a cluster has few numbers of clones, and of inputs for jobs of one
// size.
const maxAnswers = 16

// refresh takes in what there is, if it is enough.
func (b *bin) refresh(c WindowTableConfig) {
	if len(b.lags.items) < c.MinSamples || len(b.own.items) < c.MinSamples {
		return
	}
	own, shared := sum(b.own.items), sum(b.shared.items)
	m := Model{Contention: c.Contention, Bandwidth: own.bytes / own.seconds}
	m.Size = own.bytes / float64(len(b.own.items))
	if shared.seconds > 0 && shared.bytes > 0 {
		m.Contention = min(1, shared.bytes/shared.seconds/m.Bandwidth)
	}
	if m.validateReads() != nil {
		return // nothing was read, or in no time to speak of
	}
	m.Lags, m.Cut = b.model.Lags[:0], b.model.Cut[:0]
	for _, lag := range b.lags.items {
		if lag < 0 {
			m.Cut = append(m.Cut, ^lag)
		} else {
			m.Lags = append(m.Lags, lag)
		}
	}
	slices.Sort(m.Lags)
	slices.Sort(m.Cut)
	m.Compute = b.model.Compute[:0]
	if len(b.compute.items) >= c.MinSamples {
		m.Compute = append(m.Compute, b.compute.items...)
		slices.Sort(m.Compute)
	}
	b.model, b.known = m, true
	b.answers = ring[answer]{items: b.answers.items[:0], limit: maxAnswers}
}

// recall returns the choice for a job of as many clones and inputs.
func (b *bin) recall(job Job) (Choice, bool) {
	for i := range b.answers.items {
		if b.answers.items[i].job == job {
			return b.answers.items[i].choice, true
		}
	}
	return Choice{}, false
}

func sum(items []transfer) (total transfer) {
	for _, t := range items {
		total.bytes += t.bytes
		total.seconds += t.seconds
	}
	return total
}

// ring keeps the latest items.
type ring[T any] struct {
	items []T
	limit int
	next  int // the oldest, once there are limit items
}

func (r *ring[T]) add(item T) {
	if len(r.items) < r.limit {
		r.items = append(r.items, item)
		return
	}
	r.items[r.next] = item
	r.next = (r.next + 1) % r.limit
}
