package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/workload"
)

// notes says on a few lines what was found, however many logs there are.
func (l *loaded) notes() []string {
	const mostLogs, mostOthers = 5, 3
	notes := l.logs
	if len(notes) > mostLogs {
		notes = []string{fmt.Sprintf("%d logs (%s), %s, %s; %v", len(l.logs), l.kinds(),
			counted(l.sizes[0], "phase"), counted(l.sizes[1], "attempt"), l.faults)}
	}
	notes = append(slices.Clone(notes), few(l.hints, mostOthers, "hints")...)
	left := make([]string, len(l.leftOut))
	for i, what := range l.leftOut {
		left[i] = "left out: " + what
	}
	notes = append(notes, few(left, mostOthers, "left out")...)
	return append(notes, notReplayed(l.left)...)
}

func (l *loaded) kinds() string {
	var kinds []string
	for format, n := range l.formats {
		kinds = append(kinds, fmt.Sprintf("%v: %d", format, n))
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// few keeps the first lines, and says how many more there are.
func few(lines []string, most int, what string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more: %s", len(lines)-most, what))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// notReplayed says what of the logs is not replayed.
func notReplayed(left workload.Left) (notes []string) {
	if left.Phases+left.Tasks > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s and %s without a success of known times",
			counted(left.Phases, "phase"), counted(left.Tasks, "task")))
	}
	if left.Long > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s over a year long: some time there is wrong",
			counted(left.Long, "phase")))
	}
	if left.Attempts > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s that lost against another of the same task; "+
			"they keep their slots busy", counted(left.Attempts, "attempt")))
	}
	return notes
}
