package requests

import "time"

type server struct {
	waiting []int32 // waiting attempts; some may have been cancelled
	running int32
}

// attempt is an attempt of a request.
type attempt struct {
	request, server int32
	takes           float64 // seconds for which a server works on it
	over            bool    // it was answered or cancelled
	left            bool    // its server has ended with it, or will not begin with it
}

const none = -1

// send sends an attempt to its server, and returns its number.
func (r *hedged) send(a attempt) int32 {
	id := int32(len(r.attempts))
	r.attempts = append(r.attempts, a)
	if len(r.list) == 0 || r.list[a.server].running == none {
		r.begin(id)
	} else {
		v := &r.list[a.server]
		v.waiting = append(v.waiting, id)
	}
	return id
}

// begin lets the server of an attempt begin with it.
func (r *hedged) begin(id int32) {
	a := &r.attempts[id]
	if len(r.list) > 0 {
		r.list[a.server].running = id
	}
	r.queue.Push(r.now+seconds(a.takes), served, id, 0)
}

// leave ends the work on an attempt, and lets its server go on with the next one.
func (r *hedged) leave(id int32) {
	a := &r.attempts[id]
	if a.left = true; len(r.list) == 0 || r.list[a.server].running != id {
		return // it waits in the queue of its server, which ignores it later
	}
	v := &r.list[a.server]
	v.running = none
	for len(v.waiting) > 0 && v.running == none {
		next := v.waiting[0]
		if v.waiting = v.waiting[1:]; !r.attempts[next].left {
			r.begin(next)
		}
	}
}

// answered handles the event that a server has finished an attempt. It reports whether somebody waits for the answer.
func (r *hedged) answered(id int32) bool {
	a := &r.attempts[id]
	if a.left {
		return false
	}
	r.leave(id)
	awaited := !a.over
	a.over = true
	return awaited
}

// cancel cancels an attempt that is not over.
func (r *hedged) cancel(id int32) {
	r.attempts[id].over = true
	if !r.w.Deaf {
		r.leave(id)
	}
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
