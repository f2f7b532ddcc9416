// Package requests simulates clients that may send a second request, as a rule of package hedge says, and servers with
// queues. A [World] has the requests and the servers, or no servers: then each request takes its time alone. The simulation
// is a host like any other: it keeps the time, sends and cancels, and decides nothing. [Tables] compare the rules.
//
// Every second request is work for a server for which other requests wait. For example, send two requests in place of each,
// cancel none, and let the servers have exponential times. Then the answers come sooner below a load of 1/3 and later above
// it, and from a load of 1/2 on the queues grow without bound. So a client that sends second requests needs a budget.
//
// Package requests is a discrete-event simulation. The same seed gives the same result. A random number depends on
// its purpose, not on the order of calls: the second attempt of a request has the same luck under every rule.
package requests

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"

	"github.com/straggler-go/straggler/examples/internal/des"
)

// World describes requests of clients that may send a second one, and the servers that answer. A rule of package hedge
// decides.
type World struct {
	// Requests is the number of requests, and Rate their number for each second. They come at random.
	Requests int
	Rate     float64
	// Servers is the number of servers. Each has a queue. 0 means that requests do not wait for each other.
	Servers int
	// Size draws the size of a request: the seconds that it takes by itself; nil: all have size 1.
	Size func(r *rand.Rand) float64
	// Tell says that the rule is told the size.
	Tell bool
	// Seconds draws the time of an attempt at the instant at, in seconds.
	Seconds func(r *rand.Rand, size float64, at time.Duration) float64
	// Deaf servers ignore that a request is cancelled.
	Deaf bool
	Seed uint64
	// Watch is called after each request; nil: never.
	Watch func(i int, at time.Duration)
}

// Call is a request with its result.
type Call struct {
	Came, Took time.Duration
	// When the second request was sent; 0: none was sent. Won says that it brought the answer.
	Sent time.Duration
	Won  bool
	// The time that the first attempt needs by itself, and the size.
	First, Size float64
}

// The kinds of events, in the order in which they are handled at one instant.
const (
	served uint8 = iota // a server has finished an attempt
	comes               // a request comes
	late                // the rule is asked again
)

// epoch is the instant 0 of the simulation.
var epoch = time.Unix(1, 0)

// hedged is a running world. The attempts of a call are at its number in of; the second is none if there is none.
type hedged struct {
	w        *World
	rule     hedge.Rule
	queue    des.Queue
	draws    *des.Draws
	now      time.Duration
	list     []server // without a server, attempts do not wait for each other
	attempts []attempt
	calls    []Call
	ids      []hedge.ID
	of       [][2]int32
}

// Hedge simulates the world under the rule until every request is answered.
func Hedge(w World, rule hedge.Rule) []Call {
	n := max(0, w.Requests)
	r := &hedged{
		w: &w, rule: rule, draws: des.NewDraws(w.Seed), list: slices.Repeat([]server{{running: none}}, w.Servers),
		attempts: make([]attempt, 0, 2*n), calls: make([]Call, 0, n), ids: make([]hedge.ID, 0, n), of: make([][2]int32, 0, n),
	}
	r.queue.Push(0, comes, 0, 0)
	for {
		e, ok := r.queue.Pop()
		if !ok {
			return r.calls
		}
		r.now = e.At
		switch e.Kind() {
		case served:
			if r.answered(e.ID) {
				r.answer(e.ID)
			}
		case comes:
			r.come()
		case late:
			r.decide(e.ID, rule.Late(r.clock(), r.ids[e.ID]))
		}
	}
}

func (r *hedged) clock() time.Time { return epoch.Add(r.now) }

// come handles the arrival of a request, and plans the next.
func (r *hedged) come() {
	i := int32(len(r.calls))
	random := r.draws.For(1, uint64(i))
	gap := random.ExpFloat64() / r.w.Rate
	c := Call{Came: r.now, Size: 1}
	if r.w.Size != nil {
		c.Size = r.w.Size(random)
	}
	r.calls, r.of = append(r.calls, c), append(r.of, [2]int32{none, none})
	at := r.try(i, hedge.First, none)
	q := hedge.Request{Safe: true, Machine: strconv.Itoa(int(at))}
	if r.w.Tell {
		q.Size = c.Size
	}
	id, d := r.rule.Start(r.clock(), q)
	r.ids = append(r.ids, id)
	r.decide(i, d)
	if r.w.Watch != nil {
		r.w.Watch(int(i), r.now)
	}
	if len(r.calls) < r.w.Requests {
		r.queue.Push(r.now+seconds(gap), comes, 0, 0)
	}
}

// decide carries out the decision of the rule about a call.
func (r *hedged) decide(i int32, d hedge.Decision) {
	switch d.Action {
	case hedge.Wait:
		r.queue.Push(r.now+max(d.After, 1), late, i, 0)
	case hedge.Send:
		r.calls[i].Sent = r.now
		avoid, _ := strconv.Atoi(d.Avoid)
		r.try(i, hedge.Second, avoid)
	}
}

// try sends an attempt of a call to a server that was drawn at random, but not to the server avoid. It returns the server.
func (r *hedged) try(i int32, which hedge.Attempt, avoid int) int32 {
	random := r.draws.For(2, uint64(i), uint64(which))
	a := attempt{request: i, takes: r.w.Seconds(random, r.calls[i].Size, r.now)}
	if n := int32(r.w.Servers); n > 0 {
		a.server = random.Int32N(n)
		if int(a.server) == avoid {
			a.server = (a.server + 1) % n
		}
	}
	if which == hedge.First {
		r.calls[i].First = a.takes
	}
	r.of[i][which] = r.send(a)
	return a.server
}

// answer handles the answer of an attempt. The first answer of a call cancels the other attempt.
func (r *hedged) answer(id int32) {
	i := r.attempts[id].request
	which := hedge.First
	if r.of[i][hedge.Second] == id {
		which = hedge.Second
	}
	r.rule.Done(r.clock(), r.ids[i], which, hedge.Answered)
	c := &r.calls[i]
	c.Took, c.Won = r.now-c.Came, which == hedge.Second
	if other := r.of[i][1-which]; other != none {
		r.rule.Done(r.clock(), r.ids[i], 1-which, hedge.Cancelled)
		r.cancel(other)
	}
}
