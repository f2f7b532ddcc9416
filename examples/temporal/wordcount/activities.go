package wordcount

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/activity"
)

// Tasks are the activities as one host runs them.
type Tasks struct {
	// Rate is how many bytes a second a task reads: that of the host's disk, for each of its slots.
	Rate float64
	// Silent says that a task tells that it lives, and not how far it is.
	Silent bool
	// Log is told of every attempt, if it is not nil.
	Log *Log
}

// MapInput says what one map is to do.
type MapInput struct {
	Chunk      string // the file to read
	Partitions int
	Dir        string // where its output belongs
}

// MapOutput says where a map's output is.
type MapOutput struct {
	Attempt string  // which attempt wrote it; the beginning of its files' names
	Sizes   []int64 // of its partitions, in bytes
}

// partition is the file that holds one partition of an attempt's output.
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

// ReduceInput says what one reduce is to do.
type ReduceInput struct {
	Partition int
	Maps      []string // the attempts whose outputs count
	Dir       string
}

// ReduceOutput is the sum of one partition.
type ReduceOutput struct {
	Attempt         string
	File            string
	Words, Distinct int
}

// Reduce adds up its partition of all the maps' outputs.
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

// attempt names what runs now, as nothing else is named: no file of one attempt is ever touched by another.
func attempt(ctx context.Context) string {
	info := activity.GetInfo(ctx)
	return fmt.Sprintf("%s-%d", info.ActivityID, info.Attempt)
}
