package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// A short log is replayed with five draws of the times of copies, and a long one with one draw. The first screen says so,
// and is the same for the same command.
func TestNumberOfDrawsByDefault(t *testing.T) {
	t.Parallel()
	const small = "testdata/attempts.jsonl"
	var long strings.Builder
	long.WriteString("phase,task,start,finish\np,0,0,90000\n")
	for i := 1; i <= fewTasks; i++ {
		fmt.Fprintf(&long, "p,%d,%d,%d\n", i, i/10*1000, i/10*1000+1000+i%7*50)
	}
	many := file(t, long.String())
	for _, c := range []struct {
		args  []string
		seeds int
		says  string
	}{
		{[]string{small}, seedsOfFew, "In 5 draws of how long copies take, the policy least-cost would have saved 26.8 s on average"},
		{[]string{"-seeds", "1", small}, 1, "In one draw of how long copies take, the policy least-cost would have saved 37.4 s (38.1%)"},
		{[]string{"-seeds", "2", many}, 2, "In 2 draws"},
		{[]string{many}, 1, "In one draw"},
	} {
		args := append([]string{"-json", "-policy", "least-cost"}, c.args...)
		code, out, errors := call(args...)
		require.Zero(t, code, errors)
		var r, again report.Report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		assert.Equal(t, c.seeds, r.Input.Seeds, args)
		assert.True(t, strings.HasPrefix(r.Diagnosis.Saves, c.says), "%v: %s", args, r.Diagnosis.Saves)
		_, out, _ = call(args...)
		require.NoError(t, json.Unmarshal([]byte(out), &again))
		assert.Equal(t, r.Diagnosis, again.Diagnosis)
	}
}
