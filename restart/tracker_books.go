package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// What the events of a copy's life do to the books: its progress, the samples that it gives, and its account.

// take takes a report to the books.
func (t *Tracker) take(s *taskState, c *copyState, p Progress) {
	age := t.age(c)
	score := min(p.Score, 1)
	done := p.Done
	if done == 0 {
		done = score * s.work
	}
	t.dropPace(c)
	t.model.Report(&c.progress, age, done)
	done = c.progress.Done()
	if done > 0 {
		t.reported = true
	}
	if done >= s.work && c.readAll == noTime {
		c.readAll = age
	}
	c.remaining = estimate.Unknown
	if p.Remaining > 0 {
		c.remaining = num.Add(t.now, p.Remaining) // kept as the instant of the end, so that it runs down
	}
	if score == 0 {
		score = min(done/s.work, 1)
	}
	t.sample(s, c, age, done)
	t.setScore(s, c, score)
	t.addPace(c.score, age)
}

// sample refreshes what a running copy contributes to the distribution of rates: from its first interval on, however
// little it has done. To wait until it has done a share of its work would let only the fast ones in.
func (t *Tracker) sample(s *taskState, c *copyState, age time.Duration, done float64) {
	if t.needs&needRates == 0 || done <= 0 || age < t.config.Interval {
		return
	}
	c.sample = int32(t.rates.Running(int(c.sample), age.Seconds()/min(done/s.work, 1), s.work))
}

// learn takes the run time of a copy that finished as a sample.
func (t *Tracker) learn(s *taskState, c *copyState, age time.Duration) {
	seconds := age.Seconds()
	if c.readAll != noTime {
		t.wrapUp.Observe(c.readAll, age)
		t.model.WrapUp = t.wrapUp.Mean()
	}
	if t.config.Factors != nil && t.rates.Finished() > 0 {
		t.config.Factors.Observe(int(c.machine), seconds/(t.rates.Work(s.work)*t.rates.Mean()))
	}
	if t.needs&needRates != 0 || t.config.Factors != nil {
		t.rates.Drop(int(c.sample))
		t.rates.Finish(seconds, s.work, s.flags&firstWave != 0 && c.attempt == s.original)
	}
	if t.needs&needDurations != 0 {
		t.durations.Insert(seconds)
	}
	if t.needs&needFinishedRates != 0 {
		t.finishedRates.Insert(seconds / s.work)
	}
	if t.needs&needThroughput != 0 {
		t.workDone += s.work
		t.workTime += seconds
	}
}

// credit accounts what the task's end saved: against its original, if that was restarted or pruned or is overtaken now.
func (t *Tracker) credit(s *taskState, winner *copyState) {
	for j := s.copies; j != none; j = t.copies[j].next {
		if c := &t.copies[j]; c != winner {
			t.expect(s, c)
		}
	}
	if s.history == none {
		return
	}
	h := &t.histories[s.history]
	if h.expected != noTime {
		t.ledger.Saved = num.Add(t.ledger.Saved, h.expected-t.now)
	}
	h.expected = noTime // the account is closed; the output may be lost, and the task run again
}

// expect notes when a copy would have ended that will not, if it is the original and none was noted before.
func (t *Tracker) expect(s *taskState, c *copyState) {
	if c.attempt != s.original || s.history != none && t.histories[s.history].expected != noTime {
		return
	}
	if left := t.remaining(s, c); left != estimate.Unknown {
		t.history(s).expected = num.Add(t.now, left)
	}
}

// end takes a copy out of its task's list and of all sums.
func (t *Tracker) end(s *taskState, i int32, success bool) {
	c := &t.copies[i]
	ran := t.age(c)
	t.ledger.Used = num.Add(t.ledger.Used, ran)
	before := t.furthest(s)
	ranBefore := t.runs(s)
	if !success {
		t.ledger.Wasted = num.Add(t.ledger.Wasted, ran)
		t.dropPace(c)
		t.addMachine(c, 0)
	}
	for link := &s.copies; *link != none; link = &t.copies[*link].next {
		if *link == i {
			*link = c.next
			break
		}
	}
	t.scores += t.furthest(s) - before
	if ranBefore && !t.runs(s) {
		t.working--
	}
	c.task, c.next = none, t.freeCopy
	t.freeCopy = i
	t.running--
}

func (t *Tracker) newCopy() int32 {
	if i := t.freeCopy; i != none {
		t.freeCopy = t.copies[i].next
		return i
	}
	t.copies = append(t.copies, copyState{})
	return int32(len(t.copies) - 1)
}

// tryMachine remembers a machine at the front of those that the task was tried on.
func (t *Tracker) tryMachine(s *taskState, machine int32) {
	if machine == none {
		return
	}
	at := len(s.tried) - 1
	for i, m := range s.tried {
		if m == machine {
			at = i
			break
		}
	}
	copy(s.tried[1:at+1], s.tried[:at])
	s.tried[0] = machine
}
