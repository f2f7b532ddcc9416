package trace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"straggler-examples/internal/trace"
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
			assert.Equal(t, log.Phases, again.Phases)
			assert.Equal(t, log.Hosts, again.Hosts)
			assert.Equal(t, log.Executors, again.Executors)
		})
	}
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
