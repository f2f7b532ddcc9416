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

// Preemptor measures how long each pool has had fewer units than it is due, and plans which tasks to kill for these
// pools. [New] makes a Preemptor. The zero value has no pools.
//
// Call [Preemptor.Observe] whenever shares or usage change, and [Preemptor.Plan] at regular intervals.
//
// A Preemptor is not safe for concurrent use. Use one for each scheduler.
type Preemptor struct {
	hierarchy
	config Config
	clock  clock.Clock
	watch  []watch // by pool
	claims []Claim
	plan   planner
}

// watch holds the state of one pool. Instants are in the time of Preemptor.clock.
type watch struct {
	timeouts                Timeouts
	protected               bool
	starvesMin, starvesFair bool // the pool starves since minSince and fairSince
	minSince, fairSince     time.Duration
	cooling                 bool // the pool makes no claim until cool
	cool                    time.Duration
	usage, share, least     int64 // least is the minimum, capped by the share and the demand
	minDeficit, fairDeficit int64
	claimed                 int64 // units that the pools below this pool claim
	waiting                 Waiting
}

// New returns a Preemptor for the pools of the tree. It does not keep the tree or config.Pools. New returns an error
// if tree is nil, if a field of config is out of range, or if config.Pools has the wrong length. The error names the
// field.
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
	p.config.Pools = nil // the caller may change the slice
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

// Config returns the configuration with the defaults filled in. Config.Pools has one entry for each pool, with the
// values that the pool has inherited.
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

// Resume copies the clock, the waits, the cool-downs and the waiting tasks of an older Preemptor. Use it after pools
// were added or removed and the tree was built again. Pool i continues the state of the old pool from[i]. If from[i]
// is -1 or another number that is no old pool, pool i starts with a new state. Call Resume before the first Observe.
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
// grants the pool units in multiples of that size; with [Waiting.OneMachine] the units of a task lie on one machine.
// If this is impossible, the plan kills nothing for the pool. SetWaiting returns false for an unknown pool.
//
// A plan grants units only to pools that starve. A pool that has its due units is granted nothing, even if it waits
// for a large task and many units are free. Hand out free units yourself, for example with [fairshare.Index].
//
// Cost: O(1), no allocation.
func (p *Preemptor) SetWaiting(pool int, w Waiting) bool {
	if !p.known(pool) {
		return false
	}
	p.watch[pool].waiting = w
	return true
}

// Observe tells the preemptor the share and the usage of each pool, in the pools' order. The shares come from
// [fairshare.Tree.Shares], and usage counts the units in use. The usage of pools with children is ignored. Call
// Observe whenever shares or usage change. Observe keeps neither slice. It returns an error if a slice has the wrong
// length.
//
// A pool starves for its minimum while its usage is below [fairshare.Share.Needed]. A pool starves for its fair share
// while its usage is below the threshold of the share. Both bounds are capped by the pool's demand.
//
// All calls of a Preemptor share one clock. If now is before an earlier now, no time has passed, and waits continue
// from the new time.
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

// since sets start to at if a wait begins now, and returns whether the pool waits.
func since(start *time.Duration, at time.Duration, starves, waiting bool) bool {
	if starves && !waiting {
		*start = at
	}
	return starves
}

// due computes both deficits from the pool's share and usage. The due units never exceed the share. So a pool with a
// deficit never has more than its share.
func (w *watch) due(s *fairshare.Share, threshold int64, target Target) {
	w.share = max(0, s.Slots)
	full := min(w.share, max(0, s.Demand))
	w.least = max(0, min(s.Needed, full))
	w.minDeficit = max(0, w.least-w.usage)
	bar, rest := exact.MulDiv(w.share, threshold, million)
	if rest > 0 {
		bar++ // whole units: usage below 33.3 means usage below 34
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

// CoolDown starts the cool-down of a pool. Call it if the host has chosen victims for the pool's claim by itself.
// [Preemptor.Plan] does so for its own victims. CoolDown returns false for an unknown pool.
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

// Claims returns the claims that are due at now. Claims for a minimum come first, and then the pool index decides.
// The slice is valid until the next call. A pool claims the larger of its two deficits, and never their sum. A pool
// with children claims its own deficit minus the claims of the pools below it. A pool that cools down claims nothing.
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

// claim returns the pool's claim without regard to the pools below it. Its Deficit is 0 if the pool has no claim.
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
