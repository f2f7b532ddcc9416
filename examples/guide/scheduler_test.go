package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// pretend is an engine of four machines with a slot each. An attempt takes 40 s, and ten times as long on machine 3.
type pretend struct {
	now  time.Time
	runs map[int]*attempt // by machine
}

type attempt struct {
	task, attempt int
	began         time.Time
}

func (p *pretend) Machines() int         { return 4 }
func (p *pretend) Idle(machine int) bool { return p.runs[machine] == nil }

func (p *pretend) Launch(task, number, machine int) {
	fmt.Printf("%s task %d attempt %d starts on machine %d\n", p.now.Format("4:05"), task, number, machine)
	p.runs[machine] = &attempt{task, number, p.now}
}

func (p *pretend) Kill(task, number int) {
	for machine, a := range p.runs {
		if a != nil && a.task == task && a.attempt == number {
			fmt.Printf("%s task %d attempt %d is killed\n", p.now.Format("4:05"), task, number)
			delete(p.runs, machine)
		}
	}
}

// takes is how long an attempt takes on a machine.
func takes(machine int) time.Duration {
	if machine == 3 {
		return 400 * time.Second
	}
	return 40 * time.Second
}

func ExampleScheduler() {
	config := tracker.Config{Tasks: 7, Slots: 4, Machines: 4, Interval: 10 * time.Second}
	t, err := tracker.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	run(t)
	fmt.Println(t.Ledger())
	// Output:
	// 0:00 task 0 attempt 0 starts on machine 0
	// 0:00 task 1 attempt 0 starts on machine 1
	// 0:00 task 2 attempt 0 starts on machine 2
	// 0:00 task 3 attempt 0 starts on machine 3
	// 0:40 task 0 attempt 0 ends
	// 0:40 task 4 attempt 0 starts on machine 0
	// 0:40 task 1 attempt 0 ends
	// 0:40 task 5 attempt 0 starts on machine 1
	// 0:40 task 2 attempt 0 ends
	// 0:40 task 6 attempt 0 starts on machine 2
	// 1:20 task 4 attempt 0 ends
	// 1:20 task 3 attempt 1 starts on machine 0
	// 1:20 task 5 attempt 0 ends
	// 1:20 task 6 attempt 0 ends
	// 1:30 task 3 attempt 0 is killed
	// 2:00 task 3 attempt 1 ends
	// started=8 finished=7 copies=1 won=1 pruned=1 used=370s wasted=90s
}

// run runs the seven tasks of a tracker.
func run(t *tracker.Tracker) {
	engine := &pretend{now: time.Unix(0, 0).UTC(), runs: map[int]*attempt{}}
	s := &Scheduler{Tracker: t, Engine: engine}
	s.Fill(engine.now)
	for t.Ledger().Finished < 7 {
		engine.now = engine.now.Add(10 * time.Second)
		for machine := range engine.Machines() {
			a := engine.runs[machine]
			if a == nil {
				continue
			}
			if age := engine.now.Sub(a.began); age >= takes(machine) {
				delete(engine.runs, machine)
				fmt.Printf("%s task %d attempt %d ends\n", engine.now.Format("4:05"), a.task, a.attempt)
				s.Finished(engine.now, a.task, a.attempt)
			} else if age > 0 {
				s.Reported(engine.now, a.task, a.attempt, age.Seconds()/takes(machine).Seconds())
			}
		}
		s.Tick(engine.now)
	}
	t.Close(engine.now)
}

// The pages quote the number of events of the journal that the example's scheduler writes.
func TestEventsOfTheSchedulersJournal(t *testing.T) {
	config := tracker.Config{Tasks: 7, Slots: 4, Machines: 4, Interval: 10 * time.Second}
	var file bytes.Buffer
	recorded := Record(&config, &file)
	phase, err := tracker.New(config)
	if err != nil {
		t.Fatal(err)
	}
	run(phase)
	if err := recorded.Flush(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/fixture.md")
	if err != nil {
		t.Fatal(err)
	}
	cut, err := os.ReadFile("testdata/slow_machine.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("has %d events. After the cut %d are left", events(t, file.Bytes()), events(t, cut))
	if !strings.Contains(strings.ReplaceAll(string(page), "\n", " "), want) {
		t.Errorf("docs/fixture.md does not say that the journal %s", want)
	}
}

// events returns the number of events of a journal.
func events(t *testing.T, text []byte) (n int) {
	t.Helper()
	phases, err := journal.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range phases {
		n += len(p.Events)
	}
	return n
}
