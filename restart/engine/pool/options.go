package pool

import (
	"fmt"
	"runtime"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// Option is a setting of one call of [Map], [Each] or [EachSeq]. A nil Option changes nothing.
type Option func(*config)

type config struct {
	goroutines int
	copies     bool // an attempt may begin while another attempt of the item runs
	restarts   bool // an attempt may begin after another attempt of the item has returned
	policy     restart.Policy
	limits     restart.Limits
	interval   time.Duration // time between two checks; 0: a tenth of the mean time of an attempt
	timeout    time.Duration // time after which the context of an attempt ends; 0: no such time
	work       any           // nil, or a func(T) float64 for items of the type T
	onAction   func(item int, d restart.Decision)
	ledger     *Ledger
	bill       *shadow.Bill // not nil: the pool decides, and starts no copies and restarts
}

// Goroutines sets how many attempts run at once, copies included. 0, the default, means runtime.GOMAXPROCS(0). Set a
// higher number for functions that wait for a network or a disk. The pool starts its goroutines at the beginning: n
// goroutines, or as many as there are items in the slice if that is fewer. A goroutine takes about 2 kB of memory, so
// a million goroutines take 2 GB. This command measures a million goroutines:
//
//	go test -run - -bench Million -benchtime 1x ./examples/pool
func Goroutines(n int) Option { return func(c *config) { c.goroutines = n } }

// Copies allows the pool to call the function several times for an item, at the same time or one after the other.
// This is safe if the function changes nothing, or if a second call does no harm. Then the pool may start a copy of a
// slow attempt, and may restart a hung attempt.
func Copies() Option { return func(c *config) { c.copies, c.restarts = true, true } }

// Restarts allows the pool to call the function several times for an item, one call after the other. To restart a slow
// attempt, the pool ends the attempt's context. The pool begins the next attempt of the item after the slow attempt has
// returned an error.
func Restarts() Option { return func(c *config) { c.restarts = true } }

// Policy sets the policy that decides which slow attempts are copied or restarted. Without the option Copies no
// attempt is copied, and without Copies and Restarts the policy is never asked. Nil, the default, means
// restart.LeastCost{}.
func Policy(p restart.Policy) Option { return func(c *config) { c.policy = p } }

// Limits sets limits that hold whatever the policy decides: how often an item may be run again, and how much time
// copies and restarts may waste. In the zero value, which is the default, each limit has the default that
// restart.Limits documents.
func Limits(l restart.Limits) Option { return func(c *config) { c.limits = l } }

// Interval sets the time between two checks of the running attempts. The policy uses the same time as its Δ, the time
// until its next decision. 0, the default, means a tenth of the mean time of an attempt, but at least a millisecond
// and at least 10 µs times the number of goroutines. A positive Interval below a millisecond is raised to a
// millisecond.
func Interval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// Timeout sets the longest time of one attempt. When this time has passed, the attempt's context ends. If the attempt
// then returns an error, it has failed: errors.Is(err, context.DeadlineExceeded) is true for its error. If the
// attempt returns a result, the result is used. If another attempt of the item runs at this time, the pool waits for
// it, and starts no further attempt of the item. 0, the default, means no timeout. With Copies or Restarts a hung
// attempt usually ends before its timeout, because the pool restarts it. A timeout is still useful for the case that
// all goroutines hang at the beginning, when the pool has no time to compare with.
func Timeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// Work tells the pool how large an item is, in units of the caller's choice, such as bytes. The function returns a
// positive number. The pool then compares times per unit of work, so an attempt of a large item is not slow because
// its item is large. The pool calls the function once for each item, before the item's first attempt. The type T must
// be the type of the items. If it is another type, [Map] returns an error. Without Work, or if size is nil, all items
// have the same size. Policies of package rules that read the run times of whole tasks, such as Dryad, start nothing
// if Work is set.
func Work[T any](size func(item T) float64) Option { return func(c *config) { c.work = size } }

// OnAction makes the pool call f before each copy, restart and kill. item is the index of the item, and d is the
// policy's decision. In it, Attempt is the number of the attempt to kill: the attempts of an item are numbered from 0 in
// the order in which they began. The pool makes one call of f at a time. While f runs, other goroutines of the pool may
// wait, so f should return soon. Nil means that no function is called.
func OnAction(f func(item int, d restart.Decision)) Option {
	return func(c *config) { c.onAction = f }
}

// Shadow makes the pool decide about slow attempts without acting: it calls the function once for each item. When Map
// returns, or when the loop of Each is over, the pool writes to *b how much time the option Copies would have saved:
//
//	var bill shadow.Bill
//	pages, err := pool.Map(ctx, urls, fetch, pool.Goroutines(32), pool.Shadow(&bill))
//	log.Print(bill)
//
// This prints a line such as:
//
//	saves -2 % to 52 %, by how many slow attempts were bad luck: 1.52s to 720ms in place of 1.5s, with 7 copies and 0 restarts
//
// One run of an item cannot show why it took long, so the bill has two shares. The first share, Saved, holds if each
// slow item is large, so that a copy is as slow. The second share, AtMost, holds if each slow attempt was bad luck, as
// with most requests to a service. Times, copies and restarts in the bill belong to Saved. The function
// of the option OnAction is called with the first decision about each item. With Shadow, the options Copies and
// Restarts have no effect. The bill is of the first items: about 130,000 divided by the number of goroutines, and at
// least 512. To compute it takes one or two seconds with up to 256 goroutines, and less for fewer items: 20 ms for 200
// items on 40 goroutines. If Map returns an error, the bill is empty. Nil means that the pool acts.
func Shadow(b *shadow.Bill) Option { return func(c *config) { c.bill = b } }

// Account makes the pool write its ledger to *l when Map returns, or when the loop of Each is over: the numbers of
// copies and restarts, and their outcome. Nil means that no ledger is written.
func Account(l *Ledger) Option { return func(c *config) { c.ledger = l } }

// Ledger counts the attempts beyond the first attempt of each item, and their outcome.
type Ledger struct {
	Copies   int // attempts that began while another attempt of the item ran
	Restarts int // attempts whose context was ended so that the item could be run again
	Won      int // items whose result came from an attempt other than the item's first attempt
	Failed   int // attempts with an error that the pool ignored, because another attempt of the item ran or was due to run
	// Wasted is the summed run time of attempts whose context was ended and whose result was not used: attempts that
	// were restarted, and attempts that were slower than another attempt of the item.
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
	case c.timeout < 0:
		return c, fmt.Errorf("pool: Timeout is %v, want a positive duration, or 0 for no timeout", c.timeout)
	}
	if err := c.limits.Validate(); err != nil {
		return c, fmt.Errorf("pool: Limits: %w", err)
	}
	if err := restart.Validate(c.policy); err != nil {
		return c, fmt.Errorf("pool: Policy: %w", err)
	}
	if c.bill != nil {
		c.copies, c.restarts = true, true
	}
	if c.goroutines == 0 {
		c.goroutines = runtime.GOMAXPROCS(0)
	}
	if c.policy == nil {
		c.policy = restart.LeastCost{}
	}
	return c, nil
}
