package delay

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// WindowsConfig holds the choices of a [Windows]. Its zero value is usable.
type WindowsConfig struct {
	// Bins are the largest numbers of tasks of each bin of jobs, ascending; one more bin takes all larger jobs. Nil means
	// 10, 50, 150 and 500.
	Bins []int
	// Clones is c, the number of clones of a task, 2 or more. 0 means 2.
	Clones int
	// Reader says whose time is minimised. The zero value is the mean over a task's clones.
	Reader Reader
	// Contention is α, in (0, 1], for a bin that has seen no shared read yet. 0 means 0.75: the paper's transfers took
	// 32 to 39 % longer when they shared (§4.3).
	Contention float64
	// MinSamples is how many lags, and how many reads of one's own, a bin needs for a window. 0 means 30; the paper gives
	// none.
	MinSamples int
	// Keep is how many samples of each kind a bin keeps, the latest; MinSamples or more. 0 means 1000.
	Keep int
}

func (c WindowsConfig) withDefaults() WindowsConfig {
	if c.Bins == nil {
		c.Bins = []int{10, 50, 150, 500}
	}
	if c.Contention == 0 {
		c.Contention = 0.75
	}
	if c.Clones == 0 {
		c.Clones = 2
	}
	if c.MinSamples == 0 {
		c.MinSamples = 30
	}
	if c.Keep == 0 {
		c.Keep = max(1000, c.MinSamples)
	}
	c.Bins = slices.Clone(c.Bins)
	return c
}

func (c WindowsConfig) validate() error {
	for i, size := range c.Bins {
		if size < 1 || i > 0 && size <= c.Bins[i-1] {
			return fmt.Errorf("delay: Bins[%d] is %d, want 1 or more, and more than the one before", i, size)
		}
	}
	switch {
	case c.MinSamples < 0:
		return badField("MinSamples", c.MinSamples, "a positive number, or 0 for the default")
	case c.Keep < c.MinSamples:
		return badField("Keep", c.Keep, fmt.Sprintf("at least MinSamples, which is %d, or 0 for the default", c.MinSamples))
	}
	return Transfer{Bandwidth: 1, Contention: c.Contention, Clones: c.Clones, Reader: c.Reader}.validate()
}

// Windows keeps samples of lags and reads for several bins of jobs by their number of tasks, and the [Window] of each,
// which is worked out anew when the host says so: every hour in the paper, where half an hour to three hours made little
// difference [Dolly §4.4, §5.2]. Not safe for concurrent use; one per cluster.
type Windows struct {
	config WindowsConfig
	bins   []bin
	sorted []time.Duration // scratch
}

type bin struct {
	lags        ring[time.Duration]
	own, shared ring[transfer]
	best        Best
	known       bool
}

type transfer struct{ bytes, seconds float64 }

// NewWindows returns a Windows without samples, or an error that names the field that is out of range.
func NewWindows(c WindowsConfig) (*Windows, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	w := &Windows{config: c, bins: make([]bin, len(c.Bins)+1)}
	for i := range w.bins {
		w.bins[i].lags.limit = c.Keep
		w.bins[i].own.limit = c.Keep
		w.bins[i].shared.limit = c.Keep
	}
	return w, nil
}

// Config returns the configuration with its defaults filled in.
func (w *Windows) Config() WindowsConfig {
	c := w.config
	c.Bins = slices.Clone(c.Bins)
	return c
}

// ObserveLag records, for a job of so many tasks, a sample as in [Transfer.Lags]. A clone that the window, or a kill, cut
// short has seen no lag: record [Forever], and let the upstream copies of a few jobs run to their end now and then, or
// the window cannot learn that a longer one would pay. It reports whether the lag was used: one below 0 is not. O(1);
// allocates only until the bin is full.
func (w *Windows) ObserveLag(tasks int, lag time.Duration) bool {
	if lag < 0 {
		return false
	}
	w.bin(tasks).lags.add(lag)
	return true
}

// ObserveRead records, for a job of so many tasks, that a clone read so many bytes of an output in the given time, and
// whether it shared that output. It reports whether this was used: no time, or bytes that are negative or not finite, are
// not. O(1); allocates only until the bin is full.
func (w *Windows) ObserveRead(tasks int, bytes float64, took time.Duration, shared bool) bool {
	if !(bytes >= 0) || !num.Finite(bytes) || took <= 0 {
		return false
	}
	b, t := w.bin(tasks), transfer{bytes: bytes, seconds: took.Seconds()}
	if shared {
		b.shared.add(t)
	} else {
		b.own.add(t)
	}
	return true
}

// Refresh works out the window of every bin that has enough samples. O(bins * Keep log Keep); does not allocate once the
// bins are full.
func (w *Windows) Refresh() {
	for i := range w.bins {
		b := &w.bins[i]
		if len(b.lags.items) < w.config.MinSamples || len(b.own.items) < w.config.MinSamples {
			continue
		}
		t := b.transfer(w.config)
		if t.validate() != nil {
			continue // nothing was read, or in no time to speak of
		}
		w.sorted = append(w.sorted[:0], b.lags.items...)
		slices.Sort(w.sorted)
		b.best, b.known = t.best(w.sorted), true
	}
}

// For returns the window of jobs of so many tasks, as of the latest [Windows.Refresh], and whether there is one. O(bins),
// no allocation.
func (w *Windows) For(tasks int) (Best, bool) {
	b := w.bin(tasks)
	return b.best, b.known
}

func (w *Windows) bin(tasks int) *bin {
	i := 0
	for i < len(w.config.Bins) && tasks > w.config.Bins[i] {
		i++
	}
	return &w.bins[i]
}

// transfer takes all bytes over all seconds for a bandwidth, and the mean number of bytes for the size.
func (b *bin) transfer(c WindowsConfig) Transfer {
	own, shared := sum(b.own.items), sum(b.shared.items)
	t := Transfer{Contention: c.Contention, Clones: c.Clones, Reader: c.Reader, Bandwidth: own.bytes / own.seconds}
	t.Size = own.bytes / float64(len(b.own.items))
	if shared.seconds > 0 && shared.bytes > 0 {
		t.Contention = min(1, shared.bytes/shared.seconds/t.Bandwidth)
	}
	return t
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
