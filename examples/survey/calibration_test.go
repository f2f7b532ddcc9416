package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCalibration(t *testing.T) {
	var first, again strings.Builder
	args := []string{"-calibration", "-phases", "8", "-seeds", "2", "-progress", "linear,none"}
	require.NoError(t, run(args, &first))
	require.NoError(t, run(args, &again))
	assert.Equal(t, first.String(), again.String(), "in whatever order the seeds were replayed")
	assert.Contains(t, first.String(), "| linear | progress |")
	assert.Contains(t, first.String(), "| none | age |")
	assert.Contains(t, first.String(), "| linear | restart |")
	assert.NotContains(t, first.String(), "NaN")
}

func TestCalibrationRefuses(t *testing.T) {
	var w strings.Builder
	assert.ErrorContains(t, run([]string{"-calibration", "-policy", "late,dryad"}, &w), "mantri")
	assert.ErrorContains(t, run([]string{"-calibration", "-worlds"}, &w), "choose one")
}
