package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart/rules"
)

// What the events of a copy's life do to the books: its progress, the samples that it gives, and its account.

// beyond is how much more than its work a task may report as done: what rounding and a last block make of it.
const beyond = 1.01

// take takes a report to the books.
func (t *Tracker) take(s *taskState, c *copyState, r Report) {
	t.peers.dropPace(c)
	wasBad := c.badUnits
	done, score := t.claim(s, c, r)
	s = t.asFound(s, c.resumed)
	age, units := t.age(c), s.units()
	if wasBad && !c.badUnits {
		c.progress = estimate.Progress{} // what could not be right is forgotten, so that this one counts
	}
	t.model.Report(&c.progress, age, t.read(s, done))
	t.follow(s, c, age, done)
	t.reported = t.reported || done > 0 && !t.smallUnits
	done = t.done(s, c)
	if done >= units && c.readAll == noTime && !c.badUnits {
		c.readAll = age
	}
	c.remaining = estimate.Unknown
	if r.Remaining > 0 {
		c.remaining = num.Add(t.now, r.Remaining) // kept as the instant of the end, so that it runs down
	}
	if score == 0 && !c.badUnits {
		score = min(done/units, 1)
	}
	t.sample(s, c, age, done)
	t.setScore(s, c, score)
	t.peers.addPace(c.score, age)
}

// claim returns what a report says that a copy has done, and its score, of the work that the copy has found: without
// what a checkpoint held.
func (t *Tracker) claim(s *taskState, c *copyState, r Report) (done, score float64) {
	score, done = min(r.Score, 1), r.Done
	if c.badUnits = s.flags&knownWork != 0 && s.work > 0 && max(done, r.Saved) > beyond*s.work; c.badUnits {
		t.ledger.BadUnits++ // it says how much was done, and nothing of how much is left
		return done, c.score
	}
	t.save(s, r.Saved)
	switch {
	case s.work == 0 && score == 0:
		done = s.units()
	case s.work == 0 || done == 0:
		done = score * s.units()
	}
	if c.resumed == 0 {
		return done, score
	}
	found := c.resumed.of(s.work)
	if done > 0 && beyond*done < found && c.progress.Done() == 0 {
		c.resumed = 0 // it did not find the checkpoint, or made nothing of it
		return done, score
	}
	if left := s.work - found; score > 0 && left > 0 { // of a work that is next to nothing, all may be saved
		score = min(max(float64(score*s.work)-found, 0)/left, 1)
	}
	return max(done-found, 0), score
}

// sample refreshes what a running copy contributes to the distribution of rates: from its first interval on, however
// little it has done. To wait until it has done a share of its work would let only the fast ones in.
func (t *Tracker) sample(s *taskState, c *copyState, age time.Duration, done float64) {
	if !t.learns() || done <= 0 || age < t.config.Interval || c.badUnits || t.smallUnits {
		return
	}
	t.tellRunning(s, c)
	implied := float64(age.Seconds() / min(c.progress.Done()/s.units(), 1) * t.bias(c)) // no fused multiply-subtract
	switch {
	case c.sample != estimate.NoSample:
		if math.Abs(implied-float64(c.implied)) <= near*implied {
			return
		}
		t.sampled--
	case t.sampled >= enoughRunning:
		return
	}
	c.implied = float32(implied)
	if c.sample = int32(t.rates.Running(int(c.sample), t.run(s, c))); c.sample != estimate.NoSample {
		t.sampled++
	}
}

// enoughRunning is how many copies that run are samples at once: their mean is known to less than a hundredth by then.
// When one ends, the next that reports takes its place.
const enoughRunning = 1 << 16

// near is how much a running copy's sample may be off before it is taken anew: far below what one more report changes,
// and most reports change less.
const near = 1. / 64

// learns reports whether anyone reads how long a unit of work takes.
func (t *Tracker) learns() bool { return t.peers.reads.Has(rules.Fresh) || t.config.Record != nil }

// learn takes the run time of a copy that finished as a sample.
func (t *Tracker) learn(s *taskState, c *copyState, age time.Duration) {
	s = t.asFound(s, c.resumed)
	t.ends(s, c, age, true)
	t.weigh(s, c, age)
	if c.readAll != noTime {
		t.wrapUp.Observe(c.readAll, age)
		t.model.WrapUp = t.wrapUp.Mean()
	}
	if t.learns() {
		r := t.run(s, c)
		r.Done, r.FirstWave = r.Work, s.flags&firstWave != 0 && c.attempt == s.original
		t.tellEnd(s, c, machines.Finished, t.repeats(s, c, r))
		t.rates.Finish(int(c.sample), r)
	}
	t.peers.finish(age.Seconds(), s, t.done(s, c))
}

// learnKilled takes what a copy has shown that was killed or overtaken: it would have taken at least so long. What it
// showed replaces what an earlier copy of the task has, if the two say the same: then it is the task that is long.
func (t *Tracker) learnKilled(s *taskState, c *copyState) {
	if !t.learns() || !c.begun {
		return
	}
	found := t.asFound(s, c.resumed)
	t.ends(found, c, t.age(c), false)
	r := t.run(found, c)
	if r.Age, r.Done = t.shown(found, c); t.age(c) < t.config.Interval {
		t.tellEnd(found, c, machines.Killed, false)
		t.rates.Drop(int(c.sample))
		return
	}
	t.tellEnd(found, c, machines.Killed, t.repeats(found, c, r))
	h := t.history(s)
	h.killed, h.killedOn = int32(t.rates.Kill(int(c.sample), r)), c.machine
}

// repeats drops the sample of the copy of the task that was killed last if this one has taken about as long: then the
// task is long, and counts once. It reports whether it is long on another machine as well, so that neither is slow for
// it.
func (t *Tracker) repeats(s *taskState, c *copyState, r estimate.Run) bool {
	if s.history == none {
		return false
	}
	h := &t.histories[s.history]
	if !t.rates.Repeat(int(h.killed), r) {
		return false
	}
	h.killed = estimate.NoSample // its id may be another sample's from now on
	return h.killedOn != c.machine
}

// learnFailed drops what a copy has shown that failed: its time is no sample.
func (t *Tracker) learnFailed(s *taskState, c *copyState) {
	t.rates.Drop(int(c.sample))
	t.tellEnd(t.asFound(s, c.resumed), c, machines.Failed, false)
}

// furthest returns what a task adds to the sum of scores: 1 if it has finished, the score of its furthest running copy
// otherwise, and 0 if no policy asks.
func (t *Tracker) furthest(s *taskState) float64 {
	if !t.peers.reads.Has(rules.Scores) {
		return 0
	}
	if s.flags&finished != 0 {
		return 1
	}
	score := 0.0
	for i := s.copies; i != none; i = t.copies.all[i].next {
		score = max(score, t.copies.all[i].score)
	}
	return score
}

// setScore takes a copy's progress score into the mean score and its machine's total.
func (t *Tracker) setScore(s *taskState, c *copyState, score float64) {
	if !t.peers.reads.Has(rules.Scores) && !t.peers.reads.Has(rules.Machines) && t.config.Record == nil {
		c.score = score
		return
	}
	before := t.furthest(s)
	t.addMachine(c, score)
	c.score = score
	t.peers.scores += t.furthest(s) - before
}

// addMachine exchanges a copy's score in the totals of its machine, of this phase and of the cluster.
func (t *Tracker) addMachine(c *copyState, score float64) {
	t.peers.addMachine(c, score)
	if t.config.Record != nil && c.machine != none && score != c.score {
		t.config.Record.AddProgress(t.clock.Last, t.places.number(c.machine), score-c.score)
	}
}
