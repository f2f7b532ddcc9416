package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/worlds"
)

func main() {
	seeds := flag.Int("seeds", 10, "runs of each world")
	flag.Parse()
	if err := compare(*seeds); err != nil {
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

// compare prints how long each policy takes, and how much slot time it uses, in percent of a host that leaves every task
// alone. Each world is played with progress and without.
func compare(seeds int) error {
	players := []worlds.Player{
		{Name: "twice", Policy: bounded{}},
		{Name: "no bound", Policy: Twice{}},
		{Name: "default", Policy: restart.LeastCost{}},
		{Name: "mantri", Policy: restart.Mantri{}},
		{Name: "spark", Policy: rules.Spark{}},
	}
	fmt.Printf("%-36s", "time/slots, percent of no action")
	for _, p := range players {
		fmt.Printf(" %11s", p.Name)
	}
	fmt.Println()
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
