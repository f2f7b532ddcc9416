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

// LinkRatesConfig holds the choices of a [LinkRates].
type LinkRatesConfig struct {
	// Racks is the number of racks, from 1 on.
	Racks int
	// Window is the length of time over which traffic is added up. Reads should take about as long, or longer. 0 means
	// 10 s.
	Window time.Duration
	// Windows is the number of windows that count; what is older is forgotten. 0 means 30, five minutes of them.
	Windows int
}

// Effective returns the configuration with its defaults filled in.
func (c LinkRatesConfig) Effective() LinkRatesConfig {
	c.Window = check.Or(c.Window, 10*time.Second)
	c.Windows = check.Or(c.Windows, 30)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c LinkRatesConfig) Validate() error {
	const place = "placement: LinkRatesConfig"
	return cmp.Or(
		check.Least(place, "Racks", c.Racks, 1),
		check.Within(place, "Racks", c.Racks, 1, 1<<20),
		check.Length(place, "Window", c.Window),
		check.Within(place, "Windows", c.Windows, 2, 1000),
	)
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c LinkRatesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LinkRatesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// LinkRates estimates the bandwidth of each rack's links from what tasks achieved that read over them: "available
// bandwidth" as Mantri's rules want it at the start of a phase [Mantri §5.2, §6.4], which the paper leaves to be
// measured.
//
// A link's rate is the bytes that crossed it by the time that this took, in those windows in which two reads or more
// shared it on average: there the link was in demand. A link that was hardly used has no rate, since what little
// crossed it says nothing of what it can carry; one that was is taken for what it carried, which is less than it could
// if tasks waited for something else meanwhile. A read is taken to go on evenly, and since it is reported at its
// end, windows count once the longest read that is remembered must have been reported.
//
// Observe takes O(Racks * windows that the read lasted), a rate O(Windows), and neither allocates. The state, 16 bytes
// a link and window, is not worth keeping for longer than Windows. The zero value knows no rack and no rate. Not safe
// for concurrent use; one per cluster.
type LinkRates struct {
	config  LinkRatesConfig
	clock   clock.Clock
	newest  int64 // number of the window that holds the latest instant told
	begun   bool
	traffic []linkWindow    // by window of the ring, then link
	longest []time.Duration // by window of the ring: the longest read that ended in it
}

// linkWindow is what crossed a link in a window: bytes, and the times that the reads took, added up.
type linkWindow struct {
	bytes float64
	busy  time.Duration
}

// shared is how many reads must share a link on average, for what it carried to be what it can carry.
const shared = 2

// NewLinkRates returns a LinkRates that has seen nothing, or an error that names the field that is out of range.
func NewLinkRates(c LinkRatesConfig) (*LinkRates, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Effective()
	return &LinkRates{
		config: c, traffic: make([]linkWindow, 2*c.Racks*c.Windows), longest: make([]time.Duration, c.Windows),
	}, nil
}

// Config returns the configuration with its defaults filled in.
func (l *LinkRates) Config() LinkRatesConfig { return l.config }

// Observe records a read that has ended now: the rack of the task, the bytes that it read from each rack, and the time
// that this took. What it read inside its rack crosses no link. It reports whether that was used: a rack that does not
// exist is not, nor is a time that is not positive, nor are bytes of another number of racks, or any that are negative
// or not finite. A clock that steps back goes on from there.
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

// advance moves on to the window of an instant, and empties those that it comes to.
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

func (l *LinkRates) empty(slot int) {
	links := 2 * l.config.Racks
	clear(l.traffic[slot*links : (slot+1)*links])
	l.longest[slot] = 0
}

// spread adds a read to the windows that it lasted, as far as they are remembered.
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
		if begins <= end-took {
			return
		}
	}
}

func (w *linkWindow) add(bytes float64, took time.Duration) {
	w.bytes += bytes
	w.busy = num.Add(w.busy, took)
}

// Rate returns the bandwidth of a link in bytes per second. It reports false if that is not known: the link does not
// exist, or was not in demand in the windows that are remembered.
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
		if w.busy/shared >= l.config.Window {
			bytes += w.bytes
			windows++
		}
	}
	if windows == 0 || !(bytes > 0) {
		return 0, false
	}
	return bytes / (windows * length), true
}

// longestRead is the longest read that is remembered, at most all that is.
func (l *LinkRates) longestRead() time.Duration {
	longest := time.Duration(0)
	for _, d := range l.longest {
		longest = max(longest, d)
	}
	return min(longest, time.Duration(l.config.Windows)*l.config.Window)
}

// Fill returns the problem with the bandwidths of the links whose rate is known in place of its own, which may be the
// nominal ones, and the number of these links. The problem's slices are not changed. A problem of another number of
// racks is returned as it is. O(Racks * Memory); it allocates two slices.
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
