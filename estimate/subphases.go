package estimate

import (
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
)

// Experimental: no host of this repository calls it yet.
//
// Subphases keeps the books of a phase whose tasks go through the same subphases in order, such as the copy, sort and
// reduce of Hadoop's reduce tasks: each task's progress score [LATE §2.1], and the time that it still needs, by its own
// rate in a subphase that it has begun and the mean rate of the others in one that it has not [LATE §4.2]; see
// [TimeLeftBySubphase]. What it returns is what a host passes on as a report's score and as its remaining time.
//
// A task has spent in a subphase the time between the first report from there and the first from a later one: with few
// reports it seems to have entered later than it did.
//
// Every call takes O(subphases) at most and does not allocate once the phase has reached its size. A task needs 16
// bytes and 16 more a subphase. The zero value has no subphases and refuses reports. Not safe for concurrent use; one
// per phase.
type Subphases struct {
	share []float64 // of the score; they sum up to 1
	rates []MeanRate
	tasks []subphaseTask
	free  []int32
	own   []subphaseOwn // by task, then by subphase
	parts []Subphase    // scratch
}

type subphaseTask struct {
	at   int32 // the subphase it is in; -1: the place is free
	done float64
}

// subphaseOwn is what one task has done in one subphase.
type subphaseOwn struct {
	entered time.Duration // the task's age
	rate    float64       // what to pass as old to MeanRate; negative: none
}

// NewSubphases returns empty books of subphases that stand for these parts of the score: NewSubphases(1, 1, 1) gives
// each a third, as Hadoop does. An error names the weight that is not positive and finite, or says that there is none.
func NewSubphases(weights ...float64) (*Subphases, error) {
	sum := 0.0
	for i, w := range weights {
		if sum += w; !(w > 0) || math.IsInf(sum, 1) {
			return nil, check.Bad("estimate", fmt.Sprintf("Subphases weight %d", i), w, "a positive finite number")
		}
	}
	if len(weights) == 0 {
		return nil, check.Bad("estimate", "Subphases", "nothing", "1 weight or more")
	}
	s := &Subphases{
		share: make([]float64, len(weights)), rates: make([]MeanRate, len(weights)), parts: make([]Subphase, len(weights)),
	}
	for i, w := range weights {
		s.share[i] = w / sum
	}
	return s, nil
}

// Report records that a copy of the given age is in a subphase, numbered from 0, and has done a share of it, in [0,
// 1]. The first time, id is [NoSample]; Report returns what to pass as id from then on, and for a report that it
// refuses the id that it was given: one from no subphase, of an age that is negative, or of a share that is negative
// or NaN. Progress never falls: a report from an earlier subphase, or of less than before, changes nothing. A copy
// that ends with success reports all of its last subphase and stays as evidence for the others.
func (s *Subphases) Report(id, subphase int, done float64, age time.Duration) int {
	if subphase < 0 || subphase >= len(s.share) || !(done >= 0) || age < 0 || id != NoSample && !s.has(id) {
		return id
	}
	if id == NoSample {
		id = s.add()
	}
	t, own := &s.tasks[id], s.of(id)
	if subphase < int(t.at) {
		return id
	}
	for int(t.at) < subphase { // it has done all of those before
		s.rate(id, int(t.at), 1, age)
		t.at++
		t.done = 0
		own[t.at] = subphaseOwn{entered: age, rate: -1}
	}
	t.done = max(t.done, min(done, 1))
	s.rate(id, subphase, t.done, age)
	return id
}

// rate takes into the mean of a subphase how fast a task goes there.
func (s *Subphases) rate(id, subphase int, done float64, age time.Duration) {
	own := &s.of(id)[subphase]
	if in := age - own.entered; in > 0 && done > 0 {
		own.rate = s.rates[subphase].Replace(own.rate, s.share[subphase]*done/in.Seconds())
	}
}

// Drop forgets a copy that was killed or failed; its id may be given out again. It reports whether there was one.
func (s *Subphases) Drop(id int) bool {
	if !s.has(id) {
		return false
	}
	own := s.of(id)
	for k := range int(s.tasks[id].at) + 1 {
		s.rates[k].Replace(own[k].rate, -1)
	}
	s.tasks[id].at = -1
	s.free = append(s.free, int32(id))
	return true
}

// Score returns a copy's progress score in [0, 1]: the parts of the subphases that it has left, and its share of that
// of the one it is in. 0 for a copy that is not known.
func (s *Subphases) Score(id int) float64 {
	if !s.has(id) {
		return 0
	}
	t, score := &s.tasks[id], 0.0
	for k := range int(t.at) {
		score += s.share[k]
	}
	return min(1, score+float64(s.share[t.at]*t.done))
}

// TimeLeft returns the time that a copy of the given age still needs, or [Unknown]; see [TimeLeftBySubphase].
func (s *Subphases) TimeLeft(id int, age time.Duration) time.Duration {
	if !s.has(id) {
		return Unknown
	}
	t, own := &s.tasks[id], s.of(id)
	for k := range s.parts {
		p := &s.parts[k]
		*p = Subphase{Share: s.share[k], PeerRate: s.rates[k].Without(own[k].rate)}
		switch {
		case k < int(t.at):
			p.Score, p.Age = p.Share, own[k+1].entered-own[k].entered
		case k == int(t.at):
			p.Score, p.Age = p.Share*t.done, max(0, age-own[k].entered)
		}
	}
	return TimeLeftBySubphase(s.parts)
}

func (s *Subphases) has(id int) bool { return id >= 0 && id < len(s.tasks) && s.tasks[id].at >= 0 }

func (s *Subphases) of(id int) []subphaseOwn { return s.own[id*len(s.share):][:len(s.share)] }

func (s *Subphases) add() (id int) {
	if n := len(s.free); n > 0 {
		id, s.free = int(s.free[n-1]), s.free[:n-1]
	} else {
		id = len(s.tasks)
		s.tasks = append(s.tasks, subphaseTask{})
		for range s.share {
			s.own = append(s.own, subphaseOwn{})
		}
	}
	s.tasks[id] = subphaseTask{}
	own := s.of(id)
	for k := range own {
		own[k] = subphaseOwn{rate: -1}
	}
	return id
}
