package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Spans with a step as an argument are phases by step. The work of a thread in a step is one task: the sum of its
// outermost spans, without the gaps.
func TestTimelineOfSteps(t *testing.T) {
	var events []string
	span := func(step, rank int, name string, start, took float64) {
		events = append(events, fmt.Sprintf(`{"name":%q,"ph":"X","pid":"node%d","tid":%d,"ts":%.0f,"dur":%.0f,"args":{"step":%d}}`, name, rank/2, rank,
			start*1e6, took*1e6, step))
	}
	for step := range 30 {
		at := float64(10 * step)
		for rank := range 4 {
			slow := 1.0
			if rank == 3 {
				slow = 1.5
			}
			span(step, rank, "forward", at, slow)
			span(step, rank, "kernel", at+.1, .5) // inside
			span(step, rank, "backward", at+5, 2*slow)
		}
	}
	events = append(events, `{"name":"load","ph":"X","pid":"node0","tid":9,"ts":0,"dur":500}`)
	log := read(t, "["+strings.Join(events, ",\n")+"]")
	require.Len(t, log.Phases, 30)
	assert.Equal(t, "step 0", log.Phases[0].Name)
	require.Len(t, log.Phases[0].Attempts, 4)
	assert.Contains(t, seconds(log), "step 7: node1/3 4.5 succeeded")
	assert.Contains(t, seconds(log), "step 7: node0/1 3 succeeded")
	require.Len(t, log.Hints, 1)
	assert.Contains(t, log.Hints[0], "left out: 1 of 361 spans: they have no step")
	steps, _ := trace.StepsOf(log)
	require.NotNil(t, steps)
	assert.Len(t, steps.Rows, 30)
	assert.Equal(t, trace.StepRow{Worker: "node1/3", Position: "node1/3", Machine: "node1/3", Seconds: 4.5}, steps.Rows[7][3])
}

// Times are read in whole milliseconds. Steps of some milliseconds are not compared: 3.485 ms and 3.51 ms would be 3 and
// 4 ms.
func TestShortSteps(t *testing.T) {
	var events []string
	for step := range 30 {
		for rank := range 4 {
			events = append(events, fmt.Sprintf(`{"name":"x","ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{"step":%d}}`, rank,
				step*10_000, 3485+25*(rank/3), step))
		}
	}
	log := read(t, "["+strings.Join(events, ",\n")+"]")
	require.Len(t, log.Phases, 30)
	steps, hint := trace.StepsOf(log)
	assert.Nil(t, steps)
	assert.Contains(t, hint, "too short to compare workers")
}

// Phases are steps only if their tasks are alike, each on a machine of its own, at the same time.
func TestPhasesThatAreNoSteps(t *testing.T) {
	for _, c := range []struct {
		host string
		gap  int
		want bool
	}{{"h%d", 0, true}, {"h", 0, false}, {"h%d", 1000, false}} {
		var text strings.Builder
		for step := range 20 {
			for task := range 3 {
				host := c.host
				if strings.Contains(host, "%") {
					host = fmt.Sprintf(host, task)
				}
				start := step*10000 + task*c.gap
				fmt.Fprintf(&text, `{"phase":"s%d","task":%d,"start":%d,"finish":%d,"host":%q}`+"\n", step, task, start, start+900, host)
			}
		}
		steps, hint := trace.StepsOf(read(t, text.String()))
		assert.Equal(t, c.want, steps != nil, c)
		assert.Empty(t, hint)
	}
}

