package replicate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/wire"
)

// LossBurstsConfig contains an operator's choices for a [LossBursts]. The zero value has the numbers of the paper,
// where the paper gives numbers.
type LossBurstsConfig struct {
	// Losses is the number of losses of one machine within Window that begin a burst, from 1 to 1000. 0 means 1, as
	// in the paper. With 2, fewer recomputations are useless: 7 % instead of 24 % in the paper [Mantri §6.5]. [Off]
	// means that no burst ever begins.
	Losses int `want:"count or off"`
	// Window is how long a loss is remembered. The losses that begin a burst must be within one Window. The burst
	// ends one Window after the first of these losses, unless there are further losses. 0 means 15 minutes. The
	// paper gives no number. It says that losses come in quick succession.
	Window time.Duration `want:"length"`
	// Prior is the assumed probability, in (0, 1), that an output of a machine in a burst is lost when a task wants
	// to read it. With every output that a task wants to read, Prior has less effect on [LossBursts.Missing]. 0
	// means 0.76 if Losses is 1, and 0.93 if Losses is more. These are the shares of the paper's recomputations
	// that were useful [Mantri §6.5].
	Prior float64 `want:"probability"`
	// Weight is how strong Prior is, as a number of outputs. After tasks have wanted this many outputs of machines
	// in a burst, these outputs have the same weight as Prior. 0 means 20.
	Weight float64 `want:"factor"`
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

// Validate returns an error for the first field that is out of range. The error contains the name of the field, its
// value and its range.
func (c LossBurstsConfig) Validate() error {
	const place = "replicate: LossBurstsConfig"
	return cmp.Or(check.Valid(c), check.Within(place, "Losses", max(c.Losses, 0), 1, maxBurstLosses))
}

// MarshalJSON returns the fields that are not zero as JSON. Names are in kebab case, durations are in seconds, and
// Off is -1. UnmarshalJSON reads that form.
func (c LossBurstsConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LossBurstsConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

const (
	maxBurstLosses = 1000              // the largest LossBurstsConfig.Losses
	never          = time.Duration(-1) // entry in a ring of losses that contains no loss
	// keepWanted is the largest number of outputs wanted from machines in a burst. If the number reaches
	// keepWanted, it is halved, and so is the number of lost outputs. So older outputs have less weight.
	keepWanted = 2000
)

// LossBursts says which machines are losing outputs now, and how probable the loss of another output is. Losses
// come in bursts: a machine that has lost one output is likely to lose other outputs soon. So the other outputs of
// the machine may be worth a recomputation before a task asks for them [Mantri §4.2, §5.3].
//
//	Missing = (lost + Weight*Prior) / (wanted + Weight)
//
// Missing is the probability that an output of a machine in a burst is lost. Here wanted is the number of outputs
// that tasks wanted to read from machines in a burst, and lost is the number of lost outputs among them. The losses
// that begin a burst are not included, because they say nothing about later losses.
//
// The host numbers the machines from 0 and passes the times. If the host's clock steps back, time continues from
// the earlier reading. The zero value has no machines. A LossBursts is not safe for concurrent use. Use a separate
// LossBursts for each cluster.
type LossBursts struct {
	config LossBurstsConfig
	clock  clock.Clock
	times  []time.Duration // times of the latest losses: for each machine a ring of Config.Losses times
	next   []int           // for each machine, the index of the oldest time in its ring
	// Number of outputs that tasks wanted from machines in a burst, and number of lost outputs among them.
	wanted, lost int
}

// NewLossBursts returns a LossBursts for n machines. It returns an error if n is negative or if a field of c is out
// of range; the error names the field. NewLossBursts allocates 8*(1+Losses) bytes for each machine. Of the methods,
// only Resize and the snapshot allocate.
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

// Resize changes the number of machines. New machines have no losses. If the number becomes smaller, the losses of
// the machines at its end are removed. A negative number is treated as 0. Resize takes O(m) for m new machines. It
// allocates only if the number grows.
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

// Lost records that a task wanted to read an output of the machine and that the output was lost. It returns true if
// the machine is in a burst after this loss; see [LossBursts.Active]. It returns false for an unknown machine. Call
// Lost a single time for each lost output. O(1), no allocation.
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

// Found records that a task wanted to read an output of the machine and that the output existed. It returns true if
// the machine is in a burst; see [LossBursts.Active]. If the machine is not in a burst, Found records nothing. Do
// not call Found for an output that was recomputed before and is read from another machine. O(1), no allocation.
func (b *LossBursts) Found(now time.Time, machine int) bool {
	active := b.Active(now, machine)
	if active {
		b.want(0)
	}
	return active
}

// want records that a task wanted an output of a machine in a burst. lost is 1 for a lost output and 0 for an
// existing output.
func (b *LossBursts) want(lost int) {
	if b.wanted >= keepWanted {
		b.wanted, b.lost = b.wanted/2, b.lost/2
	}
	b.wanted++
	b.lost += lost
}

// Active reports whether the machine is in a burst: whether its last Config.Losses losses all happened at most one
// Window ago. An unknown machine is never in a burst. O(1), no allocation.
func (b *LossBursts) Active(now time.Time, machine int) bool {
	return b.has(machine) && b.active(b.clock.At(now), machine)
}

// Missing returns the probability, in (0, 1), that an output of the machine is lost when a task wants to read it.
// If the machine is not in a burst, Missing returns 0 and false; then [Losses.Probability] gives the probability.
// O(1), no allocation.
func (b *LossBursts) Missing(now time.Time, machine int) (p float64, active bool) {
	if !b.Active(now, machine) {
		return 0, false
	}
	weight := b.config.Weight
	return (float64(b.lost) + float64(weight*b.config.Prior)) / (float64(b.wanted) + weight), true
}

// has reports whether the machine exists and Config.Losses is not Off.
func (b *LossBursts) has(machine int) bool {
	return machine >= 0 && machine < len(b.next) && b.config.Losses > 0
}

func (b *LossBursts) active(at time.Duration, machine int) bool {
	oldest := b.times[machine*b.config.Losses+b.next[machine]]
	return oldest != never && at-oldest <= b.config.Window
}

// resized returns s with its length changed to n. New elements are zero.
func resized[T any](s []T, n int) []T {
	if n <= len(s) {
		clear(s[n:])
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}
