package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// sample is a log of some records, each of which holds some attempts.
type sample struct {
	text string
	// most is how many attempts are in one record.
	most int
	// breaks says that a record ends with its line and by nothing else, so that the break between two is in both of
	// them.
	breaks bool
	// heading says that the first line tells what the others mean: a mistake in it is an error or costs them all.
	heading bool
}

const recordsOfSample = 4

// samples are logs of every format that is read, of some records each.
func samples() map[string]sample {
	var lines, spark, jobs []string
	for i := range recordsOfSample {
		lines = append(lines, fmt.Sprintf(`{"job":"j","phase":"p","task":%d,"start":%d,"finish":%d,"host":"n\"%d"}`, i, 1000+i, 3000+10*i, i%2))
		spark = append(spark, fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},`+
			`"Task Info":{"Task ID":%d,"Index":%d,"Attempt":0,"Launch Time":%d,"Finish Time":%d,"Executor ID":"1","Host":"h"},"Task Metrics":{"Input Metrics":{"Bytes Read":7}}}`,
			10+i, i, 1000+i, 3000+10*i))
		jobs = append(jobs, fmt.Sprintf(`{"priority":"NORMAL","jobID":"job_%d","user":"a b","cdf":{"rank":[1,{"x":2}]},"mapTasks":[{"startTime":%d,"taskID":"t_m_1",`+
			`"attempts":[{"location":null,"hostName":"/r/h","startTime":%d,"result":"SUCCESS","finishTime":%d,"attemptID":"a_m_1_0"}],"preferredLocations":[{"layers":["r","h"]}]}],`+
			`"reduceTasks":[],"launchTime":%d,"outcome":"SUCCESS"}`, 10+i, 1000+i, 1000+i, 3000+10*i, 900))
	}
	indented := func(records []string, sep string) string {
		var out []string
		for _, r := range records {
			var b bytes.Buffer
			_ = json.Indent(&b, []byte(r), "", "  ") // they are well-formed
			out = append(out, b.String())
		}
		return strings.Join(out, sep)
	}
	var recorded, jhist, history, shark, instances, table, tests, builds, events, pods, nodes []string
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for i := range recordsOfSample {
		start, end := 1700000001000+1000*int64(i), 1700000009000+3000*int64(i)
		begin, finish := at.Add(time.Duration(i)*time.Second).Format(time.RFC3339), at.Add(time.Duration(20+i)*time.Second).Format(time.RFC3339)
		id := fmt.Sprintf("attempt_7_0001_m_%06d_0", i)
		jhist = append(jhist, fmt.Sprintf(`{"type":"MAP_ATTEMPT_FINISHED","event":{"org.apache.hadoop.mapreduce.jobhistory.MapAttemptFinished":`+
			`{"attemptId":"%s","taskType":"MAP","taskStatus":"SUCCEEDED","finishTime":%d,"hostname":"n1","counters":{"groups":[{"counts":[{"name":"x","value":1}]}]}}}}`, id, end))
		history = append(history, fmt.Sprintf(`MapAttempt TASK_TYPE="MAP" TASK_ATTEMPT_ID="%s" TASK_STATUS="SUCCESS" FINISH_TIME="%d" HOSTNAME="/r/n\\.1" .`, id, end))
		recorded = append(recorded, fmt.Sprintf("%ds start task=%d machine=%d\n%ds finish task=%d attempt=0\n", 1+i, i, i%3, 30+i, i))
		shark = append(shark, fmt.Sprintf("2014/02/07 01:50:43: TASK_TYPE=RESULT_TASK STATUS=SUCCESS TID=%d STAGE_ID=5 START_TIME=%d FINISH_TIME=%d EXECUTOR_ID=2 HOST=ip", 10+i, start, end))
		instances = append(instances, fmt.Sprintf("ins_%d,M1,j_1,1,Terminated,%d,%d,m_1,1,1,,,,", i, 86400+i, 86500+10*i))
		table = append(table, fmt.Sprintf(`p,%d,%d,%d,"n, 1"`, i, 1000+i, 3000+10*i))
		tests = append(tests, fmt.Sprintf(`{"Time":"%s","Action":"pass","Package":"example.com/a","Test":"Test%d","Elapsed":%d}`, finish, i, 1+i))
		builds = append(builds, fmt.Sprintf(`{"id":{"testResult":{"label":"//a:t%d","run":1}},"testResult":{"status":"PASSED","testAttemptStartMillisEpoch":"%d","testAttemptDurationMillis":"%d"}}`, i, start, end-start))
		events = append(events, fmt.Sprintf(`{"name":"f","ph":"X","ts":%d000,"dur":%d000,"pid":1,"tid":"a","args":{"l":[{"x":1}]}}`, start, end-start))
		pods = append(pods, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a-%d","labels":{"job-name":"j"}},"spec":{"nodeName":"n"},`+
			`"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"startedAt":"%s","finishedAt":"%s"}}}]}}`, i, begin, finish))
		nodes = append(nodes, fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"w%d"},"status":{"nodes":`+
			`{"a":{"type":"Pod","templateName":"map","phase":"Succeeded","startedAt":"%s","finishedAt":"%s"}}}}`, i, begin, finish))
	}
	list := func(items []string, sep string) string {
		return `{"apiVersion":"v1",` + sep + `"items":[` + strings.Join(items, ","+sep) + `],` + sep + `"kind":"List"}` + sep
	}
	return map[string]sample{
		"jhist":              {text: "Avro-Json\n" + strings.Join(jhist, "\n\n"), most: 1},
		"Hadoop 1":           {text: "Meta VERSION=\"1\" .\n" + strings.Join(history, "\n") + "\n", most: 1},
		"Shark":              {text: strings.Join(shark, "\n"), most: 1},
		"Alibaba":            {text: strings.Join(instances, "\n"), most: 1, breaks: true},
		"table":              {text: "phase,task,start,finish,host\n" + strings.Join(table, "\n"), most: 1, breaks: true, heading: true},
		"journal":            {text: "phase tasks=6 interval=1s policy=mantri\n" + strings.Join(recorded, ""), most: 1, breaks: true},
		"go test":            {text: strings.Join(tests, "\n"), most: 1},
		"Bazel":              {text: strings.Join(builds, "\n"), most: 1},
		"timeline":           {text: "[" + strings.Join(events, ",") + "]", most: 1},
		"timeline, lines":    {text: "[\n" + strings.Join(events, ",\n") + "\n]", most: 1},
		"timeline, wrapped":  {text: `{"traceEvents":[` + strings.Join(events, ",\n") + `],"otherData":{"x":[]}}`, most: 1},
		"pods":               {text: list(pods, ""), most: 1},
		"pods, lines":        {text: list(pods, "\n"), most: 1},
		"pods, indented":     {text: indented([]string{list(pods, "")}, ""), most: 1},
		"pods, separate":     {text: strings.Join(pods, "\n"), most: 1},
		"Argo":               {text: strings.Join(nodes, "\n"), most: 1},
		"Argo, list":         {text: list(nodes, ""), most: 1},
		"lines":              {text: strings.Join(lines, "\n"), most: 1},
		"lines, one line":    {text: strings.Join(lines, ""), most: 1},
		"array":              {text: "[" + strings.Join(lines, ",") + "]", most: 1},
		"array, lines":       {text: "[\n" + strings.Join(lines, ",\n") + "\n]\n", most: 1},
		"indented":           {text: indented(lines, "\n"), most: 1},
		"indented array":     {text: "[" + indented(lines, ", ") + "]", most: 1},
		"Spark":              {text: strings.Join(spark, "\n") + "\n", most: 1},
		"Rumen, lines":       {text: strings.Join(jobs, "\n"), most: 1},
		"Rumen, one line":    {text: strings.Join(jobs, " "), most: 1},
		"Rumen, no blank":    {text: strings.Join(jobs, ""), most: 1},
		"Rumen, array":       {text: "[" + strings.Join(jobs, ",") + "]", most: 1},
		"Rumen, as Jackson":  {text: indented(jobs, " "), most: 1},
		"Rumen, blank lines": {text: " " + strings.Join(jobs, "\n\n "), most: 1},
	}
}

// held lists the attempts of a log, by the values in which the attempts of a sample differ.
func held(log *trace.Log) map[string]bool {
	all := map[string]bool{}
	for _, p := range log.Phases {
		for _, a := range p.Attempts {
			all[fmt.Sprint(a.Start, a.Finish, a.State)] = true
		}
	}
	return all
}

// step returns the distance of the bytes at which a test cuts a log or loses a byte: 5, or 1 with STRAGGLER_LIVES.
// The records of a sample have one shape and many lengths, so each place of the shape is met in one record or
// another.
func step() int {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return 1
	}
	return 5
}

// One byte that is lost costs the record that it stood in, and no other. The test loses each step-th byte, and each
// line break.
func TestOneLostByteCostsOneRecord(t *testing.T) {
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			log := read(t, s.text)
			whole, before := held(log), log.Faults.Total()
			require.Len(t, whole, recordsOfSample)
			for i := range len(s.text) {
				if i%step() > 0 && s.text[i] != '\n' || s.heading && i <= strings.IndexByte(s.text, '\n') {
					continue
				}
				log, err := trace.Read(strings.NewReader(s.text[:i]+s.text[i+1:]), "x")
				require.NoError(t, err, "without byte %d", i)
				now, lost := held(log), 0
				for a := range whole {
					if !now[a] {
						lost++
					}
				}
				most := s.most
				if s.breaks && s.text[i] == '\n' {
					most *= 2
				}
				if !assert.LessOrEqual(t, lost, most, "without byte %d, %q in %q", i, s.text[i], s.text[max(i-30, 0):min(i+30, len(s.text))]) {
					return
				}
				require.LessOrEqual(t, log.Faults.Total(), before+3, "without byte %d: %s", i, log.Faults)
			}
		})
	}
}

// A log that stops anywhere holds all records before the last one. The test stops it at each step-th byte.
func TestCutAnywhere(t *testing.T) {
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			before := map[string]bool{}
			for i := 1; i <= len(s.text); i += step() {
				log, err := trace.Read(strings.NewReader(s.text[:i]), "x")
				if err != nil {
					require.Empty(t, before, "cut at %d: %v", i, err)
					continue
				}
				checkInvariants(t, log)
				now := held(log)
				gone := 0
				for a := range before {
					if !now[a] {
						gone++
					}
				}
				require.LessOrEqual(t, gone, s.most, "cut at %d", i)
				before = now
			}
		})
	}
}

// The last record of a history may be cut inside a value. What it says before counts, whether it names a job or a task.
func TestHistoryCutInsideAValue(t *testing.T) {
	const whole = `Meta VERSION="1" .` + "\n" +
		`Job JOBID="job_9_0001" JOBNAME="n" SUBMIT_TIME="1000" .` + "\n" +
		`Task TASKID="task_9_0001_m_000000" TASK_TYPE="MAP" START_TIME="2000" .` + "\n" +
		`MapAttempt TASK_TYPE="MAP" TASKID="task_9_0001_m_000000" TASK_ATTEMPT_ID="attempt_9_0001_m_000000_0" START_TIME="2000" HOSTNAME="/r/h" .` + "\n"
	before := read(t, whole)
	for _, last := range []string{
		`Job JOBID="job_9_0001" JOB_STATUS="SUC`, `Task TASKID="task_9_0001_m_000000" TASK_STATUS="SUC`,
	} {
		assert.Equal(t, before.Faults, read(t, whole+last).Faults, last)
	}
	assert.NotEqual(t, before.Faults, read(t, whole+`Task TASK_TYPE="MA`).Faults)
}
