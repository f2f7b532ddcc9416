package assign

import (
	"slices"
	"time"
)

// bin has the samples of jobs of similar size.
type bin struct {
	lags        ring[time.Duration] // a cut lag is stored as its complement, which is negative
	compute     ring[time.Duration]
	own, shared ring[transfer]
	known       bool  // model is valid
	model       Model // from the latest refresh, with sorted samples; Clones, Inputs and Pairing are not set
	answers     ring[answer]
}

// transfer is the size and duration of a read.
type transfer struct{ bytes, seconds float64 }

// answer is the choice for a job, computed since the latest refresh.
type answer struct {
	job    Job // with Tasks set to 0
	choice Choice
}

// maxAnswers, in answers: a bin remembers this many. Jobs of similar size have few different numbers of clones and inputs.
const maxAnswers = 16

// refresh computes the model from the samples, if the bin has enough samples.
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
		return // the reads have no bytes, or take an unusable time
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

// recall returns the remembered choice for a job with the same numbers of clones and inputs.
func (b *bin) recall(job Job) (Choice, bool) {
	for i := range b.answers.items {
		if b.answers.items[i].job == job {
			return b.answers.items[i].choice, true
		}
	}
	return Choice{}, false
}

// sum adds up the bytes and the seconds of transfers.
func sum(items []transfer) (total transfer) {
	for _, t := range items {
		total.bytes += t.bytes
		total.seconds += t.seconds
	}
	return total
}

// ring keeps the latest items, at most limit.
type ring[T any] struct {
	items []T
	limit int
	next  int // index of the oldest item, once the ring has limit items
}

// add adds an item, and replaces the oldest item if the ring is full.
func (r *ring[T]) add(item T) {
	if len(r.items) < r.limit {
		r.items = append(r.items, item)
		return
	}
	r.items[r.next] = item
	r.next = (r.next + 1) % r.limit
}
