package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A task fails three times after 60 s each, and nineteen tasks take 8 s. No task is slow, but the failures take most of the slot
// time. They are in the first answers, and the savings say that no copy fails.
func TestFailuresAreSaid(t *testing.T) {
	t.Parallel()
	log := func(failed int, long string) string {
		var text strings.Builder
		for i := range 19 {
			fmt.Fprintf(&text, `{"job":"j","phase":"p","task":%d,"start":%d,"finish":%d,"host":"a%d"}`+"\n", i, i/4*8000, i/4*8000+8000, i%4)
		}
		for i := range failed {
			fmt.Fprintf(&text, `{"job":"j","phase":"p","task":"bad","attempt":%d,"start":%d,"finish":%d,"state":"failed","host":"b"}`+"\n", i, 60000*i, 60000*i+60000)
		}
		fmt.Fprintf(&text, `{"job":"j","phase":"p","task":"bad","attempt":3,"start":%d,"finish":%d,"host":"b"}`+"\n", 60000*failed, 60000*failed+8000)
		return file(t, text.String()+long)
	}
	code, out, errors := call("-policy", "least-cost", log(3, ""))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "there are no stragglers. 3 attempts failed, were killed, or lost their output, after 3 min: 52.9% of the slot time.\n")
	assert.Contains(t, out, "What to do: See why task bad of j p did not succeed at once: 3 attempts before took 3 min. ")
	assert.Contains(t, out, " No copy fails in the replay, so a saving may be too large.\n")

	code, out, errors = call("-policy", "late", log(1, `{"job":"j","phase":"p","task":"long","start":0,"finish":900000,"host":"c"}`))
	require.Zero(t, code, errors)
	assert.Regexp(t, `What to do: Look first at task long .* See why task bad of j p did not succeed at once: 1 attempt before took 60 s\.\n`, out)

	code, out, errors = call("-policy", "late", log(0, ""))
	require.Zero(t, code, errors)
	assert.NotContains(t, out, "lost their output")
}
