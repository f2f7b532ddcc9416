package trace_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// tracesDir finds the real logs, which are not part of the repository, in the directory that STRAGGLER_TRACES names.
func tracesDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("STRAGGLER_TRACES")
	if dir == "" {
		t.Skip("no real logs: STRAGGLER_TRACES does not name their directory")
	}
	return dir
}

type counts struct {
	jobs, phases, attempts, hosts, executors int
	states                                   [5]int // by trace.State
}

func count(log *trace.Log) (c counts) {
	jobs := map[string]bool{}
	for _, p := range log.Phases {
		jobs[p.Job] = true
		c.attempts += len(p.Attempts)
		for _, a := range p.Attempts {
			c.states[a.State]++
		}
	}
	c.jobs, c.phases, c.hosts, c.executors = len(jobs), len(log.Phases), len(log.Hosts)-1, len(log.Executors)-1
	return c
}

// The expected figures were counted independently of this package, from the decoded JSON of each file.
func TestRealLogs(t *testing.T) {
	dir := tracesDir(t)
	for file, want := range map[string]struct {
		counts
		faults trace.Faults
	}{
		"spark-groupon-yarn/application_1472176676028_407508_1.gz":             {counts: counts{7, 12, 612, 23, 58, [5]int{0, 612}}},
		"spark-kubeflow-v2/eventlog_v2_spark-cc4d115f011443d787f03a71a476a745": {counts: counts{6, 6, 73, 4, 4, [5]int{0, 73}}},
		"spark-rapids-tools/nds_q72_dataproc_2_2.gz":                           {counts: counts{49, 49, 13504, 4, 8, [5]int{0, 13504}}},
		"spark-rapids-tools/nds_q88_photon_db_13_3.zstd":                       {counts: counts{57, 57, 4896, 2, 2, [5]int{0, 4896}}},
		"spark-rapids-tools/malformed_json_eventlog.gz":                        {counts: counts{2, 5, 217, 5, 9, [5]int{0, 217}}, faults: trace.Faults{trace.Broken: 1}},
		// 2,672 attempts ended; 13 more were running when the log stops.
		"spark-rapids-tools/db_sim_eventlog-2021-06-15--15-00.gz": {counts: counts{1, 3, 2685, 1, 1, [5]int{13, 2672}}},
		// 8,630 ends, 50 of which take back an earlier success; one stage is of a job whose start is not in the log.
		"spark-rapids-tools/tasks_executors_fail_compressed_eventlog.gz": {counts: counts{76, 135, 8580, 6, 8, [5]int{0, 8527, 3, 0, 50}}},
		// 12,990 attempts have both times, three of them reversed; 6 have no start.
		"rumen-mumak-19jobs/19-jobs.trace.json.gz": {counts: counts{19, 35, 12996, 1543, 0, [5]int{0, 8404, 3496, 1096}},
			faults: trace.Faults{trace.Housework: 45, trace.NoStart: 6, trace.FinishFirst: 3}},
		"rumen-gridmix/5m_stream_trace.json.gz":         {counts: counts{15, 30, 466, 7, 0, [5]int{0, 466}}, faults: trace.Faults{trace.Housework: 30}},
		"rumen-gridmix/compression_case4_trace.json.gz": {counts: counts{3, 6, 248, 7, 0, [5]int{0, 248}}, faults: trace.Faults{trace.Housework: 6}},
		"rumen-gridmix/trace_5m.json.gz":                {counts: counts{16, 32, 780, 8, 0, [5]int{0, 780}}, faults: trace.Faults{trace.Housework: 32}},
		"rumen-gridmix/trace_10m.json.gz":               {counts: counts{29, 58, 261, 8, 0, [5]int{0, 261}}, faults: trace.Faults{trace.Housework: 58}},
		"rumen-gridmix/trace_12m.json.gz":               {counts: counts{46, 92, 447, 8, 0, [5]int{0, 447}}, faults: trace.Faults{trace.Housework: 92}},
		"rumen-sls/2jobs2min-rumen-jh.json.gz":          {counts: counts{2, 2, 192, 4, 0, [5]int{0, 192}}},
		"rumen-mumak-19jobs/19-jobs.topology.json.gz":   {counts: counts{hosts: 1545}},
		// Three jobs of Hadoop 0.20: its own history, and the trace that was made of it.
		"rumen-mumak-19jobs/sample-job-tracker-logs.gz":       {counts: counts{3, 6, 276, 598, 0, [5]int{0, 203, 4, 69}}, faults: trace.Faults{trace.Housework: 7}},
		"rumen-mumak-19jobs/job-tracker-logs-trace-output.gz": {counts: counts{3, 6, 276, 599, 0, [5]int{0, 203, 4, 69}}, faults: trace.Faults{trace.Housework: 7}},
		"shark-bdb-joblogger/2a_1391737661_job_log.gz":        {counts: counts{1, 2, 2197, 5, 5, [5]int{0, 2197}}},
		"shark-bdb-joblogger/2b_1391753636_job_log.gz":        {counts: counts{1, 2, 2197, 5, 5, [5]int{0, 2197}}},
		"shark-bdb-joblogger/3a_1391755165_job_log.gz":        {counts: counts{1, 6, 2459, 5, 5, [5]int{0, 2459}}},
		"shark-bdb-joblogger/3b_1391755678_job_log.gz":        {counts: counts{1, 6, 2459, 5, 5, [5]int{0, 2459}}},
		// One of ten maps and two reduces, and one of a map that has not ended.
		"jhist-hadoop2/job_1329348432655_0001-1329348443227-user-Sleep+job-1329348468601-10-1-SUCCEEDED-default.jhist":                               {counts: counts{1, 2, 12, 1, 0, [5]int{0, 12}}},
		"jhist-hadoop2/job_1410289045532_259974-1411647985641-user35-SomeJobName-1411647999554-1-0-SUCCEEDED-root.someQueueName-1411647995323.jhist": {counts: counts{1, 1, 1, 1, 0, [5]int{1}}},
		"alibaba-2017-batch-task/batch_task.csv.gz": {counts: counts{jobs: 12951, phases: 80553}, faults: trace.Faults{trace.FinishFirst: 209}},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			log, err := trace.Open(filepath.Join(dir, filepath.FromSlash(file)))
			require.NoError(t, err)
			assert.Equal(t, want.counts, count(log))
			assert.Equal(t, want.faults, log.Faults)
			checkInvariants(t, log)

			var text bytes.Buffer
			require.NoError(t, trace.Write(&text, log))
			again, err := trace.Read(&text, file)
			require.NoError(t, err)
			assert.Equal(t, takeSplits(log), takeSplits(again))
			assert.Equal(t, log.Phases, again.Phases)
			assert.Equal(t, log.Hosts, again.Hosts)
			assert.Equal(t, log.Executors, again.Executors)
		})
	}
}

