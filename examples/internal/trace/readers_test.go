package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// told writes each attempt of a log as a line: job/family/phase/kin/task#number start-finish state host.
func told(log *trace.Log) (lines []string) {
	for i := range log.Phases {
		p := &log.Phases[i]
		for _, a := range p.Attempts {
			lines = append(lines, fmt.Sprintf("%s/%s/%s/%v/%s#%d %v-%v %v %s", p.Job, p.Family, p.Name, p.Kin, p.TaskName(a.Task),
				a.Number, a.Start, a.Finish, a.State, log.Hosts[a.Host].Name))
		}
	}
	return lines
}

// Each format has a few records here. Values that the log does not have are left out.
func TestReadersOfInterfaces(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		format trace.Format
		want   []string
		notRun map[string]int
	}{
		"GitHub Actions": {
			text: `{"total_count":3,"jobs":[{"id":9,"run_id":7,"workflow_name":"CI","run_attempt":1,"status":"completed","conclusion":"success",` +
				`"created_at":"2026-03-01T10:00:00Z","started_at":"2026-03-01T10:00:05Z","completed_at":"2026-03-01T10:01:00Z","name":"test (1)","steps":[{"name":"x","status":"completed"}],"runner_name":"r1"},` +
				`{"id":10,"run_id":7,"workflow_name":"CI","run_attempt":1,"status":"completed","conclusion":"skipped","name":"deploy"},` +
				`{"id":11,"run_id":7,"workflow_name":"CI","run_attempt":1,"status":"in_progress","conclusion":null,"started_at":"2026-03-01T10:00:05Z","name":"long"}]}` + "\n" +
				`{"total_count":3,"jobs":[{"id":12,"run_id":7,"workflow_name":"CI","run_attempt":2,"status":"completed","conclusion":"failure","started_at":"2026-03-01T10:02:00Z","completed_at":"2026-03-01T10:03:00Z","name":"test (1)"}]}`,
			format: trace.GitHubActions, notRun: map[string]int{"skipped jobs": 1},
			want: []string{
				"CI 7/CI/jobs/named/test (1)#0 1772359205000-1772359260000 succeeded r1", "CI 7/CI/jobs/named/long#0 1772359205000-unknown unfinished ",
				"CI 7/CI/jobs/named/test (1)#1 1772359320000-1772359380000 failed ",
			},
		},
		"gh run view": {
			text:   `{"jobs":[{"completedAt":"2026-03-01T10:01:00Z","conclusion":"success","databaseId":1,"name":"build","startedAt":"2026-03-01T10:00:00Z","status":"completed","steps":[]}]}`,
			format: trace.GitHubActions, want: []string{"//jobs/named/build#0 1772359200000-1772359260000 succeeded "},
		},
		"JUnit": {
			text: `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<testsuites><testsuite name="s" timestamp="2026-03-01T10:00:00" hostname="h" tests="4">
<properties><property name="a" value="b"/></properties>
<testcase classname="C" name="one" time="1.5"/><testcase classname="C" name="two" time="1,000.25"><failure message="&lt;no&gt;">why</failure></testcase>
<testcase classname="C" name="never" time="0"><skipped/></testcase><testcase name="untimed"><system-out>x</system-out></testcase></testsuite></testsuites>`,
			format: trace.JUnit, notRun: map[string]int{"skipped tests": 1},
			want: []string{
				"tests//s/named/C.one#0 1772359200000-1772359201500 succeeded h", "tests//s/named/C.two#0 1772359201500-1772360201750 failed h",
				"tests//s/named/untimed#0 1772360201750-unknown succeeded h",
			},
		},
		"JUnit, broken": {
			text: "<testsuite name=\"s\"><testcase name=\"one\" time=\"1\"><failure>\x1b[31m 1 < 2 </b></failure></testcase>" +
				"<testcase name=\"two\" time=\"2\"/></testsuite><testsuite name=\"t\"><testcase name=\"three\" time=\"3\"/></testsuite>",
			format: trace.JUnit,
			want: []string{
				"tests//s/named/one#0 0-1000 failed ", "tests//s/named/two#0 1000-3000 succeeded ", "tests//t/named/three#0 3000-6000 succeeded ",
			},
		},
		"Nextflow": {
			text: "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n" +
				"1\taa/1\t10\tALIGN (s1)\tFAILED\t1\t2026-03-01 10:00:00.500\t2s\t1s\t0\t0\t0\t1 KB\t0\n" +
				"2\taa/2\t11\tALIGN (s1)\tCOMPLETED\t0\t2026-03-01 10:00:03.500\t1m 2s\t500ms\t0\t0\t0\t1.5 MB\t0\n" +
				"3\taa/3\t12\tINDEX\tCACHED\t0\t2026-03-01 10:00:03.500\t1s\t1s\t-\t-\t-\t-\t-\n" +
				"4\taa/4\t13\tALIGN (s2)\tABORTED\t-\t2026-03-01 10:00:03.500\t-\t-\t-\t-\t-\t-\t-\n",
			format: trace.Nextflow, notRun: map[string]int{"tasks from a cache": 1},
			want: []string{
				"//ALIGN/named/s1#0 1772359201500-1772359202500 failed ", "//ALIGN/named/s1#1 1772359265000-1772359265500 succeeded ",
				"//ALIGN/named/s2#0 unknown-unknown killed ",
			},
		},
		"Nextflow, all columns": {
			text: "process\ttag\tname\tattempt\tstatus\tsubmit\tduration\tstart\tcomplete\trchar\thostname\n" +
				"A:B\ts1\tA:B (s1)\t1\tCOMPLETED\t1772359200000\t60000\t1772359201000\t1772359260000\t640\tn1\n",
			format: trace.Nextflow, want: []string{"//A:B/named/s1#0 1772359201000-1772359260000 succeeded n1"},
		},
		"Slurm": {
			text: "JobID|JobName|Submit|Start|End|Elapsed|State|NodeList\n12_0|sim|2026-03-01T09:59:00|2026-03-01T10:00:00|2026-03-01T10:10:00|00:10:00|COMPLETED|n1\n" +
				"12_0.batch|batch|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:10:00|00:10:00|COMPLETED|n1\n" +
				"12_1|sim|2026-03-01T09:59:00|2026-03-01T10:00:00|2026-03-01T10:01:00|00:01:00|NODE_FAIL|n2\n" +
				"12_1|sim|2026-03-01T10:02:00|2026-03-01T10:03:00|2026-03-01T10:04:00|00:01:00|COMPLETED|n1\n" +
				"12_[2-9%2]|sim|2026-03-01T09:59:00|Unknown|Unknown|00:00:00|PENDING|None assigned\n" +
				"13|other|2026-03-01T09:59:00|2026-03-01T10:00:00|Unknown|1-00:00:01|CANCELLED by 7|n3\n",
			format: trace.Slurm, notRun: map[string]int{"jobs that never started": 1},
			want: []string{
				"12//sim/alike/0#0 1772359200000-1772359800000 succeeded n1", "12//sim/alike/1#0 1772359200000-1772359260000 failed n2",
				"12//sim/alike/1#1 1772359380000-1772359440000 succeeded n1", "jobs//other/rerun/other#0 1772359200000-1772445601000 killed n3",
			},
		},
		"Airflow": {
			text: `{"task_instances":[{"dag_id":"d","dag_run_id":"r1","task_id":"extract","map_index":-1,"try_number":2,"state":"success","hostname":"w",` +
				`"start_date":"2026-03-01T10:00:00.5+00:00","end_date":"2026-03-01T10:00:10+00:00"},` +
				`{"dag_id":"d","dag_run_id":"r1","task_id":"part","map_index":1,"try_number":1,"state":"failed","start_date":"2026-03-01T10:00:00Z","end_date":"2026-03-01T10:00:10Z"},` +
				`{"dag_id":"d","dag_run_id":"r1","task_id":"part","map_index":0,"try_number":1,"state":"running","start_date":"2026-03-01T10:00:00Z","end_date":null},` +
				`{"dag_id":"d","dag_run_id":"r1","task_id":"late","map_index":-1,"try_number":0,"state":"upstream_failed"},{"dag_id":"d","task_id":"new","state":null}],"total_entries":5}`,
			format: trace.Airflow, notRun: map[string]int{"instances that are upstream_failed": 1, "instances that are not scheduled": 1},
			want: []string{
				"d r1/d/tasks/named/extract#1 1772359200500-1772359210000 succeeded w",
				"d r1/d/part/alike/0#0 1772359200000-unknown unfinished ", "d r1/d/part/alike/1#0 1772359200000-1772359210000 failed ",
			},
		},
		"Spark's tasks": {
			text: `[ { "taskId" : 5, "index" : 1, "attempt" : 0, "launchTime" : "2026-03-01T10:00:00.500GMT", "duration" : 1500, "executorId" : "3", "host" : "h", "status" : "SUCCESS",` +
				`"taskLocality" : "ANY", "speculative" : true, "taskMetrics" : { "inputMetrics" : { "bytesRead" : 7 }, "shuffleReadMetrics" : {"remoteBytesRead":1,"localBytesRead":2} } },` +
				`{ "taskId" : 6, "index" : 0, "attempt" : 1, "launchTime" : "2026-03-01T10:00:01.000GMT", "executorId" : "3", "host" : "h", "status" : "RUNNING" } ]`,
			format: trace.SparkREST,
			want:   []string{"//stage/alike/1#0 1772359200500-1772359202000 succeeded h", "//stage/alike/0#1 1772359201000-unknown unfinished h"},
		},
		"Spark's stage": {
			text: `{"status":"COMPLETE","stageId":4,"attemptId":1,"numTasks":3,"tasks":{"5":{"taskId":5,"index":1,"attempt":0,"launchTime":"2026-03-01T10:00:00.500GMT","duration":500,"executorId":"1","host":"h","status":"FAILED"},` +
				`"6":{"taskId":6,"index":1,"attempt":1,"launchTime":"2026-03-01T10:00:02.500GMT","duration":500,"executorId":"1","host":"h","status":"SUCCESS"}},"executorSummary":{"1":{"taskTime":5}}}`,
			format: trace.SparkREST,
			want:   []string{"//stage 4.1/alike/1#0 1772359200500-1772359201000 failed h", "//stage 4.1/alike/1#1 1772359202500-1772359203000 succeeded h"},
		},
		"Ray": {
			text: `[{"task_id":"t1","attempt_number":0,"name":"f","state":"FINISHED","job_id":"01","actor_id":null,"type":"NORMAL_TASK","func_or_class_name":"f","node_id":"n","worker_id":"w","creation_time_ms":1772359200000,"start_time_ms":1772359200100,"end_time_ms":1772359201000},` +
				`{"task_id":"t2","attempt_number":1,"name":"f","state":"RUNNING","job_id":"01","type":"NORMAL_TASK","func_or_class_name":"f","node_id":"n","worker_id":"w","start_time_ms":1772359200100,"end_time_ms":null},` +
				`{"task_id":"d","attempt_number":0,"name":"","state":"RUNNING","job_id":"01","type":"DRIVER_TASK"}]`,
			format: trace.RayTasks,
			want:   []string{"01//f/unlike/t1#0 1772359200100-1772359201000 succeeded n", "01//f/unlike/t2#1 1772359200100-unknown unfinished n"},
		},
		"Ray's dashboard": {
			text:   `{"result":true,"msg":"","data":{"result":{"total":1,"result":[{"task_id":"t1","attempt_number":0,"name":"f","state":"FAILED","job_id":"01","type":"ACTOR_TASK","func_or_class_name":"A.g","start_time_ms":1772359200100,"end_time_ms":1772359201000}],"warnings":[]}}}`,
			format: trace.RayTasks, want: []string{"01//A.g/unlike/t1#0 1772359200100-1772359201000 failed "},
		},
		"Flink": {
			text: `{"id":"v","name":"Map","parallelism":2,"now":9,"subtasks":[{"subtask":0,"status":"FINISHED","attempt":0,"host":"h1","start-time":1772359200000,"end-time":1772359209000,"metrics":{"read-bytes":5,"write-bytes":6},"taskmanager-id":"m1",` +
				`"other-concurrent-attempts":[{"subtask":0,"status":"CANCELED","attempt":1,"host":"h2","start-time":1772359203000,"end-time":1772359209000}]},` +
				`{"subtask":1,"status":"RUNNING","attempt":0,"host":"h2","start-time":1772359200000,"end-time":-1}]}`,
			format: trace.Flink,
			want: []string{"//Map/alike/0#0 1772359200000-1772359209000 succeeded h1", "//Map/alike/1#0 1772359200000-unknown unfinished h2",
				"//Map/alike/0#1 1772359203000-1772359209000 killed h2"},
		},
		"Jaeger": {
			text: `{"data":[{"traceID":"a","spans":[{"traceID":"a","spanID":"1","operationName":"GET /","references":[],"startTime":1772359200000000,"duration":900000,"tags":[],"processID":"p1"},` +
				`{"traceID":"a","spanID":"2","operationName":"SELECT","references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"startTime":1772359200100000,"duration":500000,"tags":[{"key":"error","type":"bool","value":true}],"processID":"p2"}],` +
				`"processes":{"p1":{"serviceName":"web","tags":[]},"p2":{"serviceName":"db","tags":[{"key":"hostname","type":"string","value":"h"}]}}}],"total":0}`,
			format: trace.Traces, want: []string{"a/db/db/named/SELECT#0 1772359200100-1772359200600 failed h"},
		},
		"OpenTelemetry": {
			text: `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"web"}},{"key":"host.name","value":{"stringValue":"h"}}]},"scopeSpans":[{"scope":{"name":"x"},"spans":[` +
				`{"traceId":"a","spanId":"1","parentSpanId":"","name":"GET /","startTimeUnixNano":"1772359200000000000","endTimeUnixNano":"1772359200900000000","status":{}},` +
				`{"traceId":"a","spanId":"2","parentSpanId":"1","name":"render","startTimeUnixNano":"1772359200100000000","endTimeUnixNano":"1772359200600000000","status":{"code":2}}]}]}]}`,
			format: trace.Traces, want: []string{"a/web/web/named/render#0 1772359200100-1772359200600 failed h"},
		},
	} {
		log := read(t, c.text)
		assert.Equal(t, c.format, log.Format, name)
		assert.Equal(t, c.want, told(log), name)
		faults := log.Faults
		faults[trace.NoZone], faults[trace.NoStart], faults[trace.NoFinish] = 0, 0, 0
		if name == "JUnit, broken" {
			assert.Equal(t, 1, faults[trace.Broken])
			faults[trace.Broken] = 0
		}
		assert.Zero(t, faults.Total(), "%s: %s", name, log.Faults)
		if c.notRun == nil {
			c.notRun = map[string]int{}
		}
		assert.Equal(t, c.notRun, log.NotRun, name)
	}
}

