package trace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// sparkLog makes a log of Spark 3 as it mostly looks: task ends of some kilobytes, nearly all of it accumulables.
func sparkLog(tasks, accumulables int) []byte {
	var out, padding bytes.Buffer
	for i := range accumulables {
		fmt.Fprintf(&padding, `,{"ID":%d,"Name":"internal.metrics.shuffle.read.localBytesRead","Update":%d,"Value":%d,"Internal":true,"Count Failed Values":true}`, i, i*977, i*9991)
	}
	for i := range tasks {
		info := fmt.Sprintf(`"Task ID":%d,"Index":%d,"Attempt":0,"Partition ID":%d,"Launch Time":%d,"Executor ID":"%d","Host":"host-%d.example","Locality":"NODE_LOCAL","Speculative":false,"Getting Result Time":0`,
			i, i, i, 1751493929737+int64(i), i%64, i%16)
		fmt.Fprintf(&out, `{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{%s,"Finish Time":0,"Failed":false,"Killed":false,"Accumulables":[]}}`+"\n", info)
		fmt.Fprintf(&out, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{%s,"Finish Time":%d,"Failed":false,"Killed":false,"Accumulables":[%s]},`+
			`"Task Metrics":{"Executor Run Time":1232,"Shuffle Read Metrics":{"Remote Bytes Read":%d,"Local Bytes Read":7},"Input Metrics":{"Bytes Read":%d},"Output Metrics":{"Bytes Written":0}}}`+"\n",
			info, 1751493939737+int64(i), padding.Bytes()[1:], i, i*3)
	}
	return out.Bytes()
}

func benchmark(b *testing.B, data []byte, attempts int) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		log, err := trace.Read(bytes.NewReader(data), "x")
		if err != nil || len(log.Phases[0].Attempts) != attempts {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadSpark(b *testing.B) {
	for _, accumulables := range []int{20, 200} {
		const tasks = 2000
		b.Run(fmt.Sprintf("tasks=%d/accumulables=%d", tasks, accumulables), func(b *testing.B) {
			benchmark(b, sparkLog(tasks, accumulables), tasks)
		})
	}
}

func BenchmarkReadLines(b *testing.B) {
	const tasks = 10000
	b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) { benchmark(b, taskLines(0, tasks), tasks) })
}

// Packed as they lie on the disk; the rate is that of packed bytes.
func BenchmarkOpenReal(b *testing.B) {
	dir := tracesDir(b)
	for _, name := range []string{"spark-rapids-tools/nds_q72_dataproc_2_2.gz", "spark-rapids-tools/nds_q88_photon_db_13_3.zstd", "rumen-mumak-19jobs/19-jobs.trace.json.gz"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		b.Run(filepath.Base(name), func(b *testing.B) {
			info, err := os.Stat(path)
			require.NoError(b, err)
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				_, err := trace.Open(path)
				require.NoError(b, err)
			}
		})
	}
}
