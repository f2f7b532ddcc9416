package why

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// The tasks are those of the replay, in its order and with its times, also if a log has them in another order or an output
// was lost. Machines keep their numbers over phases and logs.
func TestFromLog(t *testing.T) {
	const lines = `{"phase":"p","task":0,"start":1000,"finish":9000,"host":"a"}
{"phase":"p","task":0,"attempt":1,"start":2000,"finish":3000,"host":"b"}
{"phase":"p","task":1,"start":1000,"finish":2000,"host":"b","input":10}
{"phase":"p","task":2,"start":1000,"finish":5000,"host":"a","state":"failed"}
{"phase":"q","task":0,"start":4000,"finish":9000}
{"phase":"q","task":1,"start":1000,"finish":2000}
{"phase":"q","task":2,"start":1500,"finish":1700,"state":"lost"}
{"phase":"q","task":2,"attempt":1,"start":2000,"finish":5000}
`
	log, err := trace.Read(strings.NewReader(lines), "x")
	require.NoError(t, err)
	var m Machines
	m.number("elsewhere")
	phases, _ := workload.FromLog(log)
	p := FromLog(log, phases[0], &m)
	assert.Equal(t, []string{"elsewhere", "b"}, m.Names)
	assert.Equal(t, []causes.Task{
		{Took: time.Second, Start: time.Second, Machine: 1, Bytes: 10}, {Took: time.Second, Start: 2 * time.Second, Machine: 1},
	}, p.Tasks)
	q := FromLog(log, phases[1], &m)
	assert.Equal(t, []causes.Task{
		{Took: time.Second, Start: time.Second, Machine: unknown}, {Took: 3 * time.Second, Start: 2 * time.Second, Machine: unknown},
		{Took: 5 * time.Second, Start: 4 * time.Second, Machine: unknown},
	}, q.Tasks)
}

// An attempt that begins while another of its task runs is a copy; the first success has won.
func TestCopies(t *testing.T) {
	const lines = `{"phase":"p","task":0,"start":1000,"finish":9000,"state":"killed"}
{"phase":"p","task":0,"attempt":1,"start":4000,"finish":9000,"speculative":true}
{"phase":"p","task":1,"start":1000,"finish":2000,"state":"failed"}
{"phase":"p","task":1,"attempt":1,"start":2000,"finish":4000}
{"phase":"p","task":2,"start":1000,"finish":5000}
{"phase":"p","task":2,"attempt":1,"start":3000,"finish":5000,"state":"killed"}
`
	log, err := trace.Read(strings.NewReader(lines), "x")
	require.NoError(t, err)
	var c Copies
	c.Add(log)
	assert.Equal(t, Copies{Launched: 2, Won: 1, Unmarked: 1, Wasted: 10 * time.Second}, c)
}
