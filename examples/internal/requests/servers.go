package requests

import (
	"time"

	"github.com/straggler-go/straggler/examples/internal/des"
)

// servers are servers with queues, and the attempts of requests that were sent to them. Without a server, attempts do
// not wait for each other. The zero value has no server.
type servers struct {
	queue    des.Queue
	draws    *des.Draws
	now      time.Duration
	list     []server
	attempts []attempt
	deaf     bool          // the servers ignore that an attempt is cancelled
	idle     int           // number of idle servers
	busy     time.Duration // time for which the servers have worked
}

type server struct {
	waiting []int32 // waiting attempts; some may have been cancelled
	running int32
}

// attempt is an attempt of a request.
type attempt struct {
	request, server int32
	takes           float64       // seconds for which a server works on it
	sent            time.Duration // when it was sent
	begun           time.Duration // when a server began with it; negative while it waits
	over            bool          // it was answered or cancelled
	left            bool          // its server has ended with it, or will not begin with it
}

const none = -1

// served is the kind of the event that a server has finished an attempt. Of events at one instant, it is the first.
const served uint8 = 0

func newServers(n int, seed uint64, requests int) servers {
	s := servers{draws: des.NewDraws(seed), list: make([]server, n), idle: n, attempts: make([]attempt, 0, 2*requests)}
	for i := range s.list {
		s.list[i].running = none
	}
	return s
}

// send sends an attempt to its server, and returns its number.
func (s *servers) send(a attempt) int32 {
	id := int32(len(s.attempts))
	a.sent, a.begun = s.now, none
	s.attempts = append(s.attempts, a)
	if len(s.list) == 0 || s.list[a.server].running == none {
		s.begin(id)
	} else {
		v := &s.list[a.server]
		v.waiting = append(v.waiting, id)
	}
	return id
}

// begin lets the server of an attempt begin with it.
func (s *servers) begin(id int32) {
	a := &s.attempts[id]
	a.begun = s.now
	if len(s.list) > 0 {
		s.list[a.server].running = id
		s.idle--
	}
	s.queue.Push(s.now+seconds(a.takes), served, id, 0)
}

// leave ends the work on an attempt, and lets its server go on with the next one.
func (s *servers) leave(id int32) {
	a := &s.attempts[id]
	if a.left = true; len(s.list) == 0 || s.list[a.server].running != id {
		return // it waits in the queue of its server, which ignores it later
	}
	v := &s.list[a.server]
	s.busy += s.now - a.begun
	v.running = none
	s.idle++
	for len(v.waiting) > 0 && v.running == none {
		next := v.waiting[0]
		if v.waiting = v.waiting[1:]; !s.attempts[next].left {
			s.begin(next)
		}
	}
}

// answered handles the event that a server has finished an attempt. It reports whether somebody waits for the answer.
func (s *servers) answered(id int32) bool {
	a := &s.attempts[id]
	if a.left {
		return false
	}
	s.leave(id)
	awaited := !a.over
	a.over = true
	return awaited
}

// cancel cancels an attempt that is not over.
func (s *servers) cancel(id int32) {
	s.attempts[id].over = true
	if !s.deaf {
		s.leave(id)
	}
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
