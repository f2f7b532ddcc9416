package assign

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// WindowTableConfig is the configuration of a [WindowTable]. The zero value is ready for use.
type WindowTableConfig struct {
	// Bins divides jobs by their number of tasks. Bins[i] is the largest number of tasks of a job in bin i, at
	// least 1. The numbers must increase. There is one more bin for all larger jobs. Nil means 10, 50, 150 and
	// 500.
	Bins []int
	// Contention is the share of the bandwidth, in (0, 1], that a clone has while another clone reads the same
	// output. It is used until samples of shared reads were observed. Zero means 0.75, because the paper's shared
	// reads took 32 to 39 % longer (§4.3). The paper calls this share α.
	Contention float64
	// MinSamples is the number of samples that a group of jobs needs before [WindowTable.For] knows a window for it,
	// 1 or more. So many lags, including cut lags, and so many reads without sharing must have been observed.
	// Computation times are used only if there are also so many. Zero means 30; the paper states no value.
	MinSamples int
	// Keep is the number of latest samples of each kind that are kept for each group of jobs, at least MinSamples.
	// Zero means 1000.
	Keep int
	// Pairing says which clone of a task reads the first finished output of each input: always the same clone, or
	// a different clone for different inputs.
	Pairing Pairing
}

// Effective returns the configuration with its zero fields replaced by their defaults.
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
	maxKeep = 1 << 24 // the largest value of Keep
	maxBins = 1 << 16 // the largest length of Bins
)

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
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
		check.Named(place, "Pairing", c.Pairing),
	)
}

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case. UnmarshalJSON reads this form.
func (c WindowTableConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *WindowTableConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// WindowTable collects samples of lags, reads and computation times, and returns the best window for a job. The
// window is how long a clone waits for an output that no other clone reads, and a lag is how long a clone did
// wait. Jobs are divided by their number of tasks, and each group of jobs has its own samples. New samples are
// used after the host has called Refresh. In the paper this is done every hour; half an hour or three hours made
// little difference [Dolly §4.4, §5.2].
//
// The zero value is a WindowTable with the default configuration. A WindowTable is not safe for concurrent use.
// Use one WindowTable for each cluster.
type WindowTable struct {
	config WindowTableConfig
	bins   []bin
	work   evaluator
}

// Job contains the properties of a job that determine its window, in addition to the samples.
type Job struct {
	// Tasks is the number of tasks of the job. It decides which samples are used.
	Tasks int
	// Clones is the number of clones of a task; 0 means 2. Inputs is the number of upstream outputs that a task of
	// the job reads; 0 means 1. They are the same numbers as in [Model].
	Clones, Inputs int
}

// NewWindowTable returns a WindowTable without samples. It returns an error for the first field of c that is out
// of range.
func NewWindowTable(c WindowTableConfig) (*WindowTable, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &WindowTable{config: c}
	w.makeBins()
	return w, nil
}

// makeBins creates the bins if there are none. The zero WindowTable needs this at its first call.
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

// Config returns the configuration with its zero fields replaced by their defaults.
func (w *WindowTable) Config() WindowTableConfig { return w.config.Effective() }

// ObserveLag records how long a clone waited for an output that no other clone of its task reads, as in [Model.Lags].
// tasks is the number of tasks of its job. Leave out the clone that read the first output of an upstream task. The
// result is false if the lag is negative and was ignored. Cost: O(1); ObserveLag allocates only until there are
// [WindowTableConfig.Keep] samples.
func (w *WindowTable) ObserveLag(tasks int, lag time.Duration) bool {
	if lag < 0 {
		return false
	}
	w.bin(tasks).lags.add(lag)
	return true
}

// ObserveCut records that a clone waited for this time for an output that no other clone of its task reads, and then
// had to share an output, as in [Model.Cut]. tasks is the number of tasks of its job. The result is false if the time
// is negative and was ignored. Cost: O(1); ObserveCut allocates only until there are [WindowTableConfig.Keep]
// samples.
//
// If every clone shares at the end of its window, no sample can show that a longer window would be better. Then
// the window can only become shorter: in 600 refreshes it became half of the best window. To prevent this, use for
// one job in twenty the window of [Choice.InTurn], which is the longest useful window.
func (w *WindowTable) ObserveCut(tasks int, waited time.Duration) bool {
	if waited < 0 {
		return false
	}
	w.bin(tasks).lags.add(^waited)
	return true
}

// ObserveCompute records the time that a clone computed, as in [Model.Compute]. tasks is the number of tasks of
// its job. The result is false if the time is negative and was ignored. Cost: O(1); ObserveCompute allocates only
// until there are [WindowTableConfig.Keep] samples.
func (w *WindowTable) ObserveCompute(tasks int, took time.Duration) bool {
	if took < 0 {
		return false
	}
	w.bin(tasks).compute.add(took)
	return true
}

// ObserveRead records that a clone read the given number of bytes in the given time. tasks is the number of tasks
// of its job. shared is true if another clone read the same output at the same time. The result is false if the
// read was ignored: its time is 0 or less, or its bytes are negative or not finite. Cost: O(1); ObserveRead
// allocates only until there are [WindowTableConfig.Keep] samples.
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

// Refresh makes the table use the samples observed so far, for each group of jobs with enough samples. Let b be
// the number of bins, and k the number of samples that a bin keeps. Cost: O(b k log k); no allocation if the bins
// are full.
func (w *WindowTable) Refresh() {
	w.makeBins()
	for i := range w.bins {
		w.bins[i].refresh(w.config)
	}
}

// For returns the window for a job, computed from the samples at the latest [WindowTable.Refresh]. The second
// result is false if there are too few samples, or if a field of job is out of range for a [Model]. The result is
// remembered for jobs of similar size with the same numbers of clones and inputs, until the next Refresh. Cost:
// O(bins) without allocation if the result is remembered, and otherwise the cost of [ChooseWindow] without
// sorting.
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

// bin returns the bin for jobs with this number of tasks.
func (w *WindowTable) bin(tasks int) *bin {
	w.makeBins()
	i := 0
	for i < len(w.config.Bins) && tasks > w.config.Bins[i] {
		i++
	}
	return &w.bins[i]
}
