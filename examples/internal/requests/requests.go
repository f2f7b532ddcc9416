// Package requests simulates servers that queue what they are asked. A fan-out is a number of requests that must all be
// answered; each is sent to one of the servers that have its data, and may be sent to another one a second time.
// Whether it is, the library decides: package clone before anything is known of a request (clone.go), or package
// restart by its age (restart.go). Both files are meant to be read, and copied, by who writes such a host.
//
// # Which package decides what
//
// A request of milliseconds reports no progress, and is over before much could be seen of it. Of the papers, Dolly
// speaks of this: small jobs are cloned up front, within a budget of slots and below a ceiling of use [Dolly §3]. What
// waiting does show is the request's age, against the ages and times of all others of late: Mantri's rule over the
// product limit of package estimate/survival. There the slot that a copy would hold is a server that is idle now.
//
// # Why a copy can do harm
//
// Every copy is work for a server that others wait for. With two of each request, none called back, servers with
// exponential times are better off below a load of 1/3 and worse off above it, and from 1/2 on they drown. So who sends
// copies needs a budget that knows how busy the servers are.
//
// It is a discrete-event simulation: one seed gives one result. Each random number belongs to what it is drawn for, so
// the second copy of a request is as lucky under one policy as under another.
package requests

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config is the servers, what they are asked, and what decides.
type Config struct {
	Servers int
	// Fanouts is how many come, each of Fan requests; the first Warmup of them are not counted.
	Fanouts, Fan, Warmup int
	// Replicas is on how many servers, drawn for each request, its data lies: no more copies of it can be sent.
	Replicas int
	// Load is which share of the servers' time the requests' first copies take. Fan-outs come at random.
	Load float64
	// Seconds draws how long a server works on a copy, and Mean is the mean of that.
	Seconds func(r *rand.Rand) float64
	Mean    float64
	// Cancel calls the other copies back once a request is answered.
	Cancel bool
	Seed   uint64

	// Clone admits clones of fan-outs; Straggler is p, the probability that a copy straggles.
	Clone     *clone.Config
	Straggler float64
	// Restart decides about a request by its age, every Interval from when it was sent. It may only make copies.
	Restart  restart.Policy
	Interval time.Duration
	// Budget bounds these copies; nil: nothing does.
	Budget *tracker.BudgetConfig
	// Queued lets a copy wait in a server's queue: every server counts as a free slot. Otherwise only an idle one does.
	Queued bool

	// Explain is the fan-out whose decisions are written down in Result.Story, by its number from 1; 0: none.
	Explain int
}

func (c *Config) validate() error {
	switch {
	case c.Servers < 1 || c.Fan < 1 || c.Fanouts < 1 || c.Warmup < 0 || c.Warmup >= c.Fanouts:
		return fmt.Errorf("requests: %d servers, %d fan-outs of %d, %d to warm up: want 1 or more, and fewer to warm up",
			c.Servers, c.Fanouts, c.Fan, c.Warmup)
	case c.Replicas < 1 || c.Replicas > c.Servers:
		return fmt.Errorf("requests: Config.Replicas is %d, want 1 to %d", c.Replicas, c.Servers)
	case !(c.Load > 0) || math.IsInf(c.Load, 1) || !(c.Mean > 0) || math.IsInf(c.Mean, 1) || c.Seconds == nil:
		return fmt.Errorf("requests: load %v, mean %v: want positive numbers, and Seconds", c.Load, c.Mean)
	case c.Restart != nil && c.Interval <= 0:
		return fmt.Errorf("requests: Config.Interval is %v, want a positive duration", c.Interval)
	}
	return nil
}

// Result is what came of it.
type Result struct {
	// Seconds are the times of the counted fan-outs, from their start to their last answer, in ascending order.
	Seconds []float64
	// Mean is their mean.
	Mean float64
	// Requests counts all of them, Copies those sent beside another, and Won those that brought the answer.
	Requests, Copies, Won int
	// Busy is which share of the servers' time went to copies of any kind.
	Busy float64
	// Story is that of Config.Explain.
	Story []Line
}

// Quantile returns the time that a share p of the counted fan-outs did not exceed.
func (r *Result) Quantile(p float64) float64 {
	return r.Seconds[min(max(int(math.Ceil(p*float64(len(r.Seconds))))-1, 0), len(r.Seconds)-1)]
}

// Line is one line of a story.
type Line struct {
	At   time.Duration
	Text string
}
