package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrintsATable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run([]string{"-table", "mimir", "-seeds", "1"}, &out, io.Discard))
	assert.Contains(t, out.String(), "Hedger, sizes untold")
	assert.NotContains(t, out.String(), "NaN")
}

func TestRefusesOptions(t *testing.T) {
	for want, args := range map[string][]string{
		`-table is "x", want budget, grace, load, mimir, percentile, storm, or all`: {"-table", "x"},
		"-seeds is 0, want 1 to 1000":   {"-seeds", "0"},
		"flag provided but not defined": {"-x"},
	} {
		assert.ErrorContains(t, run(args, io.Discard, io.Discard), want)
	}
}
