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

// Preemptor watches which pools have had less than they are due for how long, and plans whose tasks to kill for them.
// The zero value watches no pools. It is not safe for concurrent use; one per scheduler.
type Preemptor struct {
	hierarchy
	config Config
	clock  clock.Clock
	watch  []watch // by pool
	claims []Claim
	plan   planner
}

// watch is what is known of one pool. Instants are in the time of the clock.
type watch struct {
	timeouts                Timeouts
	protected               bool
	starvesMin, starvesFair bool // since minSince and fairSince
	minSince, fairSince     time.Duration
	cooling                 bool // until cool
	cool                    time.Duration
	usage, share, least     int64 // least is the minimum that the share and the demand allow
	minDeficit, fairDeficit int64
	claimed                 int64 // by the pools under it
	waiting                 Waiting
}

// New returns a Preemptor for the pools of the tree, which it does not keep. Errors name the field.
//
// Cost: O(n) time and memory.
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
	p.config.Pools = nil // the caller's to change
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

// Config returns the configuration with the defaults filled in, and for each pool what it has inherited.
//
// Cost: O(n) time and memory.
func (p *Preemptor) Config() Config {
	c := p.config
	c.Pools = make([]PoolConfig, len(p.watch))
	for i := range p.watch {
		c.Pools[i] = PoolConfig{Timeouts: p.watch[i].timeouts, Protected: p.watch[i].protected}
	}
	return c
}

// Resume takes over the clock, the waits and the cool-downs of an older Preemptor, for when pools come and go and the
// tree is built again: pool i goes on where the old pool from[i] stood; -1, or any other number that is not an old
// pool, starts afresh. It returns an error if from does not have one entry a pool. Call it before the first Observe.
//
// Cost: O(n), no allocation.
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

// SetWaiting says what a pool has to run next, until the next call for that pool. A pool whose tasks need several units
// gets them in multiples, on one machine if it must be, or nothing is killed for it. It reports false for an unknown
// pool.
//
// A plan looks after pools that starve, and after no other. A pool that has what it is due is granted nothing, whatever it
// waits for and however many units are free: hand free units out yourself, as by [fairshare.Index].
//
// Cost: O(1), no allocation.
func (p *Preemptor) SetWaiting(pool int, w Waiting) bool {
	if !p.known(pool) {
		return false
	}
	p.watch[pool].waiting = w
	return true
}

// Observe tells what the pools are due and what they have: a share from [fairshare.Tree.Shares] and the units in use,
// one each a pool. Usage of pools with children is not read. Call it whenever either changes. Neither slice is kept.
//
// A pool starves for its minimum while its usage is below what it needs of it, and for its fair share while its usage
// is below the threshold of the share; either capped by its demand. It returns an error if a slice is of the wrong
// length.
//
// Time is the clock's of the whole Preemptor: where now steps back, no time has passed, and waits go on from there.
//
// Cost: O(n), no allocation.
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

// since starts or keeps a wait.
func since(start *time.Duration, at time.Duration, starves, waiting bool) bool {
	if starves && !waiting {
		*start = at
	}
	return starves
}

// due works out both deficits. What a pool is due never exceeds its share, so no pool is both due and over-served.
func (w *watch) due(s *fairshare.Share, threshold int64, target Target) {
	w.share = max(0, s.Slots)
	full := min(w.share, max(0, s.Demand))
	w.least = max(0, min(s.Needed, full))
	w.minDeficit = max(0, w.least-w.usage)
	bar, rest := exact.MulDiv(w.share, threshold, million)
	if rest > 0 {
		bar++ // usage below 33.3 is usage below 34
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

// CoolDown starts the cool-down of a pool for which a host has chosen victims by itself; a [Preemptor.Plan] does so
// for its own. It reports false for an unknown pool.
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

// Claims returns the claims that are due now, those for a minimum first, then by index. A pool claims the larger of
// its two deficits, never their sum. A pool with children claims only what its children's own claims leave of its
// deficit. Pools that cool down claim nothing. The slice is valid until the next call.
//
// Cost: O(n), no allocation in steady state.
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

// claim returns what the pool may claim by itself.
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
