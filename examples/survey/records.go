package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/worlds"
)

// head is the first line of a file of figures. Each line is a cell under a policy; the figures are those of
// worlds.Share.
var head = []string{"list", "world", "progress", "set", "seeds", "noise", "policy", "time", "slots", "late", "each", "high", "first"}

// record writes the figures of the cells to the file of -csv.
func (o small) record(cells []worlds.Cell, players []worlds.Player) error {
	lines := [][]string{head}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for i := range cells {
		c := &cells[i]
		for k, s := range c.Players {
			lines = append(lines, []string{c.List, c.World.Name, c.Model.String(), o.set, strconv.Itoa(o.seeds), number(o.noise),
				players[k].Name, number(s.Time), number(s.Slots), number(s.Late), number(s.Each), number(s.High), number(s.First)})
		}
	}
	return writeCSV(o.csv, lines)
}

func writeCSV(path string, lines [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(f).WriteAll(lines), f.Close())
}

func readCSV(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// figuresOfFile are the figures of a file: those of each policy in each cell.
type figuresOfFile struct {
	cells   []worlds.Cell
	players []worlds.Player
	of      int    // index of the default among the players
	luck    string // the set of seeds, their number, and the noise
}

func readFigures(path string) (f figuresOfFile, err error) {
	lines, err := readCSV(path)
	if err != nil {
		return f, err
	}
	if len(lines) < 2 || !slices.Equal(lines[0], head) {
		return f, fmt.Errorf("%s: want a file of -worlds -csv, with the columns %s", path, strings.Join(head, ","))
	}
	f.luck = strings.Join(lines[1][3:6], " ")
	for i, line := range lines[1:] {
		c, s := worlds.Cell{List: line[0], World: worlds.World{Name: line[1]}}, worlds.Share{}
		if err := c.Model.UnmarshalText([]byte(line[2])); err != nil {
			return f, fmt.Errorf("%s, line %d: progress: %w", path, i+2, err)
		}
		for k, to := range []*float64{&s.Time, &s.Slots, &s.Late, &s.Each, &s.High, &s.First} {
			if *to, err = strconv.ParseFloat(line[7+k], 64); err != nil {
				return f, fmt.Errorf("%s, line %d: %s is %q, want a number", path, i+2, head[7+k], line[7+k])
			}
		}
		if luck := strings.Join(line[3:6], " "); luck != f.luck {
			return f, fmt.Errorf("%s, line %d: the set, the seeds and the noise are %q, want %q as above", path, i+2, luck, f.luck)
		}
		if n := len(f.cells); n == 0 || !same(&f.cells[n-1], &c) {
			f.cells = append(f.cells, c)
		}
		if len(f.cells) == 1 {
			p, err := player(line[6])
			if err != nil {
				return f, fmt.Errorf("%s: policy: %w", path, err)
			}
			f.players = append(f.players, p)
		}
		last := &f.cells[len(f.cells)-1]
		if k := len(last.Players); k == len(f.players) || f.players[k].Name != line[6] {
			return f, fmt.Errorf("%s, line %d: the policy is %s, want those of the first cell in their order", path, i+2, line[6])
		}
		last.Players = append(last.Players, s)
	}
	if i := slices.IndexFunc(f.cells, func(c worlds.Cell) bool { return len(c.Players) < len(f.players) }); i >= 0 {
		return f, fmt.Errorf("%s: %v lacks policies of the first cell", path, &f.cells[i])
	}
	f.of = slices.IndexFunc(f.players, func(p worlds.Player) bool { return p.Name == "default" })
	if f.of < 0 {
		return f, fmt.Errorf("%s has no line for the default", path)
	}
	return f, nil
}

func same(a, b *worlds.Cell) bool { return a.List == b.List && a.String() == b.String() }

// comparedFiles has the cells that two files share, with the default of either file among the other players of the
// earlier one.
type comparedFiles struct {
	before, after []worlds.Cell
	players       []worlds.Player
	of            int // index of the default
}

// compareFiles compares the default in two files of figures.
func compareFiles(w io.Writer, earlier, later string) error {
	old, err := readFigures(earlier)
	if err != nil {
		return err
	}
	now, err := readFigures(later)
	if err != nil {
		return err
	}
	if old.luck != now.luck {
		return fmt.Errorf("%s has the set, the seeds and the noise %q, and %s has %q: want the same",
			earlier, old.luck, later, now.luck)
	}
	c := comparedFiles{players: old.players, of: old.of}
	for _, before := range old.cells {
		if k := slices.IndexFunc(now.cells, func(o worlds.Cell) bool { return same(&o, &before) }); k >= 0 {
			after := before
			after.Players = slices.Clone(before.Players)
			after.Players[c.of] = now.cells[k].Players[now.of]
			c.before, c.after = append(c.before, before), append(c.after, after)
		}
	}
	if len(c.before) == 0 {
		return fmt.Errorf("%s and %s have no cell in common", earlier, later)
	}
	fmt.Fprintf(w, "%d cells in %s, %d in %s, %d in both; set, seeds, noise: %s\n", len(old.cells), earlier, len(now.cells), later,
		len(c.before), now.luck)
	c.write(w)
	return nil
}

// write writes a table with a row for each list of worlds, and the cells that have become slower.
func (c *comparedFiles) write(w io.Writer) {
	fmt.Fprint(w, "\n| | cells | time | slots | harm | excess, time | excess, slots | regret | costly |\n|---|---|---|---|---|---|---|---|---|\n")
	for i := range c.before {
		name := c.before[i].List
		in := func(cell *worlds.Cell) bool { return cell.List == name }
		if slices.IndexFunc(c.before, func(cell worlds.Cell) bool { return in(&cell) }) == i { // the first cell of its list
			c.row(w, name, in)
			c.row(w, name+", silent", func(cell *worlds.Cell) bool { return in(cell) && silent(cell) })
		}
	}
	c.row(w, "all", func(*worlds.Cell) bool { return true })
	c.row(w, "all, silent", silent)
	fmt.Fprint(w, "\nEach figure of the default is earlier/later (change).\n")
	c.slower(w)
}

func (c *comparedFiles) row(w io.Writer, title string, kind func(*worlds.Cell) bool) {
	before, after := only(c.before, kind), only(c.after, kind)
	if len(before) == 0 {
		return
	}
	old, now := worlds.Judge(before, c.of, c.players), worlds.Judge(after, c.of, c.players)
	fmt.Fprintf(w, "| %s | %d |", title, len(before))
	number := func(old, now float64) { fmt.Fprintf(w, " %.2f/%.2f (%+.2f) |", old, now, now-old) }
	count := func(old, now int) { fmt.Fprintf(w, " %d/%d (%+d) |", old, now, now-old) }
	number(old.Mean.Time, now.Mean.Time)
	number(old.Mean.Slots, now.Mean.Slots)
	count(old.Harm, now.Harm)
	number(old.Excess.Time, now.Excess.Time)
	number(old.Excess.Slots, now.Excess.Slots)
	number(old.Regret, now.Regret)
	count(old.Costly, now.Costly)
	fmt.Fprintln(w)
}

// muchSlower is the number of points of time by which a cell must have become slower to be named.
const muchSlower = 1

// slower names the cells that have become slower, the slowest first.
func (c *comparedFiles) slower(w io.Writer) {
	change := func(i int) float64 { return c.after[i].Players[c.of].Time - c.before[i].Players[c.of].Time }
	var named []int
	faster := 0
	for i := range c.before {
		if change(i) > muchSlower {
			named = append(named, i)
		} else if change(i) < -muchSlower {
			faster++
		}
	}
	slices.SortStableFunc(named, func(a, b int) int { return cmp.Compare(change(b), change(a)) })
	fmt.Fprintf(w, "\n%d cells are slower by over %v points, and %d are faster.\n\n"+
		"| slower by | slots | list | cell | earlier | later |\n|---|---|---|---|---|---|\n", len(named), muchSlower, faster)
	for _, i := range named {
		old, now := c.before[i].Players[c.of], c.after[i].Players[c.of]
		fmt.Fprintf(w, "| %.1f | %+.1f | %s | %v | %s | %s |\n", change(i), now.Slots-old.Slots, c.before[i].List, &c.before[i],
			share(old), share(now))
	}
}
