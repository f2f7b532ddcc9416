package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// workers makes a log a worker, as a file each.
func workers(t *testing.T, n int, line func(worker, k int) string) (logs []*trace.Log, all string) {
	t.Helper()
	for w := range n {
		var text strings.Builder
		for k := range 3 {
			text.WriteString(line(w, k) + "\n")
		}
		logs = append(logs, read(t, text.String()))
		all += text.String()
	}
	return logs, all
}

// A log in several files is the same log in one.
func TestJoin(t *testing.T) {
	for name, line := range map[string]func(w, k int) string{
		"numbers": func(w, k int) string {
			return fmt.Sprintf(`{"job":"n","phase":"load","task":%d,"start":0,"finish":1000,"host":"h%d","preferred":["h%d"],"splits":[500,%d]}`,
				3*w+k, w, k, 500+w)
		},
		"names": func(w, k int) string {
			return fmt.Sprintf(`{"job":"n","phase":"load","task":"t%d.%d","start":%d,"finish":%d}`, w, k, 1000*w, 1000*w+900)
		},
		"declared": func(w, k int) string {
			return fmt.Sprintf(`{"job":"n","phase":"load","tasks":20}`+"\n"+`{"job":"n","phase":"load","task":%d,"start":0,"finish":1000}`, 3*w+k)
		},
	} {
		logs, all := workers(t, 4, line)
		joined, said := trace.Join(logs)
		require.Len(t, joined, 1, name)
		assert.Equal(t, []string{`job "n", phase "load": in 4 logs; joined`}, said, name)
		whole := read(t, all)
		assert.Equal(t, whole.Phases[0].Tasks, joined[0].Phases[0].Tasks, name)
		require.Len(t, joined[0].Phases[0].Attempts, 12, name)
		assert.Equal(t, whole.Hosts, joined[0].Hosts, name)
		for i, a := range joined[0].Phases[0].Attempts {
			b := whole.Phases[0].Attempts[i]
			assert.Equal(t, whole.Phases[0].TaskName(b.Task), joined[0].Phases[0].TaskName(a.Task), name)
			assert.Equal(t, whole.Splits[b.Splits:], joined[0].Splits[a.Splits:], name)
			a.Task, b.Task = 0, 0
			assert.Equal(t, b, a, name)
		}
	}
}

// A log whose times do not meet, or with the same tasks, is another run.
func TestJoinKeepsRunsApart(t *testing.T) {
	for name, line := range map[string]func(w, k int) string{
		"a day later": func(w, k int) string {
			return fmt.Sprintf(`{"phase":"p","task":%d,"start":%d,"finish":%d}`, 3*w+k, w*86400000, w*86400000+5000)
		},
		"the same tasks": func(w, k int) string { return fmt.Sprintf(`{"phase":"p","task":%d,"start":%d,"finish":5000}`, k, w) },
	} {
		logs, _ := workers(t, 3, line)
		joined, said := trace.Join(logs)
		assert.Len(t, joined, 3, name)
		require.Len(t, said, 1, name)
		assert.Contains(t, said[0], "in 2 more logs; not joined", name)
	}
	logs, _ := workers(t, 2, func(w, k int) string { return fmt.Sprintf(`{"phase":"p%d","task":%d,"start":0,"finish":5000}`, w, k) })
	joined, said := trace.Join(logs)
	assert.Len(t, joined, 2)
	assert.Empty(t, said)
}
