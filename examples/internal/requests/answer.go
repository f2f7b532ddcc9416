package requests

import "fmt"

// ends takes the answer of a server, if it is the first, and calls the request's other copies back.
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

// over ends a copy, by its answer or because it is called back, and lets its server go on.
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
		return // it waited; its place in the queue is passed over
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

// answer notes one answer of a fan-out.
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

// tell writes a line of the story of the fan-out that is explained.
func (s *sim) tell(f int32, format string, args ...any) {
	if int(f) == s.c.Explain-1 {
		s.result.Story = append(s.result.Story, Line{At: s.now, Text: fmt.Sprintf(format, args...)})
	}
}
