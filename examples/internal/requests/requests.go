// Package requests simulates servers with queues of requests. A fan-out is a number of requests that must all be
// answered. Each request is sent to one of the servers that have its data. It may be sent to a second server, too.
// The library decides this: package clone before anything is known of a request (clone.go), or package restart by the
// age of the request (restart.go). The two files are examples for a host of this kind.
//
// # Which package decides
//
// A request of milliseconds reports no progress, and ends before a policy can learn much about it. Among the papers,
// Dolly is about such work: small jobs are cloned when they start, within a budget of slots and below a ceiling of
// load [Dolly §3]. While a request waits, only its age is known. The rule for this case is Mantri's, with the
// distribution of recent times by the product limit of package estimate/survival. The slot of a copy is then a server
// that is idle now.
//
// # Why a copy can do harm
//
// Every copy is work for a server for which other requests wait. For example, send two copies of each request, cancel
// none, and let the servers have exponential times. Then the requests are faster below a load of 1/3 and slower above
// it, and from a load of 1/2 on the queues grow without bound. So a host that sends copies needs a budget that
// depends on the load of the servers.
//
// # Second requests
//
// A [World] has clients that may send a second request, as a rule of package hedge says (hedged.go), and servers with
// queues, or none: then each request takes its time alone. The simulation is a host like any other: it keeps the time,
// sends and cancels, and decides nothing. [Tables] compare the rules.
//
// Package requests is a discrete-event simulation. The same seed gives the same result. A random number depends on
// its purpose, not on the order of calls: the second copy of a request has the same luck under every policy.
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

// Config describes the servers, the requests and the policies.
type Config struct {
	Servers int
	// Fanouts is the number of fan-outs, and Fan the number of requests of each. The first Warmup fan-outs are not
	// counted in the result.
	Fanouts, Fan, Warmup int
	// Replicas is the number of servers that have the data of a request, drawn at random. It is also the largest
	// number of copies of a request.
	Replicas int
	// Load is the share of the servers' time that the first copies of the requests take. Fan-outs arrive at random.
	Load float64
	// Seconds draws the time that a server works on a copy, in seconds. Mean is the mean of this time.
	Seconds func(r *rand.Rand) float64
	Mean    float64
	// Cancel cancels the other copies of a request after its first answer.
	Cancel bool
	Seed   uint64

	// Clone is the policy that clones fan-outs; nil: no clones. Straggler is the probability that a copy straggles, p
	// in Dolly's paper.
	Clone     *clone.Config
	Straggler float64
	// Restart decides about a request by its age, once in each Interval after the request was sent. It can only make
	// copies.
	Restart  restart.Policy
	Interval time.Duration
	// Budget bounds the copies of Restart; nil: no bound.
	Budget *tracker.BudgetConfig
	// Queued allows a copy to wait in the queue of a server: every server is a free slot. Otherwise, only an idle
	// server is a free slot.
	Queued bool

	// Explain is the number of a fan-out, counted from 1. Its decisions are written to Result.Story; 0: none.
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

// Result is the result of a simulation.
type Result struct {
	// Seconds are the times of the counted fan-outs, from the start to the last answer, in ascending order.
	Seconds []float64
	// Mean is their mean.
	Mean float64
	// Requests is the number of requests, Copies the number of copies that were sent beside a first copy, and Won the
	// number of these that brought the answer.
	Requests, Copies, Won int
	// Busy is the share of the servers' time in which they worked on any copy.
	Busy float64
	// Story has the decisions about the fan-out Config.Explain.
	Story []Line
}

// Quantile returns the time that the share p of the counted fan-outs did not exceed.
func (r *Result) Quantile(p float64) float64 {
	return r.Seconds[min(max(int(math.Ceil(p*float64(len(r.Seconds))))-1, 0), len(r.Seconds)-1)]
}

// Line is a line of Story.
type Line struct {
	At   time.Duration
	Text string
}
