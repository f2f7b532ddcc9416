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

// settings are what all processes of a fleet agree on; virtual times pass Speed times as fast as real ones.
type settings struct {
	Processes, Machines, Bad int
	Rate                     float64       // of starts on a machine, by all processes, a second
	Ask                      time.Duration // how often each asks another
	Span                     time.Duration
	Speed                    float64
	Start                    time.Time // of virtual time, which then is what it is
	Seed                     uint64
}

func (s settings) now() time.Time {
	return s.Start.Add(time.Duration(float64(time.Since(s.Start)) * s.Speed))
}

// seen is what one process has to say in the end.
type seen struct {
	Process         int
	Alone, Together named
	Attempts        int
	Sent            int64
	Began           time.Duration
}

// named says how far a record got.
type named struct {
	Half  time.Duration // when it named half of the bad machines; 0 if it never did
	Bad   int           // how many of them it names in the end
	Wrong int           // how many others it ever named
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

// begin is what a process reads when all are ready: when time begins, and the address of the first, if it is another.
type begin struct {
	Start time.Time
	Join  string
}

// runMember is one process: a scheduler with a record that it keeps for itself, and one that it shares. It prints that
// it is ready, then its address, and in the end what it has seen.
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
	if err := json.NewDecoder(os.Stdin).Decode(&begin); err != nil { // until all are there
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
