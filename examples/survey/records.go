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

// figuresFile has the lines of a file: for each cell, the figures of each policy.
type figuresFile struct {
	keys  []string                           // list, world and progress of each cell, in the order of the file
	cells map[string]worlds.Cell             // by key
	of    map[string]map[string]worlds.Share // by key, then by policy
	names []string                           // of the policies
	luck  string                             // the set of seeds, their number, and the noise
}

func readFigures(path string) (f figuresFile, err error) {
	lines, err := readCSV(path)
	if err != nil {
		return f, err
	}
	if len(lines) < 2 || !slices.Equal(lines[0], head) {
		return f, fmt.Errorf("%s: want a file of -worlds -csv, with the columns %s", path, strings.Join(head, ","))
	}
	f = figuresFile{cells: map[string]worlds.Cell{}, of: map[string]map[string]worlds.Share{}}
	f.luck = strings.Join(lines[1][3:6], " ")
	for i, line := range lines[1:] {
		var s worlds.Share
		for k, to := range []*float64{&s.Time, &s.Slots, &s.Late, &s.Each, &s.High, &s.First} {
			if *to, err = strconv.ParseFloat(line[7+k], 64); err != nil {
				return f, fmt.Errorf("%s, line %d: %s is %q, want a number", path, i+2, head[7+k], line[7+k])
			}
		}
		model := slices.IndexFunc(worlds.Models, func(m worlds.Model) bool { return m.String() == line[2] })
		if model < 0 {
			return f, fmt.Errorf("%s, line %d: progress is %q, want linear, noisy, stalls or none", path, i+2, line[2])
		}
		if luck := strings.Join(line[3:6], " "); luck != f.luck {
			return f, fmt.Errorf("%s, line %d: the set, the seeds and the noise are %q, want %q as above", path, i+2, luck, f.luck)
		}
		key, policy := strings.Join(line[:3], "|"), line[6]
		if f.of[key] == nil {
			f.keys = append(f.keys, key)
			f.cells[key] = worlds.Cell{List: line[0], World: worlds.World{Name: line[1]}, Model: worlds.Models[model]}
			f.of[key] = map[string]worlds.Share{}
		}
		f.of[key][policy] = s
		if !slices.Contains(f.names, policy) {
			f.names = append(f.names, policy)
		}
	}
	return f, nil
}

// comparedFiles has the cells that two files share. The default is the first player, and the others are the rivals.
type comparedFiles struct {
	before, after []worlds.Cell
	players       []worlds.Player
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
	c := comparedFiles{players: []worlds.Player{{Name: "default"}}}
	for _, name := range old.names {
		p, err := player(name)
		if err != nil {
			return fmt.Errorf("%s: policy: %w", earlier, err)
		}
		if p.Policy != nil {
			c.players = append(c.players, p)
		}
	}
	for _, key := range old.keys {
		if _, both := now.of[key]; !both {
			continue
		}
		before, after := old.cells[key], old.cells[key]
		for _, p := range c.players {
			s, ok := old.of[key][p.Name]
			if !ok {
				return fmt.Errorf("%s: %s has no line for the policy %s", earlier, key, p.Name)
			}
			before.Players = append(before.Players, s)
			if s, ok := now.of[key][p.Name]; ok {
				after.Players = append(after.Players, s)
			} else if p.Policy != nil {
				after.Players = append(after.Players, before.Players[len(after.Players)])
			} else {
				return fmt.Errorf("%s: %s has no line for the default", later, key)
			}
		}
		c.before, c.after = append(c.before, before), append(c.after, after)
	}
	if len(c.before) == 0 {
		return fmt.Errorf("%s and %s have no cell in common", earlier, later)
	}
	fmt.Fprintf(w, "%d cells in %s, %d in %s, %d in both; set, seeds, noise: %s\n", len(old.of), earlier, len(now.of), later,
		len(c.before), now.luck)
	c.write(w)
	return nil
}

// write writes a table with a row for each list of worlds, and the cells that have changed.
func (c *comparedFiles) write(w io.Writer) {
	fmt.Fprint(w, "\n| | cells | time | slots | harm | excess, time | excess, slots | regret | costly |")
	for _, p := range c.players[1:] {
		fmt.Fprintf(w, " %s |", p.Name)
	}
	fmt.Fprintf(w, "\n|---|---|---|---|---|---|---|---|---|%s\n", strings.Repeat("---|", len(c.players)-1))
	var names []string
	for i := range c.before {
		if name := c.before[i].List; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		c.row(w, name, func(cell *worlds.Cell) bool { return cell.List == name })
		c.row(w, name+", silent", func(cell *worlds.Cell) bool { return cell.List == name && silent(cell) })
	}
	c.row(w, "all", func(*worlds.Cell) bool { return true })
	c.row(w, "all, silent", silent)
	fmt.Fprint(w, "\nEach figure of the default is earlier/later (change).\n")
	c.seeds(w)
	c.slower(w)
}

func (c *comparedFiles) row(w io.Writer, title string, kind func(*worlds.Cell) bool) {
	before, after := only(c.before, kind), only(c.after, kind)
	if len(before) == 0 {
		return
	}
	old, now := worlds.Judge(before, 0, c.players), worlds.Judge(after, 0, c.players)
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
	for i := range c.players[1:] {
		fmt.Fprintf(w, " %s |", share(worlds.Judge(after, i+1, c.players).Mean))
	}
	fmt.Fprintln(w)
}

// seeds writes the cells of the list small: the mean and the 95th percentile over the seeds.
func (c *comparedFiles) seeds(w io.Writer) {
	title := "\n| cell, over the seeds | default, mean | naive, mean | default, 95th percentile | first copy |\n|---|---|---|---|---|\n"
	naive := slices.IndexFunc(c.players, func(p worlds.Player) bool { return p.Name == "naive" })
	for i := range c.after {
		if c.after[i].List != "small" || naive < 0 {
			continue
		}
		old, now := c.before[i].Players[0], c.after[i].Players[0]
		fmt.Fprintf(w, "%s| %v | %.1f/%.1f | %.1f | %.1f/%.1f | %.1f/%.1f |\n", title, &c.after[i], old.Each, now.Each,
			c.after[i].Players[naive].Each, old.High, now.High, old.First, now.First)
		title = ""
	}
}

// The points of time by which a cell must have become slower to be counted and named.
var steps = []float64{1, 4, 5}

// slower counts the cells by the change of their time, and names the cells that have become slower.
func (c *comparedFiles) slower(w io.Writer) {
	order := make([]int, len(c.before))
	for i := range order {
		order[i] = i
	}
	change := func(i int) float64 { return c.after[i].Players[0].Time - c.before[i].Players[0].Time }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(change(b), change(a)) })
	for _, points := range steps {
		slower, faster := 0, 0
		for i := range order {
			if change(i) > points {
				slower++
			} else if change(i) < -points {
				faster++
			}
		}
		fmt.Fprintf(w, "\n%d cells are slower by over %v points, and %d are faster.", slower, points, faster)
	}
	fmt.Fprintf(w, "\n\n| slower by | slots | list | cell | earlier | later |\n|---|---|---|---|---|---|\n")
	for _, i := range order {
		if change(i) <= steps[0] {
			break
		}
		old, now := c.before[i].Players[0], c.after[i].Players[0]
		fmt.Fprintf(w, "| %.1f | %+.1f | %s | %v | %s | %s |\n", change(i), now.Slots-old.Slots, c.before[i].List, &c.before[i],
			share(old), share(now))
	}
}
