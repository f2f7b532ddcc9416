package requests

import "fmt"

// ends handles the answer of a server. If it is the first answer to the request, the other copies of the request may
// be cancelled.
func (s *sim) ends(id int32) {
	at := s.servers[id].running
	q := &s.asked[s.copies[at].request]
	first := !q.answered
	q.answered = true
	s.over(at, true)
	if first {
		if at != q.copies[0] {
			s.result.Won++
		}
		if s.c.Cancel {
			for _, other := range q.copies {
				if !s.copies[other].over {
					s.over(other, false)
				}
			}
		}
		s.answer(q.fanout)
	}
}

// over ends a copy, after its answer or because it was cancelled. Its server goes on with the next copy.
func (s *sim) over(at int32, answered bool) {
	c := &s.copies[at]
	q := &s.asked[c.request]
	c.over = true
	q.live--
	s.watch.copyOver(s, at, answered)
	if q.live == 0 && q.answered {
		s.cloner.ended(s.fanouts[q.fanout].grant)
	}
	v := &s.servers[c.server]
	if v.running != at {
		return // the copy waited in the queue of the server, which ignores it later
	}
	s.busy += s.now - c.begun
	v.running = none
	v.life++
	s.idle++
	for len(v.waiting) > 0 {
		next := v.waiting[0]
		v.waiting = v.waiting[1:]
		if !s.copies[next].over {
			s.serve(c.server, next)
			return
		}
	}
}

// answer counts an answer to a request of a fan-out.
func (s *sim) answer(id int32) {
	f := &s.fanouts[id]
	if f.left--; f.left > 0 {
		return
	}
	s.left--
	if int(id) >= s.c.Warmup {
		s.result.Seconds = append(s.result.Seconds, (s.now - f.came).Seconds())
	}
	s.tell(id, "all answers are there")
}

// tell adds a line to Result.Story, if f is the fan-out to explain.
func (s *sim) tell(f int32, format string, args ...any) {
	if int(f) == s.c.Explain-1 {
		s.result.Story = append(s.result.Story, Line{At: s.now, Text: fmt.Sprintf(format, args...)})
	}
}