// takeSplits returns the splits of each attempt of a log, in order, and takes them from it: they are numbered as they
// were read, which may be another order than that of the attempts.
func takeSplits(log *trace.Log) (all [][]int64) {
	for i := range log.Phases {
		for j := range log.Phases[i].Attempts {
			a := &log.Phases[i].Attempts[j]
			if a.Splits == 0 {
				all = append(all, nil)
				continue
			}
			all, a.Splits = append(all, log.Splits[a.Splits]), 0
		}
	}
	return all
}

// The raw history of some jobs and the trace that Hadoop's own tool made of it are the same attempts.
func TestHistoryAgainstRumen(t *testing.T) {
	dir := filepath.Join(tracesDir(t), "rumen-mumak-19jobs")
	open := func(name string) *trace.Log {
		log, err := trace.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		return log
	}
	raw, made := open("sample-job-tracker-logs.gz"), open("job-tracker-logs-trace-output.gz")
	flat := func(log *trace.Log) map[string]string {
		all := map[string]string{}
		for _, p := range log.Phases {
			for _, a := range p.Attempts {
				all[fmt.Sprint(p.Name, " ", a.Task, " ", a.Number)] = fmt.Sprint(a.Start, a.Finish, a.State, log.Hosts[a.Host].Name, a.Input, a.Shuffle)
			}
		}
		return all
	}
	assert.Equal(t, flat(made), flat(raw))
}

