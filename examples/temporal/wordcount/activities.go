package wordcount

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/activity"
)

// Tasks has the activities of one host.
type Tasks struct {
	// Rate is the number of bytes that a task reads per second. It is the speed of the host's disk for one slot.
	Rate float64
	// Silent makes the tasks send heartbeats without progress.
	Silent bool
	// Log records every attempt; nil records none.
	Log *Log
}

// MapInput is the input of a map.
type MapInput struct {
	Chunk      string // the file to read
	Partitions int
	Dir        string // the directory of its output
}

// MapOutput describes the output files of a map.
type MapOutput struct {
	Attempt string  // the attempt that wrote the files; their names begin with it
	Sizes   []int64 // sizes of the partitions in bytes
}

// partition returns the name of the file with one partition of the output of an attempt.
func partition(dir, attempt string, p int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d", attempt, p))
}

// Map counts the words of one chunk and writes the counts, a file for each partition.
func (t *Tasks) Map(ctx context.Context, in MapInput) (out MapOutput, err error) {
	out.Attempt = attempt(ctx)
	defer t.Log.run(ctx)(&err)
	file, err := os.Open(in.Chunk)
	if err != nil {
		return out, err
	}
	defer file.Close()
	counts := Counts{}
	if err := counts.CountWords(newDisk(ctx, t.Rate, t.Silent).reader(file)); err != nil {
		return out, err
	}
	for p, part := range counts.Split(in.Partitions) {
		size, err := publish(partition(in.Dir, out.Attempt, p), part)
		if err != nil {
			return out, err
		}
		out.Sizes = append(out.Sizes, size)
	}
	return out, nil
}

// ReduceInput is the input of a reduce.
type ReduceInput struct {
	Partition int
	Maps      []string // the winning attempts of the maps
	Dir       string
}

// ReduceOutput describes the counts of one partition.
type ReduceOutput struct {
	Attempt         string
	File            string
	Words, Distinct int
}

// Reduce adds the counts of one partition over the outputs of all maps.
func (t *Tasks) Reduce(ctx context.Context, in ReduceInput) (out ReduceOutput, err error) {
	out.Attempt = attempt(ctx)
	defer t.Log.run(ctx)(&err)
	counts, disk := Counts{}, newDisk(ctx, t.Rate, t.Silent)
	for _, m := range in.Maps {
		file, err := os.Open(partition(in.Dir, m, in.Partition))
		if err != nil {
			return out, err
		}
		err = counts.Add(disk.reader(file))
		_ = file.Close()
		if err != nil {
			return out, err
		}
	}
	out.File = filepath.Join(in.Dir, out.Attempt)
	out.Words, out.Distinct = counts.Total(), len(counts)
	_, err = publish(out.File, counts)
	return out, err
}

// attempt returns a name that only this attempt has, so that no other attempt writes to its files.
func attempt(ctx context.Context) string {
	info := activity.GetInfo(ctx)
	return fmt.Sprintf("%s-%d", info.ActivityID, info.Attempt)
}
