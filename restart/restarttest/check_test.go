package restarttest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart/journal"
)

const sweep = `phase tasks=8 slots=9 interval=1s policy=dryad,min-finished=1
0s start task=0
0s start task=1
0s start task=2
0s start task=3
0s start task=4
0s start task=5
0s start task=6
0s start task=7
1s finish task=0
2s sweep
    task=1 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=2 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=3 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=4 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=5 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=6 copy beyond-peers run-seconds=2 threshold=1 gain=1s
    task=7 copy beyond-peers run-seconds=2 threshold=1 gain=1s
`

func checkText(text string) string { return check("x.txt", []byte(text), journal.Options{}, whole) }

func TestCheckIgnoresLayout(t *testing.T) {
	assert.Empty(t, checkText(sweep))
	assert.Empty(t, checkText(strings.ReplaceAll(sweep, "\n", "\r\n")), "line ends must not matter")
	assert.Empty(t, checkText(strings.ReplaceAll(sweep, "    task", "\ttask")), "indentation must not matter")
	assert.Empty(t, checkText(strings.ReplaceAll(sweep, "    task=3", "\n# three\n    task=3")), "comments must not matter")
	assert.Empty(t, checkText(strings.TrimSuffix(sweep, "\n")))
}

func TestCheckNamesTheLine(t *testing.T) {
	wrong := checkText(strings.Replace(sweep, "task=3 copy beyond-peers", "task=3 copy near-end", 1))
	assert.Contains(t, wrong, `x.txt:14: the answer differs
  event: 2s sweep
  got:   task=3 copy beyond-peers run-seconds=2 threshold=1 gain=1s
  want:  task=3 copy near-end run-seconds=2 threshold=1 gain=1s
  the policy answered copy beyond-peers run-seconds=2 threshold=1 gain=1s
`)
	assert.Equal(t, 5, strings.Count(wrong, "the policy answered"), "at most five decisions of an event are shown")
	assert.Contains(t, wrong, "  and 2 more\n")
	assert.Contains(t, wrong, "    peers:  durations 1/1/1,")

	missing := checkText(strings.Replace(sweep, "    task=7 copy beyond-peers run-seconds=2 threshold=1 gain=1s\n", "", 1))
	assert.Contains(t, missing, "x.txt:11: the answer differs\n  event: 2s sweep\n  got:   task=7 ")
	assert.Contains(t, missing, "  want:  (nothing)\n")

	surplus := checkText(strings.Replace(sweep, "1s finish task=0\n", "1s finish task=0\n    ends attempt=1\n", 1))
	assert.Contains(t, surplus, "x.txt:11: the answer differs\n  event: 1s finish task=0\n  got:   (nothing)\n  want:  ends attempt=1\n")
	assert.Contains(t, surplus, "  the policy was not asked\n")
}

func TestDecidesFindsADecision(t *testing.T) {
	head := "phase tasks=1\n0s sweep\n"
	for answer, want := range map[string]bool{
		"": false, "    ignored": false, "    attempt=1": false, "    ends attempt=1": false, "    waits task=1": false,
		"# keep": false, "    # keep": false, "    keep not-slow": true, "    task=3 kill slower-attempt": true, "    task=3": false,
	} {
		assert.Equal(t, want, decides([]byte(head+answer+"\n")), answer)
	}
}
