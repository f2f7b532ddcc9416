package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// recording returns a journal in which each task of a phase reports ten times and finishes.
func recording(b *testing.B, tasks int) []byte {
	b.Helper()
	tr, r := record(b, tracker.Config{Tasks: tasks, Slots: tasks, Interval: time.Second})
	now := time.Unix(0, 0)
	for task := range tasks {
		tr.Start(now, task, task)
	}
	for share := 1; share <= 10; share++ {
		now = now.Add(time.Second)
		for task := range tasks {
			tr.Report(now, task, 0, tracker.Report{Done: float64(share) / 10})
		}
	}
	for task := range tasks {
		tr.Finish(now, task, 0)
	}
	return r.Bytes()
}

func BenchmarkReplay(b *testing.B) {
	for _, tasks := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			text := recording(b, tasks)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Replay(text, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(12*tasks*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func BenchmarkRecorderReport(b *testing.B) {
	for _, tasks := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			tr, r := record(b, tracker.Config{Tasks: tasks, Slots: tasks, Interval: time.Second})
			now := time.Unix(0, 0)
			for task := range tasks {
				tr.Start(now, task, task)
			}
			b.ReportAllocs()
			task, done := 0, 0.0
			for b.Loop() {
				if task == tasks {
					task, done, now = 0, done+1e-3, now.Add(time.Second)
					r.Reset()
				}
				tr.Report(now, task, 0, tracker.Report{Done: done})
				task++
			}
		})
	}
}
