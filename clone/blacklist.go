package clone

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/wire"
)

// BlacklistConfig holds the choices of a [Blacklist]. Its zero value is usable.
type BlacklistConfig struct {
	// Window is how long a prediction stands. 0 means 5 minutes; the paper tried that and an hour.
	Window time.Duration
	// Recent is the weight of the latest window against the long-term average, in (0, 1]. 0 means 0.5, the paper's
	// "equally dependent".
	Recent float64
	// Threshold is p_b, the predicted probability above which a machine is banned, in (0, 1). 0 means 0.3; the paper's
	// text gives none.
	Threshold float64
	// MaxShare is the largest share of the machines that may be banned at once, in (0, 1], rounded down to whole
	// machines. 0 means 0.1, about what the paper's clusters blacklist; of fewer than ten machines, that bans none.
	MaxShare float64
	// MinTasks is how many tasks must have ended on a machine in a window to say anything. 0 means 3; the paper gives
	// none.
	MinTasks int
	// Origin is the name of this process among those that pass on to each other which tasks straggled on the same
	// machines, by [Blacklist.AppendDelta] and [Blacklist.Merge]. It is of at most 255 bytes, and no other has it. Empty:
	// nothing is passed on.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead: a delta from further in the future is refused. 0
	// means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with its defaults filled in.
func (c BlacklistConfig) Effective() BlacklistConfig {
	c.Window = check.Or(c.Window, 5*time.Minute)
	c.Recent = check.Or(c.Recent, 0.5)
	c.Threshold = check.Or(c.Threshold, 0.3)
	c.MaxShare = check.Or(c.MaxShare, 0.1)
	c.MinTasks = check.Or(c.MinTasks, 3)
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c BlacklistConfig) Validate() error {
	const place = "clone: BlacklistConfig"
	return cmp.Or(
		check.Length(place, "Window", c.Window),
		check.Share(place, "Recent", c.Recent, false),
		check.Probability(place, "Threshold", c.Threshold),
		check.Share(place, "MaxShare", c.MaxShare, false),
		check.Count(place, "MinTasks", c.MinTasks, false),
		c.choices().Validate(place),
	)
}

// String returns the configuration as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON,
// which UnmarshalJSON reads, have the same fields.
func (c BlacklistConfig) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c BlacklistConfig) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c BlacklistConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *BlacklistConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
func (c *BlacklistConfig) UnmarshalText(line []byte) error { return wire.Scan(line, c, wire.Struct) }

// Blacklist predicts which machines will cause stragglers, and bans the worst for one window at a time [Dolly §2.1.2].
// The prediction is an average that fades: half of it is the share of stragglers in the window that just ended, half
// the prediction before. The paper found this to catch few stragglers, 12 % at best; cloning does not need it.
//
// A ban rests on what was seen in the window before it, so it expires by itself: once its running tasks have ended, a
// banned machine shows nothing in a window, and is free in the next. No more machines are banned than MaxShare of them;
// the worst go first, and of equals the lowest index. Machines are numbered from 0 by the host. Times come from the
// host; time goes on from where its clock steps back to. The zero value has the defaults and no machines. Not safe for
// concurrent use; one per cluster.
type Blacklist struct {
	config  BlacklistConfig
	period  period
	machine []health
	worst   []int32 // scratch: those that are to be banned, if there are not too many
	fleet   merge.Fleet
}

type health struct {
	slow, tasks int // in the present window
	predicted   float64
	seen        bool // predicted rests on at least one window
	banned      bool
}

// NewBlacklist returns a Blacklist for a number of machines, or an error that names the field that is out of range.
func NewBlacklist(machines int, c BlacklistConfig) (*Blacklist, error) {
	if err := cmp.Or(check.Least("clone", "machines", machines, 0), c.Validate()); err != nil {
		return nil, err
	}
	b := &Blacklist{config: c.Effective()}
	b.Resize(machines)
	return b, nil
}

// Config returns the configuration with its defaults filled in.
func (b *Blacklist) Config() BlacklistConfig { return b.config.Effective() }

