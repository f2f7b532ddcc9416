package main

import (
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Engine is your scheduler's own code: it runs attempts on machines.
type Engine interface {
	Machines() int
	Idle(machine int) bool
	Launch(task, attempt, machine int)
	Kill(task, attempt int)
}

// Scheduler joins an engine and the tracker of one phase. Each of its methods is called under one lock.
type Scheduler struct {
	Tracker *tracker.Tracker
	Engine  Engine
}

// Fill gives work to every idle slot.
func (s *Scheduler) Fill(now time.Time) {
	for machine := range s.Engine.Machines() {
		for s.Engine.Idle(machine) {
			a := s.Tracker.Next(now, machine)
			switch a.Action {
			case restart.Start, restart.Copy:
				attempt := s.Tracker.Start(now, a.Task, machine)
				s.Engine.Launch(a.Task, attempt, machine)
			case restart.Restart, restart.Kill:
				s.carryOut(now, a)
			}
			if a.Action == restart.Keep {
				break // nothing to run on this machine
			}
		}
	}
}

// carryOut carries out an answer about a running attempt, and tells the tracker.
func (s *Scheduler) carryOut(now time.Time, a tracker.Answer) {
	switch a.Action {
	case restart.Restart:
		s.Engine.Kill(a.Task, a.Attempt)
		s.Tracker.Restart(now, a.Task, a.Attempt) // the task waits again
	case restart.Kill:
		s.Engine.Kill(a.Task, a.Attempt)
		s.Tracker.Kill(now, a.Task, a.Attempt) // the task goes on in its other attempt
	}
}

// Reported tells the tracker which share of its task an attempt has done, from 0 to 1.
func (s *Scheduler) Reported(now time.Time, task, attempt int, share float64) {
	s.carryOut(now, s.Tracker.Report(now, task, attempt, tracker.Report{Score: share}))
	s.Fill(now)
}

// Finished tells the tracker that an attempt has ended its task, and kills the other attempts of the task.
func (s *Scheduler) Finished(now time.Time, task, attempt int) {
	for _, other := range s.Tracker.Finish(now, task, attempt) {
		s.Engine.Kill(task, other)
	}
	s.Fill(now)
}

// Failed tells the tracker that an attempt has failed. The task waits again if it has no other attempt.
func (s *Scheduler) Failed(now time.Time, task, attempt int) {
	s.Tracker.Fail(now, task, attempt)
	s.Fill(now)
}

// Tick finds attempts that hang. Call it every 10 s, which is the interval of the configuration.
func (s *Scheduler) Tick(now time.Time) {
	s.Tracker.Sweep(now, func(a tracker.Answer) { s.carryOut(now, a) })
	s.Fill(now)
}

// MachineLost tells the tracker that a machine is gone, and how many slots are left. Its tasks wait again.
func (s *Scheduler) MachineLost(now time.Time, machine, slots int) {
	s.Tracker.LoseMachine(now, machine)
	s.Tracker.SetSlots(slots)
	s.Fill(now)
}
