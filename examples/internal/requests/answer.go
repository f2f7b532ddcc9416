package requests

import "fmt"

// ends handles an answer. If it is the first answer to the request, the other copies of the request may be cancelled.
func (s *sim) ends(at int32) {
	q := &s.asked[s.attempts[at].request]
	first := !q.done
	q.done = true
	s.over(at, true)
	if !first {
		return
	}
	if at != q.copies[0] {
		s.result.Won++
	}
	if s.c.Cancel {
		for _, other := range q.copies {
			if !s.attempts[other].over {
				s.cancel(other)
				s.over(other, false)
			}
		}
	}
	s.answer(q.fanout)
}

// over counts a copy that was answered or cancelled.
func (s *sim) over(at int32, answered bool) {
	q := &s.asked[s.attempts[at].request]
	q.live--
	s.watch.copyOver(s, at, answered)
	if q.live == 0 && q.done {
		s.cloner.ended(s.fanouts[q.fanout].grant)
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