// Resize changes the number of machines. New ones come without a past; those whose index is out of range are forgotten,
// and if MaxShare of the rest is fewer than are banned, the best of these are free. A number below 0 counts as 0. O(m
// log m) with m machines; allocates only to grow.
func (b *Blacklist) Resize(machines int) {
	b.config = b.Config()
	machines = max(machines, 0)
	if machines <= len(b.machine) {
		b.fleet.Resize(machines)
		clear(b.machine[machines:])
		b.machine = b.machine[:machines]
		b.worst = b.worst[:0]
		for i := range b.machine {
			if b.machine[i].banned {
				b.worst = append(b.worst, int32(i))
				b.machine[i].banned = false
			}
		}
		b.banWorst()
		return
	}
	b.machine = append(b.machine, make([]health, machines-len(b.machine))...)
	b.worst = slices.Grow(b.worst[:0], machines)
}

// Observe records that a task ended on the machine and whether it straggled, by the measure of [Estimator]. It reports
// whether the machine exists. O(1), and O(m log m) with m machines once a window; no allocation.
func (b *Blacklist) Observe(now time.Time, machine int, straggled bool) bool {
	b.roll(now)
	if machine < 0 || machine >= len(b.machine) {
		return false
	}
	if c := b.config.choices(); c.Origin != "" {
		n := merge.Count{Of: 1}
		if straggled {
			n.Hits = 1
		}
		return b.fleet.Add(c, b.period.clock.Since, machine, n)
	}
	b.machine[machine].tasks++
	if straggled {
		b.machine[machine].slow++
	}
	return true
}

// Banned reports whether the machine should get no task now; false for a machine that does not exist. The cost is that
// of [Blacklist.Observe].
func (b *Blacklist) Banned(now time.Time, machine int) bool {
	b.roll(now)
	return machine >= 0 && machine < len(b.machine) && b.machine[machine].banned
}

// AppendBanned appends to dst the machines that should get no task now, in order. O(m), and O(m log m) once a
// window; allocates only to grow dst.
func (b *Blacklist) AppendBanned(dst []int, now time.Time) []int {
	b.roll(now)
	for i := range b.machine {
		if b.machine[i].banned {
			dst = append(dst, i)
		}
	}
	return dst
}

// Predicted returns the probability, as of the latest window that ended, that a task on the machine straggles, and
// whether there is one. O(1), no allocation.
func (b *Blacklist) Predicted(machine int) (p float64, known bool) {
	if machine < 0 || machine >= len(b.machine) || !b.machine[machine].seen {
		return 0, false
	}
	return b.machine[machine].predicted, true
}

// roll closes the present window if it is over, and says who is banned in the next.
func (b *Blacklist) roll(now time.Time) {
	if len(b.machine) == 0 {
		return // nothing to close; and the zero Blacklist has no window yet
	}
	if b.config.Origin != "" {
		b.rollShared(now, false)
		return
	}
	windows := b.period.roll(now, b.config.Window)
	if windows == 0 {
		return
	}
	average := b.average()
	b.worst = b.worst[:0]
	for i := range b.machine {
		m := &b.machine[i]
		fresh := m.tasks >= b.config.MinTasks
		if fresh {
			b.predict(m, average, float64(m.slow)/float64(m.tasks))
		}
		m.slow, m.tasks, m.banned = 0, 0, false
		// Nothing was seen in the latest window if more than one has ended since.
		if fresh && windows == 1 && m.predicted > b.config.Threshold {
			b.worst = append(b.worst, int32(i))
		}
	}
	b.banWorst()
}

// banWorst bans as many of the worst machines as may be.
func (b *Blacklist) banWorst() {
	slices.SortFunc(b.worst, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.machine[y].predicted, b.machine[x].predicted),
			cmp.Compare(b.fleet.Name(int(x)), b.fleet.Name(int(y))), cmp.Compare(x, y))
	})
	for _, i := range b.worst[:min(len(b.worst), slots(b.config.MaxShare, len(b.machine)))] {
		b.machine[i].banned = true
	}
}

// predict takes the share of stragglers of the window that ended into a machine's average. A machine without a past is
// taken to have been average.
func (b *Blacklist) predict(m *health, average, share float64) {
	past := m.predicted
	if !m.seen {
		past, m.seen = average, true
	}
	m.predicted = float64(b.config.Recent*share) + float64((1-b.config.Recent)*past)
}

// average returns the share of stragglers among all tasks of the window that ended.
func (b *Blacklist) average() float64 {
	slow, tasks := 0, 0
	for i := range b.machine {
		slow += b.machine[i].slow
		tasks += b.machine[i].tasks
	}
	return float64(slow) / float64(max(tasks, 1))
}
