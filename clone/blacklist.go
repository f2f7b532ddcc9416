package clone

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// BlacklistConfig is the configuration of a [Blacklist]. Its zero value is usable.
type BlacklistConfig struct {
	// Window is the length of a time window. A prediction is valid for one window. 0 means 5 minutes. The paper tried 5
	// minutes and one hour.
	Window time.Duration
	// Recent is the weight of the latest window against the long-term average, in (0, 1]. 0 means 0.5: the paper weighs
	// both equally.
	Recent float64
	// Threshold is p_b, a probability in (0, 1). A machine is banned if its predicted probability of a straggler exceeds
	// this threshold. 0 means 0.3; the paper states no value.
	Threshold float64
	// MaxShare is the largest share of the machines that may be banned at once, in (0, 1], rounded down to whole
	// machines. 0 means 0.1, about the share in the paper's clusters. With fewer than ten machines, 0.1 bans no
	// machine.
	MaxShare float64
	// MinTasks is the number of tasks that must end on a machine in a window before the window counts for the machine, at
	// least 1. 0 means 3; the paper states no value.
	MinTasks int
}

// Effective returns the configuration with its defaults filled in.
func (c BlacklistConfig) Effective() BlacklistConfig {
	c.Window = check.Or(c.Window, 5*time.Minute)
	c.Recent = check.Or(c.Recent, 0.5)
	c.Threshold = check.Or(c.Threshold, 0.3)
	c.MaxShare = check.Or(c.MaxShare, 0.1)
	c.MinTasks = check.Or(c.MinTasks, 3)
	return c
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (c BlacklistConfig) Validate() error {
	const place = "clone: BlacklistConfig"
	return cmp.Or(
		check.Length(place, "Window", c.Window),
		check.Share(place, "Recent", c.Recent, false),
		check.Probability(place, "Threshold", c.Threshold),
		check.Share(place, "MaxShare", c.MaxShare, false),
		check.Count(place, "MinTasks", c.MinTasks, false),
	)
}

// String returns the configuration in one line. LogValue, for log/slog, and MarshalJSON have the same fields. UnmarshalJSON
// reads the JSON.
func (c BlacklistConfig) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c BlacklistConfig) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c BlacklistConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *BlacklistConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Blacklist predicts which machines will cause stragglers, and bans the worst machines for one window at a time [Dolly
// §2.1.2]. The prediction is an exponential average. After each window it is half the share of stragglers in this window
// plus half the earlier prediction. The paper found that the method catches few stragglers, 12 % at best. Cloning works
// without a Blacklist.
//
// A ban depends on the previous window, so every ban ends automatically. No task starts on a banned machine. Once the
// running tasks of the machine have ended, the next window has no observations of the machine, and the ban ends. At
// most MaxShare of the machines are banned, the worst machines first. Among equals the lowest index comes
// first.
//
// The host numbers machines from 0 and supplies all times. If its clock steps back, no time passes at the step, and
// the next time is measured from there. The zero value has the defaults and no machines. Not safe for concurrent use;
// a cluster needs one Blacklist.
type Blacklist struct {
	config  BlacklistConfig
	period  period
	machine []health
	worst   []int32 // scratch: the machines above the threshold, to be banned as far as MaxShare allows
}

// health is the observations of a machine and its prediction.
type health struct {
	slow, tasks int // stragglers and ended tasks in the current window
	predicted   float64
	seen        bool // predicted depends on at least one window
	banned      bool
}

// NewBlacklist returns a Blacklist for a number of machines. The error names the field that is out of range.
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

// Resize changes the number of machines. A new machine has no observations. Machines with a higher index are forgotten. If
// more machines are banned than MaxShare of the remaining machines, the best of the banned machines become free. A
// negative number counts as 0. O(m log m) for m machines; it allocates only to grow.
func (b *Blacklist) Resize(machines int) {
	b.config = b.Config()
	machines = max(machines, 0)
	if machines <= len(b.machine) {
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

// Observe records that a task ended on the machine, and whether the task straggled. [Estimator.Observe] returns the rate
// below which a task straggled. The result says whether the machine exists. O(1), and O(m log m) for m machines once in each
// window; no allocation.
func (b *Blacklist) Observe(now time.Time, machine int, straggled bool) bool {
	b.roll(now)
	if machine < 0 || machine >= len(b.machine) {
		return false
	}
	b.machine[machine].tasks++
	if straggled {
		b.machine[machine].slow++
	}
	return true
}

// Banned reports whether the machine should get no task now. The result is false for a machine that does not exist. The
// cost is the cost of [Blacklist.Observe].
func (b *Blacklist) Banned(now time.Time, machine int) bool {
	b.roll(now)
	return machine >= 0 && machine < len(b.machine) && b.machine[machine].banned
}

// AppendBanned appends to dst the machines that should get no task now, by rising index. O(m) for m machines, and
// O(m log m) once in each window; it allocates only to grow dst.
func (b *Blacklist) AppendBanned(dst []int, now time.Time) []int {
	b.roll(now)
	for i := range b.machine {
		if b.machine[i].banned {
			dst = append(dst, i)
		}
	}
	return dst
}

// Predicted returns the predicted probability that a task on the machine straggles, computed after the latest window.
// known is false if no window counts for the machine. O(1), no allocation.
func (b *Blacklist) Predicted(machine int) (p float64, known bool) {
	if machine < 0 || machine >= len(b.machine) || !b.machine[machine].seen {
		return 0, false
	}
	return b.machine[machine].predicted, true
}

// roll closes the current window if it is over, and bans machines for the next window.
func (b *Blacklist) roll(now time.Time) {
	if len(b.machine) == 0 {
		return // there is no observation to close, and the zero Blacklist has no window yet
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
		// If several windows have ended, the latest window has no observations, so the machine is not banned.
		if fresh && windows == 1 && m.predicted > b.config.Threshold {
			b.worst = append(b.worst, int32(i))
		}
	}
	b.banWorst()
}

// banWorst bans the worst machines, as many as MaxShare allows.
func (b *Blacklist) banWorst() {
	slices.SortFunc(b.worst, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.machine[y].predicted, b.machine[x].predicted), cmp.Compare(x, y))
	})
	for _, i := range b.worst[:min(len(b.worst), slots(b.config.MaxShare, len(b.machine)))] {
		b.machine[i].banned = true
	}
}

// predict adds the share of stragglers in the window that ended to a machine's average. A machine without earlier windows
// starts with the average of all machines.
func (b *Blacklist) predict(m *health, average, share float64) {
	past := m.predicted
	if !m.seen {
		past, m.seen = average, true
	}
	m.predicted = float64(b.config.Recent*share) + float64((1-b.config.Recent)*past)
}

// average returns the share of stragglers among all tasks in the window that ended.
func (b *Blacklist) average() float64 {
	slow, tasks := 0, 0
	for i := range b.machine {
		slow += b.machine[i].slow
		tasks += b.machine[i].tasks
	}
	return float64(slow) / float64(max(tasks, 1))
}
