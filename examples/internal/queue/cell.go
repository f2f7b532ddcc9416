package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Player is a rule in the table. One that is neither Naive nor Engine does nothing.
type Player struct {
	Name   string
	Naive  bool
	Engine bool           // restart/engine is the coordinator
	Policy restart.Policy // of the engine; nil: the library's default
	// Watch is called for each action of the engine, if it is not nil.
	Watch func(now time.Duration, a engine.Action)
}

// Nothing and Naive are the places of these two among the players.
const (
	Nothing = iota
	Naive
)

// Players lists nothing, naive, and straggler.
func Players() []Player {
	return []Player{{Name: "nothing"}, {Name: "naive", Naive: true}, {Name: "straggler", Engine: true}}
}

// Run plays a scenario with a seed.
func (p Player) Run(s Scenario, seed int) (o Outcome, err error) {
	switch {
	case p.Naive:
		return play(&s, naive{}, seed)
	case p.Engine:
		c := &coordinator{policy: p.Policy, watch: p.Watch}
		if o, err = play(&s, c, seed); err == nil {
			err = c.err
		}
		if err != nil {
			err = fmt.Errorf("%s, %s, seed %d: %w", s.Name, p.Name, seed, err)
		}
		return o, err
	default:
		return play(&s, plain{}, seed)
	}
}

// Cell is what the players make of a scenario: what each seed came to, and the sums.
type Cell struct {
	Scenario Scenario
	Seeds    [][]Outcome // by player and seed
	Sums     []Outcome   // by player
}

// Play plays the seeds from 1 to n under all players.
func Play(s Scenario, players []Player, seeds int) (Cell, error) {
	c := Cell{Scenario: s, Seeds: make([][]Outcome, len(players)), Sums: make([]Outcome, len(players))}
	for seed := 1; seed <= seeds; seed++ {
		for i, p := range players {
			o, err := p.Run(s, seed)
			if err != nil {
				return c, err
			}
			c.Seeds[i] = append(c.Seeds[i], o)
			c.Sums[i].add(o)
		}
	}
	return c, nil
}

func (o *Outcome) add(other Outcome) {
	o.Time += other.Time
	o.Used += other.Used
	o.Wasted += other.Wasted
	o.Lost += other.Lost
	o.Begins += other.Begins
	o.Copies += other.Copies
	o.Twice += other.Twice
}

// beats reports whether a batch has lost fewer tasks than another, or as many in less time.
func (o Outcome) beats(other Outcome) bool {
	return o.Lost < other.Lost || o.Lost == other.Lost && o.Time < other.Time
}

// Time is the time of a player as a share of another's: a ratio of sums, in which a seed counts by its time.
func (c *Cell) Time(player, of int) float64 {
	return c.Sums[player].Time.Seconds() / c.Sums[of].Time.Seconds()
}

// Median is the median over the seeds of the time of a player as a share of another's.
func (c *Cell) Median(player, of int) float64 {
	var all []float64
	for i, o := range c.Seeds[player] {
		all = append(all, o.Time.Seconds()/c.Seeds[of][i].Time.Seconds())
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// Won is the share of the seeds in which a player beats another: it loses fewer tasks, or as many in less time.
func (c *Cell) Won(player, against int) float64 {
	n := 0
	for i, o := range c.Seeds[player] {
		if o.beats(c.Seeds[against][i]) {
			n++
		}
	}
	return float64(n) / float64(len(c.Seeds[player]))
}

// Slots is the slot time of a player as a share of another's.
func (c *Cell) Slots(player, of int) float64 {
	return c.Sums[player].Used.Seconds() / c.Sums[of].Used.Seconds()
}

// Wasted is the part of a player's slot time that gave no task its result.
func (c *Cell) Wasted(player int) float64 {
	return c.Sums[player].Wasted.Seconds() / c.Sums[player].Used.Seconds()
}
