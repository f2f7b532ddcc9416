package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/workload"
	"github.com/straggler-go/straggler/examples/internal/worlds"
)

func main() {
	seeds := flag.Int("seeds", 10, "runs of each world, or of the log")
	log := flag.String("log", "", "replay the phases of this `file` in place of worlds; format: docs/format.md")
	flag.Parse()
	var err error
	switch {
	case *seeds < 1:
		err = fmt.Errorf("-seeds is %d, want at least 1", *seeds)
	case *log == "":
		err = inWorlds(*seeds)
	default:
		err = onLog(*log, *seeds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guide:", err)
		os.Exit(1)
	}
}

// chosen are the names of the worlds that are played.
var chosen = []string{"15 % attempts 8x/3w", "Pareto 1.3 sizes, unknown/3w"}

// bounded is Twice within the limits that a tracker has by default. The comparisons of this repository turn the bound on
// lost trials off for a policy that does not say that it reads them.
type bounded struct{ Twice }

func (bounded) Describe() rules.Description {
	return rules.Description{Facts: rules.Fresh | rules.Trials}
}

// players are the policies that are compared.
var players = []worlds.Player{
	{Name: "twice", Policy: bounded{}},
	{Name: "no bound", Policy: Twice{}},
	{Name: "default", Policy: restart.LeastCost{}},
	{Name: "mantri", Policy: restart.Mantri{}},
	{Name: "spark", Policy: rules.Spark{}},
}

// head begins a table with the names of the players.
func head() {
	fmt.Printf("%-36s", "time/slots, percent of no action")
	for _, p := range players {
		fmt.Printf(" %11s", p.Name)
	}
	fmt.Println()
}

// inWorlds prints how long each policy takes, and how much slot time it uses, in percent of a host that leaves every
// task alone. Each world is played with progress and without.
func inWorlds(seeds int) error {
	head()
	for _, c := range worlds.List("first") {
		if !slices.Contains(chosen, c.World.Name) || c.Model != worlds.Linear && c.Model != worlds.None {
			continue
		}
		cell, err := worlds.Play(c.World, c.Model, players, worlds.Work, seeds)
		if err != nil {
			return err
		}
		fmt.Printf("%-36s", cell.String())
		for _, share := range cell.Players {
			fmt.Printf(" %5.1f/%5.1f", share.Time, share.Slots)
		}
		fmt.Println()
	}
	return nil
}

// onLog prints the same for the phases of a log whose tasks are alike. A copy that never ran takes the time of an attempt that did, drawn anew
// for each seed.
func onLog(path string, seeds int) error {
	log, err := trace.Open(path)
	if err != nil {
		return err
	}
	phases, _ := workload.FromLog(log)
	if phases = workload.Divide(phases, false).Alike; len(phases) == 0 {
		return errors.New(path + " has no phase of tasks that are alike, so a copy's time can't be known")
	}
	head()
	for _, model := range []sim.Progress{sim.Linear, sim.None} {
		o := compare.Options{Seeds: seeds, Step: func() {}}
		for _, p := range players {
			o.Policies = append(o.Policies, compare.Entry{Name: p.Name, Policy: p.Policy, Progress: model})
		}
		c, err := compare.Run(phases, o)
		if err != nil {
			return err
		}
		fmt.Printf("%-36s", fmt.Sprintf("%d phases, %d tasks, %v", c.Phases, c.Tasks, model))
		for _, of := range c.Outcomes {
			fmt.Printf(" %5.1f/%5.1f", 100*(1-of.All.Mean), 100*(1-of.Resource.Mean))
		}
		fmt.Println()
	}
	return nil
}
