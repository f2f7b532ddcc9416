package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/words"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// notes returns lines about the logs. The number of lines is bounded, however many logs there are.
func (l *loaded) notes() []string {
	const mostLogs, mostOthers = 5, 3
	notes := l.logs
	if len(notes) > mostLogs {
		notes = []string{fmt.Sprintf("%d logs (%s), %s, %s%s; %v", len(l.logs), l.kinds(),
			words.Counted(l.sizes[0], "phase"), words.Counted(l.sizes[1], "attempt"), didNotRun(l.notRun), l.faults)}
	}
	notes = append(slices.Clone(notes), few(l.hints, mostOthers, "hints")...)
	left := make([]string, len(l.leftOut))
	for i, what := range l.leftOut {
		left[i] = "left out: " + what
	}
	notes = append(notes, few(left, mostOthers, "left out")...)
	return append(notes, notReplayed(l.left, l.unended.Tasks())...)
}

// didNotRun writes the number of entries that did not run, by kind; empty if all ran.
func didNotRun(counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	return "; did not run: " + tallied(counts)
}

func (l *loaded) kinds() string {
	var kinds []string
	for format, n := range l.formats {
		kinds = append(kinds, fmt.Sprintf("%v: %d", format, n))
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// few returns the first lines, and a line with the number of the other lines.
func few(lines []string, most int, what string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more: %s", len(lines)-most, what))
}

// notReplayed returns lines about the phases, tasks and attempts of the logs that are not replayed. unended is the number of tasks
// that [why.Unended] counts.
func notReplayed(left workload.Left, unended int) (notes []string) {
	var without []string
	if left.Phases > 0 {
		without = append(without, words.Counted(left.Phases, "phase"))
	}
	if unended > 0 {
		without = append(without, words.Counted(unended, "task"))
	}
	if without != nil {
		notes = append(notes, fmt.Sprintf("not replayed: %s without a successful attempt with known times",
			strings.Join(without, " and ")))
	}
	if left.Far > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s with a time over a year from the middle start of the phase, so one of these times "+
			"is wrong: the first is %s", words.Counted(left.Far, "task"), left.FirstFar))
	}
	if left.Attempts > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s that lost against another attempt of the same task; "+
			"the slot stays busy for this time", words.Counted(left.Attempts, "attempt")))
	}
	return notes
}
