package assign

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// WindowTableConfig is the configuration of a [WindowTable]. Its zero value is usable.
type WindowTableConfig struct {
	// Bins are the largest numbers of tasks of the jobs in each bin, ascending, each 1 or more. An additional bin
	// takes all larger jobs. Nil means 10, 50, 150 and 500.
	Bins []int
	// Contention is α, in (0, 1], for a bin without a shared read so far. 0 means 0.75: the paper's shared transfers took 32
	// to 39 % longer (§4.3).
	Contention float64
	// MinSamples is the number of samples that a bin needs, 1 or more. The minimum applies to lags, cut lags
	// included, and to reads without sharing. A bin uses its computation times only if it has this number too. 0
	// means 30; the paper states no value.
	MinSamples int
	// Keep is the number of samples of each type that a bin keeps, the latest, at least MinSamples. 0 means 1000.
	Keep int
	// Pairing says which clone gets the first output of each input.
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
	maxKeep = 1 << 24 // largest Keep
	maxBins = 1 << 16 // largest number of Bins
)

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
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

// MarshalJSON writes the fields that are not zero, with names in kebab-case. UnmarshalJSON reads this format.
func (c WindowTableConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *WindowTableConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// WindowTable keeps samples of lags, reads and computation times, and returns the best window of a job. Jobs are divided
// into bins by their number of tasks, and each bin has its own samples. The table uses new samples when the host calls
// Refresh. The paper refreshes every hour; half an hour or three hours made little difference [Dolly §4.4, §5.2].
//
// The zero value is a WindowTable with the defaults. Not safe for concurrent use; a cluster needs one WindowTable.
type WindowTable struct {
	config WindowTableConfig
	bins   []bin
	work   evaluator
}

// Job is the part of a job on which its window depends, in addition to the samples.
type Job struct {
	// Tasks is the number of tasks of the job, and selects the job's bin.
	Tasks int
	// Clones is c, the number of clones of a task; 0 means 2. Inputs is the number of upstream outputs that a task of the
	// job reads; 0 means 1. Both are as in [Model].
	Clones, Inputs int
}

// NewWindowTable returns a WindowTable without samples. The error names the field that is out of range.
func NewWindowTable(c WindowTableConfig) (*WindowTable, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &WindowTable{config: c}
	w.makeBins()
	return w, nil
}

// makeBins creates the bins, for the zero value with the default configuration.
func (w *WindowTable) makeBins() {
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

// ObserveLag records a lag, as in [Model.Lags], of a job with the given number of tasks. Leave out the clone that read the
// first output of an upstream task. The result is false if the lag is negative and was ignored. O(1); it allocates only
// until the bin is full.
func (w *WindowTable) ObserveLag(tasks int, lag time.Duration) bool {
	if lag < 0 {
		return false
	}
	w.bin(tasks).lags.add(lag)
	return true
}

// ObserveCut records a lag that was cut short, as in [Model.Cut], of a job with the given number of tasks: the clone waited
// for this time and then had to share. The result is false if the time is negative and was ignored. O(1); it allocates
// only until the bin is full.
//
// If every lag is cut at the window, no sample shows that a longer window would pay. The window then only shrinks: over 600
// refreshes, to half of the best window. To prevent this, give one job in twenty the window of [Choice.InTurn], the longest
// useful window.
func (w *WindowTable) ObserveCut(tasks int, waited time.Duration) bool {
	if waited < 0 {
		return false
	}
	w.bin(tasks).lags.add(^waited)
	return true
}

// ObserveCompute records the computation time of a clone, as in [Model.Compute], of a job with the given number of tasks.
// The result is false if the time is negative and was ignored. O(1); it allocates only until the bin is full.
func (w *WindowTable) ObserveCompute(tasks int, took time.Duration) bool {
	if took < 0 {
		return false
	}
	w.bin(tasks).compute.add(took)
	return true
}

// ObserveRead records a read of bytes that took the given time, in a job with the given number of tasks. shared says whether
// another clone read the same output. The result is false if the read was ignored: its time is 0 or less, or its bytes are
// negative or not finite. O(1); it allocates only until the bin is full.
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

// Refresh uses the samples of every bin that has enough samples. O(bins * Keep log Keep); it does not allocate once the
// bins are full.
func (w *WindowTable) Refresh() {
	w.makeBins()
	for i := range w.bins {
		w.bins[i].refresh(w.config)
	}
}

// For returns the window of a job, as of the latest [WindowTable.Refresh]. The second result is false if the bin has too few
// samples, or if the job's fields are out of range for a [Model]. O(bins), without allocation, if a job of the bin with the
// same clones and inputs has asked since the Refresh. Otherwise the cost is the cost of [ChooseWindow] without sorting.
func (w *WindowTable) For(job Job) (Choice, bool) {
	b := w.bin(job.Tasks)
	if !b.known {
		return Choice{}, false
	}
	job.Tasks = 0
	if choice, known := b.recall(job); known {
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

// bin returns the bin of jobs with this number of tasks.
func (w *WindowTable) bin(tasks int) *bin {
	w.makeBins()
	i := 0
	for i < len(w.config.Bins) && tasks > w.config.Bins[i] {
		i++
	}
	return &w.bins[i]
}
