package pool

import (
	"fmt"
	"runtime"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Option is a choice for [Map].
type Option func(*config)

type config struct {
	goroutines int
	copies     bool // a run may begin while another of the same item goes on
	restarts   bool // a run may begin when another of the same item has ended
	policy     restart.Policy
	limits     restart.Limits
	interval   time.Duration // 0: by the mean time of a run
	tell       func(item int, d restart.Decision)
	ledger     *Ledger
}

// Goroutines says how many runs go on at once, copies among them. 0, the default, is as many as Go runs at once:
// runtime.GOMAXPROCS. Work that waits for something else than a processor deserves more. Map starts min(n, items)
// goroutines at once, whether there is work for all of them or not. Each takes about 2 kB, so a million take 2 GB: see go
// test -run - -bench Million -benchtime 1x ./examples/pool.
func Goroutines(n int) Option { return func(c *config) { c.goroutines = n } }

// Copies says that the function may run several times for an item, at once or one after the other: it changes nothing, or
// nothing that a second run would spoil. See the package's page for what becomes possible by that.
func Copies() Option { return func(c *config) { c.copies, c.restarts = true, true } }

// Restarts says that the function may run several times for an item, one after the other. The next run begins when the
// context of the run before has ended and that run has returned an error.
func Restarts() Option { return func(c *config) { c.restarts = true } }

// Policy says what to do about a run by its age, once the function was said to bear it. Nil, the default, is
// restart.LeastCost{}.
func Policy(p restart.Policy) Option { return func(c *config) { c.policy = p } }

// Limits hold around every policy: how often an item may be run again, and what copies and restarts may lose. The zero value, the
// default, protects.
func Limits(l restart.Limits) Option { return func(c *config) { c.limits = l } }

// Interval is how often the pool looks at what runs, and Δ of the policy. 0, the default, is a tenth of the mean time of
// a run, and at least a millisecond.
func Interval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// Tell has a function told of each decision that is carried out. It is called by one goroutine at a time, and holds the
// others up.
func Tell(f func(item int, d restart.Decision)) Option { return func(c *config) { c.tell = f } }

// Account has the account of the run written to l when Map returns.
func Account(l *Ledger) Option { return func(c *config) { c.ledger = l } }

// Ledger says what was done beside one run for each item, and what for.
type Ledger struct {
	Copies   int // runs that were begun while another of the same item went on
	Restarts int // runs that were ended to begin again
	Won      int // results of a run that was not its item's first
	Failed   int // runs whose error did not count, since another run of the item went on
	// Wasted is the time of runs that were ended since another was first or was to begin, summed up.
	Wasted time.Duration
}

// String says it in one line.
func (l Ledger) String() string {
	return fmt.Sprintf("copies=%d restarts=%d won=%d failed=%d wasted=%v", l.Copies, l.Restarts, l.Won, l.Failed, l.Wasted)
}

func configure(options []Option) (c config, err error) {
	for _, o := range options {
		if o != nil {
			o(&c)
		}
	}
	switch {
	case c.goroutines < 0:
		return c, fmt.Errorf("pool: Goroutines is %d, want 1 or more, or 0 for as many as run at once", c.goroutines)
	case c.interval < 0:
		return c, fmt.Errorf("pool: Interval is %v, want a positive duration, or 0 for one by the runs' times", c.interval)
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
