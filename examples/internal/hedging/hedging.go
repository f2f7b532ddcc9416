// Package hedging simulates clients that may send a second request, and servers that answer. A rule of package hedge
// decides. The simulation is a host like any other: it keeps the time, sends and cancels, and decides nothing.
//
// There may be servers with queues, or none: then each request takes its time alone. The same seed gives the same
// result. A random number depends on the request and the attempt, and not on the rule, so that rules are compared with
// the same luck.
package hedging

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/examples/internal/des"
	"github.com/straggler-go/straggler/restart/hedge"
)

// World describes the requests and the servers.
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

// The kinds of events, in the order in which events of one instant are handled.
const (
	served uint8 = iota
	comes
	late
)

// epoch is the instant 0 of the simulation.
var epoch = time.Unix(1, 0)

type attempt struct {
	call    int32
	which   hedge.Attempt
	over    bool
	server  int32
	seconds float64
}

type server struct {
	queue   []int32
	running int32
	life    uint32
}

type run struct {
	w       *World
	rule    hedge.Rule
	queue   des.Queue
	draws   *des.Draws
	now     time.Duration
	servers []server
	calls   []Call
	ids     []hedge.ID
	// The attempts of each call; the second is -1 if there is none.
	of       [][2]int32
	answered []bool
	attempts []attempt
}

// Run simulates the world under the rule until every request is answered.
func Run(w World, rule hedge.Rule) []Call {
	n := max(0, w.Requests)
	r := &run{
		w: &w, rule: rule, draws: des.NewDraws(w.Seed), servers: make([]server, w.Servers), calls: make([]Call, 0, n),
		ids: make([]hedge.ID, 0, n), of: make([][2]int32, 0, n), answered: make([]bool, 0, n), attempts: make([]attempt, 0, 2*n),
	}
	for i := range r.servers {
		r.servers[i].running = -1
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
			r.served(e.ID, e.Life)
		case comes:
			r.comes()
		case late:
			r.decide(e.ID, rule.Late(r.clock(), r.ids[e.ID]))
		}
	}
}

func (r *run) clock() time.Time { return epoch.Add(r.now) }

// comes handles the arrival of a request, and plans the next.
func (r *run) comes() {
	i := int32(len(r.calls))
	random := r.draws.For(1, uint64(i))
	gap := random.ExpFloat64() / r.w.Rate
	c := Call{Came: r.now, Size: 1}
	if r.w.Size != nil {
		c.Size = r.w.Size(random)
	}
	r.calls, r.of, r.answered = append(r.calls, c), append(r.of, [2]int32{-1, -1}), append(r.answered, false)
	at := r.send(i, hedge.First, -1)
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
func (r *run) decide(i int32, d hedge.Decision) {
	switch d.Action {
	case hedge.Wait:
		r.queue.Push(r.now+max(d.After, 1), late, i, 0)
	case hedge.Send:
		r.calls[i].Sent = r.now
		avoid, _ := strconv.Atoi(d.Avoid)
		r.send(i, hedge.Second, avoid)
	}
}

// send sends an attempt of a call to a server that was drawn at random, but not to the server avoid.
func (r *run) send(i int32, which hedge.Attempt, avoid int) int32 {
	random := r.draws.For(2, uint64(i), uint64(which))
	a := attempt{call: i, which: which, seconds: r.w.Seconds(random, r.calls[i].Size, r.now)}
	if n := r.w.Servers; n > 0 {
		a.server = random.Int32N(int32(n))
		if int(a.server) == avoid {
			a.server = (a.server + 1) % int32(n)
		}
	}
	if which == hedge.First {
		r.calls[i].First = a.seconds
	}
	id := int32(len(r.attempts))
	r.attempts = append(r.attempts, a)
	r.of[i][which] = id
	if r.w.Servers == 0 {
		r.queue.Push(r.now+seconds(a.seconds), served, id, 0)
	} else if s := &r.servers[a.server]; s.running < 0 {
		r.serve(a.server, id)
	} else {
		s.queue = append(s.queue, id)
	}
	return a.server
}

// serve begins an attempt on a server.
func (r *run) serve(at, id int32) {
	s := &r.servers[at]
	s.running = id
	r.queue.Push(r.now+seconds(r.attempts[id].seconds), served, at, s.life)
}

// served handles the end of an attempt on a server.
func (r *run) served(at int32, life uint32) {
	if r.w.Servers == 0 {
		if !r.attempts[at].over {
			r.answer(at)
		}
		return
	}
	if s := &r.servers[at]; s.life == life {
		id := s.running
		r.free(at)
		if !r.attempts[id].over {
			r.answer(id)
		}
	}
}

// free lets a server go on with its queue.
func (r *run) free(at int32) {
	s := &r.servers[at]
	s.life++
	s.running = -1
	for len(s.queue) > 0 && s.running < 0 {
		next := s.queue[0]
		if s.queue = s.queue[1:]; !r.attempts[next].over || r.w.Deaf {
			r.serve(at, next)
		}
	}
}

// answer handles the answer of an attempt. The first answer of a call cancels the other attempt.
func (r *run) answer(id int32) {
	a := &r.attempts[id]
	a.over = true
	i := a.call
	r.rule.Done(r.clock(), r.ids[i], a.which, hedge.Answered)
	if r.answered[i] {
		return
	}
	r.answered[i] = true
	c := &r.calls[i]
	c.Took, c.Won = r.now-c.Came, a.which == hedge.Second
	other := r.of[i][1-a.which]
	if other < 0 {
		return
	}
	o := &r.attempts[other]
	o.over = true
	r.rule.Done(r.clock(), r.ids[i], 1-a.which, hedge.Cancelled)
	if s := o.server; r.w.Servers > 0 && r.servers[s].running == other && !r.w.Deaf {
		r.free(s)
	}
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
