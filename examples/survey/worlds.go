package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/published"
	"github.com/straggler-go/straggler/examples/internal/worlds"
)

// small contains the flags of the survey of small worlds.
type small struct {
	cells, policies, set, list string
	noise                      float64
	seeds                      int
	csv, table                 string // files for the figures and for the table of cells
}

var sets = map[string]worlds.Set{"work": worlds.Work, "proof": worlds.Proof}

// aboutLists tells what is in each list.
func aboutLists() string {
	var all []string
	for _, part := range worlds.Parts() {
		if part.About != "" {
			all = append(all, part.List+": "+part.About)
		}
	}
	return strings.Join(all, "\n")
}

// write plays the worlds. It writes two tables: one row for each world and model of progress, and one row of counts for
// each player. It returns the first one.
func (o small) write(w io.Writer) ([][]string, error) {
	set, ok := sets[o.set]
	if !ok {
		return nil, fmt.Errorf("-set is %q, want work or proof", o.set)
	}
	if !(o.noise > 0) || math.IsInf(o.noise, 1) {
		return nil, fmt.Errorf("-noise is %v, want a finite number above 0", o.noise)
	}
	players, err := o.players()
	if err != nil {
		return nil, err
	}
	of, err := o.chosen()
	if err != nil {
		return nil, err
	}
	cells, err := play(of, players, set, o.seeds)
	if err != nil {
		return nil, err
	}
	table := [][]string{slices.Clone(firstColumns)}
	for _, p := range players {
		table[0] = append(table[0], p.Name)
	}
	table[0] = append(table[0], "faults")
	for i := range cells {
		table = append(table, line(&cells[i], players))
	}
	fmt.Fprintf(w, "\n| %s |\n|%s\n", strings.Join(table[0], " | "), strings.Repeat("---|", len(table[0])))
	for _, row := range table[1:] {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
	counts(w, "", cells, players)
	if silent := only(cells, silent); len(silent) < len(cells) {
		counts(w, " silent", silent, players)
	}
	fmt.Fprint(w, worldsLegend)
	if o.table != "" {
		err = writeCSV(o.table, table)
	}
	if o.csv != "" {
		err = errors.Join(err, o.record(cells, players))
	}
	return table, err
}

// firstColumns are the columns of the table of cells before those of the players.
var firstColumns = []string{"world", "progress", "ideal", "good alone"}

// counts writes a table with a row for each player. Nothing is written about no cell.
func counts(w io.Writer, title string, cells []worlds.Cell, players []worlds.Player) {
	if len(cells) == 0 {
		return
	}
	fmt.Fprintf(w, "\n|%s | cells | mean | excess | harm | regret | costly | most time | 95th percentile | most slots | dominated | "+
		"by most | slower than the good | in waves |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n", title)
	for i, p := range players {
		v := worlds.Judge(cells, i, players)
		fmt.Fprintf(w, "| %s | %d | %s | %s | %d | %.2f | %d | %+.1f %s | %+.1f %s | %+.1f %s | %d | %.1f %s | %d | %d |\n", p.Name,
			v.Cells, share(v.Mean), share(v.Excess), v.Harm, v.Regret, v.Costly, v.MostTime, v.Time, v.MostHigh, v.High,
			v.MostSlots, v.Slots, v.Dominated, v.MostDominated, v.By, v.Slower, v.SlowerInWaves)
	}
}

// only returns the cells of a kind.
func only(cells []worlds.Cell, kind func(*worlds.Cell) bool) (found []worlds.Cell) {
	for i := range cells {
		if kind(&cells[i]) {
			found = append(found, cells[i])
		}
	}
	return found
}

func silent(c *worlds.Cell) bool { return c.Model == worlds.None }

// worldsLegend explains the two tables of worlds.
//
//go:embed legend.txt
var worldsLegend string

// line returns the row of a cell. The last column has the faults of the default, or of the first player if the default
// does not play.
func line(c *worlds.Cell, players []worlds.Player) []string {
	judged := max(slices.IndexFunc(players, func(p worlds.Player) bool { return p.Name == "default" }), 0)
	row := []string{c.World.Name, c.Model.String(), "", ""}
	if c.Ideal.Time > 0 {
		row[2] = share(c.Ideal)
	}
	if c.Good.Time > 0 {
		row[3] = fmt.Sprintf("%.1f", c.Good.Time)
	}
	for _, s := range c.Players {
		row = append(row, share(s))
	}
	var marks []string
	if c.Harm(judged) {
		marks = append(marks, "harm")
	}
	if by, points := c.Dominated(judged, players); points > 0 {
		name := "nothing"
		if by >= 0 {
			name = players[by].Name
		}
		marks = append(marks, fmt.Sprintf("%s -%.1f", name, points))
	}
	if c.Slower(judged) {
		marks = append(marks, "slower")
	}
	return append(row, strings.Join(marks, ", "))
}

// share writes a share as time/slot time, or for a stream as time/late time/slot time, in percent.
func share(s worlds.Share) string {
	if s.Late > 0 {
		return fmt.Sprintf("%.1f/%.1f/%.1f", s.Time, s.Late, s.Slots)
	}
	return fmt.Sprintf("%.1f/%.1f", s.Time, s.Slots)
}

// players returns the players of the table. The first are the default without and with a record of the machines,
// unless the flag -policies lists the default. The others are the policies of the flag, with the defaults of their
// papers.
func (o small) players() ([]worlds.Player, error) {
	names := compare.Profiles(o.policies)
	var players []worlds.Player
	if !slices.Contains(names, "default") {
		players = []worlds.Player{{Name: "default"}, {Name: recorded, Record: true}}
	}
	for _, text := range names {
		p, err := player(text)
		if err != nil {
			return nil, err
		}
		players = append(players, p)
	}
	return players, nil
}

// player returns the player with a name.
func player(name string) (worlds.Player, error) {
	p := worlds.Player{Name: name}
	switch name {
	case "default":
	case recorded:
		p.Record = true
	case "by-hand":
		p.ByHand = true
	default:
		policy, err := published.Parse(name)
		if err != nil {
			return p, err
		}
		p.Policy = policy
	}
	return p, nil
}

const recorded = "with a record" // the default in a host that remembers its machines

// chosen returns the cells of the list with names that match the expression. A name is the world, a space and the
// model.
func (o small) chosen() (cells []worlds.Cell, err error) {
	match, err := regexp.Compile(o.cells)
	if err != nil {
		return nil, fmt.Errorf("-cells: %w", err)
	}
	for name := range strings.SplitSeq(o.list, ",") {
		list := worlds.List(name)
		if list == nil {
			return nil, fmt.Errorf("-list has %q, want some of these lists:\n%s", name, aboutLists())
		}
		for _, c := range list {
			if c.World.Noise = o.noise; match.MatchString(c.String()) {
				cells = append(cells, c)
			}
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("-cells: no cell matches %q", o.cells)
	}
	return cells, nil
}

// play simulates the cells, on all processors.
func play(of []worlds.Cell, players []worlds.Player, set worlds.Set, seeds int) ([]worlds.Cell, error) {
	cells := make([]worlds.Cell, len(of))
	err := inParallel(len(of), func(i int) (err error) {
		if cells[i], err = worlds.Play(of[i].World, of[i].Model, players, set, seeds); err != nil {
			return fmt.Errorf("%v: %w", &of[i], err)
		}
		cells[i].List = of[i].List
		return nil
	})
	return cells, err
}
