package worlds

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// slot is a machine and the attempt on it.
type slot struct {
	machine int
	dead    bool
	runs    bool
	job     *job
	task    int
	attempt int
	fate    fate
	begins  float64 // when the attempt begins to run; it runs if this instant is over
	begun   bool
	since   float64 // when done was last updated
	done    float64 // seconds of work that are done, on a usual machine
	whole   float64 // seconds of work in all
	found   float64 // progress in the checkpoint from which it resumed
	rate    float64 // seconds of work per second
	reports float64 // when it reports next
	ends    float64
}

// due returns the instant of the next event of the attempt on a slot.
func (s *slot) due() float64 {
	if !s.begun {
		return s.begins
	}
	return min(s.ends, s.reports)
}

// happens handles the event of the attempt on a slot: its beginning, its end, or a report.
func (h *host) happens(s *slot) {
	switch {
	case !s.begun:
		s.begun, s.since, s.reports = true, h.now, h.now+h.interval()
		s.job.tracker.Begin(h.time(), s.task, s.attempt, s.machine)
		h.rates(s.job, s.task)
	case h.now < s.ends:
		s.reports += h.interval()
		h.settle(s)
		h.report(s)
	case s.fate.hangs <= 1:
		s.job.tracker.Fail(h.time(), s.task, s.attempt)
		h.free(s)
	default:
		j, task := s.job, s.task
		overtaken := j.tracker.Finish(h.time(), task, s.attempt)
		h.free(s)
		for _, attempt := range overtaken {
			h.free(h.find(j, task, attempt))
		}
		if j.left--; j.left == 0 {
			h.close(j)
		}
	}
}

// report reports the progress of an attempt, and saves it in a checkpoint.
func (h *host) report(s *slot) {
	share := s.done / s.whole
	if s.fate.hangs <= 1 {
		share = min(share, s.fate.hangs)
	}
	t := &s.job.tasks[s.task]
	if h.Checkpoint > 0 {
		whole := s.found + share*(1-s.found)
		t.saved = max(t.saved, h.Checkpoint*math.Floor(whole/h.Checkpoint))
	}
	if h.Model == None {
		return
	}
	h.reports.of(uint64(s.job.number), uint64(s.task), uint64(s.attempt), math.Float64bits(h.now))
	shown := s.found + s.fate.curve.shows(share, h.reports)*(1-s.found)
	work := 1.0
	if h.Known || h.Told {
		work = t.told
	}
	r := tracker.Report{Done: shown * work, Saved: t.saved * work}
	h.share(s.job)
	h.carryOut(s.job, s.job.tracker.Report(h.time(), s.task, s.attempt, r))
}
func (h *host) start(s *slot, j *job, a tracker.Answer) {
	if h.Watch != nil {
		h.Watch(time.Duration(h.now*1e9), a)
	}
	t := &j.tasks[a.Task]
	if a.Action == restart.Copy && h.first == 0 {
		h.first = h.now
	}
	attempt := 0
	if h.Lag > 0 {
		attempt = j.tracker.Submit(h.time(), a.Task, s.machine)
	} else {
		attempt = j.tracker.Start(h.time(), a.Task, s.machine)
	}
	*s = slot{
		machine: s.machine, runs: true, job: j, task: a.Task, attempt: attempt, begun: h.Lag == 0, begins: h.now + h.Lag,
		since: h.now, reports: h.now + h.interval(), found: t.saved, fate: h.fate(h.luck, h.Model, j.number, a.Task, attempt),
	}
	s.whole = (t.seconds + s.fate.more) * (1 - t.saved)
	t.copies++
	h.rates(j, a.Task)
}

// free removes the attempt from a slot.
func (h *host) free(s *slot) {
	h.settle(s)
	h.used += h.now - s.begins + h.Lag
	s.runs = false
	s.job.tasks[s.task].copies--
	h.rates(s.job, s.task)
}

func (h *host) find(j *job, task, attempt int) *slot {
	for i := range h.slots {
		if s := &h.slots[i]; s.runs && s.job == j && s.task == task && s.attempt == attempt {
			return s
		}
	}
	panic("an answer about an attempt that does not run")
}

// settle updates the work that is done on a slot.
func (h *host) settle(s *slot) {
	if s.begun {
		s.done, s.since = s.done+(h.now-s.since)*s.rate, h.now
	}
}

// rates computes the speed of each attempt of a task from now on, and its end.
func (h *host) rates(j *job, task int) {
	t := &j.tasks[task]
	for i := range h.slots {
		s := &h.slots[i]
		if !s.runs || s.job != j || s.task != task {
			continue
		}
		h.settle(s)
		takes := h.factor(s.machine, h.now) * h.path(&t.task, s.machine) * s.fate.slow
		s.rate = 1 / (takes * (1 + h.Interference*float64(t.copies-1)))
		s.ends = h.now + (s.whole-s.done)/s.rate
		if s.fate.hangs <= 1 {
			s.ends = s.begins + or(h.Timeout, 1500)
		}
	}
}
