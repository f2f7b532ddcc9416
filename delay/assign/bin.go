package assign

import (
	"slices"
	"time"
)

// bin contains the samples of jobs with similar numbers of tasks, and the model that was computed from them.
type bin struct {
	// lags contains how long clones waited for an output that no other clone of their task reads. If a clone waited
	// for the time t and then had to share an output, lags contains the complement ^t, which is negative.
	lags        ring[time.Duration]
	compute     ring[time.Duration]
	own, shared ring[transfer] // reads of an output by one clone only, and by several clones
	known       bool           // true if model is valid
	model       Model          // from the latest refresh, with sorted samples; Clones, Inputs and Pairing are not set
	answers     ring[answer]   // choices that were computed since the latest refresh
}

// transfer is the number of bytes and the number of seconds of one read.
type transfer struct{ bytes, seconds float64 }

// answer is the choice that was computed for a job since the latest refresh.
type answer struct {
	job    Job // with Tasks set to 0
	choice Choice
}

// maxAnswers is the number of choices that a bin remembers. A bin is for jobs with similar numbers of tasks. So few
// choices are enough, because such jobs have few different numbers of clones and inputs.
const maxAnswers = 16

// refresh computes the model of the bin from its samples. It does nothing if the bin has too few samples.
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
		return // the reads have no bytes, or take a time that is out of range
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

// recall returns the choice that was computed before for a job with the same numbers of clones and inputs. The second
// result is false if there is no such choice.
func (b *bin) recall(job Job) (Choice, bool) {
	for i := range b.answers.items {
		if b.answers.items[i].job == job {
			return b.answers.items[i].choice, true
		}
	}
	return Choice{}, false
}

// sum returns the sum of the bytes and the sum of the seconds of the reads.
func sum(items []transfer) (total transfer) {
	for _, t := range items {
		total.bytes += t.bytes
		total.seconds += t.seconds
	}
	return total
}

// ring contains the latest items, at most limit items.
type ring[T any] struct {
	items []T
	limit int
	next  int // index of the oldest item, if the ring has limit items
}

// add adds an item. If the ring has limit items, the new item replaces the oldest item.
func (r *ring[T]) add(item T) {
	if len(r.items) < r.limit {
		r.items = append(r.items, item)
		return
	}
	r.items[r.next] = item
	r.next = (r.next + 1) % r.limit
}
