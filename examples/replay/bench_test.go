package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapes are logs in which some loop over all attempts, or all phases, could hide within another one.
var shapes = map[string]func(w *bytes.Buffer, n int){
	"one-task-index": func(w *bytes.Buffer, n int) {
		for i := range n {
			fmt.Fprintf(w, `{"phase":"p","task":0,"start":%d,"finish":%d}`+"\n", 1000*i, 1000*i+900)
		}
	},
	"one-job-ID": func(w *bytes.Buffer, n int) {
		for i := range n {
			fmt.Fprintf(w, `{"jobID":"j","launchTime":5,"mapTasks":[{"taskID":"t_m_1","attempts":[{"attemptID":"a_m_1_0","startTime":%d,"finishTime":%d,"result":"SUCCESS"}]}]}`+"\n", 1000+i, 2000+i)
		}
	},
	"all-tasks-at-once": func(w *bytes.Buffer, n int) {
		for i := range n {
			fmt.Fprintf(w, `{"phase":"p","task":%d,"start":%d,"finish":%d}`+"\n", i, i%7, 100_000+i%997)
		}
	},
	"each-task-fails-once": func(w *bytes.Buffer, n int) {
		for i := range n {
			start := i / 100 * 3000
			fmt.Fprintf(w, `{"phase":"p","task":%d,"start":%d,"finish":%d,"state":"failed","executor":%d}`+"\n", i, start,
				start+900, i%100)
			fmt.Fprintf(w, `{"phase":"p","task":%d,"attempt":1,"start":%d,"finish":%d,"executor":%d}`+"\n", i, start+1000,
				start+2900, (i+1)%100)
		}
	},
	"all-phases-at-once": func(w *bytes.Buffer, n int) {
		for i := range n {
			fmt.Fprintf(w, `{"phase":"p%d","task":0,"start":%d,"finish":%d}`+"\n", i, i%7, 100_000+i%997)
		}
	},
	"far-task-numbers": func(w *bytes.Buffer, n int) {
		for i := range n {
			fmt.Fprintf(w, `{"job":"j%d","phase":"p","task":16777215,"start":%d,"finish":%d}`+"\n", i, 10*i, 10*i+5000)
		}
	},
	"many-preferred-hosts": func(w *bytes.Buffer, n int) {
		w.WriteString(`{"jobID":"j","mapTasks":[{"taskID":"t_m_1","preferredLocations":[{"layers":["r","n"]}`)
		for i := range 2 * n {
			fmt.Fprintf(w, `,{"layers":["r%d","n%d"]}`, i%50, i)
		}
		w.WriteString(`],"attempts":[{"attemptID":"a_m_1_999999","startTime":1,"finishTime":5,"result":"SUCCESS"}`)
		for i := range n {
			fmt.Fprintf(w, `,{"attemptID":"a_m_1_%d","startTime":%d,"finishTime":%d,"result":"KILLED","hostName":"/q/x"}`, i,
				1000+i, 2000+i)
		}
		w.WriteString(`]}]}`)
	},
	"waves": func(w *bytes.Buffer, n int) {
		for i := range n {
			start := i / 200 * 1000
			fmt.Fprintf(w, `{"phase":"p","task":%d,"start":%d,"finish":%d,"executor":%d,"host":%d}`+"\n", i, start,
				start+700+i*7919%290, i%200, i%20)
		}
	},
}

// BenchmarkLinear replays logs of one, two and four times a size: the time per attempt should not grow.
func BenchmarkLinear(b *testing.B) {
	for shape, write := range shapes {
		for _, times := range []int{1, 2, 4} {
			n := 5000 * times
			b.Run(fmt.Sprintf("%s/n=%d", shape, n), func(b *testing.B) {
				var text bytes.Buffer
				write(&text, n)
				path := filepath.Join(b.TempDir(), "log")
				require.NoError(b, os.WriteFile(path, text.Bytes(), 0o600))
				for b.Loop() {
					if code := run([]string{"-json", "-policy", "mantri,dolly", path}, io.Discard, io.Discard); code != 0 {
						b.Fatal(code)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/attempt")
			})
		}
	}
}
