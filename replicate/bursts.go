package replicate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/wire"
)

// LossBurstsConfig holds the choices of a [LossBursts]. Its zero value has the paper's.
type LossBurstsConfig struct {
	// Losses is how many losses of a machine within Window begin a burst. 0 means 1, as in the paper; 2 makes fewer
	// recomputations useless, 7 % against 24 % in the paper [Mantri §6.5]. Off: none ever.
	Losses int
	// Window is how far back losses count: how close together they must be, and how long a burst is taken to last. 0
	// means 15 minutes. The paper gives no figure; its losses come in quick succession.
	Window time.Duration
	// Prior is the probability, in (0, 1), that an output of a machine in a burst is lost when it is wanted, to be
	// assumed before anything is known. 0 means 0.76 if Losses is 1 and 0.93 if it is more: how often the paper's
	// recomputations were of use [Mantri §6.5].
	Prior float64
	// Weight is the number of outputs wanted during bursts at which what was seen weighs as much as Prior. 0 means 20.
	Weight float64
}

// Effective returns the configuration with its defaults filled in.
func (c LossBurstsConfig) Effective() LossBurstsConfig {
	c.Losses = check.Or(c.Losses, 1)
	c.Window = check.Or(c.Window, 15*time.Minute)
	if c.Losses > 1 {
		c.Prior = check.Or(c.Prior, 0.93)
	}
	c.Prior = check.Or(c.Prior, 0.76)
	c.Weight = check.Or(c.Weight, 20)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c LossBurstsConfig) Validate() error {
	const place = "replicate: LossBurstsConfig"
	return cmp.Or(
		check.Count(place, "Losses", c.Losses, true),
		check.Within(place, "Losses", max(c.Losses, 0), 1, maxBurstLosses),
		check.Length(place, "Window", c.Window),
		check.Probability(place, "Prior", c.Prior),
		check.Factor(place, "Weight", c.Weight),
	)
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c LossBurstsConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LossBurstsConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

const (
	maxBurstLosses = 1000
	never          = time.Duration(-1)
	// keepWanted is how many outputs wanted during bursts count; beyond it the older ones fade.
	keepWanted = 2000
)

// LossBursts tells which machines are losing outputs now, and how probable it then is that another output is lost.
// Losses cluster: a machine that has lost one output is likely to lose others soon, so what else it holds is worth
// recomputing before anyone asks for it [Mantri §4.2, §5.3].
//
//	Missing = (lost + Weight*Prior) / (wanted + Weight)
//
// over the outputs wanted from machines that were in a burst. The loss that begins a burst is no evidence of what
// follows, and is not counted.
//
// Times come from the host; time goes on from where its clock steps back to. Machines are numbered from 0 by the host.
// The zero value has no machines. Not safe for concurrent use; one per cluster.
type LossBursts struct {
	config       LossBurstsConfig
	clock        clock.Clock
	times        []time.Duration // of the latest losses, a ring of Losses per machine
	next         []int           // the oldest of a machine's ring
	wanted, lost int             // of machines in a burst
}

// NewLossBursts returns a LossBursts for n machines, or an error that names the field that is out of range. It
// allocates 8*(1+Losses) bytes a machine, and nothing after that.
func NewLossBursts(n int, c LossBurstsConfig) (*LossBursts, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, check.Bad("replicate", "the number of machines", n, "0 or more")
	}
	b := &LossBursts{config: c}
	b.Resize(n)
	return b, nil
}

// Config returns the configuration with its defaults filled in.
func (b *LossBursts) Config() LossBurstsConfig { return b.config.Effective() }

// Resize changes the number of machines. New ones come without a past, and those beyond the number are forgotten. A
// number below 0 counts as 0. O(m) with m new machines; allocates only to grow.
func (b *LossBursts) Resize(machines int) {
	b.config = b.Config()
	machines = max(machines, 0)
	ring := max(b.config.Losses, 0)
	b.next = resized(b.next, machines)
	old := len(b.times)
	b.times = resized(b.times, machines*ring)
	for i := old; i < len(b.times); i++ {
		b.times[i] = never
	}
}

// Lost records that an output of the machine was wanted and found to be lost, and returns [LossBursts.Active]. Call it
// once for each output. O(1), no allocation.
func (b *LossBursts) Lost(now time.Time, machine int) bool {
	if !b.has(machine) {
		return false
	}
	at := b.clock.At(now)
	if b.active(at, machine) {
		b.want(1)
	}
	b.times[machine*b.config.Losses+b.next[machine]] = at
	b.next[machine] = (b.next[machine] + 1) % b.config.Losses
	return b.active(at, machine)
}

// Found records that an output of the machine was wanted and was there, and returns [LossBursts.Active]. It is evidence
// if the machine is in a burst. An output that was recomputed ahead, and so is read elsewhere, is none: leave it out.
// O(1), no allocation.
func (b *LossBursts) Found(now time.Time, machine int) bool {
	active := b.Active(now, machine)
	if active {
		b.want(0)
	}
	return active
}

// want counts an output that was wanted during a burst.
func (b *LossBursts) want(lost int) {
	if b.wanted >= keepWanted {
		b.wanted, b.lost = b.wanted/2, b.lost/2
	}
	b.wanted++
	b.lost += lost
}

// Active reports whether the machine is in a burst: whether its latest losses, as many as begin one, were all within
// the last Window, its ends included. A machine that does not exist is never in one. O(1), no allocation.
func (b *LossBursts) Active(now time.Time, machine int) bool {
	return b.has(machine) && b.active(b.clock.At(now), machine)
}

// Missing returns the probability, in (0, 1), that an output of the machine is lost when it is wanted, given that the
// machine is in a burst, and whether it is in one. If it is not, its long record tells more ([Losses]). O(1), no
// allocation.
func (b *LossBursts) Missing(now time.Time, machine int) (p float64, active bool) {
	if !b.Active(now, machine) {
		return 0, false
	}
	weight := b.config.Weight
	return (float64(b.lost) + float64(weight*b.config.Prior)) / (float64(b.wanted) + weight), true
}

func (b *LossBursts) has(machine int) bool {
	return machine >= 0 && machine < len(b.next) && b.config.Losses > 0
}

func (b *LossBursts) active(at time.Duration, machine int) bool {
	oldest := b.times[machine*b.config.Losses+b.next[machine]]
	return oldest != never && at-oldest <= b.config.Window
}

func resized[T any](s []T, n int) []T {
	if n <= len(s) {
		clear(s[n:])
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}
