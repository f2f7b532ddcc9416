package preempt

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/exact"
	"github.com/straggler-go/straggler/internal/num"
)

// Preemptor measures how long each pool has had fewer units than it should have, and plans which tasks to kill for
// these pools. [New] makes a Preemptor. The zero value has no pools.
//
// Call [Preemptor.Observe] whenever shares or usage change, and [Preemptor.Plan] at regular intervals.
//
// A Preemptor is not safe for concurrent use. Use one Preemptor for each scheduler.
type Preemptor struct {
	hierarchy
	config Config
	clock  clock.Clock
	watch  []watch // by pool
	claims []Claim
	plan   planner
}

// watch is the state of one pool. Its instants are durations since the first instant of Preemptor.clock.
type watch struct {
	timeouts                Timeouts
	protected               bool
	starvesMin, starvesFair bool // below its minimum since minSince; below its share since fairSince
	minSince, fairSince     time.Duration
	cooling                 bool // true if the pool makes no claim before the instant cool
	cool                    time.Duration
	usage, share, least     int64 // in units; least is the minimum, and at most the share and the demand
	minDeficit, fairDeficit int64
	claimed                 int64 // units that the pools below this pool claim
	waiting                 Waiting
}

// New returns a Preemptor for the pools of the tree. It does not keep a reference to the tree or to config.Pools.
// New returns an error if tree is nil, if a field of config is out of range, or if config.Pools has the wrong
// length. The error contains the name of the field.
//
// Cost: O(n) time and memory for n pools.
func New(tree *fairshare.Tree, config Config) (*Preemptor, error) {
	if tree == nil {
		return nil, check.Bad("fairshare/preempt", "tree", "nil", "a tree of pools")
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if n := len(config.Pools); n > 0 && n != tree.Len() {
		return nil, check.Badf("fairshare/preempt", "len(Config.Pools)", n, "one for each of the %d pools", tree.Len())
	}
	p := &Preemptor{hierarchy: newHierarchy(tree), config: config.Effective(), watch: make([]watch, tree.Len()),
		plan: newPlanner(tree.Len())}
	p.config.Pools = nil // the caller may change this slice later
	for _, i := range p.order {
		var own PoolConfig
		if len(config.Pools) > 0 {
			own = config.Pools[i]
		}
		from := watch{timeouts: p.config.Timeouts}
		if parent := p.parent[i]; parent >= 0 {
			from = p.watch[parent]
		}
		w := &p.watch[i]
		w.timeouts, w.protected = own.Timeouts.or(from.timeouts), own.Protected || from.protected
		if w.timeouts.validate("") != nil {
			return nil, w.timeouts.validate(check.At("Pools", i, "Timeouts"))
		}
	}
	return p, nil
}

// Config returns the configuration with zero fields replaced by their defaults. Config.Pools has one entry for
// each pool, with the values that the pool has from its own entry or from its parents.
//
// Cost: O(n) time and memory for n pools.
func (p *Preemptor) Config() Config {
	c := p.config
	c.Pools = make([]PoolConfig, len(p.watch))
	for i := range p.watch {
		c.Pools[i] = PoolConfig{Timeouts: p.watch[i].timeouts, Protected: p.watch[i].protected}
	}
	return c
}

// Resume copies the state of an older Preemptor: its clock, how long its pools have waited, their cool-downs, and
// the sizes set by SetWaiting. Use it after pools were added or removed and a new Preemptor was made for the new
// tree. Pool i of the new tree gets the state of the old pool from[i]. If from[i] is -1 or is not the index of an
// old pool, pool i starts with a new state. Call Resume before the first call of Observe.
//
// Resume returns an error if old is nil, or if the length of from is not the number of pools.
//
// Cost: O(n) for n pools, no allocation.
func (p *Preemptor) Resume(old *Preemptor, from []int) error {
	if len(from) != len(p.watch) {
		return check.Badf("fairshare/preempt", "len(from)", len(from), "one for each of the %d pools", len(p.watch))
	}
	if old == nil {
		return check.Bad("fairshare/preempt", "old", "nil", "the Preemptor to go on from")
	}
	p.clock = old.clock
	for pool, was := range from {
		if !old.known(was) {
			continue
		}
		w, o := &p.watch[pool], &old.watch[was]
		w.starvesMin, w.minSince = o.starvesMin, o.minSince
		w.starvesFair, w.fairSince = o.starvesFair, o.fairSince
		w.cooling, w.cool = o.cooling, o.cool
		w.waiting = o.waiting
	}
	return nil
}

// SetWaiting sets the size of the tasks that a pool waits to run, until the next call for that pool. A plan then
// grants units to the pool in multiples of this size. If [Waiting.OneMachine] is true, the units of a task are on
// the same machine. If this is impossible, the plan kills nothing for the pool. SetWaiting returns false for an
// unknown pool.
//
// A plan grants units only to pools that have waited too long for units that they should have. A pool that has
// these units is granted nothing, even if it waits to run a large task and many units are free. Assign free units
// yourself, for example with [fairshare.Index].
//
// Cost: O(1), no allocation.
func (p *Preemptor) SetWaiting(pool int, w Waiting) bool {
	if !p.known(pool) {
		return false
	}
	p.watch[pool].waiting = w
	return true
}

// Observe stores the share and the usage of each pool, in the order of the pools. [fairshare.Tree.Shares] returns
// the shares. usage[i] is the number of units that pool i uses; it is ignored if the pool has children. Call
// Observe whenever shares or usage change. Observe does not keep a reference to the slices. It returns an error if
// a slice has the wrong length.
//
// A pool is below its minimum while it uses fewer units than [fairshare.Share.Needed]. A pool is below its fair
// share while it uses less than the part [Config.Threshold] of the share. In both cases the pool must also use
// less than its demand.
//
// All methods of a Preemptor use the same clock. If now is before the now of an earlier call, no time has passed
// between the two calls, and the pools continue to wait from the new instant.
//
// Cost: O(n) for n pools, no allocation.
func (p *Preemptor) Observe(now time.Time, shares []fairshare.Share, usage []int64) error {
	for _, got := range [...]struct {
		name string
		n    int
	}{{"len(shares)", len(shares)}, {"len(usage)", len(usage)}} {
		if got.n != len(p.watch) {
			return check.Badf("fairshare/preempt", got.name, got.n, "one for each of the %d pools", len(p.watch))
		}
	}
	at := p.clock.At(now)
	for i := range p.watch {
		p.watch[i].usage = 0
	}
	millionths := p.config.millionths()
	for _, i := range slices.Backward(p.order) {
		w := &p.watch[i]
		if p.leaf[i] {
			w.usage = max(0, usage[i])
		}
		if parent := p.parent[i]; parent >= 0 {
			p.watch[parent].usage = exact.Add(p.watch[parent].usage, w.usage)
		}
		w.due(&shares[i], millionths, p.config.Target)
		w.starvesMin = since(&w.minSince, at, w.minDeficit > 0, w.starvesMin)
		w.starvesFair = since(&w.fairSince, at, w.fairDeficit > 0, w.starvesFair)
		w.cooling = w.cooling && at < w.cool
	}
	return nil
}

// since returns starves, which says whether a pool has too few units now. If the pool did not wait before, and
// starves is true, since sets *start to the instant at.
func since(start *time.Duration, at time.Duration, starves, waiting bool) bool {
	if starves && !waiting {
		*start = at
	}
	return starves
}

// due computes how many units the pool lacks: minDeficit to reach its minimum, and fairDeficit to reach its share or
// the threshold of its share. Both are computed from a number of units that is at most the share. So a pool with a
// deficit never uses more than its share.
func (w *watch) due(s *fairshare.Share, threshold int64, target Target) {
	w.share = max(0, s.Slots)
	full := min(w.share, max(0, s.Demand))
	w.least = max(0, min(s.Needed, full))
	w.minDeficit = max(0, w.least-w.usage)
	bar, rest := exact.MulDiv(w.share, threshold, million)
	if rest > 0 {
		bar++ // usage is a whole number: usage below 33.3 means usage below 34
	}
	bar = min(bar, full)
	w.fairDeficit = 0
	switch {
	case w.usage >= bar:
	case target == ToThreshold:
		w.fairDeficit = bar - w.usage
	default:
		w.fairDeficit = full - w.usage
	}
}

// CoolDown makes a pool claim no units for the time [Config.Cooldown], starting at now. Call it if the host itself
// has chosen tasks to kill for the pool. For tasks that [Preemptor.Plan] has chosen, Plan calls it. CoolDown
// returns false for an unknown pool.
//
// Cost: O(1), no allocation.
func (p *Preemptor) CoolDown(now time.Time, pool int) bool {
	if !p.known(pool) {
		return false
	}
	p.watch[pool].coolDown(p.clock.At(now), p.config.Cooldown)
	return true
}

func (w *watch) coolDown(at, cooldown time.Duration) {
	w.cooling, w.cool = cooldown != Off, num.Add(at, cooldown)
}

// Claims returns the requests of pools that have had too few units for too long at now. Claims for a minimum come
// before claims for a fair share, and claims of the same cause are sorted by pool index. The slice is valid until the
// next call. A pool claims the larger of two numbers, and never their sum: the units that it lacks to reach its
// minimum, and the units that it lacks to reach its share. From the claim of a pool with children, the claims of the
// pools below it are subtracted. A pool makes no claim during its cool-down.
//
// Cost: O(n) for n pools, no allocation in steady state.
func (p *Preemptor) Claims(now time.Time) []Claim { return p.claimsAt(p.clock.At(now)) }

func (p *Preemptor) claimsAt(at time.Duration) []Claim {
	p.claims = p.claims[:0]
	for i := range p.watch {
		p.watch[i].claimed = 0
	}
	for _, i := range slices.Backward(p.order) {
		w := &p.watch[i]
		c := w.claim(at)
		own := max(0, c.Deficit-w.claimed)
		if parent := p.parent[i]; parent >= 0 {
			p.watch[parent].claimed = exact.Add(p.watch[parent].claimed, max(c.Deficit, w.claimed))
		}
		if own > 0 && !(w.cooling && at < w.cool) {
			c.Pool, c.Deficit = int(i), own
			p.claims = append(p.claims, c)
		}
	}
	slices.SortFunc(p.claims, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Pool, b.Pool))
	})
	return p.claims
}

// claim returns the claim of the pool at the instant at. The claims of pools below it are not yet subtracted. The
// Deficit of the result is 0 if the pool has no claim.
func (w *watch) claim(at time.Duration) (c Claim) {
	if waited := num.Sub(at, w.minSince); w.starvesMin && w.timeouts.Min != Off && waited >= w.timeouts.Min {
		c = Claim{Cause: BelowMinimum, Deficit: w.minDeficit, Waited: waited, Usage: w.usage, Due: w.least}
	}
	waited := num.Sub(at, w.fairSince)
	if w.starvesFair && w.timeouts.Fair != Off && waited >= w.timeouts.Fair && w.fairDeficit > c.Deficit {
		c = Claim{Cause: BelowShare, Deficit: w.fairDeficit, Waited: waited, Usage: w.usage, Due: w.usage + w.fairDeficit}
	}
	return c
}
