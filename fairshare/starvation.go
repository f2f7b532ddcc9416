package fairshare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Starvation watches which pools have had less than they are due for how long, and plans whose tasks to kill for them.
//
// Not safe for concurrent use; one per scheduler.
type Starvation struct {
	forest
	config Preemption
	watch  []watch // by position
	claims []Claim
	plan   planner
}

// watch is what is known of one pool.
type watch struct {
	patience                Patience
	protected               bool
	starvesMin, starvesFair bool // since minSince and fairSince
	minSince, fairSince     time.Time
	cooling                 bool // until cool
	cool                    time.Time
	usage, share, least     int64 // least is the minimum that the share and the demand allow
	minDeficit, fairDeficit int64
	claimed                 int64 // by the pools under it
}

// NewStarvation returns a watch over the pools of the tree, which it does not change. Errors name the field.
//
// Cost: O(n) time and memory.
func NewStarvation(tree *Tree, config Preemption) (*Starvation, error) {
	config, err := config.withDefaults(tree.Len())
	if err != nil {
		return nil, err
	}
	pools := config.Pools
	config.Pools = nil // the caller's to change
	s := &Starvation{forest: tree.forest, config: config, watch: make([]watch, tree.Len()), plan: newPlanner(&tree.forest)}
	for i := range s.nodes {
		var own PoolPreemption
		if pools != nil {
			own = pools[s.nodes[i].pool]
		}
		from := watch{patience: config.Patience}
		if p := s.nodes[i].parent; p >= 0 {
			from = s.watch[p]
		}
		patience, err := own.Patience.inherit(from.patience, "preemption: pool "+strconv.Itoa(int(s.nodes[i].pool)))
		if err != nil {
			return nil, err
		}
		s.watch[i].patience, s.watch[i].protected = patience, own.Protected || from.protected
	}
	return s, nil
}

// Config returns the configuration with the defaults filled in, and for each pool what it has inherited.
//
// Cost: O(n) time and memory.
func (s *Starvation) Config() Preemption {
	c := s.config
	if c.Cooldown == 0 {
		c.Cooldown = NoCooldown
	}
	c.Pools = make([]PoolPreemption, len(s.nodes))
	for i := range s.watch {
		c.Pools[s.nodes[i].pool] = PoolPreemption{Patience: s.watch[i].patience, Protected: s.watch[i].protected}
	}
	return c
}

// Resume takes over the waits and cool-downs of an older watch, for when pools come and go and the tree is built anew:
// pool i goes on where the old pool from[i] stood; -1, or any other number that is not an old pool, starts afresh. It
// returns an error if from does not have one entry a pool. Call it before the first Observe.
//
// Cost: O(n), no allocation.
func (s *Starvation) Resume(old *Starvation, from []int) error {
	if len(from) != len(s.nodes) {
		return fmt.Errorf("fairshare: from has %d entries, want one for each of the %d pools", len(from), len(s.nodes))
	}
	for pool, was := range from {
		if was < 0 || was >= len(old.at) {
			continue
		}
		w, o := &s.watch[s.at[pool]], &old.watch[old.at[was]]
		w.starvesMin, w.minSince = o.starvesMin, o.minSince
		w.starvesFair, w.fairSince = o.starvesFair, o.fairSince
		w.cooling, w.cool = o.cooling, o.cool
	}
	return nil
}

// Observe tells what the pools are due and what they have: a share from [Tree.Shares] and the units in use, one each a
// pool. Usage of pools with children is not read. Call it whenever either changes. Neither slice is kept.
//
// A wait is what the clock shows since it began, which is never later than now: a clock that steps back takes off the
// wait what it steps, at most all, and prolongs no cool-down.
//
// A pool starves for its minimum while its usage is below the minimum, and for its fair share while its usage is below
// the threshold of the share; either capped by its demand. It returns an error if a slice is of the wrong length.
//
// Cost: O(n), no allocation.
func (s *Starvation) Observe(now time.Time, shares []Share, usage []int64) error {
	if len(shares) != len(s.nodes) || len(usage) != len(s.nodes) {
		return fmt.Errorf("fairshare: %d shares and %d usages, want one for each of the %d pools", len(shares), len(usage), len(s.nodes))
	}
	for i := range s.watch {
		s.watch[i].usage = 0
	}
	for i := len(s.nodes) - 1; i >= 0; i-- {
		n, w := &s.nodes[i], &s.watch[i]
		if n.leaf() {
			w.usage = max(0, usage[n.pool])
		}
		if n.parent >= 0 {
			s.watch[n.parent].usage = addSaturating(s.watch[n.parent].usage, w.usage)
		}
		w.due(shares[n.pool], int64(s.config.Threshold), s.config.Target)
		w.starvesMin = since(&w.minSince, now, w.minDeficit > 0, w.starvesMin)
		w.starvesFair = since(&w.fairSince, now, w.fairDeficit > 0, w.starvesFair)
		if w.cooling = w.cooling && now.Before(w.cool); w.cooling && w.cool.Sub(now) > s.config.Cooldown {
			w.cool = now.Add(s.config.Cooldown)
		}
	}
	return nil
}

// since starts or keeps a wait.
func since(start *time.Time, now time.Time, starves, waiting bool) bool {
	if starves && (!waiting || now.Before(*start)) {
		*start = now
	}
	return starves
}

// due works out both deficits. What a pool is due never exceeds its share, so no pool is both due and over-served.
func (w *watch) due(s Share, threshold int64, target Target) {
	w.share = max(0, s.Slots)
	full := min(w.share, max(0, s.Demand))
	w.least = max(0, min(s.Min, full))
	w.minDeficit = max(0, w.least-w.usage)
	bar, rest := mulDiv(w.share, threshold, 100)
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

// Claims returns the claims that are due now, those for a minimum first, then by index. A pool claims the larger of its
// two deficits, never their sum. A pool with children claims only what its children's own claims leave of its deficit.
// Pools that cool down claim nothing. The slice is valid until the next call.
//
// Cost: O(n), no allocation in steady state.
func (s *Starvation) Claims(now time.Time) []Claim {
	s.claims = s.claims[:0]
	for i := range s.watch {
		s.watch[i].claimed = 0
	}
	for i := len(s.nodes) - 1; i >= 0; i-- {
		w := &s.watch[i]
		c := w.claim(now)
		own := max(0, c.Deficit-w.claimed)
		if p := s.nodes[i].parent; p >= 0 {
			s.watch[p].claimed = addSaturating(s.watch[p].claimed, max(c.Deficit, w.claimed))
		}
		if own > 0 && !(w.cooling && now.Before(w.cool)) {
			c.Pool, c.Deficit = int(s.nodes[i].pool), own
			s.claims = append(s.claims, c)
		}
	}
	slices.SortFunc(s.claims, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Pool, b.Pool))
	})
	return s.claims
}

// claim returns what the pool may claim by itself.
func (w *watch) claim(now time.Time) (c Claim) {
	if waited := now.Sub(w.minSince); w.starvesMin && w.patience.Min != Never && waited >= w.patience.Min {
		c = Claim{Cause: MinTimeout, Deficit: w.minDeficit, Waited: waited, Usage: w.usage, Due: w.least}
	}
	if waited := now.Sub(w.fairSince); w.starvesFair && w.patience.Fair != Never && waited >= w.patience.Fair && w.fairDeficit > c.Deficit {
		c = Claim{Cause: FairTimeout, Deficit: w.fairDeficit, Waited: waited, Usage: w.usage, Due: w.usage + w.fairDeficit}
	}
	return c
}
