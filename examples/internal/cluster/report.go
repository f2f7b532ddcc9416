package cluster

import "fmt"

// score returns the progress of an attempt, from 0 to 1.
func (s *sim) score(at int32) float64 {
	c := &s.copies[at]
	s.advance(c, s.machines[c.machine].rate)
	share := c.share
	switch c.stage {
	case starts:
		return 0
	case reads, awaits:
		return share * s.shareRead(at)
	case works:
		return share + (1-share)*c.progress(c.done/max(c.amount+c.writing, 1e-12))
	case writes:
		return share + (1-share)*(1-c.writing/(c.working+c.writing)*s.leftOf(c)/c.output)
	case starves:
		return share * s.there(c.phase)
	}
	return share
}

// progress returns the share of the work that an attempt has done after a share of its computing time.
func (c *copyOf) progress(time float64) float64 {
	luck := max(c.luck, 1)
	return min(time*luck, c.turns+(1-c.turns)*(time*luck-c.turns)/(luck-c.turns))
}

// report lets an attempt report its progress, and asks for a decision about its task.
func (s *sim) report(at int32) {
	c := &s.copies[at]
	p := &s.phases[c.phase]
	s.queue.Push(s.now+s.c.Interval, reports, at, c.life)
	p.watch.report(s, c.phase, at, s.score(at))
}

// tell adds a line to the story of a job, if it is the job to explain.
func (s *sim) tell(job int32, format string, args ...any) {
	if int(job) == s.c.Explain-1 {
		s.result.Story = append(s.result.Story, Line{At: s.now, Text: fmt.Sprintf(format, args...)})
	}
}
