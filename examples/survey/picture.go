package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/svg"
)

// The sizes of the picture of worlds, in units.
const (
	cell       = 15
	labelWidth = 270
	headHeight = 130
	playerGap  = 8
)

// picture plays the worlds and writes their tables, or reads a table of -table, and draws it if there is a file for the
// picture.
func (o options) picture(w io.Writer) error {
	table, err := o.table(w)
	if err != nil || o.svg == "" {
		return err
	}
	drawn, err := draw(table)
	if err != nil {
		return err
	}
	return os.WriteFile(o.svg, drawn, 0o644)
}

func (o options) table(w io.Writer) ([][]string, error) {
	if o.from == "" {
		return o.small.write(w)
	}
	return readCSV(o.from)
}

// shades are the colours of times. Each has the times from the limit before it up to its own limit, in percent of a run
// without action.
var shades = []struct {
	class string
	limit float64
}{
	{"g4", 40}, {"g3", 60}, {"g2", 80}, {"g1", 95}, {"none", 100 + moreTime}, {"h1", 103}, {"h2", 110}, {"h3", math.Inf(1)},
}

// shade returns the colour of a time, in percent of a run without action.
func shade(time float64) string {
	i := 0
	for time > shades[i].limit {
		i++
	}
	return shades[i].class
}

// draw draws the table of worlds: a row for each world, and for each player a column for each model of progress. The
// colour is the time. Marks on the first player are the faults that the last column of the table names.
func draw(table [][]string) ([]byte, error) {
	const before = 4 // columns before the first player
	if len(table) < 2 || len(table[0]) < before+2 || !slices.Equal(table[0][:before], firstColumns) {
		return nil, fmt.Errorf("there is no table of worlds to draw: want a file of -worlds -table, such as docs/worlds.csv")
	}
	columns, rows := table[0], table[1:]
	players := columns[before : len(columns)-1]
	var names, models []string
	for _, row := range rows {
		if !slices.Contains(names, row[0]) {
			names = append(names, row[0])
		}
		if !slices.Contains(models, row[1]) {
			models = append(models, row[1])
		}
	}
	group := float64(len(models)*cell + playerGap)
	bottom := headHeight + float64(len(names)*cell)
	p := svg.New(labelWidth+group*float64(len(players))+40, bottom+70,
		"Where the policies save time and where they cost time",
		fmt.Sprintf("%d worlds under %d models of progress. Blue cells are faster than no action, red cells are slower.",
			len(names), len(models)))
	p.Text(8, 18, "start", "soft", "the columns of each policy are the models of progress: "+
		strings.Join(models, ", ")+". Marks: faults of "+players[0])
	for i, player := range players {
		p.Slanted(labelWidth+group*float64(i)+6, headHeight-8, player)
	}
	for i, name := range names {
		p.Text(labelWidth-8, headHeight+float64(i*cell)+12, "end", "", name)
	}
	cells := map[string][][2]float64{}
	for _, row := range rows {
		world, model := slices.Index(names, row[0]), slices.Index(models, row[1])
		y := headHeight + float64(world*cell)
		for i, player := range players {
			figure, _, _ := strings.Cut(row[before+i], "/")
			time, err := strconv.ParseFloat(figure, 64)
			if err != nil {
				return nil, fmt.Errorf("%s %s: the figure of %s is %q, want time/slot time", row[0], row[1], player, row[before+i])
			}
			x := labelWidth + group*float64(i) + float64(model*cell)
			cells[shade(time)] = append(cells[shade(time)], [2]float64{x + .5, y + .5})
		}
	}
	for _, class := range slices.Sorted(maps.Keys(cells)) {
		p.Squares(cells[class], cell-1, class)
	}
	for _, row := range rows {
		x := labelWidth + float64(cell*slices.Index(models, row[1])) + cell/2.
		y := headHeight + float64(cell*slices.Index(names, row[0])) + cell/2.
		if faults := row[len(columns)-1]; strings.Contains(faults, "harm") {
			p.Dot(x, y, 5, "page", "")
			p.Dot(x, y, 3, "mark", faults)
		} else if strings.Contains(faults, " -") {
			p.Dot(x, y, 5, "page", "")
			p.Dot(x, y, 3, "ring", faults)
		}
	}
	legend(p, bottom+24)
	return p.Bytes(), nil
}

// legend explains the colours and the marks.
func legend(p *svg.Picture, y float64) {
	x := 8.
	for i, of := range shades {
		text := strconv.FormatFloat(of.limit, 'f', -1, 64)
		switch i {
		case 0:
			text = "up to " + text
		case len(shades) - 1:
			text = "more"
		}
		p.Rect(x, y-10, 12, 12, of.class, "")
		p.Text(x+17, y, "start", "soft", text)
		x += float64(35 + 7*len(text))
	}
	p.Text(x, y, "start", "soft", "% of the time without action")
	p.Dot(14, y+20, 3, "mark", "")
	p.Text(25, y+24, "start", "soft", "harm: over 0.5 % more time or over 1 % more slots than no action")
	p.Dot(474, y+20, 3, "ring", "")
	p.Text(485, y+24, "start", "soft", "dominated: another policy is 0.5 points faster with no more slots")
}
