package clone

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// BlacklistConfig is the configuration of a [Blacklist]. The zero value is ready for use.
type BlacklistConfig struct {
	// Window is the length of a time window. A machine is banned for a window at a time. Zero means 5 minutes. The
	// paper tried 5 minutes and one hour.
	Window time.Duration `want:"length" default:"5m"`
	// Recent is the weight of the latest window in the prediction, in (0, 1]. All earlier windows together have
	// the weight 1-Recent. Zero means 0.5, because the paper weighs both equally.
	Recent float64 `want:"share" default:"0.5"`
	// Threshold is the paper's p_b, a probability in (0, 1). A machine is banned if the predicted probability that
	// a task on the machine straggles is above Threshold. Zero means 0.3; the paper states no value.
	Threshold float64 `want:"probability" default:"0.3"`
	// MaxShare is the largest share of the machines that may be banned at the same time, in (0, 1]. The number of
	// machines is rounded down. Zero means 0.1, which is about the share in the paper's clusters. With fewer than
	// ten machines, a share of 0.1 bans no machine.
	MaxShare float64 `want:"share" default:"0.1"`
	// MinTasks is a number of tasks, at least 1. A window is used for a machine only if at least so many tasks
	// have ended on the machine in the window. Zero means 3; the paper states no value.
	MinTasks int `want:"count" default:"3"`
}

// Effective returns the configuration with its zero fields replaced by their defaults.
func (c BlacklistConfig) Effective() BlacklistConfig { return check.Filled(c) }

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c BlacklistConfig) Validate() error { return check.Valid(c) }

// String returns the configuration as one line. LogValue returns the same fields for log/slog. MarshalJSON writes the
// same fields, and UnmarshalJSON reads the JSON.
func (c BlacklistConfig) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c BlacklistConfig) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c BlacklistConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *BlacklistConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Blacklist predicts on which machines tasks will straggle, which means that they will be much slower than other
// tasks. It bans the worst machines for one time window after another [Dolly §2.1.2]. The prediction for a machine
// is an exponential average. After each window the new prediction is half the share of tasks that straggled on the
// machine in the window, plus half the earlier prediction. The paper found that this method prevents few
// stragglers, at best 12 %. Cloning does not need a Blacklist.
//
// Every ban ends by itself. No task starts on a banned machine, so after its running tasks have ended there is a
// window without observations of the machine. A machine is not banned after such a window. At most the share
// MaxShare of the machines is banned, and the machines with the largest predictions are banned first. Among
// machines with equal predictions, the machine with the lowest index comes first.
//
// The host numbers the machines from 0 and passes the time to each call. If the host's clock steps back, no time
// has passed, and the next time is measured from the new instant. The zero value has the default configuration and
// no machines. A Blacklist is not safe for concurrent use. Use one Blacklist for each cluster.
type Blacklist struct {
	config  BlacklistConfig
	period  period
	machine []health
	worst   []int32 // scratch space: machines with predictions above the threshold, which banWorst sorts
}

// health contains the observations of one machine and the prediction for it.
type health struct {
	slow, tasks int // stragglers, and all ended tasks, in the current window
	predicted   float64
	seen        bool // true if predicted comes from at least one window
	banned      bool
}

// NewBlacklist returns a Blacklist for the given number of machines. It returns an error if this number is
// negative, or for the first field of c that is out of range.
func NewBlacklist(machines int, c BlacklistConfig) (*Blacklist, error) {
	if err := cmp.Or(check.Least("clone", "machines", machines, 0), c.Validate()); err != nil {
		return nil, err
	}
	b := &Blacklist{config: c.Effective()}
	b.Resize(machines)
	return b, nil
}

// Config returns the configuration with its zero fields replaced by their defaults.
func (b *Blacklist) Config() BlacklistConfig { return b.config.Effective() }

// Resize changes the number of machines. A new machine has no observations. If the number becomes smaller, the
// machines with the highest indices are forgotten. If the banned machines are then more than MaxShare of all
// machines, the ban ends for the machines with the smallest predictions. A negative number is replaced by 0. Cost:
// O(m log m) for m machines; Resize allocates only if the number grows.
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

// Observe records that a task ended on the machine, and whether the task straggled. A task straggled if its
// progress rate is below the rate that [Estimator.Observe] returned for its phase. The result is true if the
// observation is used, so if the machine exists. Cost: O(1); the first call in each window takes O(m log m) for m
// machines. No allocation.
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

// Banned reports whether no task should start on the machine now. The result is false for a machine that does not
// exist. The cost is the same as for [Blacklist.Observe].
func (b *Blacklist) Banned(now time.Time, machine int) bool {
	b.roll(now)
	return machine >= 0 && machine < len(b.machine) && b.machine[machine].banned
}

// AppendBanned appends to dst the indices of the machines on which no task should start now, the lowest index
// first. Cost: O(m) for m machines; the first call in each window takes O(m log m). AppendBanned allocates only if
// dst is too short.
func (b *Blacklist) AppendBanned(dst []int, now time.Time) []int {
	b.roll(now)
	for i := range b.machine {
		if b.machine[i].banned {
			dst = append(dst, i)
		}
	}
	return dst
}

// Predicted returns the predicted probability that a task on the machine straggles. The prediction is computed at
// the end of each window. known is false if no window has had enough tasks on the machine. Cost: O(1), no
// allocation.
func (b *Blacklist) Predicted(machine int) (p float64, known bool) {
	if machine < 0 || machine >= len(b.machine) || !b.machine[machine].seen {
		return 0, false
	}
	return b.machine[machine].predicted, true
}

// roll ends the current window if its time is over. Then it computes the predictions and bans machines for the
// next window.
func (b *Blacklist) roll(now time.Time) {
	if len(b.machine) == 0 {
		return // without machines there are no observations, and the zero Blacklist has no window
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
		// If several windows have ended since the last call, the latest window has no observations. Then no
		// machine is banned.
		if fresh && windows == 1 && m.predicted > b.config.Threshold {
			b.worst = append(b.worst, int32(i))
		}
	}
	b.banWorst()
}

// banWorst bans the machines of b.worst with the largest predictions, as many as MaxShare allows.
func (b *Blacklist) banWorst() {
	slices.SortFunc(b.worst, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.machine[y].predicted, b.machine[x].predicted), cmp.Compare(x, y))
	})
	for _, i := range b.worst[:min(len(b.worst), slots(b.config.MaxShare, len(b.machine)))] {
		b.machine[i].banned = true
	}
}

// predict computes the new prediction for a machine from the share of its tasks that straggled in the last window.
// A machine without an earlier prediction starts with average, which is this share for all machines together.
func (b *Blacklist) predict(m *health, average, share float64) {
	past := m.predicted
	if !m.seen {
		past, m.seen = average, true
	}
	m.predicted = float64(b.config.Recent*share) + float64((1-b.config.Recent)*past)
}

// average returns the share of stragglers among all tasks, on all machines, that ended in the last window.
func (b *Blacklist) average() float64 {
	slow, tasks := 0, 0
	for i := range b.machine {
		slow += b.machine[i].slow
		tasks += b.machine[i].tasks
	}
	return float64(slow) / float64(max(tasks, 1))
}
