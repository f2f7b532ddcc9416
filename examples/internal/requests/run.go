package requests

import (
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// The kinds of events, after served.
const (
	arrives uint8 = iota + 1 // a fan-out arrives
	looks                    // the policy is asked about a request because of its age
	fits                     // the distributions are computed anew
)

// sim is a running simulation. A copy is an attempt of a request.
type sim struct {
	servers
	c       *Config
	result  Result
	fanouts []fanout
	asked   []request
	left    int // number of fan-outs without all answers

	cloner *cloner
	watch  *watch
}

type fanout struct {
	came  time.Duration
	left  int
	grant grant
}

type request struct {
	fanout   int32
	replicas []int32       // servers with its data
	copies   []int32       // the copies that were sent, in this order
	live     int           // number of copies that are not over
	clones   int           // number of copies that were sent at once
	done     bool          // it has an answer
	newest   time.Duration // when the latest copy was sent
}

// Run simulates until every fan-out has all answers.
func Run(c Config) (Result, error) {
	if err := c.validate(); err != nil {
		return Result{}, err
	}
	s := &sim{
		servers: newServers(c.Servers, c.Seed, c.Fanouts*c.Fan), c: &c, left: c.Fanouts,
		fanouts: make([]fanout, 0, c.Fanouts), asked: make([]request, 0, c.Fanouts*c.Fan),
	}
	var err error
	if s.cloner, err = newCloner(&c); err != nil {
		return Result{}, err
	}
	if s.watch, err = newWatch(s); err != nil {
		return Result{}, err
	}
	s.queue.Push(s.gap(0), arrives, 0, 0)
	for s.left > 0 {
		e, _ := s.queue.Pop()
		s.now = e.At
		switch e.Kind() {
		case served:
			if s.answered(e.ID) {
				s.ends(e.ID)
			}
		case arrives:
			s.come()
		case looks:
			s.watch.look(s, e.ID)
		case fits:
			s.watch.fit(s)
		}
	}
	s.result.Busy = s.busy.Seconds() / (s.now.Seconds() * float64(c.Servers))
	s.result.Mean = stat.Mean(s.result.Seconds, nil)
	slices.Sort(s.result.Seconds)
	return s.result, nil
}

// gap returns the time before fan-out i.
func (s *sim) gap(i int) time.Duration {
	mean := float64(s.c.Fan) * s.c.Mean / (s.c.Load * float64(s.c.Servers))
	return seconds(mean * s.draws.For(3, uint64(i)).ExpFloat64())
}

// come handles the arrival of a fan-out, and sends its requests.
func (s *sim) come() {
	id := int32(len(s.fanouts))
	s.fanouts = append(s.fanouts, fanout{came: s.now, left: s.c.Fan})
	copies := s.cloner.admit(s, id)
	for range s.c.Fan {
		r := int32(len(s.asked))
		s.asked = append(s.asked, request{
			fanout: id, replicas: s.place(r), clones: min(copies, s.c.Replicas),
		})
		s.result.Requests++
		s.watch.sent(s, r)
		for k := range min(copies, s.c.Replicas) {
			s.send(r, s.asked[r].replicas[k])
		}
	}
	if n := len(s.fanouts); n < s.c.Fanouts {
		s.queue.Push(s.now+s.gap(n), arrives, 0, 0)
	}
}

// place draws the servers that have the data of a request.
func (s *sim) place(r int32) []int32 {
	rng := s.draws.For(2, uint64(r))
	list := make([]int32, 0, s.c.Replicas)
	for len(list) < s.c.Replicas {
		if at := int32(rng.IntN(s.c.Servers)); !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// send sends a copy of a request to a server.
func (s *sim) send(r, to int32) {
	q := &s.asked[r]
	if len(q.copies) > 0 {
		s.result.Copies++
	}
	takes := s.c.Seconds(s.draws.For(1, uint64(r), uint64(len(q.copies))))
	q.copies = append(q.copies, s.servers.send(attempt{request: r, server: to, takes: takes}))
	q.live++
	q.newest = s.now
	s.watch.copySent(s, q)
}
