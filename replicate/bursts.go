package replicate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/wire"
)

// LossBurstsConfig holds an operator's choices for a [LossBursts]. The zero value follows the paper as far as the
// paper gives figures.
type LossBurstsConfig struct {
	// Losses is the number of losses of one machine within Window that begin a burst, 1 to 1000. 0 means 1, as in the
	// paper. With 2, fewer recomputations are useless: 7 % instead of 24 % in the paper [Mantri §6.5]. [Off] means
	// that no burst ever begins.
	Losses int
	// Window is how long a loss counts. So the losses that begin a burst must lie within Window, and a burst ends
	// Window after them. 0 means 15 minutes. The paper gives no figure. It says that losses come in quick succession.
	Window time.Duration
	// Prior is the assumed probability, in (0, 1), that an output of a machine in a burst is lost when a task wants
	// it. Prior counts less with every output that a task wanted. 0 means 0.76 if Losses is 1, and 0.93 if Losses is
	// more. These are the shares of the paper's recomputations that were useful [Mantri §6.5].
	Prior float64
	// Weight is the weight of Prior, in outputs. After this many outputs were wanted during bursts, they count as
	// much as Prior. 0 means 20.
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

// Validate returns an error for the first field that is out of range. The error names the field, its value and its
// range.
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

// MarshalJSON returns the fields that are not zero. Names are in kebab case, durations in seconds, and Off is -1.
// UnmarshalJSON reads that form.
func (c LossBurstsConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LossBurstsConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

const (
	maxBurstLosses = 1000              // the largest LossBurstsConfig.Losses
	never          = time.Duration(-1) // marks a free place in the ring of losses
	// keepWanted limits the count of outputs that were wanted during bursts. At the limit the counts are halved, so
	// older outputs count less.
	keepWanted = 2000
)

// LossBursts says which machines are losing outputs now, and how probable the loss of another output is then. Losses
// cluster: a machine that has lost one output is likely to lose other outputs soon. So the other outputs of the
// machine may be worth a recomputation before a task asks for them [Mantri §4.2, §5.3].
//
//	Missing = (lost + Weight*Prior) / (wanted + Weight)
//
// Here wanted counts the outputs that tasks wanted from machines in a burst, and lost counts the lost outputs among
// them. The losses that begin a burst do not count, because they say nothing about later losses.
//
// The host numbers the machines from 0 and passes the times. If its clock steps back, time continues from the earlier
// reading. The zero value has no machines. A LossBursts is not safe for concurrent use. Use one for each cluster.
type LossBursts struct {
	config       LossBurstsConfig
	clock        clock.Clock
	times        []time.Duration // the latest losses: for each machine a ring of Config.Losses times
	next         []int           // by machine: the index of the oldest time in its ring
	wanted, lost int             // outputs that were wanted from machines in a burst, and lost outputs among them
}

// NewLossBursts returns a LossBursts for n machines. It returns an error if n is negative or a field of c is out of
// range; the error names the field. NewLossBursts allocates 8*(1+Losses) bytes for each machine. Later calls allocate
// nothing, except Resize.
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

// Config returns the configuration with the defaults filled in.
func (b *LossBursts) Config() LossBurstsConfig { return b.config.Effective() }

// Resize changes the number of machines. New machines have no losses, and machines beyond the number are forgotten. A
// number below 0 counts as 0. O(m) for m new machines; it allocates only to grow.
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

// Lost records that a task wanted an output of the machine and that the output was lost. It returns
// [LossBursts.Active] after this loss, and false for an unknown machine. Call Lost once for each lost output. O(1),
// no allocation.
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

// Found records that a task wanted an output of the machine and that the output existed. It returns
// [LossBursts.Active]. The output counts only if the machine is in a burst. Do not call Found for an output that was
// recomputed ahead and is read from another machine. O(1), no allocation.
func (b *LossBursts) Found(now time.Time, machine int) bool {
	active := b.Active(now, machine)
	if active {
		b.want(0)
	}
	return active
}

// want counts an output that was wanted during a burst. lost is 1 for a lost output and 0 for an existing output.
func (b *LossBursts) want(lost int) {
	if b.wanted >= keepWanted {
		b.wanted, b.lost = b.wanted/2, b.lost/2
	}
	b.wanted++
	b.lost += lost
}

// Active reports whether the machine is in a burst: whether its last Config.Losses losses were all within the last
// Window. Both ends of the Window count. An unknown machine is never in a burst. O(1), no allocation.
func (b *LossBursts) Active(now time.Time, machine int) bool {
	return b.has(machine) && b.active(b.clock.At(now), machine)
}

// Missing returns the probability, in (0, 1), that an output of the machine is lost when a task wants it. active is
// true if the machine is in a burst. If not, p is 0; use the long record in [Losses] then. O(1), no allocation.
func (b *LossBursts) Missing(now time.Time, machine int) (p float64, active bool) {
	if !b.Active(now, machine) {
		return 0, false
	}
	weight := b.config.Weight
	return (float64(b.lost) + float64(weight*b.config.Prior)) / (float64(b.wanted) + weight), true
}

// has reports whether the machine exists and bursts are not off.
func (b *LossBursts) has(machine int) bool {
	return machine >= 0 && machine < len(b.next) && b.config.Losses > 0
}

func (b *LossBursts) active(at time.Duration, machine int) bool {
	oldest := b.times[machine*b.config.Losses+b.next[machine]]
	return oldest != never && at-oldest <= b.config.Window
}

// resized returns s with n elements. New elements are zero.
func resized[T any](s []T, n int) []T {
	if n <= len(s) {
		clear(s[n:])
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}
