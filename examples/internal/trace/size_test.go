package trace_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time. Benchmarks, and the process whose memory is measured, are as usual.
func TestMain(m *testing.M) {
	if flag.Parse(); os.Getenv(largeName) == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(800)
	}
	m.Run()
}

// largeName is the variable of the environment with the name of the log that a process of TestMemory reads.
const largeName = "STRAGGLER_TEST_LARGE"

// endless makes a log of any size while it is read: a beginning, records by number, an end.
type endless struct {
	before, after string
	record        func(i int, to []byte) []byte
	records, next int
	buf           []byte
	rest          []byte
	begun, ended  bool
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		switch {
		case !e.begun:
			e.begun = true
			e.rest = []byte(e.before)
		case e.next < e.records:
			e.buf = e.buf[:0]
			for range min(100, e.records-e.next) {
				e.buf = e.record(e.next, e.buf)
				e.next++
			}
			e.rest = e.buf
		case !e.ended:
			e.ended = true
			e.rest = []byte(e.after)
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// large makes logs of n attempts each, by format: waves of tasks on 200 executors of 20 hosts.
func large(n int) map[string]*endless {
	const start = 1700000000000
	rfc := func(i int) string {
		return fmt.Sprintf("2026-03-%02dT10:%02d:%02d.%03dZ", 1+i/10_000_000%28, i/60_000%60, i/1000%60, i%1000)
	}
	records := func(record func(i int, to []byte) []byte) *endless { return &endless{records: n, record: record} }
	wrap := func(before, after string, record func(i int, to []byte) []byte) *endless {
		return &endless{before: before, after: after, records: n, record: func(i int, to []byte) []byte {
			if i > 0 {
				to = append(to, ',')
			}
			return record(i, to)
		}}
	}
	times := func(i int) (begin, end int64) { return start + int64(i)*5, start + int64(i*5+900+i%97) }
	return map[string]*endless{
		"lines": records(func(i int, to []byte) []byte {
			begin, end := times(i)
			return fmt.Appendf(to, `{"job":"j","phase":"p","task":%d,"start":%d,"finish":%d,"host":"n%d","executor":"e%d","input":%d}`+"\n", i, begin, end, i%20, i%200, i)
		}),
		"table": {before: "job,phase,task,start,finish,host,executor,input\n", records: n, record: func(i int, to []byte) []byte {
			begin, end := times(i)
			return fmt.Appendf(to, "j,p,%d,%d,%d,n%d,e%d,%d\n", i, begin, end, i%20, i%200, i)
		}},
		"array": wrap("[", "]", func(i int, to []byte) []byte {
			begin, end := times(i)
			return fmt.Appendf(to, `{"job":"j","phase":"p","task":%d,"start":%d,"finish":%d,"host":"n%d","executor":"e%d","input":%d}`, i, begin, end, i%20, i%200, i)
		}),
		"Spark": records(func(i int, to []byte) []byte {
			begin, end := times(i)
			info := fmt.Sprintf(`"Task ID":%d,"Index":%d,"Attempt":0,"Partition ID":%d,"Launch Time":%d,"Executor ID":"%d","Host":"host-%d.example","Locality":"NODE_LOCAL","Speculative":false,"Getting Result Time":0`,
				i, i, i, begin, i%200, i%20)
			to = fmt.Appendf(to, `{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{%s,"Finish Time":0,"Failed":false,"Killed":false,"Accumulables":[]}}`+"\n", info)
			return fmt.Appendf(to, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{%s,"Finish Time":%d,"Failed":false,"Killed":false,"Accumulables":[]},`+
				`"Task Metrics":{"Executor Run Time":1232,"Shuffle Read Metrics":{"Remote Bytes Read":%d,"Local Bytes Read":7},"Input Metrics":{"Bytes Read":%d},"Output Metrics":{"Bytes Written":0}}}`+"\n",
				info, end, i, i*3)
		}),
		"Rumen": {
			before: `{"jobID":"job_1","launchTime":1,"mapTasks":[`, after: `],"reduceTasks":[]}`, records: n, record: func(i int, to []byte) []byte {
				begin, end := times(i)
				if i > 0 {
					to = append(to, ',')
				}
				return fmt.Appendf(to, `{"startTime":%d,"taskID":"task_1_m_%06d","preferredLocations":[{"layers":["r1","n%d"]}],"attempts":[{"hostName":"/r%d/n%d","startTime":%d,"result":"SUCCESS","finishTime":%d,`+
					`"attemptID":"attempt_1_m_%06d_0","shuffleFinished":-1,"sortFinished":-1,"hdfsBytesRead":%d,"spilledRecords":4861}]}`, begin, i, i%20, i%2, i%20, begin, end, i, i)
			}},
		"jhist": {before: "Avro-Json\n", records: n, record: func(i int, to []byte) []byte {
			begin, end := times(i)
			const prefix = `{"org.apache.hadoop.mapreduce.jobhistory.`
			to = fmt.Appendf(to, `{"type":"MAP_ATTEMPT_STARTED","event":`+prefix+`TaskAttemptStarted":{"taskid":"task_1_1_m_%06d","taskType":"MAP","attemptId":"attempt_1_1_m_%06d_0","startTime":%d,"trackerName":"n%d","locality":"NODE_LOCAL","avataar":"VIRGIN"}}}`+"\n", i, i, begin, i%20)
			return fmt.Appendf(to, `{"type":"MAP_ATTEMPT_FINISHED","event":`+prefix+`MapAttemptFinished":{"taskid":"task_1_1_m_%06d","attemptId":"attempt_1_1_m_%06d_0","taskType":"MAP","taskStatus":"SUCCEEDED","finishTime":%d,"hostname":"n%d","rackname":"/r1",`+
				`"counters":{"groups":[{"name":"x","counts":[{"name":"HDFS_BYTES_READ","displayName":"HDFS: Number of bytes read","value":%d}]}]}}}}`+"\n", i, i, end, i%20, i)
		}},
		"go test": records(func(i int, to []byte) []byte {
			return fmt.Appendf(to, `{"Time":"%s","Action":"run","Package":"example.com/p%d","Test":"Test%d"}`+"\n"+`{"Time":"%s","Action":"pass","Package":"example.com/p%d","Test":"Test%d","Elapsed":0.9}`+"\n",
				rfc(i), i%200, i, rfc(i+900), i%200, i)
		}),
		"Bazel": records(func(i int, to []byte) []byte {
			begin, _ := times(i)
			return fmt.Appendf(to, `{"id":{"testResult":{"label":"//pkg:test%d","run":1,"shard":1,"attempt":1,"configuration":{"id":"c"}}},"testResult":{"testActionOutput":[{"name":"test.log"}],"status":"PASSED",`+
				`"testAttemptStartMillisEpoch":"%d","testAttemptDurationMillis":"900","executionInfo":{"strategy":"remote","hostname":"w%d"}}}`+"\n", i, begin, i%20)
		}),
		"timeline": wrap(`{"traceEvents":[`, `]}`, func(i int, to []byte) []byte {
			begin, end := times(i)
			return fmt.Appendf(to, `{"cat":"task::f","name":"task::f","pid":"10.0.0.%d","tid":"worker:%d","ts":%d000,"dur":%d000,"ph":"X","cname":"rail","args":{"task_id":"%x"}}`, i%20, i%200, begin, end-begin, i)
		}),
		"pods": wrap(`{"apiVersion":"v1","items":[`, `],"kind":"List"}`, func(i int, to []byte) []byte {
			return fmt.Appendf(to, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a-%d","labels":{"job-name":"j","batch.kubernetes.io/job-completion-index":"%d"}},"spec":{"nodeName":"n%d"},`+
				`"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"startedAt":"%s","finishedAt":"%s"}}}]}}`, i, i, i%20, rfc(i), rfc(i+900))
		}),
		"Alibaba": records(func(i int, to []byte) []byte {
			return fmt.Appendf(to, "ins_%d,M1,j_1,1,Terminated,%d,%d,m_%d,1,1,12.5,40,0.1,0.2\n", i, 86400+i, 86500+i, i%20)
		}),
		"Shark": records(func(i int, to []byte) []byte {
			begin, end := times(i)
			return fmt.Appendf(to, "2014/02/07 01:50:43: TASK_TYPE=RESULT_TASK STATUS=SUCCESS TID=%d STAGE_ID=5 START_TIME=%d FINISH_TIME=%d EXECUTOR_ID=%d HOST=ip-%d EXECUTOR_RUN_TIME=1138 SHUFFLE_BYTES_WRITTEN=2726191\n", i, begin, end, i%200, i%20)
		}),
	}
}

func attemptsIn(log *trace.Log) (n int) {
	for _, p := range log.Phases {
		n += len(p.Attempts)
	}
	return n
}

// bombs are inputs that are made to fill a memory: huge ones of little meaning, made while they are read.
func bombs() map[string]*endless {
	const size = 64 << 20 // twice the longest record
	fill := func(before, piece, after string) *endless {
		piece = strings.Repeat(piece, 1<<14/len(piece))
		return &endless{before: before, after: after, records: size / len(piece), record: func(_ int, to []byte) []byte { return append(to, piece...) }}
	}
	const attempt = `{"phase":"p","task":0,"start":0,"finish":9}` + "\n"
	const event = `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":1,"Index":0,"Launch Time":1,"Finish Time":2},"Task End Reason":{"Reason":"Success"},"x":"`
	return map[string]*endless{
		"zeros":                        fill("", "\x00", ""),
		"zeros behind a log":           fill(attempt, "\x00", ""),
		"blanks behind a log":          fill(attempt, " ", attempt),
		"line breaks behind a log":     fill(attempt, "\n", attempt),
		"a line":                       fill(attempt+`{"phase":"`, "x", `"}`+"\n"+attempt),
		"a line of Spark":              fill(event, "x", `"}`+"\n"),
		"a line of no use to us":       fill(`{"Event":"SparkListenerLogStart"}`+"\n"+`{"Event":"SQLPlan","x":"`, "x", `"}`+"\n"),
		"a line of a table":            fill("phase,task,start,finish\np,0,0,9\n", "x,", ""),
		"a value of Rumen":             fill(`{"jobID":"j","user":"`, "x", `"}`),
		"a task of Rumen":              fill(`{"jobID":"j","mapTasks":[{"taskID":"`, "x", `"}]}`),
		"attempts of a Rumen task":     fill(`{"jobID":"j","mapTasks":[{"taskID":"t_1","attempts":[`, `{},`, `{}]}]}`),
		"brackets":                     fill(attempt, "[", ""),
		"braces":                       fill(`{"jobID":"j"}`, `{"a":`, ""),
		"nested within":                fill(`{"jobID":"j","x":`, `[`, ""),
		"the same attempt of Spark":    fill("", event+`"}`+"\n", ""),
		"events of no use":             fill(`{"Event":"SparkListenerLogStart"}`+"\n", `{"Event":"SQLPlan"}`+"\n", ""),
		"kinds of events":              {records: 200_000, record: func(i int, to []byte) []byte { return fmt.Appendf(to, `{"Event":"Kind%d"}`+"\n", i) }},
		"a timeline before its events": fill(`{"otherData":{"x":"`, "x", `"},"traceEvents":[{"ph":"X","name":"f","ts":1,"dur":1}]}`),
	}
}

// A log takes at most 300 bytes of memory an attempt, all that reading needs included: a million attempts take at
// most 300 MB. A bomb takes at most what Read promises. The reading is done by another process, whose memory the
// system counts. The test has four bombs of different readers, and all of them, with three formats, under
// STRAGGLER_LIVES.
func TestMemory(t *testing.T) {
	if racing {
		t.Skip("the race detector takes memory of its own")
	}
	const attempts = 200_000
	const itself = 20 << 20 // what a process takes that reads nothing, and a collector that has to wait for a processor
	const most, mostOfBomb = 300*attempts + itself, 100<<20 + itself
	if name := os.Getenv(largeName); name != "" {
		if input := bombs()[name]; input != nil {
			_, err := trace.Read(input, name)
			t.Log(err)
		} else {
			log, err := trace.Read(large(attempts)[name], name)
			require.NoError(t, err)
			require.Equal(t, attempts, attemptsIn(log))
		}
		status, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		fmt.Println(string(status))
		return
	}
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("takes some seconds, and a system that tells how much memory was used")
	}
	limits := map[string]int{"lines": most}
	for _, name := range []string{"a line", "a task of Rumen", "nested within", "kinds of events"} {
		limits[name] = mostOfBomb
	}
	if os.Getenv("STRAGGLER_LIVES") != "" {
		limits["Spark"], limits["Rumen"] = most, most // the other formats are much like one of these
		for name := range bombs() {
			limits[name] = mostOfBomb
		}
	}
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMemory$")
			cmd.Env = append(os.Environ(), largeName+"="+name)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			peak := regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`).FindSubmatch(out)
			require.NotNil(t, peak, string(out))
			kilobytes, err := strconv.Atoi(string(peak[1]))
			require.NoError(t, err)
			t.Logf("%d MB", kilobytes>>10)
			assert.Less(t, kilobytes<<10, limit)
		})
	}
}

// Megabytes of text a second, by format.
func BenchmarkRead(b *testing.B) {
	for name, log := range large(20_000) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			data, err := io.ReadAll(log)
			require.NoError(b, err)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := trace.Read(bytes.NewReader(data), name); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(20_000*b.N)/b.Elapsed().Seconds(), "attempts/s")
		})
	}
}
