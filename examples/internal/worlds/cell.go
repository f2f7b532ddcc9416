package worlds

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/restart"
)

// Player is a policy, or a host that replaces the tracker, in a column of the table.
type Player struct {
	Name   string
	Policy restart.Policy
	Record bool // the host remembers its machines from phase to phase
	ByHand bool // the host keeps the facts itself, without a tracker
}

// Share is a time and a slot time, in percent of a run without action and with the same luck. In a stream, Late is
// the time that one of a hundred phases exceeds, also in percent; otherwise it is 0. Each and High are the mean and the
// 95th percentile over the seeds of the time in percent of the same seed without action. First is the mean number of
// intervals until the first copy, over the seeds with a copy; 0 if there is none.
type Share struct{ Time, Slots, Late, Each, High, First float64 }

// Cell is a world under a model of progress, with the figures of each player.
type Cell struct {
	List    string // name of the list of worlds
	World   World
	Model   Model
	Players []Share
	Ideal   Share
	Good    Share // figures of the good machines alone, without a policy; zero if all machines are good
}

// Play simulates the seeds from 1 to seeds of a set, with all players. A share is a ratio of sums over the seeds, so
// a seed is weighted by its time.
func Play(w World, m Model, players []Player, set Set, seeds int) (Cell, error) {
	c := Cell{World: w, Model: m, Players: make([]Share, len(players))}
	var nothing Share
	copied, times := make([]float64, len(players)), make([][]float64, len(players))
	for seed := 1; seed <= seeds; seed++ {
		alone := 0.
		games := append(make([]Game, 0, len(players)+2), Game{Policy: restart.Never{}})
		for _, p := range players {
			games = append(games, Game{Policy: p.Policy, Record: p.Record, ByHand: p.ByHand})
		}
		if w.bad() > 0 {
			games = append(games, Game{Policy: restart.Never{}, Good: true})
		}
		for i, g := range games {
			g.Model, g.Set, g.Seed = m, set, seed
			in := w
			if i == 0 {
				in.Told = false
			}
			o, err := in.Run(g)
			if err != nil {
				return c, err
			}
			switch {
			case i == 0:
				nothing.add(o)
				alone = o.Time
			case g.Good:
				c.Good.add(o)
			default:
				c.Players[i-1].add(o)
				times[i-1] = append(times[i-1], 100*o.Time/alone)
				if o.First > 0 {
					copied[i-1]++
				}
			}
		}
		if w.Load == 0 {
			c.Ideal.add(w.Ideal(set, seed))
		}
	}
	for i := range c.Players {
		s := &c.Players[i]
		s.of(nothing)
		slices.Sort(times[i])
		for _, t := range times[i] {
			s.Each += t / float64(seeds)
		}
		s.High = times[i][(95*seeds+99)/100-1]
		s.First /= max(copied[i], 1)
	}
	c.Ideal.of(nothing)
	c.Good.of(nothing)
	return c, nil
}

func (s *Share) add(o Outcome) {
	s.Time += o.Time
	s.Slots += o.Slots
	s.Late += o.Late
	s.First += o.First
}

func (s *Share) of(nothing Share) {
	s.Time *= 100 / nothing.Time
	s.Slots *= 100 / nothing.Slots
	if nothing.Late > 0 {
		s.Late *= 100 / nothing.Late
	}
}

// The thresholds of the counts, in points of percent.
const (
	harmTime  = .5 // more time than no action
	harmSlots = 1  // more slot time than no action
	dominated = .5 // more time than another policy, at no fewer slots
	slower    = 1  // more time than the good machines alone
	mostSlots = 20 // more slot time than no action; no cell of the default may exceed it
)

// String returns the names of the world and the model, as in "15 % attempts 8x/3w noisy".
func (c *Cell) String() string { return c.World.Name + " " + c.Model.String() }

// Harm reports whether a player takes more time or slot time than no action, by more than a threshold.
func (c *Cell) Harm(player int) bool {
	s := c.Players[player]
	return s.Time > 100+harmTime || s.Slots > 100+harmSlots
}

// Dominated returns the player that is faster than the given player by most, among the players that use no more slot
// time, and the difference in points. -1 stands for no action. The points are 0 if there is no such player. Players
// with a record of machines, and hosts that replace the tracker, are not used for comparison.
func (c *Cell) Dominated(player int, players []Player) (by int, points float64) {
	s := c.Players[player]
	better := func(other int, o Share) {
		if o.Slots <= s.Slots && s.Time-o.Time >= max(dominated, points) {
			by, points = other, s.Time-o.Time
		}
	}
	better(-1, Share{Time: 100, Slots: 100})
	for i, o := range c.Players {
		if !players[i].Record && !players[i].ByHand {
			better(i, o)
		}
	}
	return by, points
}

// Regret returns by how many points the best bargain among the published policies is faster than the player: of the
// policies that use no more slot time, the fastest. It is 0 if none of them is faster.
func (c *Cell) Regret(player int, players []Player) (points float64) {
	for i, o := range c.Players {
		if players[i].Policy != nil && o.Slots <= c.Players[player].Slots {
			points = max(points, c.Players[player].Time-o.Time)
		}
	}
	return points
}

// Slower reports whether a player is slower than the good machines alone without a policy, by more than a threshold.
func (c *Cell) Slower(player int) bool {
	return c.Good.Time > 0 && c.Players[player].Time > c.Good.Time+slower
}

// Waves reports whether the phase has more tasks than slots.
func (c *Cell) Waves() bool { return c.World.Tasks > c.World.machines() }

// Verdict counts the cells in which a player does badly.
type Verdict struct {
	Cells, Harm, Dominated, Slower, SlowerInWaves int
	Costly                                        int     // cells in which it takes over 120 % of the slot time
	Mean                                          Share   // mean over the cells
	Excess                                        Share   // sum over the cells of the points over 100
	Regret                                        float64 // mean over the cells
	// The largest harm in points, and the cells of it. High is the worst cell by Share.High.
	MostTime, MostSlots, MostDominated, MostHigh float64
	Time, Slots, By, High                        string
}

// Judge counts the cells in which a player does badly.
func Judge(cells []Cell, player int, players []Player) (v Verdict) {
	most := func(to *float64, where *string, points float64, c *Cell) {
		if cmp.Compare(points, *to) > 0 {
			*to, *where = points, c.String()
		}
	}
	for i := range cells {
		c, s := &cells[i], cells[i].Players[player]
		v.Cells++
		v.Mean.Time += s.Time / float64(len(cells))
		v.Mean.Slots += s.Slots / float64(len(cells))
		v.Mean.Each += s.Each / float64(len(cells))
		v.Excess.Time += max(s.Time-100, 0)
		v.Excess.Slots += max(s.Slots-100, 0)
		if c.Harm(player) {
			v.Harm++
		}
		if s.Slots > 100+mostSlots {
			v.Costly++
		}
		v.Regret += c.Regret(player, players) / float64(len(cells))
		most(&v.MostHigh, &v.High, s.High-100, c)
		most(&v.MostTime, &v.Time, s.Time-100, c)
		most(&v.MostSlots, &v.Slots, s.Slots-100, c)
		if _, points := c.Dominated(player, players); points > 0 {
			v.Dominated++
			most(&v.MostDominated, &v.By, points, c)
		}
		if c.Slower(player) {
			v.Slower++
			if c.Waves() {
				v.SlowerInWaves++
			}
		}
	}
	return v
}
