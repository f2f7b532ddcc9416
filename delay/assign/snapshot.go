package assign

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// tableVersion is the first byte of a snapshot.
const tableVersion = 2

// MarshalBinary returns the state, with its configuration, as bytes: restored, it answers as if it had never stopped.
// It never fails. O(samples), some 30 bytes for each lag with its read.
func (w *WindowTable) MarshalBinary() ([]byte, error) {
	w.settle()
	c := w.config
	dst := snapshot.AppendUint([]byte{tableVersion}, uint64(len(c.Bins)))
	for _, size := range c.Bins {
		dst = snapshot.AppendInt(dst, int64(size))
	}
	dst = snapshot.AppendFloat(dst, c.Contention)
	for _, n := range [...]int{c.MinSamples, c.Keep, int(c.Pairing)} {
		dst = snapshot.AppendInt(dst, int64(n))
	}
	for i := range w.bins {
		dst = w.bins[i].append(dst)
	}
	return snapshot.Seal(dst, 0), nil
}

func (b *bin) append(dst []byte) []byte {
	dst = appendDurations(dst, &b.lags)
	dst = appendDurations(dst, &b.compute)
	dst = appendTransfers(dst, &b.own)
	dst = appendTransfers(dst, &b.shared)
	if dst = snapshot.AppendBool(dst, b.known); !b.known {
		return dst
	}
	for _, x := range [...]float64{b.model.Size, b.model.Bandwidth, b.model.Contention} {
		dst = snapshot.AppendFloat(dst, x)
	}
	dst = appendDurations(dst, &ring[time.Duration]{items: b.model.Lags})
	dst = appendDurations(dst, &ring[time.Duration]{items: b.model.Cut})
	return appendDurations(dst, &ring[time.Duration]{items: b.model.Compute})
}

func appendDurations(dst []byte, r *ring[time.Duration]) []byte {
	dst = snapshot.AppendInt(snapshot.AppendUint(dst, uint64(len(r.items))), int64(r.next))
	for _, d := range r.items {
		dst = snapshot.AppendInt(dst, int64(d))
	}
	return dst
}

func appendTransfers(dst []byte, r *ring[transfer]) []byte {
	dst = snapshot.AppendInt(snapshot.AppendUint(dst, uint64(len(r.items))), int64(r.next))
	for _, t := range r.items {
		dst = snapshot.AppendFloat(snapshot.AppendFloat(dst, t.bytes), t.seconds)
	}
	return dst
}

// UnmarshalBinary replaces w, its configuration included, by what data holds. It is an error, and leaves w as it was,
// if data is not what MarshalBinary returns.
func (w *WindowTable) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("delay/assign: WindowTable", tableVersion, data)
	var got WindowTable
	c := WindowTableConfig{Bins: make([]int, r.Count(1))}
	for i := range c.Bins {
		c.Bins[i] = r.Number(1, math.MaxInt)
	}
	c.Contention, c.MinSamples, c.Keep = r.Share(), r.Number(1, maxKeep), r.Number(1, maxKeep)
	c.Pairing = Pairing(r.Number(0, len(pairingNames)-1))
	if r.OK() {
		r.Fail(c.Validate())
	}
	if !r.OK() {
		return r.Close()
	}
	got.config = c
	got.settle()
	for i := range got.bins {
		got.bins[i].read(r, c)
	}
	if err := r.Close(); err != nil {
		return err
	}
	*w = got
	return nil
}

func (b *bin) read(r *snapshot.Reader, c WindowTableConfig) {
	readDurations(r, &b.lags, math.MinInt64)
	readDurations(r, &b.compute, 0)
	readTransfers(r, &b.own)
	readTransfers(r, &b.shared)
	if b.known = r.Bool(); !b.known {
		return
	}
	m := Model{Size: r.Amount(), Bandwidth: r.Amount(), Contention: r.Share()}
	for _, into := range [...]*[]time.Duration{&m.Lags, &m.Cut, &m.Compute} {
		samples := ring[time.Duration]{limit: c.Keep}
		readDurations(r, &samples, 0)
		r.Check(slices.IsSorted(samples.items), "has samples out of order")
		*into = samples.items
	}
	r.Check(len(m.Lags)+len(m.Cut) > 0, "has a window without samples")
	if r.OK() {
		r.Fail(m.validate())
	}
	b.model, b.answers.limit = m, maxAnswers
}

// readHead reads how many items a ring has and which is next.
func readHead[T any](r *snapshot.Reader, into *ring[T], bytes int) {
	n := r.Count(bytes)
	r.Check(n <= into.limit, "has more samples than it keeps")
	into.next = r.Number(0, max(into.limit-1, 0))
	r.Check(into.next == 0 || n == into.limit, "is full before it is full")
	if r.OK() {
		into.items = make([]T, n)
	}
}

func readDurations(r *snapshot.Reader, into *ring[time.Duration], least time.Duration) {
	readHead(r, into, 1)
	for i := range into.items {
		into.items[i] = time.Duration(r.Int())
		r.Check(into.items[i] >= least, "holds a negative duration")
	}
}

func readTransfers(r *snapshot.Reader, into *ring[transfer]) {
	readHead(r, into, 16)
	for i := range into.items {
		t := transfer{r.Amount(), r.Amount()}
		r.Check(t.seconds > 0 || !r.OK(), "holds a read that took no time")
		into.items[i] = t
	}
}