// Spans with the attribute step are phases by step, too, of OpenTelemetry and of Jaeger.
func TestSpansOfSteps(t *testing.T) {
	var otel, jaeger []string
	for rank := range 3 {
		var spans []string
		for step := range 5 {
			at := int64(1772359200000 + 10000*step)
			for k, took := range []int64{1000, 2000 + int64(500*rank)} {
				start := at + int64(3000*k)
				spans = append(spans, fmt.Sprintf(`{"traceId":"t","spanId":"%d-%d-%d","parentSpanId":"root","name":"part","startTimeUnixNano":"%d000000","endTimeUnixNano":"%d000000",`+
					`"attributes":[{"key":"training.step","value":{"intValue":"%d"}}]}`, rank, step, k, start, start+took, step))
				jaeger = append(jaeger, fmt.Sprintf(`{"traceID":"t","spanID":"%d-%d-%d","operationName":"part","references":[{"spanID":"root"}],"startTime":%d000,"duration":%d,"processID":"p%d",`+
					`"tags":[{"key":"step","type":"int64","value":%d}]}`, rank, step, k, start, 1000*took, rank, step))
			}
			// Inside a part stands a span without a step, and inside that one a span with the step, which the part contains.
			spans = append(spans, fmt.Sprintf(`{"traceId":"t","spanId":"m%d-%d","parentSpanId":"%d-%d-0","name":"between","startTimeUnixNano":"%d000000","endTimeUnixNano":"%d000000"}`,
				rank, step, rank, step, at, at+600))
			spans = append(spans, fmt.Sprintf(`{"traceId":"t","spanId":"i%d-%d","parentSpanId":"m%d-%d","name":"inside","startTimeUnixNano":"%d000000","endTimeUnixNano":"%d000000",`+
				`"attributes":[{"key":"training.step","value":{"intValue":"%d"}}]}`, rank, step, rank, step, at, at+500, step))
		}
		otel = append(otel, fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"train"}},{"key":"host.name","value":{"stringValue":"h%d"}}]},`+
			`"scopeSpans":[{"spans":[%s]}]}`, rank, strings.Join(spans, ",")))
	}
	processes := `"processes":{"p0":{"serviceName":"train","tags":[{"key":"hostname","value":"h0"}]},"p1":{"serviceName":"train","tags":[{"key":"hostname","value":"h1"}]},` +
		`"p2":{"serviceName":"train","tags":[{"key":"hostname","value":"h2"}]}}`
	for _, text := range []string{
		`{"resourceSpans":[` + strings.Join(otel, ",") + `]}`,
		`{"data":[{"traceID":"t","spans":[` + strings.Join(jaeger, ",") + `],` + processes + `}]}`,
	} {
		log := read(t, text)
		require.Len(t, log.Phases, 5)
		assert.Contains(t, seconds(log), "step 3: h0 3 succeeded")
		assert.Contains(t, seconds(log), "step 3: h2 4 succeeded")
		steps, _ := trace.StepsOf(log)
		require.NotNil(t, steps)
		assert.Len(t, steps.Rows[0], 3)
	}
}

// The name of a column may contain the sign that adds columns: the longest name that the table has is taken.
func TestAColumnWithAPlusInItsName(t *testing.T) {
	const table = "it,who,fwd+bwd,fwd,opt\n1,a,30,10,2\n"
	for columns, want := range map[string]float64{"fwd+bwd": 30, "fwd": 10, "fwd+bwd+opt": 32, "opt+fwd+bwd": 32, "fwd+opt": 12} {
		steps, err := trace.ReadSteps(strings.NewReader(table), "t", trace.Columns{Step: "it", Worker: "who", Seconds: columns})
		require.NoError(t, err, columns)
		assert.Equal(t, want, steps.Rows[0][0].Seconds, columns)
	}
	_, err := trace.ReadSteps(strings.NewReader(table), "t", trace.Columns{Step: "it", Worker: "who", Seconds: "fwd+bwd+bwd"})
	assert.ErrorContains(t, err, `the table has no column "bwd"; its columns are it, who, fwd+bwd, fwd, opt`)
}

// Phases of one task, and phases in which a copy succeeded, too, are no steps.
func TestPhasesWithCopiesAreNoSteps(t *testing.T) {
	for name, c := range map[string]struct {
		tasks, copies int
		want          bool
	}{"two tasks": {2, 0, true}, "one task": {1, 0, false}, "a copy": {2, 1, false}} {
		var text strings.Builder
		for phase := range 25 {
			for i := range c.tasks + c.copies {
				fmt.Fprintf(&text, `{"phase":"p%d","task":%d,"start":%d,"finish":%d,"host":"h%d"}`+"\n", phase, i%c.tasks, phase*10_000,
					phase*10_000+1000+i, i)
			}
		}
		steps, _ := trace.StepsOf(read(t, text.String()))
		assert.Equal(t, c.want, steps != nil, name)
	}
}

// An argument, or an attribute, names the stage of a worker. A worker of two stages is compared with others of both. A worker
// without a stage has none.
func TestStagesOfWorkers(t *testing.T) {
	stages := [][]string{{"head", ""}, {"tail", "head", "tail"}, {"head", "tail"}, {""}}
	var chrome, jaeger, processes []string
	var otel strings.Builder
	for rank, of := range stages {
		var spans []string
		for step := range 4 {
			for k, stage := range of {
				start := 10*step + k
				chrome = append(chrome, fmt.Sprintf(`{"name":"f","ph":"X","pid":"h%d","tid":0,"ts":%d000000,"dur":500000,"args":{"step":%d,"stage":%q}}`,
					rank, start, step, stage))
				spans = append(spans, fmt.Sprintf(`{"traceId":"t","spanId":"%d-%d-%d","name":"f","startTimeUnixNano":"%d000000000","endTimeUnixNano":"%d500000000",`+
					`"attributes":[{"key":"step","value":{"intValue":"%d"}},{"key":"training.stage","value":{"stringValue":%q}}]}`, rank, step, k, start, start, step, stage))
				jaeger = append(jaeger, fmt.Sprintf(`{"traceID":"t","spanID":"%d-%d-%d","operationName":"f","startTime":%d000000,"duration":500000,"processID":"p%d",`+
					`"tags":[{"key":"stage","value":%q},{"key":"step","value":%d}]}`, rank, step, k, start, rank, stage, step))
			}
		}
		fmt.Fprintf(&otel, `{"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"h%d"}}]},"scopeSpans":[{"spans":[%s]}]}]}`+"\n",
			rank, strings.Join(spans, ","))
		processes = append(processes, fmt.Sprintf(`"p%d":{"serviceName":"s","tags":[{"key":"hostname","value":"h%d"}]}`, rank, rank))
	}
	for name, text := range map[string]string{
		"Chrome": "[" + strings.Join(chrome, ",") + "]", "OpenTelemetry": otel.String(),
		"Jaeger": `{"data":[{"traceID":"t","spans":[` + strings.Join(jaeger, ",") + `],"processes":{` + strings.Join(processes, ",") + `}}]}`,
	} {
		log := read(t, text)
		steps, _ := trace.StepsOf(log)
		require.NotNil(t, steps, name)
		require.Len(t, steps.Rows, 4)
		for _, rows := range steps.Rows {
			var groups []string
			for _, r := range rows {
				groups = append(groups, r.Group)
			}
			assert.Equal(t, []string{"head", "head+tail", "head+tail", ""}, groups, name)
		}
	}
}

