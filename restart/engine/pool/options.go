package pool

import (
	"fmt"
	"runtime"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Option is a choice for [Map]. A nil Option changes nothing.
type Option func(*config)

type config struct {
	goroutines int
	copies     bool // an attempt may begin while another attempt of the item runs
	restarts   bool // an attempt may begin after another attempt of the item has returned
	policy     restart.Policy
	limits     restart.Limits
	interval   time.Duration // 0: by the mean time of an attempt
	onAction   func(item int, d restart.Decision)
	ledger     *Ledger
}

// Goroutines sets how many attempts run at once, copies included. 0, the default, is runtime.GOMAXPROCS. Set more for
// functions that wait for a network or a disk. Map starts min(n, items) goroutines at its begin, even if there are
// items for fewer. A goroutine takes about 2 kB, so a million goroutines take 2 GB:
//
//	go test -run - -bench Million -benchtime 1x ./examples/pool
func Goroutines(n int) Option { return func(c *config) { c.goroutines = n } }

// Copies says that the function may run several times for an item, at once or one after the other. Several calls are
// safe if the function changes nothing, or if a second call does no harm. The package's page says which actions become
// possible.
func Copies() Option { return func(c *config) { c.copies, c.restarts = true, true } }

// Restarts says that the function may run several times for an item, one after the other. The next attempt begins when
// the context of the attempt before has ended and this attempt has returned an error.
func Restarts() Option { return func(c *config) { c.restarts = true } }

// Policy decides about slow attempts, as far as Copies or Restarts allow. Nil, the default, means restart.LeastCost{}.
func Policy(p restart.Policy) Option { return func(c *config) { c.policy = p } }

// Limits bound every policy: how often an item may be run again, and how much time copies and restarts may lose. The zero
// value, the default, is the protective default of each limit; see restart.Limits.
func Limits(l restart.Limits) Option { return func(c *config) { c.limits = l } }

// Interval is the time between two checks of the running attempts, and Δ of the policy. 0, the default, means a tenth of
// the mean time of an attempt, and at least a millisecond. A shorter Interval counts as a millisecond.
func Interval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// OnAction calls f with each action before the action is carried out. Calls of f never overlap. Other goroutines may wait
// while f runs. Nil means no call.
func OnAction(f func(item int, d restart.Decision)) Option {
	return func(c *config) { c.onAction = f }
}

// Account writes the ledger of Map to l when Map returns. Nil means no ledger.
func Account(l *Ledger) Option { return func(c *config) { c.ledger = l } }

// Ledger counts the attempts beyond the first attempt of each item, and their outcome.
type Ledger struct {
	Copies   int // attempts that began while another attempt of the item ran
	Restarts int // attempts that were ended to run the item again
	Won      int // results of an attempt that was not the first of its item
	Failed   int // attempts with an error that did not count, because another attempt of the item ran
	// Wasted is the summed time of attempts that were ended for a restart, or because another attempt was first.
	Wasted time.Duration
}

// String returns the ledger in one line, such as "copies=10 restarts=0 won=10 failed=0 wasted=1.2s".
func (l Ledger) String() string {
	return fmt.Sprintf("copies=%d restarts=%d won=%d failed=%d wasted=%v", l.Copies, l.Restarts, l.Won, l.Failed, l.Wasted)
}

// configure applies the options, checks them, and fills in the defaults.
func configure(options []Option) (c config, err error) {
	for _, o := range options {
		if o != nil {
			o(&c)
		}
	}
	switch {
	case c.goroutines < 0:
		return c, fmt.Errorf("pool: Goroutines is %d, want 1 or more, or 0 for GOMAXPROCS", c.goroutines)
	case c.interval < 0:
		return c, fmt.Errorf("pool: Interval is %v, want a positive duration, or 0 for a tenth of an attempt's mean time",
			c.interval)
	}
	if err := c.limits.Validate(); err != nil {
		return c, fmt.Errorf("pool: Limits: %w", err)
	}
	if v, checks := c.policy.(interface{ Validate() error }); checks {
		if err := v.Validate(); err != nil {
			return c, fmt.Errorf("pool: Policy: %w", err)
		}
	}
	if c.goroutines == 0 {
		c.goroutines = runtime.GOMAXPROCS(0)
	}
	if c.policy == nil {
		c.policy = restart.LeastCost{}
	}
	return c, nil
}
