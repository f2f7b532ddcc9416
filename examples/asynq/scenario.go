package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"
)

const (
	hosts   = 4
	slots   = 4
	slice   = 50 * time.Millisecond // a handler notices the end of its context after a slice
	timeout = 8 * time.Second       // of each attempt, by asynq
	seconds = .6                    // usual time of a task
)

// scenario is the trouble of a batch. A zero field means no such trouble.
type scenario struct {
	name   string
	tasks  int
	slow   float64 // factor by which the last server is slower
	hang   float64 // share of attempts that hang
	killed [2]time.Duration
}

func scenarios() []scenario {
	with := func(name string, change func(*scenario)) scenario {
		s := scenario{name: name, tasks: 160}
		change(&s)
		return s
	}
	ms := time.Millisecond
	return []scenario{
		with("healthy", func(*scenario) {}),
		with("slow", func(s *scenario) { s.slow = 8 }),
		with("slow-few", func(s *scenario) { s.slow, s.tasks = 8, 60 }),
		with("hang", func(s *scenario) { s.hang = .03 }),
		with("dies", func(s *scenario) { s.killed = [2]time.Duration{1500 * ms, 5500 * ms} }),
	}
}

// job is a task of a batch, and the payload of its task.
type job struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	Task     int    `json:"task"`
	Copy     bool   `json:"copy,omitempty"` // a copy of the naive rule
}

// kind is the type of the tasks.
const kind = "work"

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

// work returns the time of the task on a good server, in seconds.
func (j job) work() float64 { return seconds * math.Exp(.2*j.random(0).NormFloat64()) }

// hangs reports whether an attempt hangs.
func (j job) hangs(number int) bool { return j.random(1+uint64(number)).Float64() < j.scenario().hang }