// A value of an unexpected type breaks nothing. Of a report that stops halfway, the records before the end are kept.
func TestReadersOfInterfacesSurvive(t *testing.T) {
	for _, text := range []string{
		`{"total_count":1,"jobs":[{"id":1,"run_id":[2],"name":{"a":1},"status":5,"started_at":"x","steps":[]}]}`,
		`{"task_instances":[null,5,"x",{"dag_id":1,"dag_run_id":2,"task_id":[],"map_index":"x","state":"success"}]}`,
		`[{"taskId":"x","index":-7,"launchTime":99,"duration":"x","executorId":[],"status":{}}]`,
		`[{"task_id":7,"attempt_number":"x","type":[],"start_time_ms":{},"func_or_class_name":null}]`,
		`{"id":"v","name":7,"parallelism":1,"subtasks":[{"subtask":99999999999,"status":"FINISHED"},{"subtask":3,"status":null}]}`,
		`{"data":[{"traceID":"a","spans":[{"spanID":5,"startTime":"x","duration":-1,"references":[{}]}],"processes":[]}]}`,
		`{"resourceSpans":[{"resource":[],"scopeSpans":[{"spans":[{"startTimeUnixNano":"x"}]}]}]}`,
		`<testsuite name="s"><testcase name="a" time="NaN"/><testcase name="b" time="-1"/>`,
		`<testsuites><testsuite name="s" timestamp="2026-03-01T10:00:00Z"><testcase name="a" time="1"/><testcase name="b" ti`,
		"JobID|JobName|State|Start|End\n1||COMPLETED|x|y\n|n|COMPLETED|2026-03-01T10:00:00|\n1_x|n|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:09",
		"name\tstatus\tsubmit\tduration\nA (1)\tCOMPLETED\tx\t5 parsecs\nB\t\t\t\n",
	} {
		for cut := len(text); cut > len(text)/2; cut -= 7 {
			if log, err := trace.Read(strings.NewReader(text[:cut]), "x"); err == nil {
				checkInvariants(t, log)
			}
		}
	}
	log := read(t, `<testsuites><testsuite name="s" timestamp="2026-03-01T10:00:00Z"><testcase name="a" time="1"/><testcase name="b" ti`)
	assert.Len(t, log.Phases[0].Attempts, 1)
	assert.Equal(t, 1, log.Faults[trace.HalfLast])
}

// Nextflow states bytes with a unit, or as a plain number.
func TestSizesOfNextflow(t *testing.T) {
	text := "process\ttag\tattempt\tstatus\tstart\tcomplete\trchar\n"
	sizes := map[string]trace.Opt{
		"640": trace.Known(640), "0": trace.Known(0), "1 KB": trace.Known(1 << 10), "1.5 MB": trace.Known(3 << 19), "2 GB": trace.Known(2 << 30),
		"-": {}, "-1 KB": {}, "3 parsecs": {},
	}
	for said := range sizes {
		text += fmt.Sprintf("A\tsize %s\t1\tCOMPLETED\t1772359201000\t1772359260000\t%s\n", said, said)
	}
	log := read(t, text)
	require.Len(t, log.Phases[0].Attempts, len(sizes))
	for _, a := range log.Phases[0].Attempts {
		said, tagged := strings.CutPrefix(log.Phases[0].TaskName(a.Task), "size ")
		assert.True(t, tagged)
		assert.Equal(t, sizes[said], a.Input, said)
	}
}