// Facts of single logs that were established before there was a reader.
func TestRealLogFacts(t *testing.T) {
	dir := tracesDir(t)
	log, err := trace.Open(filepath.Join(dir, "rumen-mumak-19jobs", "19-jobs.trace.json.gz"))
	require.NoError(t, err)
	localities := map[trace.Locality]int{}
	duplicates, maps, read, laterWon := 0, 0, 0, 0
	for _, p := range log.Phases {
		tasks := map[int32][]trace.Attempt{}
		for _, a := range p.Attempts {
			localities[a.Locality]++
			tasks[a.Task] = append(tasks[a.Task], a)
			if len(p.DependsOn) == 0 && p.Submitted.Known() {
				maps++
				if a.Input.Or(0) > 0 {
					read++
				}
			}
		}
		for _, attempts := range tasks {
			for _, won := range attempts {
				for _, lost := range attempts {
					if won.State == trace.Succeeded && lost.State == trace.Killed && overlap(won, lost) {
						duplicates++
						if won.Start.Or(0) > lost.Start.Or(0) {
							laterWon++
						}
					}
				}
			}
		}
	}
	// The topology file, which is not read, would add 150 rack-local attempts and one off rack.
	assert.Equal(t, map[trace.Locality]int{trace.LocalityUnknown: 5108, trace.NodeLocal: 5326, trace.RackLocal: 2219, trace.Any: 343}, localities)
	assert.Equal(t, []int{73, 13}, []int{duplicates, laterWon}, "pairs of copies, and how many the later one won")
	assert.Equal(t, []int{9616, 4644}, []int{maps, read}, "map attempts, and those that read any bytes")

	log, err = trace.Open(filepath.Join(dir, "spark-rapids-tools", "nds_q88_photon_db_13_3.zstd"))
	require.NoError(t, err)
	zero, unknown := 0, 0
	for _, a := range phase(t, log, "stage 44.0").Attempts {
		if a.Input == trace.Known(0) {
			zero++
		}
		if !a.Input.Known() {
			unknown++
		}
	}
	assert.Equal(t, []int{191, 0}, []int{zero, unknown}, "a task of Spark 3 that reads nothing says so")

	log, err = trace.Open(filepath.Join(dir, "spark-groupon-yarn", "application_1472176676028_407508_1.gz"))
	require.NoError(t, err)
	p := phase(t, log, "stage 0.0")
	assert.Equal(t, 544, p.Tasks)
	assert.Len(t, p.Attempts, 544)
	noInput, noShuffle := 0, 0
	for _, p := range log.Phases {
		for _, a := range p.Attempts {
			if !a.Input.Known() {
				noInput++
			}
			if !a.Shuffle.Known() {
				noShuffle++
			}
		}
	}
	assert.Equal(t, []int{68, 568}, []int{noInput, noShuffle}, "groups that Spark 1.6 leaves out are unknown")
}

func TestRealArrivals(t *testing.T) {
	dir := filepath.Join(tracesDir(t), "swim-facebook")
	for file, jobs := range map[string]int{"FB-2009_samples_24_times_1hr_0.tsv.gz": 5894, "FB-2010_samples_24_times_1hr_0.tsv.gz": 24442} {
		log, err := trace.Open(filepath.Join(dir, file))
		require.NoError(t, err)
		assert.Len(t, log.Arrivals, jobs)
		assert.Zero(t, log.Faults.Total(), log.Faults)
	}
}

func overlap(a, b trace.Attempt) bool {
	return a.Start.Or(0) < b.Finish.Or(0) && b.Start.Or(0) < a.Finish.Or(0)
}

func phase(t *testing.T, log *trace.Log, name string) *trace.Phase {
	t.Helper()
	for i := range log.Phases {
		if log.Phases[i].Name == name {
			return &log.Phases[i]
		}
	}
	t.Fatalf("no phase %q", name)
	return nil
}

// A byte that is lost from a real trace, as Hadoop lays it out, costs at most the job that it stood in.
func TestRealTraceWithoutOneByte(t *testing.T) {
	dir := tracesDir(t)
	for _, file := range []string{"rumen-gridmix/trace_12m.json.gz", "rumen-sls/2jobs2min-rumen-jh.json.gz", "rumen-mumak-19jobs/job-tracker-logs-trace-output.gz"} {
		packed, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		require.NoError(t, err)
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		text, err := io.ReadAll(unpacked)
		require.NoError(t, err)
		jobs := func(text []byte) map[string]int {
			log, err := trace.Read(bytes.NewReader(text), file)
			require.NoError(t, err)
			all := map[string]int{}
			for _, p := range log.Phases {
				all[p.Job] += len(p.Attempts)
			}
			return all
		}
		whole := jobs(text)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			at := rng.IntN(len(text))
			for bytes.IndexByte([]byte(`{}[]",:`), text[at]) < 0 { // what holds the records together
				at = (at + 1) % len(text)
			}
			now := jobs(slices.Concat(text[:at], text[at+1:]))
			lost := 0
			for job, attempts := range whole {
				if now[job] != attempts {
					lost++
				}
			}
			require.LessOrEqual(t, lost, 1, "%s without byte %d, %q", file, at, text[max(at-20, 0):min(at+20, len(text))])
		}
	}
}
