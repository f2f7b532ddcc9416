package queuesim

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Player is a rule, a column of the table. A Player that is neither Naive nor Engine is the plain queue.
type Player struct {
	Name   string
	Naive  bool
	Engine bool           // the coordinator is restart/engine
	Policy restart.Policy // the policy of the engine; nil: the library's default
	Shadow bool           // the policy decides, and nothing is carried out
	// Watch is called for each action of the engine; nil: no calls.
	Watch func(now time.Duration, name string, a engine.Action)
}

// Nothing and Naive are the indexes of these two players in Players.
const (
	Nothing = iota
	Naive
)

// Players returns the players nothing, naive and straggler.
func Players() []Player {
	return []Player{{Name: "nothing"}, {Name: "naive", Naive: true}, {Name: "straggler", Engine: true}}
}

// Run simulates a scenario with a seed.
func (p Player) Run(s Scenario, seed int) (o Outcome, err error) {
	switch {
	case p.Naive:
		return play(&s, naive{}, seed)
	case p.Engine:
		c := &coordinator{policy: p.Policy, watch: p.Watch, shadow: p.Shadow}
		if o, err = play(&s, c, seed); err == nil {
			err, o.Bill = c.err, c.bill
		}
		if err != nil {
			err = fmt.Errorf("%s, %s, seed %d: %w", s.Name, p.Name, seed, err)
		}
		return o, err
	default:
		return play(&s, plain{}, seed)
	}
}

// Cell has the figures of all players in a scenario: for each seed, and their sums.
type Cell struct {
	Scenario Scenario
	Seeds    [][]Outcome // by player, then by seed
	Sums     []Outcome   // by player
}

// Play simulates the seeds from 1 to seeds, with all players.
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
	o.Bill.Add(other.Bill)
}

// beats reports whether a batch has lost fewer tasks than another batch, or has lost as many and took less time.
func (o Outcome) beats(other Outcome) bool {
	return o.Lost < other.Lost || o.Lost == other.Lost && o.Time < other.Time
}

// Time returns the time of a player divided by the time of another player. It is a ratio of sums over the seeds, so a
// seed is weighted by its time.
func (c *Cell) Time(player, of int) float64 {
	return c.Sums[player].Time.Seconds() / c.Sums[of].Time.Seconds()
}

// Median returns the median, over the seeds, of the time of a player divided by the time of another player.
func (c *Cell) Median(player, of int) float64 {
	var all []float64
	for i, o := range c.Seeds[player] {
		all = append(all, o.Time.Seconds()/c.Seeds[of][i].Time.Seconds())
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// Won returns the share of the seeds in which a player beats another: it loses fewer tasks, or loses as many and
// takes less time.
func (c *Cell) Won(player, against int) float64 {
	n := 0
	for i, o := range c.Seeds[player] {
		if o.beats(c.Seeds[against][i]) {
			n++
		}
	}
	return float64(n) / float64(len(c.Seeds[player]))
}

// Slots returns the slot time of a player divided by the slot time of another player.
func (c *Cell) Slots(player, of int) float64 {
	return c.Sums[player].Used.Seconds() / c.Sums[of].Used.Seconds()
}

// Wasted returns the share of a player's slot time that gave no task its result.
func (c *Cell) Wasted(player int) float64 {
	return c.Sums[player].Wasted.Seconds() / c.Sums[player].Used.Seconds()
}
