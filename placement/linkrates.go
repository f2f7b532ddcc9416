package placement

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// LinkRatesConfig is the configuration of a [LinkRates].
type LinkRatesConfig struct {
	// Racks is the number of racks, from 1 to 2^20.
	Racks int
	// Window is the length of the time windows in which the bytes of each link are added up. A read should last
	// about as long as a window, or longer. Zero means 10 s.
	Window time.Duration `want:"length" default:"10s"`
	// Windows is the number of most recent windows that are remembered, from 2 to 1000. Zero means 30; with
	// windows of 10 s these are five minutes.
	Windows int `want:"2 to 1000" default:"30"`
}

// Effective returns the configuration with its zero fields replaced by their defaults.
func (c LinkRatesConfig) Effective() LinkRatesConfig { return check.Filled(c) }

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c LinkRatesConfig) Validate() error {
	const place = "placement: LinkRatesConfig"
	return cmp.Or(check.Valid(c), check.Least(place, "Racks", c.Racks, 1), check.Within(place, "Racks", c.Racks, 1, 1<<20))
}

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case, and durations are in seconds. UnmarshalJSON reads this form.
func (c LinkRatesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LinkRatesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// LinkRates estimates the bandwidth of the uplink and the downlink of each rack. It uses the speed at which tasks
// read over the link. Mantri's rules need the "available bandwidth" at the start of a phase [Mantri §5.2, §6.4].
// The paper does not say how to measure it.
//
// For example, eight tasks of rack 0 read 1 GB from rack 1 in a window of 10 s. On average, two or more tasks read
// at the same time, so they competed for the uplink of rack 1. The rate of this uplink is then 1 GB / 10 s = 100
// MB/s.
//
// A window is used for a link only if, on average, two or more reads used the link at the same time. The rate of
// the link is the sum of the bytes in these windows, divided by the sum of their lengths. A link without such a
// window has no rate, because little traffic does not show how much the link can carry. The rate is too low if
// tasks waited for something other than the link.
//
// LinkRates assumes that each read has a constant speed. The host reports a read when the read ends, so the bytes
// of a recent window are incomplete. For this reason a window is used only when it is older than the longest read
// that is remembered.
//
// Cost: Observe takes O(w Racks) for a read that lasted w windows, and Rate takes O(Windows). Neither method
// allocates. The state takes 16 bytes for each link and window. You need not save the state when the host
// restarts, because it is forgotten after Windows windows anyway. The zero value has no rack and no rate.
// LinkRates is not safe for concurrent use. Use one LinkRates for each cluster.
type LinkRates struct {
	config  LinkRatesConfig
	clock   clock.Clock
	newest  int64 // number of the window that contains the latest reported time
	begun   bool
	traffic []linkWindow    // a ring of windows; each window has an entry for each link
	longest []time.Duration // by window of the ring: the duration of the longest read that ended in the window
}

// linkWindow is the traffic over one link in one window: the number of bytes, and the sum of the times that reads
// spent in the window.
type linkWindow struct {
	bytes float64
	busy  time.Duration
}

// minReads is a mean number of reads at the same time. A window with fewer reads is not used to estimate a
// bandwidth. Two reads at the same time compete for the link, so their speed shows how much the link can carry.
const minReads = 2

// NewLinkRates returns a LinkRates without any reads. It returns an error for the first field of c that is out of
// range.
func NewLinkRates(c LinkRatesConfig) (*LinkRates, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Effective()
	return &LinkRates{
		config: c, traffic: make([]linkWindow, 2*c.Racks*c.Windows), longest: make([]time.Duration, c.Windows),
	}, nil
}

// Config returns the configuration with its zero fields replaced by their defaults.
func (l *LinkRates) Config() LinkRatesConfig { return l.config }

// Observe records a read that ended at the instant now. rack is the rack of the task, from[j] is the number of
// bytes that it read from rack j, and took is the duration of the read. Bytes from the task's own rack cross no
// link and are ignored.
//
// Observe returns false and ignores the read in four cases: the rack does not exist, took is 0 or less, from has
// the wrong length, or a number of bytes is negative or not finite. If now is before the now of an earlier call,
// no time has passed between the two calls, and the next time is measured from the new instant.
func (l *LinkRates) Observe(now time.Time, rack int, from []float64, took time.Duration) bool {
	if rack < 0 || rack >= l.config.Racks || len(from) != l.config.Racks || took <= 0 {
		return false
	}
	total := 0.0
	for _, bytes := range from {
		if !(bytes >= 0) {
			return false
		}
		total += bytes
	}
	if math.IsInf(total, 1) {
		return false
	}
	end := l.advance(now)
	slot := int(l.newest % int64(l.config.Windows))
	l.longest[slot] = max(l.longest[slot], took)
	l.spread(rack, from, total-from[rack], end, took)
	return true
}

// advance makes the window that contains now the newest window, and empties each window that is new. It returns
// the time since the first call.
func (l *LinkRates) advance(now time.Time) (since time.Duration) {
	since = l.clock.At(now)
	window := int64(since / l.config.Window)
	if !l.begun {
		l.begun, l.newest = true, window
	}
	for steps := 0; l.newest < window; steps++ {
		if steps == l.config.Windows {
			l.newest = window
			break
		}
		l.newest++
		l.empty(int(l.newest % int64(l.config.Windows)))
	}
	return since
}

// empty clears one window of the ring.
func (l *LinkRates) empty(slot int) {
	links := 2 * l.config.Racks
	clear(l.traffic[slot*links : (slot+1)*links])
	l.longest[slot] = 0
}

// spread divides the bytes of a read among the remembered windows in which the read took place. entering is the
// number of bytes that entered the rack of the task.
func (l *LinkRates) spread(rack int, from []float64, entering float64, end, took time.Duration) {
	links := 2 * l.config.Racks
	for window := l.newest; window > l.newest-int64(l.config.Windows); window-- {
		begins := time.Duration(window) * l.config.Window
		low, high := max(end-took, begins), end
		if window < l.newest {
			high = min(end, begins+l.config.Window)
		}
		if high > low {
			memory := int64(l.config.Windows)
			at := l.traffic[int((window%memory+memory)%memory)*links:][:links]
			overlap := high - low
			part := overlap.Seconds() / took.Seconds()
			for j, bytes := range from {
				if j != rack && bytes > 0 {
					at[2*j].add(float64(bytes*part), overlap)
				}
			}
			if entering > 0 {
				at[2*rack+1].add(float64(entering*part), overlap)
			}
		}
		if low == end-took { // the read began in this window
			return
		}
	}
}

func (w *linkWindow) add(bytes float64, took time.Duration) {
	w.bytes += bytes
	w.busy = num.Add(w.busy, took)
}

// Rate returns the bandwidth of a link in bytes per second. ok is false if the bandwidth is unknown. This is so if
// the link does not exist, or if no remembered window had enough reads over the link. Cost: O(Windows), no
// allocation.
func (l *LinkRates) Rate(link Link) (bytesPerSecond float64, ok bool) {
	if link.Rack < 0 || link.Rack >= l.config.Racks || link.Direction > Down {
		return 0, false
	}
	settled := l.newest - 1 - int64((l.longestRead()+l.config.Window-1)/l.config.Window)
	column, links := 2*link.Rack+int(link.Direction), 2*l.config.Racks
	memory, length := int64(l.config.Windows), l.config.Window.Seconds()
	bytes, windows := 0.0, 0.0
	for window := settled; window > l.newest-memory; window-- {
		w := &l.traffic[int((window%memory+memory)%memory)*links+column]
		if w.busy/minReads >= l.config.Window {
			bytes += w.bytes
			windows++
		}
	}
	if windows == 0 || !(bytes > 0) {
		return 0, false
	}
	return bytes / (windows * length), true
}

// longestRead returns the duration of the longest read that is remembered, and at most the length of all windows
// together.
func (l *LinkRates) longestRead() time.Duration {
	longest := time.Duration(0)
	for _, d := range l.longest {
		longest = max(longest, d)
	}
	return min(longest, time.Duration(l.config.Windows)*l.config.Window)
}

// Fill returns a copy of the problem in which each known bandwidth, as [LinkRates.Rate] returns it, replaces the
// bandwidth of the problem. known is the number of replaced bandwidths. For example, the bandwidths of nominal are
// the bandwidths for which the links were built. Fill does not change the slices of nominal. If the number of racks
// is not the configured number, Fill returns the problem unchanged. Cost: O(Racks * Windows); Fill allocates two
// slices.
func (l *LinkRates) Fill(nominal Problem) (measured Problem, known int) {
	if len(nominal.Up) != l.config.Racks || len(nominal.Down) != l.config.Racks {
		return nominal, 0
	}
	up, down := make([]float64, l.config.Racks), make([]float64, l.config.Racks)
	for j := range up {
		up[j], down[j] = nominal.Up[j], nominal.Down[j]
		for direction, bandwidth := range [...]*float64{&up[j], &down[j]} {
			if rate, ok := l.Rate(Link{j, Direction(direction)}); ok {
				*bandwidth = rate
				known++
			}
		}
	}
	nominal.Up, nominal.Down = up, down
	return nominal, known
}
