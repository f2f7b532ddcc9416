package main

import (
	_ "embed"
	"strings"
)

// notesText has the inputs of each row: values from the paper's text, choices, and values calibrated to a figure. For
// a row with a different result, it also has the physical reason and the tries.
//
//go:embed notes.md
var notesText string

// notes are those of notesText by row, each in one line.
var notes = readNotes(notesText)

// readNotes splits notesText by row.
func readNotes(text string) map[string]string {
	m := map[string]string{}
	for _, part := range strings.Split(text, "\n## ")[1:] {
		id, note, _ := strings.Cut(part, "\n")
		m[strings.TrimSpace(id)] = strings.Join(strings.Fields(note), " ")
	}
	return m
}
