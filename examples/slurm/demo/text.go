package main

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

const (
	tasks         = 64
	linesPerSlice = 100 // the script has the same number
	wordsPerLine  = 10
	vocabulary    = 2000
)

// words has the number of occurrences of each word.
type words map[string]int

// writeText writes a chunk of text for each task, with the task's number of slices, and returns the right counts.
func writeText(dir string, slices []int) (words, error) {
	random := rand.New(rand.NewPCG(1, 1))
	frequency := rand.NewZipf(random, 1.2, 4, vocabulary-1)
	counted := words{}
	for task, n := range slices {
		var text strings.Builder
		for range n * linesPerSlice {
			for range wordsPerLine {
				w := word(frequency.Uint64())
				counted[w]++
				text.WriteString(w + " ")
			}
			text.WriteString("\n")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("chunk-%d", task)), []byte(text.String()), 0o644); err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// word spells a number in letters.
func word(n uint64) string {
	var letters []byte
	for n += 27; n > 0; n /= 26 {
		letters = append(letters, byte('a'+n%26))
	}
	return string(letters)
}

// check compares the results of a number of tasks in a directory with the right counts.
func check(dir string, tasks int, right words) error {
	found := words{}
	for task := range tasks {
		said, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("wordcount-%d.out", task)))
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(said), fmt.Sprintf("task %d: ", task)) || strings.Count(string(said), "\n") != 1 {
			return fmt.Errorf("task %d printed %q", task, said)
		}
		if err := found.add(filepath.Join(dir, fmt.Sprintf("count-%d", task))); err != nil {
			return err
		}
	}
	if !maps.Equal(found, right) {
		return fmt.Errorf("the counts are wrong: %d words of %d kinds, want %d of %d",
			found.sum(), len(found), right.sum(), len(right))
	}
	return nil
}

func (w words) sum() (n int) {
	for _, count := range w {
		n += count
	}
	return n
}

// add reads the output of uniq -c.
func (w words) add(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var count int
		var text string
		if _, err := fmt.Sscan(lines.Text(), &count, &text); err != nil {
			if strings.TrimSpace(lines.Text()) == "1" { // tr ends with an empty word
				continue
			}
			return fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		w[text] += count
	}
	return lines.Err()
}
