package main

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each library asks each kind of servers that it knows. A fixed delay sends second requests, and the client without
// them sends none. The other rules have not learned yet.
func TestMeasuresEachLibrary(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), bytes.Buffer{}
	require.NoError(t, run([]string{"-rounds", "1", "-requests", "100", "-rate", "1000", "-out", dir}, &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	assert.Len(t, lines, 2+3*5)
	for _, line := range lines[2:] {
		cells := strings.Split(line, "|")
		load, err := strconv.ParseFloat(strings.TrimSpace(cells[len(cells)-2]), 64)
		require.NoError(t, err)
		if strings.Contains(line, "| none ") {
			assert.InDelta(t, 1, load, 0.1, line)
		} else if strings.Contains(line, "8 ms") {
			assert.Greater(t, load, 1.1, line) // a busy machine is slower, and then more requests are late
		}
	}
	assert.FileExists(t, filepath.Join(dir, "p99.png"))
}

func TestRefusesOptions(t *testing.T) {
	for want, args := range map[string][]string{
		"-rounds is 0, want at least 1":                       {"-rounds", "0"},
		"-requests is 99, want at least 100":                  {"-requests", "99"},
		"-rate is NaN, want above 0":                          {"-rate", "NaN"},
		`-servers is "http", want net/http, gRPC, S3, or all`: {"-servers", "http"},
	} {
		assert.EqualError(t, run(args, &bytes.Buffer{}), want)
	}
}
