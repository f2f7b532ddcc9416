package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// settings are equal in all processes. Simulated time passes Speed times as fast as real time.
type settings struct {
	Processes, Machines, Bad int
	Rate                     float64       // attempts that all processes together start on each machine, per second
	Ask                      time.Duration // time between two questions of a process
	Span                     time.Duration
	Speed                    float64
	Start                    time.Time // when simulated time starts; it is equal to real time then
	Seed                     uint64
}

func (s settings) now() time.Time {
	return s.Start.Add(time.Duration(float64(time.Since(s.Start)) * s.Speed))
}

// seen is the result of one process.
type seen struct {
	Process         int
	Alone, Together named
	Attempts        int
	Sent            int64
	Began           time.Duration
}

// named describes how well a record has found the bad machines.
type named struct {
	Half  time.Duration // when the record had found half of the bad machines; 0 if never
	Bad   int           // number of bad machines that the record has found at the end
	Wrong int           // number of good machines that the record ever took for bad
	wrong map[int]bool
}

func (n *named) look(w *world, r *machines.Record, now time.Duration) {
	if n.Bad = 0; n.wrong == nil {
		n.wrong = map[int]bool{}
	}
	for _, machine := range r.AppendAvoid(nil) {
		if w.bad(machine) {
			n.Bad++
		} else {
			n.wrong[machine] = true
		}
	}
	if n.Half == 0 && 2*n.Bad >= w.Bad {
		n.Half = now
	}
	n.Wrong = len(n.wrong)
}

// begin is the message to a process when all processes are ready. It has the start of time, and the address of the
// first process, which is empty for the first process itself.
type begin struct {
	Start time.Time
	Join  string
}

// runMember runs one process: a scheduler with one record for itself, and one record that it shares. It prints a line
// when it is ready, then its address, and at the end its result as JSON.
func runMember(process int, s settings) error {
	name := "scheduler-" + strconv.Itoa(process)
	alone, err := machines.New(machines.Config{})
	if err != nil {
		return err
	}
	shared, err := machines.New(machines.Config{Origin: name})
	if err != nil {
		return err
	}
	w := world{Machines: s.Machines, Bad: s.Bad, Rate: s.Rate * float64(s.Machines) / float64(s.Processes)}
	for machine := range w.Machines {
		shared.SetName(machine, w.name(machine))
	}
	fmt.Println("ready")
	var begin begin
	if err := json.NewDecoder(os.Stdin).Decode(&begin); err != nil { // waits until all processes are ready
		return err
	}
	s.Start = begin.Start
	g, err := newGossip(name, shared, s.now)
	if err != nil {
		return err
	}
	fmt.Println(g.members.LocalNode().Address())
	if begin.Join != "" {
		if _, err := g.members.Join([]string{begin.Join}); err != nil {
			return err
		}
	}
	began := s.now().Sub(s.Start)
	w.random, w.next = rand.New(rand.NewPCG(s.Seed+uint64(process), uint64(began))), began
	said := seen{Process: process, Began: began}
	asked := began
	for now := began; now < s.Span; now = s.now().Sub(s.Start) {
		g.do(func(r *machines.Record) {
			w.until(now, func(e end) {
				said.Attempts++
				at := s.Start.Add(e.at)
				alone.End(at, e.machine, 0, e.attempt, e.how)
				r.End(at, e.machine, 0, e.attempt, e.how)
			})
			said.Together.look(&w, r, now)
		})
		said.Alone.look(&w, alone, now)
		if now-asked >= s.Ask {
			asked = now
			g.ask()
		}
		time.Sleep(time.Duration(float64(time.Second) / s.Speed))
	}
	said.Sent = g.sent.Load()
	return json.NewEncoder(os.Stdout).Encode(said)
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
