package assign

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

func (w *WindowTable) state(c *snapshot.Codec) {
	w.makeBins()
	k := &w.config
	pairing := int(k.Pairing)
	c.Field(1, "config").Fields(func() {
		snapshot.List(c.Field(1, "bins"), &k.Bins, func(size *int) { c.Number(size, 1, math.MaxInt) })
		c.Field(2, "contention").Share(&k.Contention)
		c.Field(3, "min-samples").Number(&k.MinSamples, 1, maxKeep)
		c.Field(4, "keep").Number(&k.Keep, 1, maxKeep)
		c.Field(5, "pairing").Number(&pairing, 0, len(pairingNames)-1)
	})
	k.Pairing = Pairing(pairing)
	c.Valid(k.Contention > 0, *k)
	if c.Reading() {
		*w = WindowTable{config: *k}
		w.makeBins()
	}
	c.Field(2, "bins")
	for i := range w.bins {
		if c.OK() {
			w.bins[i].state(c, k.Keep)
		}
	}
}

func (b *bin) state(c *snapshot.Codec, keep int) {
	durations(c, &b.lags, math.MinInt64)
	durations(c, &b.compute, 0)
	transfers(c, &b.own)
	transfers(c, &b.shared)
	c.Bool(&b.known)
	if !b.known {
		return
	}
	m := &b.model
	c.Amount(&m.Size)
	c.Amount(&m.Bandwidth)
	c.Share(&m.Contention)
	for _, samples := range [...]*[]time.Duration{&m.Lags, &m.Cut, &m.Compute} {
		r := ring[time.Duration]{items: *samples, limit: keep}
		durations(c, &r, 0)
		c.Check(slices.IsSorted(r.items), "has samples out of order")
		*samples = r.items
	}
	c.Check(len(m.Lags)+len(m.Cut) > 0, "has a window without samples")
	if c.Reading() {
		c.In.Fail(m.validate())
		b.answers.limit = maxAnswers
	}
}

// items encodes or decodes a ring: the number of its items, the index of the oldest item, and each item. The function
// item encodes or decodes one item. An encoded item has at least the given number of bytes.
func items[T any](c *snapshot.Codec, r *ring[T], bytes int, item func(*T)) {
	n := c.Size(len(r.items), bytes)
	c.Check(n <= r.limit, "has more samples than it keeps")
	c.Number(&r.next, 0, max(r.limit-1, 0))
	c.Check(r.next == 0 || n == r.limit, "is full before it is full")
	if c.Reading() {
		r.items = make([]T, n)
	}
	for i := range r.items {
		item(&r.items[i])
	}
}

func durations(c *snapshot.Codec, r *ring[time.Duration], least time.Duration) {
	items(c, r, 1, func(d *time.Duration) {
		c.Duration(d)
		c.Check(*d >= least, "holds a negative duration")
	})
}

func transfers(c *snapshot.Codec, r *ring[transfer]) {
	items(c, r, 16, func(t *transfer) {
		c.Amount(&t.bytes)
		c.Amount(&t.seconds)
		c.Check(t.seconds > 0 || !c.OK(), "holds a read that took no time")
	})
}

// MarshalBinary and AppendBinary return the state of w, including its configuration. The error is always nil. The
// result has about 30 bytes for each lag and its read. UnmarshalBinary replaces the state of w by the state in
// data. Then w gives the same answers as the WindowTable that was saved. If data is not a result of MarshalBinary,
// UnmarshalBinary returns an error and does not change w. Cost: O(n) for n samples.
func (w *WindowTable) MarshalBinary() ([]byte, error) { return w.AppendBinary(nil) }
func (w *WindowTable) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, w.state)
}
func (w *WindowTable) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, w, (*WindowTable).state)
}
