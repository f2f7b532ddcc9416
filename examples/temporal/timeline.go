package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/temporal/wordcount"
)

// columns is the width of a timeline in characters, without the names of its rows.
const columns = 100

// row is one slot of a host, with the attempts that it ran.
type row struct {
	host     string
	attempts []wordcount.Attempt
	odd      int // number of attempts that lost, or that were not the first attempt of their task
}

// timeline draws the attempts of each slot. It draws at most rows slots of each host: the slots with most odd attempts.
func (o *outcome) timeline(w io.Writer, rows int) {
	scale := o.Seconds / columns
	fmt.Fprintf(w, "\n%s, %s: %.1f s, one column is %.2f s\n", o.Scenario, o.Policy, o.Seconds, scale)
	slots := o.rows()
	for len(slots) > 0 {
		host := slots[0].host
		n := slices.IndexFunc(slots, func(r row) bool { return r.host != host })
		if n < 0 {
			n = len(slots)
		}
		shown := slots[:n]
		slots = slots[n:]
		slices.SortStableFunc(shown, func(a, b row) int { return b.odd - a.odd })
		for i, r := range shown[:min(rows, n)] {
			name := host
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "%-8s %s\n", name, strings.TrimRight(o.draw(r, scale), " "))
		}
		if n > rows {
			fmt.Fprintf(w, "%-8s and %d more\n", "", n-rows)
		}
	}
}

const legend = "|### map  |=== reduce  |---x its result did not count  * it won, and was not the first of its task"

// draw paints one slot.
func (o *outcome) draw(r row, scale float64) string {
	line := []byte(strings.Repeat(" ", columns+1))
	for _, a := range r.attempts {
		begin, end := o.column(a.Begin, scale), o.column(a.End, scale)
		won := slices.Contains(o.won, a.Name)
		body := byte('-')
		switch {
		case won && strings.HasPrefix(a.Name, "map"):
			body = '#'
		case won:
			body = '='
		}
		for i := begin; i <= end; i++ {
			line[i] = body
		}
		switch {
		case !won:
			line[end] = 'x'
		case !first(a):
			line[end] = '*'
		}
		if begin < end {
			line[begin] = '|'
		}
	}
	return string(line)
}

func (o *outcome) column(t time.Time, scale float64) int {
	return min(max(0, int(t.Sub(o.begun).Seconds()/scale)), columns)
}

// rows assigns the attempts of each host to slots, each attempt to the first free slot.
func (o *outcome) rows() (slots []row) {
	attempts := slices.Clone(o.attempts)
	slices.SortStableFunc(attempts, func(a, b wordcount.Attempt) int {
		return cmp.Or(len(a.Host)-len(b.Host), strings.Compare(a.Host, b.Host), a.Begin.Compare(b.Begin)) // host-2, host-10
	})
	for _, a := range attempts {
		i := slices.IndexFunc(slots, func(r row) bool {
			return r.host == a.Host && !r.attempts[len(r.attempts)-1].End.After(a.Begin)
		})
		if i < 0 {
			i = len(slots)
			slots = append(slots, row{host: a.Host})
		}
		slots[i].attempts = append(slots[i].attempts, a)
		if !first(a) || !slices.Contains(o.won, a.Name) {
			slots[i].odd++
		}
	}
	return slots
}

// first reports whether an attempt is the first of its task. The name of an attempt is the task, a dot and a number
// from 1.
func first(a wordcount.Attempt) bool {
	_, number, _ := strings.Cut(a.Name, ".")
	return strings.HasPrefix(number, "0-")
}

// decisions prints each decision of the run with its reason.
func (o *outcome) decisions(w io.Writer) {
	for _, s := range o.status {
		for _, e := range s.Events {
			if e.Why != "" {
				fmt.Fprintf(w, "%s %6.2f s  %-6s %-12s %-8s %s\n", s.Name, e.At.Seconds(), e.Kind, e.ID, e.Machine, e.Why)
			}
		}
	}
}
