package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"
)

const (
	workers     = 4
	slots       = 4
	slice       = 50 * time.Millisecond // a handler notices the end of its context after a slice
	reportEvery = 200 * time.Millisecond
	outageFails = 20 * time.Millisecond // a handler fails after this time during an outage
)

// scenario is the trouble of a batch. A zero field means no such trouble.
type scenario struct {
	name     string
	tasks    int
	seconds  float64 // usual time of a task
	long     bool    // every 12th task takes six times as long
	told     bool    // the coordinator knows the sizes
	reports  bool    // attempts report their progress
	slow     float64 // factor by which the last worker is slower
	hang     float64 // share of attempts that hang
	fail     float64 // share of attempts that fail half-way
	stopped  [2]time.Duration
	killed   [2]time.Duration
	outage   time.Duration
	restarts []time.Duration // when the coordinator is killed
}

func scenarios() []scenario {
	with := func(name string, change func(*scenario)) scenario {
		s := scenario{name: name, tasks: 160, seconds: .6}
		change(&s)
		return s
	}
	mixed := func(s *scenario) { s.slow, s.long, s.hang, s.fail = 8, true, .02, .04 }
	ms := time.Millisecond
	return []scenario{
		with("healthy", func(*scenario) {}),
		with("slow", func(s *scenario) { s.slow = 8 }),
		with("slow-2s", func(s *scenario) { s.slow, s.tasks, s.seconds = 8, 80, 2 }),
		with("stopped", func(s *scenario) { s.stopped = [2]time.Duration{1500 * ms, 9500 * ms} }),
		with("hang", func(s *scenario) { s.hang = .03 }),
		with("hang-2s", func(s *scenario) { s.hang, s.tasks, s.seconds = .03, 80, 2 }),
		with("fail", func(s *scenario) { s.fail = .08 }),
		with("long-told", func(s *scenario) { s.long, s.told = true, true }),
		with("long", func(s *scenario) { s.long = true }),
		with("mixed", mixed),
		with("mixed-progress", func(s *scenario) { mixed(s); s.reports = true }),
		with("mixed-told", func(s *scenario) { mixed(s); s.told = true }),
		with("mixed-killed", func(s *scenario) {
			mixed(s)
			s.restarts = []time.Duration{600 * ms, 1900 * ms, 3100 * ms, 4700 * ms}
		}),
		with("dies", func(s *scenario) { s.killed = [2]time.Duration{1500 * ms, 5500 * ms} }),
		with("outage", func(s *scenario) { s.outage = 3 * time.Second }),
	}
}

// timeout returns the hard timeout of an attempt.
func (s *scenario) timeout() time.Duration {
	return time.Duration(s.seconds / .6 * float64(8*time.Second))
}

// job is a task of a batch, and the arguments of its job.
type job struct {
	Scenario string    `json:"scenario"`
	Seed     uint64    `json:"seed"`
	Task     int       `json:"task"`
	Began    time.Time `json:"began"`          // of the batch
	Copy     bool      `json:"copy,omitempty"` // a copy of the naive rule
}

func (job) Kind() string { return "work" }

func (j job) scenario() scenario {
	for _, s := range scenarios() {
		if s.name == j.Scenario {
			return s
		}
	}
	return scenario{}
}

func (j job) random(purpose uint64) *rand.Rand {
	var seed [32]byte
	for i, n := range [...]uint64{j.Seed, uint64(j.Task), purpose} {
		binary.LittleEndian.PutUint64(seed[8*i:], n)
	}
	return rand.New(rand.NewChaCha8(seed))
}

// work returns the time of the task on a good worker, in seconds.
func (j job) work() float64 {
	s := j.scenario()
	w := s.seconds * math.Exp(.2*j.random(0).NormFloat64())
	if s.long && j.Task%12 == 5 {
		w *= 6
	}
	return w
}

// fate returns whether an attempt hangs, and whether it fails half-way.
func (j job) fate(number int) (hangs, fails bool) {
	s, r := j.scenario(), j.random(1+uint64(number))
	hang, fail := r.Float64(), r.Float64()
	return hang < s.hang, fail < s.fail
}