// A worker whose time is impossible is named with the number of steps that lack it, unless another row has its time. In a
// timeline a worker without any time is named, too.
func TestWorkersThatStepsLack(t *testing.T) {
	text := "n,w,g,s\n0,a,x,1\n0,b,x,NaN\n0,b,y,0\n0,c,x,-1\n0,c,x,2\n1,a,x,1e300\n1,b,x,2\n1,b,x,Inf\n2,b,x,1e-10\n2,a,x,1\n"
	s, err := trace.ReadSteps(strings.NewReader(text), "x", trace.Columns{Step: "n", Worker: "w", Group: "g", Seconds: "s"})
	require.NoError(t, err)
	assert.Equal(t, []trace.Lacking{{Worker: "b", Group: "x", Steps: 2}, {Worker: "b", Group: "y", Steps: 1}, {Worker: "a", Group: "x", Steps: 1}},
		s.Lacking)
	assert.Equal(t, 6, s.Faults[trace.BadTime])

	var events []string
	for step := range 30 {
		for rank := range 4 {
			events = append(events, fmt.Sprintf(`{"name":"f","ph":"X","pid":"n","tid":%d,"ts":%d,"dur":%d,"args":{"step":%d}}`, rank, step*10_000_000,
				min(rank, 1)*1_000_000, step))
		}
	}
	steps, _ := trace.StepsOf(read(t, "["+strings.Join(events, ",\n")+"]"))
	require.NotNil(t, steps)
	assert.Len(t, steps.Rows[0], 3)
	assert.Equal(t, []trace.Lacking{{Worker: "n/0", Steps: 30}}, steps.Lacking)
}

// A step that has two impossible times of a worker lacks it once. A step that also has a good time of it does not lack it.
func TestAStepLacksAWorkerOnce(t *testing.T) {
	text := "n,w,s\n"
	log := &trace.Log{Hosts: make([]trace.Host, 1)}
	for step := range 30 {
		text += fmt.Sprintf("%d,h0,1\n%d,h1,NaN\n%d,h1,NaN\n%d,h2,NaN\n%d,h2,1\n", step, step, step, step, step)
		p := trace.Phase{Name: fmt.Sprint("step ", step), Step: true, Names: []string{"h0", "h1", "h2"}, Tasks: 3}
		for _, took := range [][2]int{{0, 1000}, {1, 0}, {1, 0}, {2, 0}, {2, 1000}} {
			p.Attempts = append(p.Attempts, trace.Attempt{Task: int32(took[0]), Start: trace.Known(0), Finish: trace.Known(int64(took[1]))})
		}
		log.Phases = append(log.Phases, p)
	}
	table, err := trace.ReadSteps(strings.NewReader(text), "x", trace.Columns{Step: "n", Worker: "w", Seconds: "s"})
	require.NoError(t, err)
	ofLog, _ := trace.StepsOf(log)
	require.NotNil(t, ofLog)
	for _, s := range []*trace.Steps{table, ofLog} {
		assert.Equal(t, []trace.Lacking{{Worker: "h1", Steps: 30}}, s.Lacking)
		assert.Len(t, s.Rows[0], 2)
	}
}
