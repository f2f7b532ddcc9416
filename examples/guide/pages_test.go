package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each block of Go or of a journal on the four pages stands, line by line, in a file of this directory.
func TestThePagesQuoteThisDirectory(t *testing.T) {
	for _, page := range []string{"fixture.md", "logs.md", "policy.md", "scheduler.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		require.NoError(t, err)
		assert.LessOrEqual(t, len(strings.Fields(prose(string(text)))), 750, "%s has at most 750 words outside of its blocks", page)
		for language, pattern := range map[string]string{"go": "*.go", "journal": "testdata/*/*.txt"} {
			var files []string
			for _, p := range []string{pattern, "testdata/*.txt"} {
				names, err := filepath.Glob(p)
				require.NoError(t, err)
				for _, name := range names {
					file, err := os.ReadFile(name)
					require.NoError(t, err)
					files = append(files, string(file))
				}
			}
			for _, block := range blocks(string(text), language) {
				assert.True(t, quoted(block, files), "%s quotes a block that no file has:\n%s", page, block)
			}
		}
	}
}

// blocks returns the fenced blocks of a language.
func blocks(page, language string) (all []string) {
	for _, part := range strings.Split(page, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		all = append(all, block)
	}
	return all
}

// prose returns a page without its fenced blocks.
func prose(page string) string {
	var b strings.Builder
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// quoted reports whether the lines of a block follow each other in one of the files, whatever their indentation.
func quoted(block string, files []string) bool {
	for _, file := range files {
		if strings.Contains(plain(file), plain(block)) {
			return true
		}
	}
	return false
}

// plain returns a text without the space around its lines.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
