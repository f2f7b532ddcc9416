package assign

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// WindowTableConfig holds the choices of a [WindowTable]. Its zero value is usable.
type WindowTableConfig struct {
	// Bins are the largest numbers of tasks of each bin of jobs, ascending; one more bin takes all larger jobs. Nil
	// means 10, 50, 150 and 500.
	Bins []int
	// Contention is α, in (0, 1], for a bin that has seen no shared read yet. 0 means 0.75: the paper's transfers took
	// 32 to 39 % longer when they shared (§4.3).
	Contention float64
	// MinSamples is how many lags, cut ones included, and how many reads of one's own, a bin needs for a window, and
	// how many computation times it needs to use them. 0 means 30; the paper gives none.
	MinSamples int
	// Keep is how many samples of each kind a bin keeps, the latest; MinSamples or more. 0 means 1000.
	Keep int
	// Pairing says which clone has the first copy of each input.
	Pairing Pairing
}

// Effective returns the configuration with its defaults filled in.
func (c WindowTableConfig) Effective() WindowTableConfig {
	if c.Bins == nil {
		c.Bins = []int{10, 50, 150, 500}
	}
	c.Contention = check.Or(c.Contention, 0.75)
	c.MinSamples = check.Or(c.MinSamples, 30)
	c.Keep = check.Or(c.Keep, max(1000, c.MinSamples))
	c.Bins = slices.Clone(c.Bins)
	return c
}

const (
	maxKeep = 1 << 24
	maxBins = 1 << 16
)

// Validate reports the first field that is out of range, with its value and its range.
func (c WindowTableConfig) Validate() error {
	const place = "delay/assign: WindowTableConfig"
	c = c.Effective()
	if len(c.Bins) > maxBins {
		return check.Badf(place, "Bins", len(c.Bins), "at most %d of them", maxBins)
	}
	for i, size := range c.Bins {
		if size < 1 || i > 0 && size <= c.Bins[i-1] {
			return check.Bad(place, check.At("Bins", i, ""), size, "1 or more, and more than the one before")
		}
	}
	return cmp.Or(
		check.Share(place, "Contention", c.Contention, false),
		check.Count(place, "MinSamples", c.MinSamples, false),
		check.Within(place, "Keep", c.Keep, c.MinSamples, maxKeep),
		check.Named(place, "Pairing", c.Pairing, pairingNames[:]),
	)
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c WindowTableConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *WindowTableConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// WindowTable keeps samples of lags, reads and computation times for several bins of jobs by their number of tasks, and
// picks the [ChooseWindow] of a job from them. It takes the latest samples in when the host says so: every hour in the paper,
// where half an hour to three hours made little difference [Dolly §4.4, §5.2].
//
// The zero value is a WindowTable with the defaults. Not safe for concurrent use; one per cluster.
type WindowTable struct {
	config WindowTableConfig
	bins   []bin
	work   evaluator
}

// Job is what a window depends on, beside the samples.
type Job struct {
	// Tasks is the number of tasks of the job, by which it falls into a bin.
	Tasks int
	// Clones is c, the number of clones of a task, and Inputs how many upstream outputs one of its tasks reads, as in
	// [Model]; 0 means 2, and 1.
	Clones, Inputs int
}

// NewWindowTable returns a WindowTable without samples, or an error that names the field that is out of range.
func NewWindowTable(c WindowTableConfig) (*WindowTable, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &WindowTable{config: c}
	w.settle()
	return w, nil
}

// settle makes the bins, of the zero value with the defaults.
func (w *WindowTable) settle() {
	if w.bins != nil {
		return
	}
	w.config = w.config.Effective()
	w.bins = make([]bin, len(w.config.Bins)+1)
	for i := range w.bins {
		b := &w.bins[i]
		b.lags.limit, b.compute.limit = w.config.Keep, w.config.Keep
		b.own.limit, b.shared.limit = w.config.Keep, w.config.Keep
	}
}

// Config returns the configuration with its defaults filled in.
func (w *WindowTable) Config() WindowTableConfig { return w.config.Effective() }

// ObserveLag records one lag of a job with the given number of tasks, as in [Model.Lags]. Leave out the clone that read
// the first copy of an upstream output. It reports whether the lag was used: one below 0 is not. O(1); allocates only
// until the bin is full.
func (w *WindowTable) ObserveLag(tasks int, lag time.Duration) bool {
	if lag < 0 {
		return false
	}
	w.bin(tasks).lags.add(lag)
	return true
}

// ObserveCut records a lag that was cut short, of a job with the given number of tasks, as in [Model.Cut]: a clone
// waited that long and then had to share. It reports whether that was used: one below 0 is not. O(1); allocates only
// until the bin is full.
//
// Lags that are always cut at the window cannot show that a longer one would pay, and then the window only ever
// shrinks: over 600 refreshes to half of the best one. Give one job in twenty the window of [Choice.InTurn], the
// longest that is ever of use, and it stays.
func (w *WindowTable) ObserveCut(tasks int, waited time.Duration) bool {
	if waited < 0 {
		return false
	}
	w.bin(tasks).lags.add(^waited)
	return true
}

// ObserveCompute records how long a clone computed, of a job with the given number of tasks, as in [Model.Compute]. It
// reports whether that was used: a duration below 0 is not. O(1); allocates only until the bin is full.
func (w *WindowTable) ObserveCompute(tasks int, took time.Duration) bool {
	if took < 0 {
		return false
	}
	w.bin(tasks).compute.add(took)
	return true
}

// ObserveRead records that a clone read bytes of an output in the given time, of a job with the given number of tasks,
// and whether it shared that output. It reports whether this was used: no time, or bytes that are negative or not
// finite, are not. O(1); allocates only until the bin is full.
func (w *WindowTable) ObserveRead(tasks int, bytes float64, took time.Duration, shared bool) bool {
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

// Refresh takes the samples in of every bin that has enough. O(bins * Keep log Keep); does not allocate once the bins
// are full.
func (w *WindowTable) Refresh() {
	w.settle()
	for i := range w.bins {
		w.bins[i].refresh(w.config)
	}
}

// For returns the window of a job, as of the latest [WindowTable.Refresh], and whether there is one: not before the bin
// has enough samples, nor for a job that [Model] would refuse. O(bins) if a job of the bin with as many clones and
// inputs has asked since, which does not allocate; else that of [ChooseWindow], without the sorting.
func (w *WindowTable) For(job Job) (Choice, bool) {
	b := w.bin(job.Tasks)
	if !b.known {
		return Choice{}, false
	}
	job.Tasks = 0
	if choice, told := b.recall(job); told {
		return choice, true
	}
	m := b.model
	m.Clones, m.Inputs, m.Pairing = job.Clones, job.Inputs, w.config.Pairing
	if m.validateReads() != nil {
		return Choice{}, false
	}
	w.work.prepare(m)
	choice := w.work.choose()
	b.answers.add(answer{job, choice})
	return choice, true
}

func (w *WindowTable) bin(tasks int) *bin {
	w.settle()
	i := 0
	for i < len(w.config.Bins) && tasks > w.config.Bins[i] {
		i++
	}
	return &w.bins[i]
}
